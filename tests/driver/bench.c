/* See bench.h. */
#include "bench.h"

static void keep(void *ctx, const char *text, size_t bytes)
{
    strbuf_append_n(ctx, text, bytes);
}

char *bench_read(const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", DRIVER_TESTS_DIR, file);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("cannot open %s", path);
    struct strbuf text = {0};
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, stream)) > 0;)
        strbuf_append_n(&text, piece, got);
    fclose(stream);
    return strbuf_take(&text);
}

static void create(struct bench *bench, bool functional)
{
    struct model *model;
    *bench = (struct bench){.functional = functional};
    assert_int_equal(model_load(&model, "gtx780"), 0);
    assert_int_equal(rt_create(&bench->rt, model), 0);
    model_destroy(model);
    rt_set_print(bench->rt, keep, &bench->printed);
}

static void load(struct bench *bench, const char *file, const char *ptx)
{
    if (rt_module_load(bench->rt, &bench->module, file, ptx, strlen(ptx)) < 0)
        fail_msg("%s", error_text());
}

void bench_open(struct bench *bench, const char *file, bool functional)
{
    char *ptx = bench_read(file);
    create(bench, functional);
    load(bench, file, ptx);
    free(ptx);
}

void bench_open_text(struct bench *bench, const char *ptx, bool functional)
{
    create(bench, functional);
    load(bench, "test.ptx", ptx);
}

void bench_close(struct bench *bench)
{
    strbuf_free(&bench->printed);
    rt_destroy(bench->rt);
}

struct rt_kernel *bench_kernel(struct bench *bench, const char *name)
{
    struct rt_kernel *kernel;
    if (rt_kernel_get(bench->module, &kernel, name) < 0)
        fail_msg("%s", error_text());
    return kernel;
}

int bench_try(struct bench *bench, const char *kernel, uint32_t grid, uint32_t block,
              const void *const *args)
{
    struct rt_kernel *k = bench_kernel(bench, kernel);
    struct rt_launch launch = {.grid = {grid, 1, 1},
                               .block = {block, 1, 1},
                               .args = args,
                               .arg_count = rt_kernel_param_count(k),
                               .functional = bench->functional};
    return rt_launch(bench->rt, k, &launch, NULL);
}

void bench_run(struct bench *bench, const char *kernel, uint32_t grid, uint32_t block,
               const void *const *args)
{
    if (bench_try(bench, kernel, grid, block, args) < 0)
        fail_msg("%s", error_text());
}

uint64_t bench_alloc(struct bench *bench, uint64_t bytes)
{
    uint64_t address;
    assert_int_equal(rt_mem_alloc(bench->rt, &address, bytes), 0);
    assert_int_equal(rt_memset(bench->rt, address, 0, bytes), 0);
    return address;
}

void bench_get(struct bench *bench, void *to, uint64_t from, uint64_t bytes)
{
    if (rt_copy_from_device(bench->rt, to, from, bytes) < 0)
        fail_msg("%s", error_text());
}

void bench_put(struct bench *bench, uint64_t to, const void *from, uint64_t bytes)
{
    if (rt_copy_to_device(bench->rt, to, from, bytes) < 0)
        fail_msg("%s", error_text());
}

void assert_error_has(const char *part)
{
    if (!strstr(error_text(), part))
        fail_msg("'%s' is not in: %s", part, error_text());
}

/*
 * Every wrong kernel of kernels/, and of compiled/, gives one report, of its kind and at its line;
 * its corrected twin, and every workload, give none. The kernels say themselves how they are
 * launched and where they are wrong (see their first lines).
 */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "check/check.h"
#include "model/model.h"
#include "rt/rt.h"
#include "util/error.h"
#include "util/fileio.h"
#include "workload.h"

#define BUFFER_BYTES 1024
#define FAULTY_MIN 119  /* so many wrong kernels there are at least */
#define COMPILED_MIN 48 /* and of those that nvcc has compiled */

struct wrong {
    char name[64], model[32];
    uint32_t grid[3], block[3], dynamic_bytes;
    bool images; /* it takes those of make_images() as well */
};

static struct rt *device(const char *name)
{
    struct model *model = NULL;
    struct rt *rt = NULL;
    int rc = model_load(&model, name);
    rc = rc < 0 ? rc : rt_create(&rt, model);
    rc = rc < 0 ? rc : rt_check_enable(rt);
    model_destroy(model);
    if (rc < 0)
        fail_msg("%s", error_text());
    return rt;
}

/* ---- textures and surfaces: images.ptx says what they are ---- */

#define IMAGE_WIDTH 16
#define IMAGE_HEIGHT 4
#define WRITTEN_ROWS 2 /* of those that are written in part */
enum { SURFACE, HOLLOW, HALF, SMOOTH, LINEAR, GONE, LOST, HANDLES };

struct images {
    struct rt_image *image[HANDLES];
    uint64_t handle[HANDLES];
};

static void expect_done(int rc)
{
    if (rc < 0)
        fail_msg("%s", error_text());
}

static struct rt_image *make_array(struct rt *rt, enum texel_kind kind, uint32_t rows)
{
    struct image_spec spec = {.shape = IMAGE_2D,
                              .format = {kind, 32, 1},
                              .width = IMAGE_WIDTH,
                              .height = IMAGE_HEIGHT,
                              .surface = true};
    float texels[IMAGE_HEIGHT][IMAGE_WIDTH];
    struct rt_image *image;
    struct rt_image_region region;
    for (uint32_t i = 0; i < IMAGE_WIDTH * IMAGE_HEIGHT; i++)
        texels[i / IMAGE_WIDTH][i % IMAGE_WIDTH] = (float)i + 1;
    expect_done(rt_image_create(rt, &image, &spec));
    expect_done(rt_image_whole(&region, image, 0));
    region.height = rows;
    if (rows > 0)
        expect_done(rt_image_write(rt, image, &region, texels));
    return image;
}

static struct rt_image *make_linear(struct rt *rt, uint64_t address)
{
    struct image_spec spec = {.shape = IMAGE_BUFFER,
                              .format = {TEXEL_UNSIGNED, 32, 1},
                              .width = BUFFER_BYTES / 4,
                              .address = address};
    struct rt_image *image;
    expect_done(rt_image_create(rt, &image, &spec));
    return image;
}

static void make_images(struct images *images, struct rt *rt, uint64_t data)
{
    static const struct {
        enum texel_kind kind;
        uint32_t rows;
    } arrays[] = {[SURFACE] = {TEXEL_UNSIGNED, IMAGE_HEIGHT},
                  [HOLLOW] = {TEXEL_UNSIGNED, 0},
                  [HALF] = {TEXEL_UNSIGNED, WRITTEN_ROWS},
                  [SMOOTH] = {TEXEL_FLOAT, WRITTEN_ROWS},
                  [LOST] = {TEXEL_UNSIGNED, IMAGE_HEIGHT}};
    const struct texture_view clamped = {.address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP},
                                         .as_integer = true};
    struct texture_view filtered = clamped;
    uint64_t freed;
    filtered.linear = true;
    for (int i = 0; i < HANDLES; i++)
        if (i != LINEAR && i != GONE)
            images->image[i] = make_array(rt, arrays[i].kind, arrays[i].rows);
    expect_done(rt_mem_alloc(rt, &freed, BUFFER_BYTES));
    images->image[LINEAR] = make_linear(rt, data);
    images->image[GONE] = make_linear(rt, freed);
    for (int i = 0; i < HANDLES; i++) {
        const struct texture_view *view = i == SMOOTH ? &filtered : &clamped;
        bool surface = i == SURFACE || i == HOLLOW || i == LOST;
        expect_done(surface ? rt_surface_object(rt, &images->handle[i], images->image[i])
                            : rt_texture_object(rt, &images->handle[i], images->image[i], view));
    }
    expect_done(rt_mem_free(rt, freed));
    expect_done(rt_image_destroy(rt, images->image[LOST]));
}

static void destroy_images(const struct images *images, struct rt *rt)
{
    for (int i = 0; i < LOST; i++)
        expect_done(rt_image_destroy(rt, images->image[i]));
}

/* What a launch of the kernel is told of; json_decref() it. */
static json_t *reports_of(const struct wrong *wrong, const char *kernel_name, const char *file,
                          const char *text)
{
    struct rt *rt = device(wrong->model);
    struct rt_module *module;
    struct rt_kernel *kernel;
    uint64_t data, fresh;
    uint8_t bytes[BUFFER_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    int rc = rt_module_load(rt, &module, file, text, strlen(text));
    rc = rc < 0 ? rc : rt_kernel_get(module, &kernel, kernel_name);
    rc = rc < 0 ? rc : rt_mem_alloc(rt, &data, sizeof bytes);
    rc = rc < 0 ? rc : rt_copy_to_device(rt, data, bytes, sizeof bytes);
    rc = rc < 0 ? rc : rt_mem_alloc(rt, &fresh, sizeof bytes);
    if (rc < 0)
        fail_msg("%s: %s", kernel_name, error_text());
    struct images images;
    const void *args[2 + HANDLES] = {&data, &fresh};
    for (int i = 0; i < HANDLES; i++)
        args[2 + i] = &images.handle[i];
    if (wrong->images)
        make_images(&images, rt, data);
    const uint32_t *grid = wrong->grid, *block = wrong->block;
    struct rt_launch launch = {.grid = {grid[0], grid[1], grid[2]},
                               .block = {block[0], block[1], block[2]},
                               .dynamic_shared_bytes = wrong->dynamic_bytes,
                               .args = args,
                               .arg_count = wrong->images ? 2 + HANDLES : 2,
                               .functional = true};
    rc = rt_launch(rt, kernel, &launch, NULL);
    assert_true(rc == 0 || rc == SONDE_EFAULT);
    rt_recover(rt);
    if (wrong->images)
        destroy_images(&images, rt);
    assert_int_equal(rt_mem_free(rt, data), 0);
    assert_int_equal(rt_mem_free(rt, fresh), 0);
    check_ended(rt_check(rt));
    char *written;
    json_error_t error;
    assert_int_equal(check_write(&written, rt_check(rt), CHECK_JSON), 0);
    json_t *root = json_loads(written, 0, &error);
    assert_non_null(root);
    free(written);
    rt_destroy(rt);
    return root;
}

/* The line of a mark within the kernel's text; 0: it has none. `*kind` is the word behind it. */
static int line_of(const char *text, const char *kernel, const char *mark, char kind[32])
{
    char head[96];
    snprintf(head, sizeof head, ".entry %s(", kernel);
    const char *from = strstr(text, head), *end = strstr(from, "\n}\n"), *at = strstr(from, mark);
    int line = 1;
    if (!at || at > end)
        return 0;
    sscanf(at + strlen(mark), " %31[a-z-]", kind);
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return line;
}

static void expect_fault(const json_t *root, const char *text, const char *kernel)
{
    char kind[32] = "", other_kind[32], other[32];
    const json_t *list = json_object_get(root, "reports");
    int line = line_of(text, kernel, "// FAULT", kind);
    int other_line = line_of(text, kernel, "// OTHER", other_kind);
    bool leak = !line && line_of(text, kernel, "// LEAK", other_kind);
    char *all = json_dumps(root, JSON_INDENT(1));
    if (json_array_size(list) != 1)
        fail_msg("%s: one report was expected: %s", kernel, all);
    const json_t *report = json_array_get(list, 0);
    const char *found = json_string_value(json_object_get(report, "kind"));
    if (strcmp(found, leak ? "leak" : kind) != 0)
        fail_msg("%s: expected %s: %s", kernel, leak ? "leak" : kind, all);
    if (!leak && json_integer_value(json_object_get(report, "line")) != line)
        fail_msg("%s: expected at line %d: %s", kernel, line, all);
    snprintf(other, sizeof other, "at line %d,", other_line);
    const char *detail = json_string_value(json_object_get(report, "detail"));
    if (other_line && (!detail || !strstr(detail, other)))
        fail_msg("%s: the other access is %s: %s", kernel, other, all);
    free(all);
}

/* The same of a compiled one: the report names a line of the source, or where the function that it
 * is in was put, that is marked. */
static void expect_source(const json_t *root, const char *source, const struct wrong *wrong)
{
    char head[80], kind[32] = "";
    const json_t *list = json_object_get(root, "reports"), *report = json_array_get(list, 0);
    const char *found = json_string_value(json_object_get(report, "kind"));
    json_int_t at = json_integer_value(json_object_get(report, "source_line"));
    json_int_t put = json_integer_value(json_object_get(report, "inlined_at_line"));
    snprintf(head, sizeof head, "wrong_%s(", wrong->name);
    const char *from = strstr(source, head);
    assert_non_null(from);
    snprintf(head, sizeof head, "right_%s(", wrong->name);
    const char *end = strstr(from, head), *mark = from;
    assert_non_null(end);
    bool same = false;
    while ((mark = strstr(mark + 1, "// FAULT")) != NULL && mark < end) {
        json_int_t line = 1;
        sscanf(mark, "// FAULT %31[a-z-]", kind);
        for (const char *c = source; c < mark; c++)
            line += *c == '\n';
        same |= line == (put ? put : at);
    }
    if (json_array_size(list) != 1 || !found || strcmp(found, kind) != 0 || !same)
        fail_msg("%s: one %s at a marked line was expected: %s", wrong->name, kind,
                 json_dumps(root, JSON_INDENT(1)));
}

/* `source`: what it was compiled from; NULL: it was not. */
static void run_pair(const struct wrong *wrong, const char *file, const char *text,
                     const char *source)
{
    char kernel[80];
    snprintf(kernel, sizeof kernel, "wrong_%s", wrong->name);
    json_t *root = reports_of(wrong, kernel, file, text);
    if (source)
        expect_source(root, source, wrong);
    else
        expect_fault(root, text, kernel);
    json_decref(root);
    snprintf(kernel, sizeof kernel, "right_%s", wrong->name);
    root = reports_of(wrong, kernel, file, text);
    if (json_array_size(json_object_get(root, "reports")) != 0)
        fail_msg("%s: %s", kernel, json_dumps(root, JSON_INDENT(1)));
    json_decref(root);
}

/* Up to three numbers, the others 1. */
static void read_extents(uint32_t extents[3], const char *line, const char *name)
{
    const char *at = strstr(line, name);
    assert_non_null(at);
    extents[0] = extents[1] = extents[2] = 1;
    assert_true(sscanf(at + strlen(name), "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &extents[0],
                       &extents[1], &extents[2]) >= 1);
}

static struct wrong read_launch(const char *at)
{
    char line[160] = "";
    const char *end = strchr(at, '\n'), *model, *dynamic;
    assert_true(end && (size_t)(end - at) < sizeof line);
    memcpy(line, at, (size_t)(end - at));
    struct wrong wrong = {.model = "gtx780", .images = strstr(line, " images") != NULL};
    assert_int_equal(sscanf(line, "// launch %63[a-z_]:", wrong.name), 1);
    read_extents(wrong.grid, line, " grid=");
    read_extents(wrong.block, line, " block=");
    if ((model = strstr(line, " model=")) != NULL)
        sscanf(model, " model=%31s", wrong.model);
    if ((dynamic = strstr(line, " shared=")) != NULL)
        sscanf(dynamic, " shared=%" SCNu32, &wrong.dynamic_bytes);
    return wrong;
}

/* PTX that says itself how it is launched, or the CUDA source beside it does. */
static uint32_t run_file(const char *path)
{
    char *text, *source = NULL, beside[512];
    size_t bytes;
    uint32_t count = 0;
    if (file_read_all(&text, &bytes, path, 1u << 20) < 0)
        fail_msg("%s", error_text());
    snprintf(beside, sizeof beside, "%.*scu", (int)strlen(path) - 3, path);
    if (strstr(path, "/compiled/") && file_read_all(&source, &bytes, beside, 1u << 20) < 0)
        fail_msg("%s", error_text());
    for (const char *at = source ? source : text; (at = strstr(at, "\n// launch ")) != NULL; at++) {
        struct wrong wrong = read_launch(at + 1);
        run_pair(&wrong, path, text, source);
        count++;
    }
    free(text);
    free(source);
    return count;
}

static uint32_t run_folder(const char *name)
{
    char path[512];
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s/%s", SONDE_TEST_DIR, name);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/%s", SONDE_TEST_DIR, name, entry->d_name);
        if (strstr(entry->d_name, ".ptx"))
            count += run_file(path);
    }
    closedir(folder);
    return count;
}

static void every_wrong_kernel_is_found_at_its_line_and_its_twin_is_clean(void **state)
{
    (void)state;
    assert_true(run_folder("kernels") >= FAULTY_MIN);
}

static void every_compiled_kernel_is_found_at_its_source_line_and_its_twin_is_clean(void **state)
{
    (void)state;
    assert_true(run_folder("compiled") >= COMPILED_MIN);
}

/*
 * bfs and frontier read distances and flags that other blocks write in the same launch, as the
 * programs after which they are written do: each writes the same value, and who reads the old one
 * looks again in the next launch. These races there are; nothing else.
 */
static bool races_on_purpose(const char *name)
{
    return strcmp(name, "bfs") == 0 || strcmp(name, "frontier") == 0;
}

static void workloads_give_no_report(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < workload_count; i++) {
        struct rt *rt = device(workload_model(&workloads[i]));
        struct workbench counts;
        if (races_on_purpose(workloads[i].name))
            check_suppress(rt_check(rt), "block-race");
        if (workload_run(&counts, rt, &workloads[i], SONDE_WORKLOADS_DIR, workloads[i].small_size,
                         true) < 0)
            fail_msg("%s", error_text());
        check_ended(rt_check(rt));
        char *text = NULL;
        check_write(&text, rt_check(rt), CHECK_TEXT);
        if (check_count(rt_check(rt)) != 0)
            fail_msg("%s: %s", workloads[i].name, text);
        free(text);
        rt_destroy(rt);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_kernel_is_found_at_its_line_and_its_twin_is_clean),
        cmocka_unit_test(every_compiled_kernel_is_found_at_its_source_line_and_its_twin_is_clean),
        cmocka_unit_test(workloads_give_no_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * drawn FORMS FIRST COUNT [--write FOLDER | --results FOLDER] [--statements N]: draws COUNT kernels
 * from the seed FIRST on, runs each on the first device, and prints a line for each: the seed and a
 * hash of all that it left. Two devices, or two modes of a simulator, agree when the lines do.
 * --write writes the kernels to SEED.ptx instead, --results what they left to SEED.bin, too;
 * --statements keeps only the first of each kernel's.
 */
#include "drawn/drawn.h"

#include "../shim/hosts/host.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/hash.h"

int cuModuleLoadData(handle *, const void *);
int cuModuleUnload(handle);
int cuArrayCreate_v2(handle *, const struct abi_array_desc *);
int cuArrayDestroy(handle);
int cuTexObjectDestroy(uint64_t);
int cuMemcpy2D_v2(const struct abi_copy2d_driver *);
int cuTexObjectCreate(uint64_t *, const struct abi_resource_desc_driver *,
                      const struct abi_texture_desc_driver *, const void *);

enum {
    FORMAT_UNSIGNED_BYTE = 1,
    FORMAT_FLOAT = 0x20,
    FROM_HOST = 1,
    TO_ARRAY = 3,
    BORDER = 3,
    WRAP = 0,
    LINEAR = 1,
    AS_INTEGERS = 1,
    NORMALIZED = 2,
    WIDTH = 16,
    HEIGHT = 8,
    MOST_THREADS = 5 * DRAWN_MOST_THREADS
};

struct texture {
    handle array;
    uint64_t object;
};

struct device {
    address in, out, scratch, totals;
    struct texture filtered, texels;
    uint8_t *results;
};

/* Words of any bits, floats of moderate size, small whole numbers. */
static void draw_input(uint32_t words[DRAWN_IN_WORDS], uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, ~seed);
    for (uint32_t i = 0; i < DRAWN_IN_WORDS; i++) {
        float value = (float)(rng_double(&rng) * 16 - 8);
        uint64_t kind = rng_below(&rng, 4), bits = rng_u64(&rng);
        words[i] = kind == 0 ? (uint32_t)(bits >> (32 + bits % 32)) : (uint32_t)bits;
        if (kind >= 2) {
            memcpy(&words[i], &value, 4);
        }
    }
}

/* 16 x 8 texels, of four bytes each. */
static struct texture make_texture(const void *host, int format, unsigned channels,
                                   const struct abi_texture_desc_driver *view)
{
    struct abi_array_desc desc = {WIDTH, HEIGHT, format, channels};
    struct texture texture;
    OK(cuArrayCreate_v2(&texture.array, &desc));
    struct abi_copy2d_driver copy = {.src_type = FROM_HOST,
                                     .src_host = host,
                                     .src_pitch = 4 * WIDTH,
                                     .dst_type = TO_ARRAY,
                                     .dst_array = texture.array,
                                     .width = 4 * WIDTH,
                                     .height = HEIGHT};
    OK(cuMemcpy2D_v2(&copy));
    struct abi_resource_desc_driver resource = {.type = 0, .handle = texture.array};
    OK(cuTexObjectCreate(&texture.object, &resource, view, NULL));
    return texture;
}

static void open_device(struct device *device)
{
    float values[WIDTH * HEIGHT];
    uint8_t bytes[4 * WIDTH * HEIGHT];
    int number;
    handle context;
    OK(cuInit(0));
    OK(cuDeviceGet(&number, 0));
    OK(cuDevicePrimaryCtxRetain(&context, number));
    OK(cuCtxSetCurrent(context));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        values[i] = (float)(i * i % 61) / 4 - 7;
        for (int k = 0; k < 4; k++) {
            bytes[4 * i + k] = (uint8_t)(i * (37 + k) + 11 * k);
        }
    }
    device->filtered =
        make_texture(values, FORMAT_FLOAT, 1,
                     &(struct abi_texture_desc_driver){
                         .address = {WRAP, WRAP, WRAP}, .filter = LINEAR, .flags = NORMALIZED});
    device->texels = make_texture(bytes, FORMAT_UNSIGNED_BYTE, 4,
                                  &(struct abi_texture_desc_driver){
                                      .address = {BORDER, BORDER, BORDER}, .flags = AS_INTEGERS});
    OK(cuMemAlloc_v2(&device->in, 4 * DRAWN_IN_WORDS));
    OK(cuMemAlloc_v2(&device->out, MOST_THREADS * DRAWN_OUT_BYTES));
    OK(cuMemAlloc_v2(&device->scratch, MOST_THREADS * FORM_SCRATCH_BYTES));
    OK(cuMemAlloc_v2(&device->totals, DRAWN_TOTALS_BYTES));
    device->results = malloc(MOST_THREADS * DRAWN_OUT_BYTES + DRAWN_TOTALS_BYTES);
    EXPECT(device->results);
}

static void free_texture(struct texture texture)
{
    OK(cuTexObjectDestroy(texture.object));
    OK(cuArrayDestroy(texture.array));
}

static void close_device(struct device *device)
{
    free_texture(device->filtered);
    free_texture(device->texels);
    OK(cuMemFree_v2(device->in));
    OK(cuMemFree_v2(device->out));
    OK(cuMemFree_v2(device->scratch));
    OK(cuMemFree_v2(device->totals));
    free(device->results);
}

/* The hash of what a kernel leaves in its results and in the totals. */
static uint64_t run(struct device *device, const char *ptx, struct drawn_size size, uint64_t seed)
{
    uint32_t words[DRAWN_IN_WORDS];
    size_t bytes = (size_t)size.grid * size.block * DRAWN_OUT_BYTES;
    handle module;
    draw_input(words, seed);
    OK(cuMemcpyHtoD_v2(device->in, words, sizeof words));
    OK(cuMemsetD32_v2(device->out, 0, bytes / 4));
    OK(cuMemsetD32_v2(device->scratch, 0x5a5a5a5a, MOST_THREADS * FORM_SCRATCH_BYTES / 4));
    OK(cuMemsetD32_v2(device->totals, 0x1234567, DRAWN_TOTALS_BYTES / 4));
    OK(cuModuleLoadData(&module, ptx));
    void *args[] = {&device->in,
                    &device->out,
                    &device->scratch,
                    &device->totals,
                    &device->filtered.object,
                    &device->texels.object};
    OK(launch(function(module, "k"), size.grid, size.block, NULL, args));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(device->results, device->out, bytes));
    OK(cuMemcpyDtoH_v2(device->results + bytes, device->totals, DRAWN_TOTALS_BYTES));
    OK(cuModuleUnload(module));
    return hash_bytes(HASH_BEGIN, device->results, bytes + DRAWN_TOTALS_BYTES);
}

static void write_file(const char *folder, uint64_t seed, const char *suffix, const void *data,
                       size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%llu.%s", folder, (unsigned long long)seed, suffix);
    EXPECT(file_write_all(path, data, bytes) == 0);
}

struct request {
    const char *forms, *modules, *results;
    uint64_t first, count;
    uint32_t statements;
};

static bool read_request(struct request *request, int argc, char **argv)
{
    if (argc < 4 || argc % 2 != 0) {
        return false;
    }
    *request = (struct request){.forms = argv[1],
                                .first = strtoull(argv[2], NULL, 10),
                                .count = strtoull(argv[3], NULL, 10),
                                .statements = UINT32_MAX};
    for (int i = 4; i < argc; i += 2) {
        if (strcmp(argv[i], "--write") == 0) {
            request->modules = argv[i + 1];
        } else if (strcmp(argv[i], "--results") == 0) {
            request->results = argv[i + 1];
        } else if (strcmp(argv[i], "--statements") == 0) {
            request->statements = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        } else {
            return false;
        }
    }
    return true;
}

static void run_all(const struct request *request, const struct drawn_forms *forms)
{
    struct device device;
    open_device(&device);
    for (uint64_t seed = request->first; seed < request->first + request->count; seed++) {
        struct strbuf ptx = {0};
        struct drawn_size size = drawn_module(&ptx, forms, seed, request->statements);
        uint64_t hash = run(&device, strbuf_text(&ptx), size, seed);
        printf("%llu %016llx\n", (unsigned long long)seed, (unsigned long long)hash);
        fflush(stdout);
        if (request->results) {
            write_file(request->results, seed, "bin", device.results,
                       (size_t)size.grid * size.block * DRAWN_OUT_BYTES + DRAWN_TOTALS_BYTES);
        }
        strbuf_free(&ptx);
    }
    close_device(&device);
}

int main(int argc, char **argv)
{
    struct drawn_forms forms = {0};
    struct request request;
    if (!read_request(&request, argc, argv)) {
        fprintf(stderr, "usage: drawn FORMS FIRST COUNT [--write FOLDER | --results FOLDER] "
                        "[--statements N]\n");
        return 2;
    }
    if (drawn_forms_read(&forms, request.forms) < 0) {
        fprintf(stderr, "drawn: %s\n", error_text());
        return 1;
    }
    if (!request.modules) {
        run_all(&request, &forms);
    }
    for (uint64_t i = 0; request.modules && i < request.count; i++) {
        struct strbuf ptx = {0};
        drawn_module(&ptx, &forms, request.first + i, request.statements);
        write_file(request.modules, request.first + i, "ptx", strbuf_text(&ptx), ptx.length);
        strbuf_free(&ptx);
    }
    drawn_forms_free(&forms);
    return 0;
}

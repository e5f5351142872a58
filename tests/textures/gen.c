/*
 * textures_gen: what fetches from textures and accesses to surfaces give on a device.
 *
 *     textures_gen -d cuda:0 -o FILE.zst [--seed N]     record all cases
 *     textures_gen -d sim:gtx780 --check FILE.zst [-v] [--only TEXT] [--known LIST]
 *     textures_gen --ptx FILE                           write the kernels, for an assembler
 *
 * A recording is one zstd frame: a line "sonde-textures 1 seed N", a line for each case ('+' and
 * its name, '!' when the device refused it), an empty line, and the results: 16 bytes a lane, or
 * the image as the kernel left it. The inputs follow from the seed. Exit status 0: all hold; 1:
 * some do not; 2: usage; 3: no device; 4: no such recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "device/device.h"
#include "textures/cases.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/container/strbuf.h"

#define FILE_LIMIT (64u << 20)
#define BLOCK 32
#define PITCH_BYTES 512
#define WORDS_MOST (1024 * CASE_WORDS)
#define IMAGE_MOST (1u << 20)

struct options {
    const char *device, *out, *check, *ptx, *only, *known;
    uint64_t seed;
    bool verbose;
};

struct bench {
    struct device *device;
    struct device_module *module; /* of the case at hand */
    uint64_t words, results, linear;
    uint32_t *host_words, *host_results;
    uint8_t *texels;
};

static void put_kernel(struct strbuf *out, const struct texture_case *c, size_t number)
{
    strbuf_printf(out, ".visible .entry k%zu(.param .u64 h, .param .u64 in, .param .u64 out)\n{\n",
                  number);
    strbuf_append(out, "    .reg .b64 %rd<8>;\n    .reg .b32 %r<16>, %o<4>, %t<2>;\n"
                       "    ld.param.u64 %rd3, [h];\n    ld.param.u64 %rd1, [in];\n"
                       "    ld.param.u64 %rd2, [out];\n    mov.u32 %t0, %ctaid.x;\n"
                       "    mov.u32 %t1, %tid.x;\n    mad.lo.u32 %t0, %t0, 32, %t1;\n"
                       "    mad.wide.u32 %rd1, %t0, 64, %rd1;\n"
                       "    mad.wide.u32 %rd2, %t0, 16, %rd2;\n");
    for (int i = 0; i < CASE_WORDS; i++)
        strbuf_printf(out, "    ld.global.b32 %%r%d, [%%rd1+%d];\n", i, i * 4);
    for (int i = 0; i < CASE_RESULTS; i++)
        strbuf_printf(out, "    mov.b32 %%o%d, 0;\n", i);
    strbuf_printf(out, "    mov.b32 %%r15, 1234567;\n    %s;\n", c->text);
    for (int i = 0; i < CASE_RESULTS; i++)
        strbuf_printf(out, "    st.global.b32 [%%rd2+%d], %%o%d;\n", i * 4, i);
    strbuf_append(out, "    ret;\n}\n");
}

static void put_head(struct strbuf *out)
{
    strbuf_append(out, ".version 8.0\n.target sm_90\n.address_size 64\n");
}

/* A device to run on. */

static int bench_open(struct bench *b, const char *name)
{
    *b = (struct bench){.host_words = malloc(WORDS_MOST * 4),
                        .host_results = malloc(IMAGE_MOST),
                        .texels = malloc(IMAGE_MOST)};
    int rc = device_open(&b->device, name);
    if (rc == SONDE_OK && (!b->host_words || !b->host_results || !b->texels))
        rc = error_memory();
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->words, WORDS_MOST * 4);
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->results, WORDS_MOST);
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->linear, IMAGE_MOST);
    return rc;
}

static void bench_close(struct bench *b)
{
    device_close(b->device);
    free(b->host_words);
    free(b->host_results);
    free(b->texels);
}

static bool is_linear(const struct image_spec *spec)
{
    return spec->shape == IMAGE_BUFFER || spec->shape == IMAGE_PITCH;
}

static int make_image(struct bench *b, struct device_image **out, const struct texture_case *c)
{
    struct image_spec spec = c->spec;
    spec.address = is_linear(&spec) ? b->linear : 0;
    spec.pitch_bytes = spec.shape == IMAGE_PITCH ? PITCH_BYTES : 0;
    int rc = device_image_create(b->device, out, &spec);
    const uint8_t *texels = b->texels;
    size_t row = (size_t)spec.width * case_texel_bytes(&spec);
    for (uint32_t y = 0; rc == SONDE_OK && is_linear(&spec) && y < spec.height; y++)
        rc = device_copy_to(b->device, b->linear + y * spec.pitch_bytes, texels + y * row, row);
    for (uint32_t level = 0; rc == SONDE_OK && !is_linear(&spec) && level < spec.levels; level++) {
        rc = device_image_write(b->device, *out, level, texels);
        texels += case_level_bytes(&spec, level);
    }
    return rc;
}

static int launch_case(struct bench *b, const struct texture_case *c, uint64_t handle)
{
    struct strbuf text = {0};
    struct device_kernel *kernel;
    put_head(&text);
    put_kernel(&text, c, 0);
    int rc = strbuf_failed(&text)
                 ? error_memory()
                 : device_module_load(b->device, &b->module, "case", text.text, text.length);
    strbuf_free(&text);
    if (rc < 0) {
        b->module = NULL;
        return rc;
    }
    rc = device_kernel_get(b->device, &kernel, b->module, "k0");
    struct device_launch launch = {.grid = {c->lanes / BLOCK, 1, 1},
                                   .block = {BLOCK, 1, 1},
                                   .args = {&handle, &b->words, &b->results},
                                   .arg_sizes = {8, 8, 8},
                                   .arg_count = 3};
    if (rc == SONDE_OK)
        rc = device_copy_to(b->device, b->words, b->host_words, c->lanes * CASE_WORDS * 4);
    if (rc == SONDE_OK)
        rc = device_launch(b->device, kernel, &launch);
    return rc;
}

static size_t result_bytes(const struct texture_case *c)
{
    return c->reads_image ? case_level_bytes(&c->spec, 0) : (size_t)c->lanes * CASE_RESULTS * 4;
}

/* The results come into b->host_results. */
static int run_case(struct bench *b, const struct texture_case *c, uint64_t seed)
{
    struct device_image *image = NULL;
    uint64_t handle = 0;
    case_fill_image(b->texels, c, seed);
    case_fill_words(b->host_words, c, seed);
    b->module = NULL;
    int rc = make_image(b, &image, c);
    if (rc == SONDE_OK)
        rc = c->surface ? device_surface_object(b->device, &handle, image)
                        : device_texture_object(b->device, &handle, image, &c->view);
    if (rc == SONDE_OK)
        rc = launch_case(b, c, handle);
    if (rc == SONDE_OK)
        rc = c->reads_image
                 ? device_image_read(b->device, b->host_results, image, 0)
                 : device_copy_from(b->device, b->host_results, b->results, result_bytes(c));
    char *why = rc < 0 ? strdup(error_text()) : NULL;
    if (b->module)
        device_module_unload(b->device, b->module);
    if (handle && c->surface)
        device_surface_destroy(b->device, handle);
    else if (handle)
        device_texture_destroy(b->device, handle);
    if (image)
        device_image_destroy(b->device, image);
    if (why)
        error_set(rc, "%s", why);
    free(why);
    return rc;
}

/* Recording. */

static int write_recording(const char *path, const struct strbuf *payload)
{
    size_t bound = ZSTD_compressBound(payload->length);
    char *frame = malloc(bound);
    struct file_writer writer;
    if (!frame)
        return error_memory();
    size_t bytes = ZSTD_compress(frame, bound, payload->text, payload->length, 19);
    int rc = ZSTD_isError(bytes) ? error_set(SONDE_EINTERNAL, "%s", ZSTD_getErrorName(bytes))
                                 : file_writer_open(&writer, path);
    if (rc == SONDE_OK) {
        rc = file_writer_write(&writer, frame, bytes);
        if (rc == SONDE_OK)
            rc = file_writer_commit(&writer);
        else
            file_writer_abandon(&writer);
    }
    free(frame);
    printf("%s: %zu bytes\n", path, rc == SONDE_OK ? bytes : 0);
    return rc;
}

static int record(struct bench *b, const struct options *o, const struct case_list *cases)
{
    struct strbuf lines = {0}, results = {0};
    size_t recorded = 0;
    strbuf_printf(&lines, "sonde-textures 1 seed %" PRIu64 "\n", o->seed);
    for (size_t i = 0; i < cases->count; i++) {
        const struct texture_case *c = &cases->cases[i];
        int rc = run_case(b, c, o->seed);
        strbuf_printf(&lines, "%c%s\n", rc == SONDE_OK ? '+' : '!', c->name);
        recorded += rc == SONDE_OK;
        if (rc == SONDE_OK)
            strbuf_append_n(&results, (const char *)b->host_results, result_bytes(c));
        else
            fprintf(stderr, "refused: %s: %.300s\n", c->name, error_text());
    }
    strbuf_append(&lines, "\n");
    strbuf_append_n(&lines, strbuf_text(&results), results.length);
    int rc = strbuf_failed(&lines) || strbuf_failed(&results) ? error_memory()
                                                              : write_recording(o->out, &lines);
    printf("%zu of %zu cases recorded on %s\n", recorded, cases->count, b->device->info.name);
    strbuf_free(&lines);
    strbuf_free(&results);
    return rc;
}

/* Checking. */

struct checking {
    struct bench *bench;
    const struct options *options;
    uint64_t seed;
    const char *known; /* a line each: a case, a tab, how many lanes differ at most */
    size_t held, failed, skipped, unexpected;
};

static void print_lane(const struct checking *k, uint32_t lane, const uint32_t *want,
                       const uint32_t *got)
{
    const uint32_t *words = k->bench->host_words + (size_t)lane * CASE_WORDS;
    printf("    lane %u:", lane);
    for (int i = 0; i < 8; i++) {
        float value;
        memcpy(&value, &words[i], 4);
        printf(" %08x(%.9g)", words[i], (double)value);
    }
    printf("\n      want");
    for (int i = 0; i < CASE_RESULTS; i++) {
        float value;
        memcpy(&value, &want[i], 4);
        printf(" %08x(%.9g)", want[i], (double)value);
    }
    printf("\n      got ");
    for (int i = 0; i < CASE_RESULTS; i++) {
        float value;
        memcpy(&value, &got[i], 4);
        printf(" %08x(%.9g)", got[i], (double)value);
    }
    printf("\n");
}

/* Lanes, or 16 bytes of an image, that differ. */
static size_t compare(const struct checking *k, const struct texture_case *c, const uint8_t *want)
{
    size_t bytes = result_bytes(c), differ = 0;
    const uint8_t *got = (const uint8_t *)k->bench->host_results;
    for (size_t at = 0; at < bytes; at += 16) {
        uint32_t a[CASE_RESULTS] = {0}, b[CASE_RESULTS] = {0};
        size_t part = bytes - at < 16 ? bytes - at : 16;
        memcpy(a, want + at, part);
        memcpy(b, got + at, part);
        if (memcmp(a, b, sizeof a) == 0)
            continue;
        if (k->options->verbose && differ++ < 4)
            print_lane(k, (uint32_t)(at / 16), a, b);
        else if (!k->options->verbose)
            differ++;
    }
    return differ;
}

/* How many lanes of a case are known to differ at most. */
static size_t known_lanes(const struct checking *k, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = k->known; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : "")
        if (strncmp(at, name, length) == 0 && at[length] == '\t')
            return strtoul(at + length + 1, NULL, 10);
    return 0;
}

static void check_case(struct checking *k, const struct texture_case *c, const uint8_t *want)
{
    int rc = run_case(k->bench, c, k->seed);
    size_t units = (result_bytes(c) + 15) / 16, differ = rc < 0 ? units : 0;
    if (rc == SONDE_OK)
        differ = compare(k, c, want);
    size_t known = known_lanes(k, c->name);
    k->held += differ == 0;
    k->failed += differ > 0;
    k->unexpected += differ > known || (differ == 0 && known > 0);
    if (differ > 0 && (differ > known || k->options->verbose))
        printf("%s: %zu of %zu differ%s%.300s\n", c->name, differ, units, rc < 0 ? ": " : "",
               rc < 0 ? error_text() : "");
    else if (differ == 0 && known > 0)
        printf("%s: is listed and holds\n", c->name);
}

static const struct texture_case *find_case(const struct case_list *cases, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < cases->count; i++)
        if (strncmp(cases->cases[i].name, name, length) == 0 && !cases->cases[i].name[length])
            return &cases->cases[i];
    return NULL;
}

/* The lines of a recording, and behind them the results. */
static int check_lines(struct checking *k, const struct case_list *cases, const char *text,
                       size_t length)
{
    const char *end = text + length, *results = strstr(text, "\n\n");
    if (sscanf(text, "sonde-textures 1 seed %" SCNu64, &k->seed) != 1 || !results)
        return error_set(SONDE_EINPUT, "%s is no recording of textures", k->options->check);
    const char *line = strchr(text, '\n') + 1;
    const uint8_t *at = (const uint8_t *)results + 2;
    for (const char *next; line <= results; line = next + 1) {
        next = strchr(line, '\n');
        size_t name = (size_t)(next - line) - 1;
        const struct texture_case *c = find_case(cases, line + 1, name);
        if (*line == '!')
            continue;
        if (!c || (size_t)(end - (const char *)at) < result_bytes(c))
            return error_set(SONDE_EINPUT, "%s: no case is called '%.*s', or results are missing",
                             k->options->check, (int)name, line + 1);
        if (!k->options->only || strstr(c->name, k->options->only))
            check_case(k, c, at);
        at += result_bytes(c);
    }
    return SONDE_OK;
}

static int check(struct bench *b, const struct options *o, const struct case_list *cases)
{
    struct checking k = {.bench = b, .options = o};
    char *frame = NULL, *text = malloc(FILE_LIMIT), *known = NULL;
    size_t size = 0, known_size = 0;
    if (!text)
        return error_memory();
    int rc = file_read_all(&frame, &size, o->check, FILE_LIMIT);
    if (rc == SONDE_OK && o->known)
        rc = file_read_all(&known, &known_size, o->known, FILE_LIMIT);
    k.known = known;
    size_t length = rc == SONDE_OK ? ZSTD_decompress(text, FILE_LIMIT - 1, frame, size) : 0;
    if (rc == SONDE_OK && ZSTD_isError(length))
        rc = error_set(SONDE_EINPUT, "%s: %s", o->check, ZSTD_getErrorName(length));
    if (rc == SONDE_OK) {
        text[length] = '\0';
        rc = check_lines(&k, cases, text, length);
    }
    if (rc == SONDE_OK)
        printf("%zu cases hold, %zu differ\n", k.held, k.failed);
    if (rc == SONDE_OK && k.held + k.failed == 0)
        rc = error_set(SONDE_EINPUT, "%s: nothing was compared", o->check);
    free(frame);
    free(known);
    free(text);
    return rc < 0 ? rc : k.unexpected > 0;
}

static int write_ptx(const char *path, const struct case_list *cases)
{
    struct strbuf text = {0};
    put_head(&text);
    for (size_t i = 0; i < cases->count; i++)
        put_kernel(&text, &cases->cases[i], i);
    FILE *file = fopen(path, "w");
    bool ok = file && !strbuf_failed(&text) && fputs(strbuf_text(&text), file) >= 0;
    ok = file && fclose(file) == 0 && ok;
    strbuf_free(&text);
    return ok ? SONDE_OK : error_set(SONDE_EINPUT, "%s cannot be written", path);
}

static bool parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        const char **text = strcmp(argv[i], "-d") == 0        ? &o->device
                            : strcmp(argv[i], "-o") == 0      ? &o->out
                            : strcmp(argv[i], "--check") == 0 ? &o->check
                            : strcmp(argv[i], "--only") == 0  ? &o->only
                            : strcmp(argv[i], "--known") == 0 ? &o->known
                            : strcmp(argv[i], "--ptx") == 0   ? &o->ptx
                                                              : NULL;
        bool seed = strcmp(argv[i], "--seed") == 0;
        if (strcmp(argv[i], "-v") == 0) {
            o->verbose = true;
            continue;
        }
        if (!value || (!seed && !text))
            return false;
        if (seed)
            o->seed = strtoull(value, NULL, 10);
        else
            *text = value;
        i++;
    }
    return o->ptx || (o->device && (o->out != NULL) != (o->check != NULL));
}

int main(int argc, char **argv)
{
    struct options o;
    struct case_list cases;
    struct bench b = {0};
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: textures_gen -d DEVICE (-o FILE [--seed N] | --check FILE [-v])\n");
        return 2;
    }
    int rc = cases_make(&cases);
    for (size_t i = 0; rc == SONDE_OK && i < cases.count; i++)
        if (find_case(&cases, cases.cases[i].name, strlen(cases.cases[i].name)) != &cases.cases[i])
            rc = error_set(SONDE_EINTERNAL, "two cases are called '%s'", cases.cases[i].name);
    if (rc == SONDE_OK && o.ptx) {
        rc = write_ptx(o.ptx, &cases);
    } else if (rc == SONDE_OK) {
        rc = bench_open(&b, o.device);
        if (rc == SONDE_OK)
            rc = o.out ? record(&b, &o, &cases) : check(&b, &o, &cases);
        if (b.device)
            bench_close(&b);
    }
    free(cases.cases);
    if (rc < 0)
        fprintf(stderr, "textures_gen: %s\n", error_text());
    return rc == SONDE_EDEVICE ? 3 : rc < 0 ? 4 : rc;
}

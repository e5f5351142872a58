/*
 * vectors_gen: what instructions give on a device.
 *
 *     vectors_gen -d cuda:0 -o DIR [--seed N]        record all forms of forms.txt: DIR/vectors.zst
 *                   [--lanes N] [--draw hard]
 *     vectors_gen -d sim:gtx780 --against cuda:0     record on one, check on the other, keep
 * nothing vectors_gen -d sim:gtx780 --check FILE [-v]    run what FILE has, compare to the bit
 *                            [--known LIST]          forms that are known to fail; all others hold
 *                            [--exact]               whatever tolerance they are recorded with
 *     vectors_gen --ptx DIR                          write the kernels, for an assembler
 *
 * A recording is one zstd frame: a line of text with seed, lanes, and a checksum of the operands
 * (which follow from the seed), a line for each form ('+' recorded, '!' refused by the device), an
 * empty line, and the results of the recorded forms, as wide as they are. NaNs compare as bits too.
 * Exit status 0: all hold; 1: some do not; 2: usage; 3: no device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "device/device.h"
#include "util/error.h"
#include "util/fileio.h"
#include "vectors/forms.h"

#define MODULE_FORMS 64
#define BLOCK 128
#define DEFAULT_LANES 1024
#define KINDS_AT_FIRST 37 /* of operands, when recordings did not tell how many */
#define FILE_LIMIT (UINT64_C(1) << 30)

struct options {
    const char *device, *folder, *check, *against, *known, *ptx, *forms;
    enum form_draw draw;
    uint64_t seed;
    uint32_t lanes;
    bool verbose, exact;
};

/* A device with the operands on it, and room for a form's results. */
struct bench {
    struct device *device;
    uint64_t operands, results, scratch;
    uint32_t lanes;
    uint64_t *host; /* results of the last form: FORM_RESULTS x lanes */
};

static uint64_t checksum(const uint64_t *values, size_t bytes)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes / 8; i++)
        sum = (sum ^ values[i]) * 0x100000001b3;
    return sum;
}

static size_t result_bytes(const struct bench *b)
{
    return (size_t)FORM_RESULTS * b->lanes * sizeof(uint64_t);
}

static int bench_open(struct bench *b, const char *device, const uint64_t *operands, uint32_t lanes)
{
    *b = (struct bench){.lanes = lanes};
    int rc = device_open(&b->device, device);
    size_t bytes = form_operand_bytes(lanes);
    b->host = malloc(result_bytes(b));
    if (rc == SONDE_OK && !b->host)
        rc = error_memory();
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->operands, bytes);
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->results, result_bytes(b));
    if (rc == SONDE_OK)
        rc = device_mem_alloc(b->device, &b->scratch, (uint64_t)lanes * FORM_SCRATCH_BYTES);
    if (rc == SONDE_OK)
        rc = device_copy_to(b->device, b->operands, operands, bytes);
    return rc;
}

static void bench_close(struct bench *b)
{
    free(b->host);
    device_close(b->device);
}

static int run_form(struct bench *b, struct device_module *module, const struct form *form,
                    size_t number)
{
    char name[32];
    struct device_kernel *kernel;
    snprintf(name, sizeof name, "k%zu", number);
    int rc = device_kernel_get(b->device, &kernel, module, name);
    struct device_launch launch = {
        .grid = {b->lanes / BLOCK, 1, 1},
        .block = {BLOCK, 1, 1},
        .args = {&b->operands, &b->results, &b->scratch},
        .arg_sizes = {8, 8, 8},
        .arg_count = 3,
    };
    if (rc == SONDE_OK)
        rc = device_launch(b->device, kernel, &launch);
    if (rc == SONDE_OK)
        rc = device_copy_from(b->device, b->host, b->results,
                              (uint64_t)form->result_count * b->lanes * 8);
    return rc;
}

static int load_forms(struct bench *b, struct device_module **out, const struct form *forms,
                      size_t count)
{
    struct strbuf text = {0};
    form_module_head(&text, form_is_old(forms));
    for (size_t i = 0; i < count; i++)
        form_kernel(&text, &forms[i], i, b->lanes);
    int rc = strbuf_failed(&text)
                 ? error_memory()
                 : device_module_load(b->device, out, "vectors", text.text, text.length);
    strbuf_free(&text);
    return rc;
}

/* What is done with each form: rc is why it could not run, or 0 with b->host filled. */
typedef int form_done(void *ctx, struct bench *b, const struct form *form, int rc);

/* One form in a module of its own, when a module of many was refused. */
static int run_alone(struct bench *b, const struct form *form, form_done *done, void *ctx)
{
    struct device_module *module;
    int rc = load_forms(b, &module, form, 1);
    if (rc < 0)
        return done(ctx, b, form, rc);
    rc = done(ctx, b, form, run_form(b, module, form, 0));
    device_module_unload(b->device, module);
    return rc;
}

/* How many forms from `at` on make a module. */
static size_t module_forms(const struct form_list *forms, size_t at)
{
    size_t count = 1;
    while (count < MODULE_FORMS && at + count < forms->count &&
           form_is_old(&forms->data[at + count]) == form_is_old(&forms->data[at]))
        count++;
    return count;
}

static int run_all(struct bench *b, const struct form_list *forms, form_done *done, void *ctx)
{
    int rc = SONDE_OK;
    for (size_t at = 0, count; rc == SONDE_OK && at < forms->count; at += count) {
        struct device_module *module;
        count = module_forms(forms, at);
        if (load_forms(b, &module, &forms->data[at], count) < 0) {
            for (size_t i = 0; rc == SONDE_OK && i < count; i++)
                rc = run_alone(b, &forms->data[at + i], done, ctx);
            continue;
        }
        for (size_t i = 0; rc == SONDE_OK && i < count; i++)
            rc = done(ctx, b, &forms->data[at + i], run_form(b, module, &forms->data[at + i], i));
        device_module_unload(b->device, module);
    }
    return rc;
}

/* Recording. */

struct recording {
    struct strbuf lines, results;
    size_t recorded, refused;
    const char *why;
};

static void append_results(struct strbuf *out, const struct form *form, const struct bench *b)
{
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        if (!operand->result)
            continue;
        const uint64_t *values = b->host + (size_t)operand->slice * b->lanes;
        for (uint32_t k = 0; k < b->lanes; k++)
            strbuf_append_n(out, (const char *)&values[k], form_kinds[operand->kind].bytes);
    }
}

static int record_form(void *ctx, struct bench *b, const struct form *form, int rc)
{
    struct recording *r = ctx;
    strbuf_printf(&r->lines, "%c%s", rc == SONDE_OK ? '+' : '!', form->text);
    if (form->ulps > 0)
        strbuf_printf(&r->lines, " ~ %.17g", form->ulps);
    if (form->absolute > 0)
        strbuf_printf(&r->lines, " ~ abs %.17g", form->absolute);
    strbuf_append(&r->lines, "\n");
    if (rc < 0) {
        r->refused++;
        fprintf(stderr, "refused: %s: %.300s\n", form->text, error_text());
        return SONDE_OK;
    }
    r->recorded++;
    append_results(&r->results, form, b);
    return SONDE_OK;
}

static int write_recording(const char *path, const struct strbuf *payload)
{
    size_t bound = ZSTD_compressBound(payload->length);
    char *frame = malloc(bound);
    if (!frame)
        return error_memory();
    size_t bytes = ZSTD_compress(frame, bound, payload->text, payload->length, 19);
    struct file_writer writer;
    int rc = ZSTD_isError(bytes) ? error_set(SONDE_EINTERNAL, "%s", ZSTD_getErrorName(bytes))
                                 : file_writer_open(&writer, path);
    if (rc == SONDE_OK) {
        rc = file_writer_write(&writer, frame, bytes);
        if (rc == SONDE_OK)
            rc = file_writer_commit(&writer);
        else
            file_writer_abandon(&writer);
    }
    if (rc == SONDE_OK)
        printf("%s: %zu bytes\n", path, bytes);
    free(frame);
    return rc;
}

/* The recording of `device`, not yet compressed. */
static int collect(struct strbuf *payload, const struct options *o, const char *device,
                   const struct form_list *forms)
{
    struct bench b = {0};
    struct recording r = {0};
    uint64_t *operands = NULL;
    int rc = form_operands(&operands, o->draw, o->seed, o->lanes);
    if (rc == SONDE_OK)
        rc = bench_open(&b, device, operands, o->lanes);
    if (rc == SONDE_OK)
        rc = run_all(&b, forms, record_form, &r);
    if (rc == SONDE_OK) {
        strbuf_printf(payload,
                      "sonde-vectors 1 seed %" PRIu64 " lanes %u %skinds %zu operands %016" PRIx64
                      "\n",
                      o->seed, o->lanes, o->draw == DRAW_HARD ? "draw hard " : "", form_kind_count,
                      checksum(operands, form_operand_bytes(o->lanes)));
        strbuf_append(payload, strbuf_text(&r.lines));
        strbuf_append(payload, "\n");
        strbuf_append_n(payload, strbuf_text(&r.results), r.results.length);
        rc = strbuf_failed(payload) || strbuf_failed(&r.results) ? error_memory() : SONDE_OK;
        printf("%zu forms recorded on %s, %zu refused\n", r.recorded, b.device->info.name,
               r.refused);
    }
    bench_close(&b);
    free(operands);
    strbuf_free(&r.lines);
    strbuf_free(&r.results);
    return rc;
}

static int record(const struct options *o, const struct form_list *forms)
{
    struct strbuf payload = {0};
    char path[4096];
    int rc = file_make_folder(o->folder);
    if (rc == SONDE_OK)
        rc = collect(&payload, o, o->device, forms);
    snprintf(path, sizeof path, "%s/vectors.zst", o->folder);
    if (rc == SONDE_OK)
        rc = write_recording(path, &payload);
    strbuf_free(&payload);
    return rc;
}

/* Checking. */

struct checking {
    const struct options *options;
    const uint64_t *operands;
    const char *results, *end, *known;
    size_t held, failed, unsupported;
    size_t unexpected; /* fails unlisted, or holds although listed */
};

static double as_float(const struct kind *kind, uint64_t bits)
{
    if (kind->fill == FILL_F64 || kind->fill == FILL_LOWD) {
        double value;
        memcpy(&value, &bits, 8);
        return value;
    }
    if (kind->fill == FILL_F16) {
        double value = ldexp((double)(bits & 0x3ff), -24);
        uint32_t exponent = bits >> 10 & 31;
        if (exponent > 0)
            value = ldexp((double)(bits & 0x3ff) + 1024, (int)exponent - 25);
        if (exponent == 31)
            value = bits & 0x3ff ? (double)NAN : (double)INFINITY;
        return bits & 0x8000 ? -value : value;
    }
    uint32_t narrow = kind->fill == FILL_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, 4);
    return (double)value;
}

/* Distance in units in the last place of the kind. */
static double distance(const struct kind *kind, uint64_t a, uint64_t b)
{
    uint64_t sign = UINT64_C(1) << (kind->bytes * 8 - 1), x = a & (sign - 1), y = b & (sign - 1);
    if ((a ^ b) & sign)
        return (double)x + (double)y;
    return (double)(x > y ? x - y : y - x);
}

static bool near_enough(const struct form *form, const struct kind *kind, uint64_t got,
                        uint64_t want)
{
    if (got == want)
        return true;
    if (form->ulps == 0 && form->absolute == 0)
        return false;
    if (kind->fill == FILL_F16X2 || kind->fill == FILL_BF16X2) {
        const struct kind *half = &form_kinds[kind->fill == FILL_F16X2 ? 15 : 16];
        return near_enough(form, half, got & 0xffff, want & 0xffff) &&
               near_enough(form, half, got >> 16, want >> 16);
    }
    double x = as_float(kind, got), y = as_float(kind, want);
    if (isnan(x) || isnan(y) || (x == 0 && y == 0)) /* zeros of other signs differ */
        return false;
    if (form->absolute > 0 && (fabs(x - y) <= form->absolute || fabs(x - y) <= fabs(y) * 0x1p-22))
        return true;
    return form->ulps > 0 && distance(kind, got, want) <= form->ulps;
}

static void print_case(const struct checking *c, const struct bench *b, const struct form *form,
                       uint32_t lane)
{
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        if (operand->result)
            continue;
        uint64_t value =
            c->operands[((size_t)operand->kind * FORM_SLICES + (size_t)operand->slice) * b->lanes +
                        lane];
        unsigned bits = form_kinds[operand->kind].bytes * 8u;
        printf(" %0*" PRIx64, (int)bits / 4,
               bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value);
    }
}

/* Compares one result of a form; returns how many lanes differ and prints the first of them. */
static uint32_t compare_result(struct checking *c, const struct bench *b, const struct form *form,
                               const struct form_operand *operand, bool ran)
{
    const struct kind *kind = &form_kinds[operand->kind];
    uint32_t differ = 0;
    for (uint32_t i = 0; i < b->lanes; i++, c->results += kind->bytes) {
        uint64_t want = 0, got = 0;
        memcpy(&want, c->results, kind->bytes);
        memcpy(&got, &b->host[(size_t)operand->slice * b->lanes + i], kind->bytes);
        if (!ran || got == want || (!c->options->exact && near_enough(form, kind, got, want)))
            continue;
        differ++;
        if (differ > (c->options->verbose ? 8 : 1))
            continue;
        printf("FAIL %s: lane %u:", form->text, i);
        print_case(c, b, form, i);
        printf(": result %d is %0*" PRIx64 ", recorded %0*" PRIx64 "\n", operand->slice,
               kind->bytes * 2, got, kind->bytes * 2, want);
    }
    return differ;
}

/* Is the form listed as a known gap? A line of known.txt is a form, or its beginning and '*'. */
static bool is_known(const struct checking *c, const char *form)
{
    for (const char *at = c->known; at && *at;) {
        size_t length = strcspn(at, "\n"), used = length;
        while (used > 0 && at[used - 1] == ' ')
            used--;
        bool prefix = used > 0 && at[used - 1] == '*';
        if (used > 0 && *at != '#' &&
            (prefix ? strncmp(form, at, used - 1) == 0
                    : strlen(form) == used && memcmp(form, at, used) == 0))
            return true;
        at += length + (at[length] == '\n');
    }
    return false;
}

static int check_form(void *ctx, struct bench *b, const struct form *form, int rc)
{
    struct checking *c = ctx;
    uint32_t differ = 0;
    if (rc < 0 && rc != SONDE_EUNSUPPORTED)
        printf("ERROR %s: %.300s\n", form->text, error_text());
    else if (rc < 0)
        printf("UNSUPPORTED %s\n", form->text);
    for (int i = 0; i < form->operand_count; i++) {
        const struct form_operand *operand = &form->operands[i];
        size_t bytes = (size_t)form_kinds[operand->kind].bytes * b->lanes;
        if (!operand->result)
            continue;
        if ((size_t)(c->end - c->results) < bytes)
            return error_set(SONDE_EINPUT, "the recording ends early");
        differ += compare_result(c, b, form, operand, rc == SONDE_OK);
    }
    if (differ > 0)
        printf("     %u of %u lanes differ\n", differ, b->lanes);
    bool held = rc == SONDE_OK && differ == 0, known = is_known(c, form->text);
    if (held && known)
        printf("HOLDS %s: it is listed as a known gap\n", form->text);
    c->unsupported += rc < 0;
    c->failed += differ > 0;
    c->held += held;
    c->unexpected += held == known;
    return SONDE_OK;
}

static int decompress(char **out, size_t *bytes, const char *path)
{
    char *frame = NULL;
    size_t size = 0;
    int rc = file_read_all(&frame, &size, path, FILE_LIMIT);
    if (rc < 0)
        return rc;
    unsigned long long length = ZSTD_getFrameContentSize(frame, size);
    *out = length <= FILE_LIMIT ? calloc(1, (size_t)length + 1) : NULL;
    *bytes = *out ? ZSTD_decompress(*out, (size_t)length, frame, size) : 0;
    free(frame);
    if (!*out || ZSTD_isError(*bytes)) {
        free(*out);
        return error_set(SONDE_EINPUT, "%s is no recording", path);
    }
    return SONDE_OK;
}

/* The recorded forms; what a device had refused is left out. */
static int read_lines(struct form_list *forms, char **at, const char *path)
{
    while (**at && **at != '\n') {
        char *end = strchr(*at, '\n');
        if (!end)
            return error_set(SONDE_EINPUT, "%s ends early", path);
        *end = '\0';
        int rc = **at == '+' ? forms_read(forms, path, *at + 1) : SONDE_OK;
        if (rc < 0)
            return rc;
        *at = end + 1;
    }
    (*at)++;
    return SONDE_OK;
}

struct head {
    uint64_t seed, sum;
    uint32_t lanes;
    enum form_draw draw;
    size_t kinds; /* of operands there were, which the sum covers */
};

/* The line at a recording's head; NULL when it is none, else what follows. */
static char *read_head(struct head *head, char *payload)
{
    char *end = strchr(payload, '\n'), drawn[8] = "uniform";
    int used = 0;
    *head = (struct head){.kinds = KINDS_AT_FIRST};
    if (!end || sscanf(payload, "sonde-vectors 1 seed %" SCNu64 " lanes %u%n", &head->seed,
                       &head->lanes, &used) != 2)
        return NULL;
    const char *rest = payload + used;
    used = 0;
    if (sscanf(rest, " draw %7s%n", drawn, &used) == 1)
        rest += used;
    used = 0;
    if (sscanf(rest, " kinds %zu%n", &head->kinds, &used) == 1)
        rest += used;
    if (sscanf(rest, " operands %" SCNx64, &head->sum) != 1 || head->kinds > form_kind_count)
        return NULL;
    head->draw = strcmp(drawn, "hard") == 0 ? DRAW_HARD : DRAW_UNIFORM;
    return head->lanes > 0 && head->lanes <= 65536 && head->lanes % BLOCK == 0 ? end + 1 : NULL;
}

static int check_payload(const struct options *o, char *payload, size_t bytes)
{
    struct head head;
    struct form_list forms = {0};
    struct bench b = {0};
    uint64_t *operands = NULL;
    char *at = read_head(&head, payload);
    if (!at)
        return error_set(SONDE_EINPUT, "%s: not a recording of this version", o->check);
    int rc = read_lines(&forms, &at, o->check);
    if (rc == SONDE_OK)
        rc = form_operands(&operands, head.draw, head.seed, head.lanes);
    if (rc == SONDE_OK && checksum(operands, form_kinds_bytes(head.kinds, head.lanes)) != head.sum)
        rc = error_set(SONDE_EINPUT, "%s: made with other operands than seed %" PRIu64 " gives now",
                       o->check, head.seed);
    if (rc == SONDE_OK)
        rc = bench_open(&b, o->device, operands, head.lanes);
    struct checking c = {.options = o, .operands = operands, .results = at, .end = payload + bytes};
    char *known = NULL;
    size_t known_bytes = 0;
    if (rc == SONDE_OK && o->known)
        rc = file_read_all(&known, &known_bytes, o->known, FILE_LIMIT);
    c.known = known;
    if (rc == SONDE_OK)
        rc = run_all(&b, &forms, check_form, &c);
    if (rc == SONDE_OK)
        printf("%zu forms hold, %zu differ, %zu could not run; %zu unexpected\n", c.held, c.failed,
               c.unsupported, c.unexpected);
    free(known);
    bench_close(&b);
    free(operands);
    forms_free(&forms);
    return rc < 0 ? rc : c.unexpected > 0;
}

static int check(const struct options *o)
{
    char *payload = NULL;
    size_t bytes = 0;
    int rc = decompress(&payload, &bytes, o->check);
    if (rc == SONDE_OK) {
        rc = check_payload(o, payload, bytes);
        free(payload);
    }
    return rc;
}

/* What another device gives, held against this one without a file between. */
static int compare_devices(const struct options *o, const struct form_list *forms)
{
    struct strbuf payload = {0};
    struct options named = *o;
    named.check = o->against;
    int rc = collect(&payload, o, o->against, forms);
    if (rc == SONDE_OK)
        rc = check_payload(&named, payload.text, payload.length);
    strbuf_free(&payload);
    return rc;
}

static int write_kernels(const struct options *o, const struct form_list *forms)
{
    int rc = file_make_folder(o->ptx);
    for (size_t i = 0; rc == SONDE_OK && i < forms->count; i++) {
        char path[4096];
        struct strbuf text = {0};
        form_module_head(&text, form_is_old(&forms->data[i]));
        strbuf_printf(&text, "// %s\n", forms->data[i].text);
        form_kernel(&text, &forms->data[i], i, o->lanes);
        snprintf(path, sizeof path, "%s/k%04zu.ptx", o->ptx, i);
        struct file_writer writer;
        rc = strbuf_failed(&text) ? error_memory() : file_writer_open(&writer, path);
        if (rc == SONDE_OK) {
            fputs(text.text, writer.stream);
            rc = file_writer_commit(&writer);
        }
        strbuf_free(&text);
    }
    return rc;
}

static bool read_options(struct options *o, int argc, char **argv)
{
    *o = (struct options){.forms = SONDE_FORMS, .lanes = DEFAULT_LANES, .seed = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "-v") == 0 || strcmp(name, "--exact") == 0) {
            *(name[1] == 'v' ? &o->verbose : &o->exact) = true;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (strcmp(name, "-d") == 0)
            o->device = value;
        else if (strcmp(name, "-o") == 0)
            o->folder = value;
        else if (strcmp(name, "--check") == 0)
            o->check = value;
        else if (strcmp(name, "--against") == 0)
            o->against = value;
        else if (strcmp(name, "--draw") == 0 &&
                 (strcmp(value, "hard") == 0 || strcmp(value, "uniform") == 0))
            o->draw = value[0] == 'h' ? DRAW_HARD : DRAW_UNIFORM;
        else if (strcmp(name, "--known") == 0)
            o->known = value;
        else if (strcmp(name, "--ptx") == 0)
            o->ptx = value;
        else if (strcmp(name, "--forms") == 0)
            o->forms = value;
        else if (strcmp(name, "--seed") == 0)
            o->seed = strtoull(value, NULL, 0);
        else if (strcmp(name, "--lanes") == 0)
            o->lanes = (uint32_t)strtoul(value, NULL, 0);
        else
            return false;
    }
    return o->lanes > 0 && o->lanes <= 65536 && o->lanes % BLOCK == 0 &&
           (o->ptx || (o->device && (o->check || o->against || o->folder)));
}

int main(int argc, char **argv)
{
    struct options o;
    struct form_list forms = {0};
    char *text = NULL;
    size_t bytes = 0;
    if (!read_options(&o, argc, argv)) {
        fprintf(stderr, "usage: vectors_gen -d DEVICE -o DIR [--seed N] [--lanes N] [--draw hard]\n"
                        "                   [--forms FILE]\n"
                        "       vectors_gen -d DEVICE --against DEVICE [as above] [-v]\n"
                        "       vectors_gen -d DEVICE --check FILE [--known FILE] [--exact] [-v]\n"
                        "       vectors_gen --ptx DIR\n");
        return 2;
    }
    int rc = o.check ? check(&o) : file_read_all(&text, &bytes, o.forms, FILE_LIMIT);
    if (!o.check && rc == SONDE_OK)
        rc = forms_read(&forms, o.forms, text);
    if (!o.check && rc == SONDE_OK)
        rc = o.ptx       ? write_kernels(&o, &forms)
             : o.against ? compare_devices(&o, &forms)
                         : record(&o, &forms);
    if (rc < 0)
        fprintf(stderr, "vectors_gen: %s\n", error_text());
    free(text);
    forms_free(&forms);
    return rc < 0 ? (rc == SONDE_EDEVICE ? 3 : 1) : rc;
}

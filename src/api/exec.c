/*
 * One kernel of a PTX file on a simulated device: parameters from their specifications, buffers
 * from and to files, the launch, and what it cost.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "model/model.h"
#include "ptx/ir.h"
#include "rt/rt.h"
#include "sonde/sonde.h"
#include "statistics/statistics.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/container/strbuf.h"
#include "util/text/units.h"

#define PTX_LIMIT_BYTES ((size_t)64 << 20)
#define BUFFER_LIMIT_BYTES ((size_t)4 << 30)

/* One argument: a scalar, or a buffer whose address is passed. */
struct argument {
    uint64_t bits; /* the value, or the buffer's device address */
    uint32_t bytes;
    enum isa_type_kind kind;
    uint64_t buffer_bytes;
    char *out_path; /* where the buffer goes afterwards, or NULL */
};

struct run {
    struct rt *rt;
    struct rt_module *module;
    struct rt_kernel *kernel;
    struct argument *args;
    size_t arg_count;
};

static int bad_argument(const char *spec, const char *why)
{
    return error_set(SONDE_EUSAGE, "--arg %s: %s", spec, why);
}

/* strtoull() and its kind pass blanks over, and take a minus behind them. */
static bool begins_as_number(const char *text, bool is_signed)
{
    text += is_signed && *text == '-';
    return *text >= '0' && *text <= '9';
}

static int parse_integer(struct argument *arg, const char *spec, const char *text, bool is_signed)
{
    char *end;
    errno = 0;
    arg->bits = is_signed ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (!begins_as_number(text, is_signed) || *end || errno) {
        return bad_argument(spec, "not a number of that type");
    }
    int64_t value = (int64_t)arg->bits;
    bool fits = arg->bytes == 8 ||
                (is_signed ? value >= INT32_MIN && value <= INT32_MAX : arg->bits <= UINT32_MAX);
    return fits ? 0 : bad_argument(spec, "out of range");
}

static int parse_float(struct argument *arg, const char *spec, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)text[0])) {
        return bad_argument(spec, "not a number");
    }
    float narrow = (float)value;
    bool fits = !isinf(arg->bytes == 8 ? value : (double)narrow) || strchr(text, 'i') ||
                strchr(text, 'I'); /* who says infinity means it */
    if (arg->bytes == 8) {
        memcpy(&arg->bits, &value, 8);
    } else {
        memcpy(&arg->bits, &narrow, 4);
    }
    return fits ? 0 : bad_argument(spec, "out of range");
}

/* A buffer of `bytes`, holding `data` or zeros. */
static int make_buffer(struct run *run, struct argument *arg, const char *spec, uint64_t bytes,
                       const void *data)
{
    arg->bytes = 8;
    arg->kind = KIND_BITS;
    arg->buffer_bytes = bytes;
    int rc = rt_mem_alloc(run->rt, &arg->bits, bytes);
    if (rc < 0) {
        return error_prefix(rc, "--arg %s", spec);
    }
    return data ? rt_copy_to_device(run->rt, arg->bits, data, bytes)
                : rt_memset(run->rt, arg->bits, 0, bytes);
}

static int parse_bytes(uint64_t *bytes, const char *spec, const char *text)
{
    char *end;
    errno = 0;
    *bytes = strtoull(text, &end, 0);
    if (end != text && !*end && !begins_as_number(text, false)) {
        return bad_argument(spec, "not a number of bytes");
    }
    if (end == text || *end || errno) {
        int rc = units_parse_u64(bytes, text, UNIT_BYTES);
        if (rc < 0) {
            return error_prefix(SONDE_EUSAGE, "--arg %s", spec);
        }
    }
    return *bytes > 0 ? 0 : bad_argument(spec, "the buffer would be empty");
}

static int buffer_from_file(struct run *run, struct argument *arg, const char *spec,
                            const char *path)
{
    char *data;
    size_t size;
    int rc = file_read_all(&data, &size, path, BUFFER_LIMIT_BYTES);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = size > 0 ? make_buffer(run, arg, spec, size, data)
                  : bad_argument(spec, "the file is empty");
    free(data);
    return rc;
}

static int buffer_to_file(struct run *run, struct argument *arg, const char *spec, const char *rest)
{
    const char *colon = strrchr(rest, ':');
    uint64_t bytes;
    if (!colon || colon == rest) {
        return bad_argument(spec, "expected out:PATH:BYTES");
    }
    int rc = parse_bytes(&bytes, spec, colon + 1);
    if (rc < 0) {
        return rc;
    }
    arg->out_path = strndup(rest, (size_t)(colon - rest));
    return arg->out_path ? make_buffer(run, arg, spec, bytes, NULL) : error_memory();
}

static int parse_buffer(struct run *run, struct argument *arg, const char *spec, const char *kind,
                        const char *rest)
{
    uint64_t bytes;
    if (strcmp(kind, "zero") == 0) {
        int rc = parse_bytes(&bytes, spec, rest);
        return rc < 0 ? rc : make_buffer(run, arg, spec, bytes, NULL);
    }
    if (strcmp(kind, "file") == 0) {
        return buffer_from_file(run, arg, spec, rest);
    }
    if (strcmp(kind, "out") == 0) {
        return buffer_to_file(run, arg, spec, rest);
    }
    if (strcmp(kind, "inout") == 0) {
        arg->out_path = strdup(rest);
        return arg->out_path ? buffer_from_file(run, arg, spec, rest) : error_memory();
    }
    return bad_argument(spec, "expected u32, s32, u64, s64, f32, f64, zero, file, out or inout");
}

static int parse_argument(struct run *run, struct argument *arg, const char *spec)
{
    static const struct {
        const char *name;
        uint32_t bytes;
        enum isa_type_kind kind;
    } scalars[] = {
        {"u32", 4, KIND_UNSIGNED}, {"s32", 4, KIND_SIGNED}, {"u64", 8, KIND_UNSIGNED},
        {"s64", 8, KIND_SIGNED},   {"f32", 4, KIND_FLOAT},  {"f64", 8, KIND_FLOAT},
    };
    const char *colon = strchr(spec, ':');
    char kind[8];
    if (!colon || (size_t)(colon - spec) >= sizeof(kind)) {
        return bad_argument(spec, "expected KIND:VALUE");
    }
    memcpy(kind, spec, (size_t)(colon - spec));
    kind[colon - spec] = '\0';
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        if (strcmp(kind, scalars[i].name) == 0) {
            arg->bytes = scalars[i].bytes;
            arg->kind = scalars[i].kind;
            return arg->kind == KIND_FLOAT
                       ? parse_float(arg, spec, colon + 1)
                       : parse_integer(arg, spec, colon + 1, arg->kind == KIND_SIGNED);
        }
    }
    return parse_buffer(run, arg, spec, kind, colon + 1);
}

/* A value of the wrong size or kind would be read as garbage: refuse it by the parameter's name. */
static int check_argument(const struct run *run, size_t i, const char *spec)
{
    const struct ptx_var *param = rt_kernel_param(run->kernel, (uint32_t)i);
    struct argument *arg = &run->args[i];
    enum isa_type_kind kind = isa_type_info(param->type)->kind;
    bool float_mismatch = kind != KIND_BITS && arg->kind != KIND_BITS &&
                          (kind == KIND_FLOAT) != (arg->kind == KIND_FLOAT);
    if (arg->buffer_bytes > 0 && param->size == 4 && arg->bits <= UINT32_MAX) {
        arg->bytes = 4; /* a pointer of 32 bits */
    }
    if (param->size != arg->bytes || float_mismatch) {
        return error_set(SONDE_EUSAGE, "--arg %s: parameter %zu, '%s', is .%s (%" PRIu64 " bytes)",
                         spec, i, param->name, isa_type_info(param->type)->text, param->size);
    }
    return 0;
}

/* The parameters as they are declared: what the user has to give. */
static int wrong_count(const struct run *run, size_t given)
{
    struct strbuf list = {0};
    uint32_t wanted = rt_kernel_param_count(run->kernel);
    for (uint32_t i = 0; i < wanted; i++) {
        const struct ptx_var *param = rt_kernel_param(run->kernel, i);
        const char *type = isa_type_info(param->type)->text;
        bool one = param->size == isa_type_info(param->type)->bytes;
        strbuf_printf(&list, "%s.%s %s", i ? ", " : ": ", type, param->name);
        if (!one) {
            strbuf_printf(&list, " (%" PRIu64 " bytes)", param->size);
        }
    }
    error_set(SONDE_EUSAGE, "kernel '%s' has %u parameter%s, %zu --arg %s given%s",
              rt_kernel_name(run->kernel), wanted, wanted == 1 ? "" : "s", given,
              given == 1 ? "was" : "were", strbuf_text(&list));
    strbuf_free(&list);
    return SONDE_EUSAGE;
}

/* What two buffers leave in one file is what the last one holds. */
static int check_outputs_differ(const struct run *run, const struct sonde_exec_options *options)
{
    for (size_t i = 0; i < run->arg_count; i++) {
        const char *path = run->args[i].out_path;
        if (path && options->stats_path && file_is_same(path, options->stats_path)) {
            return error_set(SONDE_EUSAGE, "--arg %s and --stats write the same file",
                             options->args[i]);
        }
        for (size_t k = 0; path && k < i; k++) {
            if (run->args[k].out_path && file_is_same(path, run->args[k].out_path)) {
                return error_set(SONDE_EUSAGE, "--arg %s and --arg %s write the same file",
                                 options->args[k], options->args[i]);
            }
        }
    }
    return 0;
}

static int make_arguments(struct run *run, const struct sonde_exec_options *options)
{
    if (options->arg_count != rt_kernel_param_count(run->kernel)) {
        return wrong_count(run, options->arg_count);
    }
    run->args = calloc(options->arg_count ? options->arg_count : 1, sizeof(*run->args));
    if (!run->args) {
        return error_memory();
    }
    for (size_t i = 0; i < options->arg_count; i++) {
        run->arg_count = i + 1;
        int rc = parse_argument(run, &run->args[i], options->args[i]);
        rc = rc < 0 ? rc : check_argument(run, i, options->args[i]);
        if (rc < 0) {
            return rc;
        }
    }
    return check_outputs_differ(run, options);
}

static int add_file(struct rt_link *link, const char *path)
{
    char *ptx;
    size_t size;
    int rc = file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = rt_link_add(link, path, ptx, size);
        free(ptx);
    }
    return rc;
}

static int load_linked(struct run *run, const struct sonde_exec_options *options)
{
    struct rt_link *link;
    int rc = rt_link_create(run->rt, &link);
    rc = rc < 0 ? rc : add_file(link, options->ptx_path);
    for (size_t i = 0; rc == 0 && i < options->link_count; i++) {
        rc = add_file(link, options->link_paths[i]);
    }
    rc = rc < 0 ? rc : rt_link_complete(link, &run->module);
    rt_link_destroy(link);
    return rc;
}

static int load_alone(struct run *run, const struct sonde_exec_options *options)
{
    char *ptx;
    size_t size;
    int rc = file_read_all(&ptx, &size, options->ptx_path, PTX_LIMIT_BYTES);
    if (rc == 0) {
        rc = rt_module_load(run->rt, &run->module, options->ptx_path, ptx, size);
        free(ptx);
    }
    return rc;
}

static int set_limits(struct run *run, const struct sonde_exec_options *options)
{
    int rc = 0;
    if (options->printf_bytes > 0) {
        rc = rt_set_limit(run->rt, RT_LIMIT_PRINTF_FIFO, options->printf_bytes);
    }
    if (rc == 0 && options->heap_bytes > 0) {
        rc = rt_set_limit(run->rt, RT_LIMIT_MALLOC_HEAP, options->heap_bytes);
    }
    if (rc == 0 && options->threads > 0) {
        rc = rt_set_threads(run->rt, options->threads);
    }
    return rc == SONDE_EINPUT ? SONDE_EUSAGE : rc;
}

/* Does the file's text say so? What is wrong with it is told when it is loaded. */
static bool has_narrow_pointers(const char *path)
{
    char *ptx;
    size_t size;
    struct ptx_module *module;
    if (file_read_all(&ptx, &size, path, PTX_LIMIT_BYTES) < 0) {
        return false;
    }
    bool narrow = ptx_parse(&module, path, ptx, size) == 0;
    if (narrow) {
        narrow = module->address_size == 32;
        ptx_module_destroy(module);
    }
    free(ptx);
    return narrow;
}

static int load(struct run *run, const char *device_spec, const struct sonde_exec_options *options)
{
    if (strncmp(device_spec, "sim:", 4) != 0) {
        bool other =
            strncmp(device_spec, "cuda:", 5) == 0 || strncmp(device_spec, "replay:", 7) == 0;
        return other
                   ? error_set(SONDE_EUSAGE, "'%s': kernels are run on simulated devices, sim:NAME",
                               device_spec)
                   : device_unknown(device_spec);
    }
    struct model *model;
    int rc = model_load(&model, device_spec + 4);
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = has_narrow_pointers(options->ptx_path) ? rt_create_narrow(&run->rt, model)
                                                : rt_create(&run->rt, model);
    model_destroy(model);
    rc = rc < 0 ? rc : set_limits(run, options);
    if (rc == SONDE_EUSAGE) {
        return rc;
    }
    if (rc == 0) {
        rc = options->link_count > 0 ? load_linked(run, options) : load_alone(run, options);
    }
    if (rc < 0) {
        return api_read_result(rc);
    }
    rc = options->any_target ? 0 : rt_module_check_target(run->module);
    if (rc < 0) {
        return error_set(rc, "%s; --any-target runs it all the same", error_text());
    }
    rt_set_cancel(run->rt, options->watch.cancel);
    rt_set_print(run->rt, options->print, options->print_ctx);
    return rt_kernel_get(run->module, &run->kernel, options->kernel);
}

static int launch(struct run *run, const struct sonde_exec_options *options, uint64_t *cycles)
{
    const void **pointers = calloc(run->arg_count ? run->arg_count : 1, sizeof(*pointers));
    if (!pointers) {
        return error_memory();
    }
    for (size_t i = 0; i < run->arg_count; i++) {
        pointers[i] = &run->args[i].bits;
    }
    struct rt_launch request = {
        .dynamic_shared_bytes = options->dynamic_shared_bytes,
        .args = pointers,
        .arg_count = (uint32_t)run->arg_count,
        .functional = options->functional,
        .cooperative = options->cooperative,
    };
    memcpy(request.grid, options->grid, sizeof(request.grid));
    memcpy(request.block, options->block, sizeof(request.block));
    int rc = rt_launch(run->rt, run->kernel, &request, cycles);
    free(pointers);
    return rc;
}

static int write_buffer(struct run *run, const struct argument *arg)
{
    char *data = malloc(arg->buffer_bytes);
    if (!data) {
        return error_memory();
    }
    struct file_writer writer;
    int rc = rt_copy_from_device(run->rt, data, arg->bits, arg->buffer_bytes);
    rc = rc < 0 ? rc : file_writer_open(&writer, arg->out_path);
    if (rc == 0) {
        rc = file_writer_write(&writer, data, arg->buffer_bytes);
        if (rc == 0) {
            rc = file_writer_commit(&writer);
        } else {
            file_writer_abandon(&writer);
        }
    }
    free(data);
    return rc;
}

static char *costs(const struct run *run, bool functional, uint64_t cycles)
{
    struct gpu_stats stats;
    struct strbuf out = {0};
    uint32_t registers, shared, local;
    rt_kernel_info(run->kernel, &registers, &shared, &local);
    strbuf_printf(&out,
                  "registers         %u per thread\nshared            %u B static\n"
                  "local             %u B per thread\n",
                  registers, shared, local);
    if (rt_print_lost(run->rt) > 0) {
        strbuf_printf(&out, "printf_lost       %" PRIu64 "\n", rt_print_lost(run->rt));
    }
    if (functional) {
        return strbuf_take(&out);
    }
    gpu_stats(rt_gpu(run->rt), &stats);
#define LINE(label, value) strbuf_printf(&out, "%-17s %" PRIu64 "\n", label, value)
    LINE("cycles", cycles);
    LINE("warp_insns", stats.warp_insns);
    LINE("thread_insns", stats.thread_insns);
    if (stats.sm.lowered_insns) {
        LINE("machine_insns", stats.machine_insns);
    }
    LINE("transactions", stats.transactions);
    LINE("l1_reads", stats.l1_reads);
    LINE("l1_hits", stats.l1_hits);
    LINE("l2_reads", stats.l2_reads);
    LINE("l2_hits", stats.l2_hits);
    LINE("dram_reads", stats.dram_reads);
    LINE("dram_writes", stats.dram_writes);
    if (stats.tlb_l1_reads + stats.tlb_l2_reads > 0) {
        LINE("tlb_l1_reads", stats.tlb_l1_reads);
        LINE("tlb_l1_hits", stats.tlb_l1_hits);
        LINE("tlb_l2_reads", stats.tlb_l2_reads);
        LINE("tlb_l2_hits", stats.tlb_l2_hits);
        LINE("page_walks", stats.walks);
        LINE("page_walk_reads", stats.walk_reads);
        LINE("window_switches", stats.window_switches);
    }
    if (stats.texture_reads > 0) {
        LINE("texture_reads", stats.texture_reads);
        LINE("texture_hits", stats.texture_hits);
    }
    if (stats.constant_reads > 0) {
        LINE("constant_reads", stats.constant_reads);
        LINE("constant_hits", stats.constant_hits);
        LINE("constant_l15_reads", stats.constant_l15_reads);
        LINE("constant_l15_hits", stats.constant_l15_hits);
    }
    LINE("shared_accesses", stats.shared_accesses);
    LINE("shared_conflicts", stats.shared_conflicts);
#undef LINE
    return strbuf_take(&out);
}

/* The launch, its statistics written where the caller wants them. */
static int launch_and_count(struct run *run, const struct sonde_exec_options *options,
                            uint64_t *cycles)
{
    if (!options->stats_path) {
        return launch(run, options, cycles);
    }
    struct gpu *gpu = rt_gpu(run->rt);
    struct placements placements = {0};
    struct statistics statistics = {0};
    struct gpu_stats before, stats;
    gpu_stats(gpu, &before);
    gpu_set_placed(gpu, placements_note, &placements);
    int rc = launch(run, options, cycles);
    gpu_set_placed(gpu, NULL, NULL);
    gpu_stats(gpu, &stats);
    gpu_stats_since(&stats, &before);
    if (rc == 0) {
        statistics_add(&statistics, rt_kernel_name(run->kernel), &stats);
        rc = statistics_write(options->stats_path, rt_model(run->rt), &statistics, &placements);
    }
    statistics_free(&statistics);
    placements_free(&placements);
    return rc;
}

int sonde_exec(char **text, const char *device_spec, const struct sonde_exec_options *options)
{
    struct run run = {0};
    uint64_t cycles = 0;
    if (options->stats_path && strcmp(options->stats_path, "-") == 0) {
        return error_set(SONDE_EUSAGE, "statistics go to a file: standard output is the kernel's");
    }
    if (options->stats_path && options->functional) {
        return error_set(SONDE_EUSAGE, "statistics are of timed launches; --functional has none");
    }
    int rc = load(&run, device_spec, options);
    rc = rc < 0 ? rc : make_arguments(&run, options);
    rc = rc < 0 ? rc : launch_and_count(&run, options, &cycles);
    for (size_t i = 0; rc == 0 && i < run.arg_count; i++) {
        rc = run.args[i].out_path ? write_buffer(&run, &run.args[i]) : 0;
    }
    if (rc == 0) {
        *text = costs(&run, options->functional, cycles);
        rc = *text ? 0 : error_memory();
    }
    if (rc == SONDE_ENOMEM && run.rt && rt_memory_full(run.rt)) {
        rc = SONDE_EINPUT; /* the program wants more than the device has */
    }
    for (size_t i = 0; i < run.arg_count; i++) {
        free(run.args[i].out_path);
    }
    free(run.args);
    rt_destroy(run.rt);
    return rc;
}

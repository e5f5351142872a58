/*
 * Kernels of a PTX file on one device: arguments from their specifications, buffers that launches
 * share, the launches in turn, results to files and as text, and what it cost.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/exec/spec.h"
#include "api/exec/target.h"
#include "api/exec/elements.h"
#include "device/device.h"
#include "sonde/sonde.h"
#include "util/error.h"
#include "util/fileio.h"

#define PRINT_COLUMNS 8

/* An argument on its device. */
struct bound {
    struct exec_arg arg;
    uint64_t handle; /* address, texture or surface object */
    void *image;
};

struct run {
    struct exec_target *target;
    const struct sonde_exec_options *options;
    const struct sonde_exec_launch **launches; /* the first, and those behind it */
    struct exec_kernel *kernels;               /* of the launches */
    size_t launch_count;
    struct bound *bound; /* of all launches, in order */
    size_t bound_count;
    struct sonde_exec_launch first;
};

/* ---- parameters ---- */

/* The parameters as they are declared: what the user has to give. */
static int wrong_count(const struct exec_kernel *kernel, size_t given)
{
    struct strbuf list = {0};
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct ptx_var *param = kernel->param(kernel, i);
        const char *type = isa_type_info(param->type)->text;
        bool one = param->size == isa_type_info(param->type)->bytes;
        strbuf_printf(&list, "%s.%s %s", i ? ", " : ": ", type, param->name);
        if (!one) {
            strbuf_printf(&list, " (%" PRIu64 " bytes)", param->size);
        }
    }
    error_set(SONDE_EUSAGE, "kernel '%s' has %u parameter%s, %zu --arg %s given%s", kernel->name,
              kernel->param_count, kernel->param_count == 1 ? "" : "s", given,
              given == 1 ? "was" : "were", strbuf_text(&list));
    strbuf_free(&list);
    return SONDE_EUSAGE;
}

/* A value of the wrong size or kind would be read as garbage: refuse it by the parameter's name. */
static int check_argument(const struct exec_kernel *kernel, uint32_t i, const struct bound *bound)
{
    const struct ptx_var *param = kernel->param(kernel, i);
    const struct exec_arg *arg = &bound->arg;
    enum isa_type_kind wanted = isa_type_info(param->type)->kind;
    bool is_value = arg->form == ARG_VALUE;
    enum isa_type_kind kind = is_value ? isa_type_info(arg->type)->kind : KIND_BITS;
    bool float_mismatch =
        wanted != KIND_BITS && kind != KIND_BITS && (wanted == KIND_FLOAT) != (kind == KIND_FLOAT);
    uint64_t bytes = is_value || arg->form == ARG_BYTES             ? arg->bytes
                     : param->size == 4 && bound->handle >> 32 == 0 ? 4 /* a pointer of 32 bits */
                                                                    : 8;
    if (param->size != bytes || float_mismatch) {
        return error_set(SONDE_EUSAGE, "--arg %s: parameter %u, '%s', is .%s (%" PRIu64 " bytes)",
                         arg->spec, i, param->name, isa_type_info(param->type)->text, param->size);
    }
    return 0;
}

/* ---- buffers ---- */

static int bind_buffer(struct run *run, struct bound *bound)
{
    const struct exec_target_ops *ops = run->target->ops;
    run->target->spec = bound->arg.spec;
    int rc = ops->alloc(run->target, &bound->handle, bound->arg.bytes);
    if (rc < 0) {
        return error_prefix(rc, "--arg %s", bound->arg.spec);
    }
    return ops->write(run->target, bound->handle, bound->arg.data, bound->arg.bytes);
}

static int bind_image(struct run *run, struct bound *bound)
{
    const struct exec_target_ops *ops = run->target->ops;
    const struct exec_arg *arg = &bound->arg;
    int rc = ops->image(run->target, &bound->image, &arg->image, arg->data);
    if (rc == 0) {
        rc = arg->form == ARG_SURFACE
                 ? ops->surface(run->target, &bound->handle, bound->image)
                 : ops->texture(run->target, &bound->handle, bound->image, &arg->view);
    }
    return rc < 0 ? error_prefix(rc, "--arg %s", arg->spec) : 0;
}

/* The argument whose buffer `same` passes again: by its name, or by its number on the command line,
 * from 0. */
static int bind_same(struct run *run, struct bound *bound)
{
    uint64_t number;
    size_t self = (size_t)(bound - run->bound);
    const char *same = bound->arg.same;
    bool numbered = !element_parse(&number, TYPE_u64, same);
    for (size_t i = 0; i < self; i++) {
        const struct bound *other = &run->bound[i];
        bool meant = numbered ? i == number : strcmp(other->arg.name, same) == 0;
        if (meant && other->arg.form != ARG_VALUE && other->arg.form != ARG_BYTES) {
            bound->handle = other->handle;
            return 0;
        }
    }
    return bad_argument(bound->arg.spec,
                        "no argument before it is a buffer of that name or number");
}

static int check_name(const struct run *run, const struct bound *bound)
{
    for (const struct bound *other = run->bound; other < bound; other++) {
        if (bound->arg.name[0] && strcmp(bound->arg.name, other->arg.name) == 0) {
            return bad_argument(bound->arg.spec, "another argument has that name");
        }
    }
    return 0;
}

static int bind(struct run *run, struct bound *bound)
{
    int rc = check_name(run, bound);
    if (rc < 0) {
        return rc;
    }
    switch (bound->arg.form) {
    case ARG_BUFFER:
        return bind_buffer(run, bound);
    case ARG_SAME:
        return bind_same(run, bound);
    case ARG_TEXTURE:
    case ARG_SURFACE:
        return bind_image(run, bound);
    case ARG_VALUE:
    case ARG_BYTES:
        break;
    }
    return 0;
}

/* What two buffers leave in one file is what the last one holds. */
static int check_outputs_differ(const struct run *run)
{
    const char *stats_path = run->options->stats_path;
    for (size_t i = 0; i < run->bound_count; i++) {
        const struct exec_arg *arg = &run->bound[i].arg;
        if (arg->out_path && stats_path && file_is_same(arg->out_path, stats_path)) {
            return error_set(SONDE_EUSAGE, "--arg %s and --stats write the same file", arg->spec);
        }
        for (size_t k = 0; arg->out_path && k < i; k++) {
            const struct exec_arg *other = &run->bound[k].arg;
            if (other->out_path && file_is_same(arg->out_path, other->out_path)) {
                return error_set(SONDE_EUSAGE, "--arg %s and --arg %s write the same file",
                                 other->spec, arg->spec);
            }
        }
    }
    return 0;
}

/* The kernel of a launch, and its arguments. */
static int prepare(struct run *run, size_t l)
{
    const struct sonde_exec_launch *launch = run->launches[l];
    struct exec_kernel *kernel = &run->kernels[l];
    assert(run->target && launch); /* opened, and listed by prepare_all() */
    int rc = run->target->ops->kernel(run->target, kernel, launch->kernel);
    if (rc < 0) {
        return rc;
    }
    if (launch->arg_count != kernel->param_count) {
        return wrong_count(kernel, launch->arg_count);
    }
    for (uint32_t i = 0; i < launch->arg_count; i++) {
        struct bound *bound = &run->bound[run->bound_count];
        rc = exec_arg_parse(&bound->arg, launch->args[i]);
        if (rc < 0) {
            return rc;
        }
        run->bound_count++;
        rc = bind(run, bound);
        rc = rc < 0 ? rc : check_argument(kernel, i, bound);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int prepare_all(struct run *run)
{
    const struct sonde_exec_options *options = run->options;
    size_t args = options->arg_count;
    run->launch_count = 1 + options->then_count;
    run->first = (struct sonde_exec_launch){
        .kernel = options->kernel,
        .dynamic_shared_bytes = options->dynamic_shared_bytes,
        .args = options->args,
        .arg_count = options->arg_count,
        .cooperative = options->cooperative,
    };
    memcpy(run->first.grid, options->grid, sizeof(run->first.grid));
    memcpy(run->first.block, options->block, sizeof(run->first.block));
    run->launches = calloc(run->launch_count, sizeof(struct sonde_exec_launch *));
    run->kernels = calloc(run->launch_count, sizeof(*run->kernels));
    for (size_t i = 0; i < options->then_count; i++) {
        args += options->then[i].arg_count;
    }
    run->bound = calloc(args + 1, sizeof(*run->bound));
    if (!run->launches || !run->kernels || !run->bound) {
        return error_memory();
    }
    run->launches[0] = &run->first;
    for (size_t i = 0; i < options->then_count; i++) {
        run->launches[i + 1] = &options->then[i];
    }
    int rc = 0;
    for (size_t l = 0; rc == 0 && l < run->launch_count; l++) {
        rc = prepare(run, l);
    }
    return rc < 0 ? rc : check_outputs_differ(run);
}

/* ---- launches ---- */

static const void *passed(const struct bound *bound)
{
    bool by_value = bound->arg.form == ARG_VALUE || bound->arg.form == ARG_BYTES;
    return by_value ? (const void *)bound->arg.data : (const void *)&bound->handle;
}

static int launch(struct run *run, size_t l, const struct bound *bound, struct strbuf *costs)
{
    const struct sonde_exec_launch *launch = run->launches[l];
    assert(launch); /* prepared */
    const void **args = calloc(launch->arg_count + 1, sizeof(*args));
    if (!args) {
        return error_memory();
    }
    for (size_t i = 0; i < launch->arg_count; i++) {
        args[i] = passed(&bound[i]);
    }
    struct exec_request request = {
        .kernel = &run->kernels[l],
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .cooperative = launch->cooperative,
        .args = args,
        .arg_count = (uint32_t)launch->arg_count,
    };
    memcpy(request.grid, launch->grid, sizeof(request.grid));
    memcpy(request.block, launch->block, sizeof(request.block));
    if (run->launch_count > 1) {
        strbuf_printf(costs, "%skernel            %s\n", l ? "\n" : "", request.kernel->name);
    }
    int rc = run->target->ops->launch(run->target, &request, costs);
    free(args);
    return rc;
}

static int launch_all(struct run *run, struct strbuf *costs)
{
    const struct bound *bound = run->bound;
    int rc = 0;
    for (size_t l = 0; rc == 0 && l < run->launch_count; l++) {
        rc = launch(run, l, bound, costs);
        bound += run->launches[l]->arg_count;
    }
    if (rc == 0 && run->target->ops->finish) {
        rc = run->target->ops->finish(run->target);
    }
    return rc;
}

/* ---- results ---- */

/* What the buffer or image holds now, arg.bytes of it; free() it. */
static int fetch(struct run *run, unsigned char **data, const struct bound *bound)
{
    const struct exec_target_ops *ops = run->target->ops;
    *data = malloc(bound->arg.bytes);
    if (!*data) {
        return error_memory();
    }
    int rc = bound->image ? ops->image_read(run->target, *data, bound->image)
                          : ops->read(run->target, *data, bound->handle, bound->arg.bytes);
    if (rc < 0) {
        free(*data);
    }
    return rc;
}

static int write_out(struct run *run, const struct bound *bound)
{
    unsigned char *data;
    int rc = fetch(run, &data, bound);
    if (rc == 0) {
        rc = file_write_all(bound->arg.out_path, data, bound->arg.bytes);
        free(data);
    }
    return rc;
}

/* Elements, eight a line behind the first one's index. */
static void print_elements(struct strbuf *out, const char *title, enum isa_type type,
                           const unsigned char *data, uint64_t count)
{
    strbuf_printf(out, "%s %s[%" PRIu64 "]\n", title, isa_type_info(type)->text, count);
    for (uint64_t i = 0; i < count; i++) {
        if (i % PRINT_COLUMNS == 0) {
            strbuf_printf(out, "%6" PRIu64 ":", i);
        }
        strbuf_append_char(out, ' ');
        element_print(out, type, data + i * isa_type_info(type)->bytes);
        if (i % PRINT_COLUMNS == PRINT_COLUMNS - 1 || i == count - 1) {
            strbuf_append_char(out, '\n');
        }
    }
}

static int print_buffer(struct run *run, const struct bound *bound, const char *title,
                        enum isa_type type, uint64_t count)
{
    unsigned char *data;
    struct strbuf out = {0};
    int rc = fetch(run, &data, bound);
    if (rc < 0) {
        return rc;
    }
    print_elements(&out, title, type, data, count);
    free(data);
    rc = strbuf_failed(&out) ? error_memory() : 0;
    if (rc == 0 && run->options->print) {
        run->options->print(run->options->print_ctx, out.text, out.length);
    }
    strbuf_free(&out);
    return rc;
}

/* What print: asks for of the argument with that number on the command line. */
static int print_argument(struct run *run, size_t i)
{
    const struct bound *bound = &run->bound[i];
    char number[24];
    snprintf(number, sizeof(number), "%zu", i);
    return print_buffer(run, bound, bound->arg.name[0] ? bound->arg.name : number, bound->arg.type,
                        bound->arg.prints);
}

static const struct bound *named(const struct run *run, const char *name)
{
    uint64_t number;
    bool numbered = !element_parse(&number, TYPE_u64, name);
    for (size_t i = 0; i < run->bound_count; i++) {
        const struct exec_arg *arg = &run->bound[i].arg;
        if (numbered ? i == number && arg->form == ARG_BUFFER : strcmp(arg->name, name) == 0) {
            return &run->bound[i];
        }
    }
    return NULL;
}

/* `text` of --print; checked before anything runs, then printed. */
static int print_option(struct run *run, const char *text, bool only_check)
{
    struct exec_print print;
    int rc = exec_print_parse(&print, text);
    if (rc < 0) {
        return rc;
    }
    const struct bound *bound = named(run, print.name);
    if (!bound) {
        return error_set(SONDE_EUSAGE, "--print %s: no argument is a buffer of that name or number",
                         text);
    }
    enum isa_type type = print.typed ? print.type : bound->arg.type;
    uint64_t held = bound->arg.bytes / isa_type_info(type)->bytes;
    if (print.count > held) {
        return error_set(SONDE_EUSAGE, "--print %s: the buffer holds %" PRIu64 " of them", text,
                         held);
    }
    return only_check
               ? 0
               : print_buffer(run, bound, print.name, type, print.count ? print.count : held);
}

static int print_options(struct run *run, bool only_check)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < run->options->print_count; i++) {
        rc = print_option(run, run->options->prints[i], only_check);
    }
    return rc;
}

static int results(struct run *run)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < run->bound_count; i++) {
        rc = run->bound[i].arg.out_path ? write_out(run, &run->bound[i]) : 0;
        rc = rc == 0 && run->bound[i].arg.prints ? print_argument(run, i) : rc;
    }
    return rc < 0 ? rc : print_options(run, false);
}

static int open_target(struct run *run, const char *device_spec)
{
    if (strncmp(device_spec, "sim:", 4) == 0) {
        return exec_target_sim(&run->target, device_spec + 4, run->options);
    }
    if (strncmp(device_spec, "cuda:", 5) == 0) {
        return exec_target_cuda(&run->target, device_spec, run->options);
    }
    bool replay = strncmp(device_spec, "replay:", 7) == 0;
    return replay ? error_set(SONDE_EUSAGE, "'%s': a recording runs no kernels", device_spec)
                  : device_unknown(device_spec);
}

static void run_free(struct run *run)
{
    for (size_t i = 0; i < run->bound_count; i++) {
        exec_arg_free(&run->bound[i].arg);
    }
    free(run->bound);
    free(run->kernels);
    free(run->launches);
    if (run->target) {
        run->target->ops->close(run->target);
    }
}

/* What is asked of timed launches, where none is timed. */
static int check_timed(const struct sonde_exec_options *options)
{
    const struct {
        bool asked;
        const char *what;
    } timed[] = {
        {options->timeline_path != NULL, "a time line is"},
        {options->profile != NULL, "a profile is"},
        {options->summary, "a summary is"},
        {options->cold, "empty caches are"},
        {options->stats_path != NULL, "statistics are"},
        {options->max_cycles > 0, "a bound of cycles is"},
    };
    for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
        if (timed[i].asked && (options->functional || options->check)) {
            return error_set(SONDE_EUSAGE, "%s of timed launches; %s has none", timed[i].what,
                             options->check ? "--check" : "--functional");
        }
    }
    return SONDE_OK;
}

int sonde_exec(char **text, const char *device_spec, const struct sonde_exec_options *options)
{
    struct run run = {.options = options};
    struct strbuf costs = {0};
    if (options->stats_path && strcmp(options->stats_path, "-") == 0) {
        return error_set(SONDE_EUSAGE, "statistics go to a file: standard output is the kernel's");
    }
    if (options->check && strncmp(device_spec, "sim:", 4) != 0) {
        return error_set(SONDE_EUSAGE,
                         "'%s': the memory checker runs on simulated devices, sim:NAME",
                         device_spec);
    }
    if (options->timeline_path && strcmp(options->timeline_path, "-") == 0) {
        return error_set(SONDE_EUSAGE, "a time line goes to a file: it is written in place");
    }
    int rc = check_timed(options);
    if (rc < 0) {
        return rc;
    }
    rc = open_target(&run, device_spec);
    rc = rc < 0 ? rc : prepare_all(&run);
    rc = rc < 0 ? rc : print_options(&run, true);
    rc = rc < 0 ? rc : launch_all(&run, &costs);
    rc = rc < 0 ? rc : results(&run);
    if (rc == 0) {
        *text = strbuf_take(&costs);
        rc = *text ? 0 : error_memory();
    }
    if (rc == SONDE_ENOMEM && run.target && run.target->ops->full(run.target)) {
        rc = SONDE_EINPUT; /* the program wants more than the device has */
    }
    strbuf_free(&costs);
    run_free(&run);
    return rc;
}

/*
 * Launches that are sampled (docs/adr/0014). A launch is first executed without timing and counted.
 * The sampler then knows launches that did alike, and says whether it is to be simulated: if so,
 * memory is put back as it was, L2 is brought to what the launches before have left, and the launch
 * happens with timing; else what was executed stays, and its time is an estimate.
 *
 * A launch that does again what one before did is known before it is executed (sample/again.h).
 *
 * Left as they are, with timing: launches beside which others may run; kernels that read clocks,
 * call the driver or reach memory when they issue; those whose blocks wait for each other, or that
 * fault, which is found by executing them.
 */
#include "rt/sampling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/program.h"
#include "rt/state.h"
#include "sample/inside.h"
#include "sample/sampler.h"
#include "sample/trail.h"
#include "util/error.h"
#include "util/hash.h"

static const struct {
    uint64_t slice_insns; /* warp instructions between two looks at how far a launch is */
    uint64_t block_insns; /* of one block, after which it is taken to wait for another */
} limits = {.slice_insns = 1u << 18, .block_insns = 1u << 24};

static bool may_be_taken_back(const struct exec_program *program)
{
    if (exec_program_acts_at_issue(program)) {
        return false;
    }
    for (uint32_t pc = 0; pc < exec_program_length(program); pc++) {
        const struct exec_uop_info *info = exec_uop_info(program, pc);
        if (info->reads_clock || info->is_fragment) {
            return false;
        }
    }
    return true;
}

static bool is_sampled(struct rt_kernel *kernel)
{
    if (kernel->sampled == KERNEL_NOT_LOOKED_AT) {
        kernel->sampled = may_be_taken_back(kernel->program) ? KERNEL_SAMPLED : KERNEL_NOT_SAMPLED;
    }
    return kernel->sampled == KERNEL_SAMPLED;
}

/* That no other kernel had before it in its place. */
static uint64_t id_of(struct rt *rt, struct rt_kernel *kernel)
{
    kernel->sampled_id = kernel->sampled_id ? kernel->sampled_id : ++rt->sampled_kernels;
    return kernel->sampled_id;
}

/* What launches of one stratum have in common beside their counts. */
static uint64_t shape_of(const struct rt_kernel *kernel, const struct exec_launch *run)
{
    uint64_t hash = hash_bytes(HASH_BEGIN, &kernel->program, sizeof(kernel->program));
    hash = hash_bytes(hash, run->block, sizeof run->block);
    hash = hash_bytes(hash, run->cluster, sizeof run->cluster);
    return hash_bytes(hash, &run->dynamic_shared_bytes, sizeof run->dynamic_shared_bytes);
}

/* 0: it has ended; EXEC_RUN_MORE: it will not. */
static int execute(const struct exec_launch *launch, struct rt *rt,
                   struct exec_run_options *options)
{
    struct exec_run *execution;
    struct exec_launch run = *launch; /* whose other blocks may be on the GPU */
    run.observer = trail_begin(rt->trail);
    int rc = exec_run_begin(&execution, &run, options);
    uint64_t ctas = 0, since = 0;
    while (rc == 0) {
        rc = exec_run_some(execution, limits.slice_insns);
        if (rc != EXEC_RUN_MORE || trail_failed(rt->trail)) {
            break;
        }
        if (trail_ctas(rt->trail) != ctas) {
            ctas = trail_ctas(rt->trail);
            since = options->warp_insns;
        }
        rc = options->warp_insns - since > limits.block_insns ? EXEC_RUN_MORE : 0;
    }
    if (execution) {
        exec_run_end(execution);
    }
    return rc == 0 && trail_failed(rt->trail) ? EXEC_RUN_MORE : rc;
}

static void touch_l2(void *ctx, uint64_t address, bool dirty)
{
    gpu_touch_l2(ctx, address, TRAIL_LINE_BYTES, dirty);
}

static void take_back(struct rt *rt)
{
    trail_take_back(rt->trail, touch_l2, rt->gpu);
}

/* ---- inside of a launch ---- */

struct sampling_inside {
    struct inside *inside;
    struct rt *rt;
    const struct exec_launch *run;
    struct gpu_skips skips;
};

/* Blocks that are left out are executed, and L2 is brought to what they leave. */
static uint64_t skip(void *ctx, uint64_t next, uint64_t cycle)
{
    struct sampling_inside *in = ctx;
    uint64_t count = inside_next(in->inside, next, cycle);
    if (count == 0) {
        return 0;
    }
    struct exec_run_options options = {.interrupt = in->rt->cancel, .first = next, .count = count};
    if (execute(in->run, in->rt, &options) == 0) {
        trail_keep(in->rt->trail);
        trail_warm(in->rt->trail, touch_l2, in->rt->gpu);
        return count;
    }
    take_back(in->rt);
    inside_refuse(in->inside);
    return 0;
}

static void block_ended(void *ctx, uint64_t block)
{
    const struct sampling_inside *in = ctx;
    inside_ended(in->inside, block);
}

void sampling_forget(struct sampling *sampling)
{
    if (sampling->inside) {
        inside_destroy(sampling->inside->inside);
        free(sampling->inside);
        sampling->inside = NULL;
        sampling->skips = NULL;
    }
}

static bool blocks_go_in_order(const struct exec_launch *run)
{
    return !run->cooperative && run->cluster[0] * run->cluster[1] * run->cluster[2] <= 1;
}

static int look_inside(struct rt *rt, struct sampling *sampling, const struct exec_launch *run,
                       const struct trail_counts *counts)
{
    const char *limit;
    uint64_t resident = gpu_resident_ctas(rt->gpu, run, &limit);
    struct inside *inside = NULL;
    if (!blocks_go_in_order(run) || resident == 0 ||
        !inside_may_be(sampler_spec(rt->sampler)->error)) {
        return 0;
    }
    int rc = inside_create(&inside, counts->each, counts->ctas, resident,
                           sampler_spec(rt->sampler)->error);
    if (!inside) {
        return rc;
    }
    struct sampling_inside *in = sampling->inside = calloc(1, sizeof *in);
    if (!in) {
        inside_destroy(inside);
        return error_memory();
    }
    *in = (struct sampling_inside){.inside = inside,
                                   .rt = rt,
                                   .run = run,
                                   .skips = {.skip = skip, .ended = block_ended, .ctx = in}};
    sampling->skips = &in->skips;
    return 0;
}

uint64_t sampling_skipped(const struct sampling *sampling)
{
    double cycles = 0, half;
    uint64_t skipped;
    if (sampling->inside) {
        inside_result(sampling->inside->inside, &cycles, &half, &skipped);
    }
    return (uint64_t)(cycles + 0.5);
}

/* ---- whole launches ---- */

static int decide(struct rt *rt, struct sampling *sampling, const struct rt_kernel *kernel,
                  const struct exec_launch *run, const struct exec_run_options *options)
{
    struct trail_counts counts;
    trail_counts(rt->trail, &counts);
    struct sampler_launch launch = {.kernel = rt_kernel_name(kernel),
                                    .code = exec_program_code(kernel->program),
                                    .shape = shape_of(kernel, run),
                                    .ctas = counts.ctas,
                                    .warp_insns = options->warp_insns,
                                    .thread_insns = options->thread_insns,
                                    .accesses = counts.accesses,
                                    .sectors = counts.sectors,
                                    .lines = counts.lines,
                                    .missing = counts.missing,
                                    .visits = counts.visits,
                                    .passes = counts.passes,
                                    .blocks = counts.blocks,
                                    .length = counts.length};
    bool timed;
    int rc =
        sampler_see(rt->sampler, &launch, &sampling->ticket, &timed, &sampling->estimated_cycles);
    if (rc < 0) {
        return rc;
    }
    sampling->what = timed ? SAMPLING_MEASURES : SAMPLING_ESTIMATES;
    sampling->warp_insns = options->warp_insns;
    sampling->thread_insns = options->thread_insns;
    if (!timed) {
        trail_keep(rt->trail);
        return 0;
    }
    rc = look_inside(rt, sampling, run, &counts);
    take_back(rt);
    return rc;
}

/* A launch of which all is known but its results. Where it faults it will do so with timing. */
static int do_again(struct rt *rt, struct sampling *sampling, struct rt_kernel *kernel,
                    const struct exec_launch *run)
{
    struct exec_run_options options = {.interrupt = rt->cancel};
    if (trail_redo(rt->trail, run)) {
        return 0;
    }
    int rc = exec_run_launch_with(run, &options);
    bool alike = options.warp_insns == sampling->warp_insns &&
                 options.thread_insns == sampling->thread_insns;
    assert(rc != 0 || alike);
    if (rc == 0 && alike) { /* else nothing is repeated that was taken for the same */
        trail_redone(rt->trail, run);
    }
    if (rc == 0 || rc == SONDE_EINTERRUPTED || rc == SONDE_ENOMEM) {
        return rc;
    }
    sampler_stopped(rt->sampler, sampling->ticket, 0);
    sampling->what = SAMPLING_WHOLE;
    kernel->sampled = KERNEL_NOT_SAMPLED;
    return 0;
}

int sampling_begin(struct rt *rt, struct sampling *sampling, struct rt_kernel *kernel,
                   struct exec_launch *run, bool alone)
{
    *sampling = (struct sampling){.what = rt->sampler ? SAMPLING_WHOLE : SAMPLING_NOT};
    if (!rt->sampler || !alone || !is_sampled(kernel)) {
        return 0;
    }
    struct exec_run_options options = {.interrupt = rt->cancel};
    if (trail_again(rt->trail, run, id_of(rt, kernel), &options.warp_insns,
                    &options.thread_insns)) {
        int rc = decide(rt, sampling, kernel, run, &options);
        return rc == 0 && sampling->what == SAMPLING_ESTIMATES ? do_again(rt, sampling, kernel, run)
                                                               : rc;
    }
    int rc = execute(run, rt, &options);
    if (rc == 0) {
        trail_write_down(rt->trail, options.warp_insns, options.thread_insns);
        return decide(rt, sampling, kernel, run, &options);
    }
    take_back(rt);
    if (rc == SONDE_EINTERRUPTED || rc == SONDE_ENOMEM) {
        return rc;
    }
    kernel->sampled = KERNEL_NOT_SAMPLED;
    return 0;
}

int sampling_end(struct rt *rt, struct sampling *sampling, const struct rt_kernel *kernel,
                 uint64_t cycles, int status)
{
    if (sampling->what == SAMPLING_MEASURES && status < 0) {
        sampler_stopped(rt->sampler, sampling->ticket, (double)cycles);
    } else if (sampling->what == SAMPLING_MEASURES) {
        struct sampler_measure measure = {.cycles = (double)cycles};
        if (sampling->inside) {
            inside_result(sampling->inside->inside, &measure.skipped_cycles, &measure.half,
                          &measure.skipped);
        }
        sampler_measured(rt->sampler, sampling->ticket, &measure);
    }
    sampling_forget(sampling);
    return sampling->what == SAMPLING_WHOLE
               ? sampler_whole(rt->sampler, rt_kernel_name(kernel),
                               exec_program_code(kernel->program), cycles)
               : 0;
}

int rt_sample(struct rt *rt, const struct sampler_spec *spec)
{
    const struct cache_spec *l2 = &rt->model->l2;
    uint64_t l2_bytes = l2->enabled ? l2->size_bytes * rt->model->l2_slices : 0;
    int rc = trail_create(&rt->trail, rt->memory, l2_bytes, inside_may_be(spec->error));
    return rc < 0 ? rc : sampler_create(&rt->sampler, spec);
}

const struct sampler *rt_sampler(const struct rt *rt)
{
    return rt->sampler;
}

void sampling_destroy(struct rt *rt)
{
    trail_destroy(rt->trail);
    sampler_destroy(rt->sampler);
}

/*
 * The roofline of a kernel on a model (Williams, Waterman, Patterson, "Roofline: An Insightful
 * Visual Performance Model for Multicore Architectures", CACM 52(4), 2009): what the units could
 * compute, what each level of memory could bring, and where the kernel lies. A multiply and add
 * counts as two operations. Left out: tensor cores, packed halves, special functions.
 */
#include "model/model.h"
#include "profile/state.h"
#include "util/glue/json_glue.h"

static const char *const operation_names[OPERATIONS_COUNT] = {NULL, "int32", "fp32", "fp64"};

static double per_second(double per_cycle, uint64_t period_ps)
{
    return period_ps ? per_cycle * 1e12 / (double)period_ps : 0;
}

static void put_peak(json_t *peaks, const struct model *model, enum operations operations,
                     enum isa_unit unit)
{
    json_t *peak = json_object();
    double lanes = (double)model->sm.unit[unit].lanes_per_cycle * model->sms;
    json_put_string(peak, "operations", operation_names[operations]);
    json_put_double(peak, "operations_per_second", per_second(2 * lanes, model->core_period_ps));
    json_append(peaks, peak);
}

/* 0: without a bound. */
static void put_level(json_t *levels, const char *name, double bytes_per_second, double bytes)
{
    if (bytes_per_second > 0) {
        json_t *level = json_object();
        json_put_string(level, "level", name);
        json_put_double(level, "bytes_per_second", bytes_per_second);
        json_put_double(level, "bytes", bytes);
        json_append(levels, level);
    }
}

/* Of two bounds, the lower one; 0 is none. */
static double lower(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* L2's bytes are what went through the network, write-backs and fetches of constants too. */
static void put_levels(json_t *root, const struct model *model, const struct profile_kernel *kernel,
                       const struct profile_line *sum)
{
    json_t *levels = json_put_array(root, "levels");
    const struct dram_spec *dram = &model->dram;
    const struct gpu_stats *stats = &kernel->stats;
    double buses = (double)dram->channels * (dram->subchannels ? dram->subchannels : 1);
    double slices = (double)model->l2.data_bytes_per_cycle * model->l2_slices;
    double ports = (double)model->noc.reply_bytes_per_cycle * model->sms;
    put_level(levels, "dram", per_second(buses * dram->bytes_per_cycle, dram->period_ps),
              (double)(stats->dram_read_bytes + stats->dram_written_bytes));
    put_level(levels, "l2", per_second(lower(slices, ports), model->core_period_ps),
              (double)(stats->noc.requests.sectors * NOC_SECTOR_BYTES));
    if (model->l1_data.enabled && model->sm.l1_caches_global) {
        double l1 = (double)model->l1_data.data_bytes_per_cycle * model->sms;
        put_level(levels, "l1", per_second(l1, model->core_period_ps), (double)sum->bytes);
    }
}

json_t *profile_roofline(const struct model *model, const struct profile_kernel *kernel)
{
    struct profile_line sum;
    json_t *root = json_object(), *peaks = json_put_array(root, "peaks");
    uint64_t operations[OPERATIONS_COUNT] = {0};
    double seconds = (double)kernel->stats.cycles * (double)model->core_period_ps * 1e-12;
    profile_sum(&sum, kernel);
    for (uint32_t pc = 0; pc < kernel->length; pc++) {
        const struct profile_insn *insn = &kernel->insns[pc];
        operations[insn->operations] += kernel->lines[pc].thread_insns * insn->each;
    }
    put_peak(peaks, model, OPERATIONS_INT, UNIT_IMUL);
    put_peak(peaks, model, OPERATIONS_FP32, UNIT_FP32);
    put_peak(peaks, model, OPERATIONS_FP64, UNIT_FP64);
    put_levels(root, model, kernel, &sum);
    json_put_double(root, "seconds", seconds);
    json_t *counts = json_put_object(root, "operations");
    for (int i = OPERATIONS_INT; i < OPERATIONS_COUNT; i++) {
        json_put_u64(counts, operation_names[i], operations[i]);
    }
    return root;
}

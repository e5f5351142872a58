/*
 * A launch of a kernel on a simulated GPU: its buffers are filled as on the card, its caches are
 * empty as the profiler leaves them there (copies pass by L2, whatever the model says), and what it
 * leaves is checked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/rt.h"
#include "study/kernels/compare.h"
#include "util/error.h"
#include "util/glue/embed.h"

extern const struct embedded_file study_kernel_data[];

struct side {
    struct rt *rt;
    struct rt_module *module;
    struct kernel_plan plan;
    uint64_t buffers[KERNEL_ARGS];
    void *host;
};

static int load(struct side *side, struct rt_kernel **kernel, const struct kernel_row *row)
{
    char name[64];
    snprintf(name, sizeof(name), "%s.ptx", row->file);
    const struct embedded_file *file = embed_find(study_kernel_data, name);
    if (!file) {
        return error_set(SONDE_EINTERNAL, "%s was not built in", name);
    }
    int rc =
        rt_module_load(side->rt, &side->module, name, (const char *)file->data, file->size_bytes);
    return rc < 0 ? rc : rt_kernel_get(side->module, kernel, row->entry);
}

static int fill_buffers(struct side *side)
{
    uint64_t most = 1;
    int rc = 0;
    for (uint32_t i = 0; i < side->plan.arg_count; i++) {
        most = side->plan.args[i].bytes > most ? side->plan.args[i].bytes : most;
    }
    side->host = malloc(most);
    if (!side->host) {
        return error_memory();
    }
    for (uint32_t i = 0; rc == 0 && i < side->plan.arg_count; i++) {
        const struct kernel_arg *arg = &side->plan.args[i];
        if (arg->bytes == 0) {
            continue;
        }
        rc = rt_mem_alloc(side->rt, &side->buffers[i], arg->bytes);
        if (rc == 0 && arg->fill == FILL_ZERO) {
            rc = rt_memset(side->rt, side->buffers[i], 0, arg->bytes);
        } else if (rc == 0) {
            kernel_fill(side->host, arg, i);
            rc = rt_copy_to_device(side->rt, side->buffers[i], side->host, arg->bytes);
        }
    }
    return rc;
}

static int check_buffers(struct kernel_result *result, struct side *side)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < side->plan.arg_count; i++) {
        const struct kernel_arg *arg = &side->plan.args[i];
        if (arg->check != CHECK_NOT) {
            rc = rt_copy_from_device(side->rt, side->host, side->buffers[i], arg->bytes);
            kernel_check(result, arg, i, side->host);
        }
    }
    return rc;
}

static int launch(struct side *side, struct rt_kernel *kernel, uint64_t max_cycles,
                  uint64_t *cycles)
{
    const void *args[KERNEL_ARGS];
    struct rt_launch how = {
        .args = args, .arg_count = side->plan.arg_count, .max_cycles = max_cycles};
    memcpy(how.grid, side->plan.grid, sizeof(how.grid));
    memcpy(how.block, side->plan.block, sizeof(how.block));
    for (uint32_t i = 0; i < side->plan.arg_count; i++) {
        const struct kernel_arg *arg = &side->plan.args[i];
        args[i] = arg->bytes ? (const void *)&side->buffers[i] : &arg->value;
    }
    return rt_launch(side->rt, kernel, &how, cycles);
}

static void read_stats(struct kernel_prediction *out, struct rt *rt)
{
    struct gpu_stats stats;
    gpu_stats(rt_gpu(rt), &stats);
    const struct sm_stats *sm = &stats.sm;
    const uint64_t cycles[SHARES] = {
        [SHARE_ISSUE] = sm->issue_cycles,
        [SHARE_UNIT] = sm->wait_cycles[SM_WAIT_UNIT],
        [SHARE_RESULT] = sm->wait_cycles[SM_WAIT_RESULT],
        [SHARE_MEMORY] = sm->wait_cycles[SM_WAIT_MEMORY],
        [SHARE_BARRIER] = sm->wait_cycles[SM_WAIT_BARRIER],
    };
    double all = 0;
    for (int i = 0; i < SHARES; i++) {
        all += (double)cycles[i];
    }
    for (int i = 0; i < SHARES; i++) {
        out->shares[i] = all > 0 ? (double)cycles[i] / all : 0;
    }
    out->counts.warp_insns = (double)stats.machine_insns;
    out->counts.l2_sectors = (double)stats.noc.requests.sectors;
    out->counts.dram_bytes = (double)(stats.dram_read_bytes + stats.dram_written_bytes);
    out->counts.l1_loads = (double)stats.l1_reads;
    out->counts.l1_hits = (double)stats.l1_hits;
}

int kernel_predict(struct kernel_prediction *out, const struct model *model,
                   const struct kernel_row *row, uint64_t size, uint64_t max_cycles,
                   const volatile int *cancel)
{
    struct model cold = *model;
    struct side side = {0};
    struct rt_kernel *kernel = NULL;
    uint64_t cycles = 0, launches = 1;
    cold.copies_allocate_in_l2 = false;
    *out = (struct kernel_prediction){0};
    if (row->plan) {
        kernel_plan(&side.plan, row, size);
    }
    int rc = rt_create(&side.rt, &cold);
    if (rc < 0) {
        return rc;
    }
    rt_set_cancel(side.rt, cancel);
    if (row->plan) {
        rc = load(&side, &kernel, row);
        rc = rc < 0 ? rc : fill_buffers(&side);
        rc = rc < 0 ? rc : launch(&side, kernel, max_cycles, &cycles);
    } else {
        rc = kernel_run_program(&cycles, &launches, side.rt, row->entry, size);
    }
    if (rc == 0) {
        read_stats(out, side.rt);
        out->counts.cycles = (double)cycles;
        out->launches = (double)launches;
        rc = check_buffers(&out->counts.result, &side);
    }
    free(side.host);
    rt_destroy(side.rt);
    return rc < 0 ? error_prefix(rc, "%s", row->name) : 0;
}

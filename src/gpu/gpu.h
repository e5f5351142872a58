/*
 * The simulated GPU: the one place where components are wired together, plus the CTA distributor
 * and the launch loop. Caches keep their state between launches (as far as the model says).
 */
#ifndef SONDE_GPU_GPU_H
#define SONDE_GPU_GPU_H

#include <stdint.h>

#include "exec/exec.h"
#include "model/model.h"

struct gpu;

/* Physical address of a device virtual address (page tables live in rt); false: not mapped. */
struct gpu_translate { bool (*physical)(void *ctx, uint64_t vaddr, uint64_t *paddr); void *ctx; };

int gpu_create(struct gpu **out, const struct model *model, struct exec_memory *memory,
               const struct gpu_translate *translate);
void gpu_destroy(struct gpu *gpu);

/* Select a carve-out choice of the model (index); takes effect at the next launch, empties L1. */
int gpu_set_carveout(struct gpu *gpu, uint32_t choice);

/*
 * Run a launch to its end with timing. SONDE_EFAULT with the fault's text; SONDE_EINPUT when the CTA can
 * never fit an SM. `*cycles`: core cycles from start to end.
 */
int gpu_launch(struct gpu *gpu, const struct exec_launch *launch, uint64_t *cycles);

/* A host copy that passes through L2 (physical contiguous pieces are found by translate). */
void gpu_host_copy(struct gpu *gpu, uint64_t vaddr, uint64_t bytes, bool to_device);

struct gpu_stats {
    uint64_t cycles, warp_insns, thread_insns;
    uint64_t l1_reads, l1_hits, l2_reads, l2_hits, dram_reads, dram_writes;
    uint64_t shared_accesses, shared_conflicts, transactions;
};
void gpu_stats(const struct gpu *gpu, struct gpu_stats *out);

#endif

/*
 * The counters of an SM. They run over all launches since it was created; the counts of one launch
 * are a difference.
 */
#ifndef SONDE_CORE_SM_STATS_H
#define SONDE_CORE_SM_STATS_H

#include <stdint.h>

#include "isa/isa.h"

enum sm_wait {
#define WAIT(id, text, doc) SM_WAIT_##id,
#include "core/wait.def"
#undef WAIT
    SM_WAIT_COUNT
};

/*
 * Latencies of accesses that wait for memory, in cycles from issue to the result. Up to 8 each has
 * a place of its own, then four a factor of two: place p >= 8 begins at (4 + p % 4) << (p / 4 - 1).
 */
#define SM_LATENCY_PLACES 128

static inline uint32_t sm_latency_place(uint64_t cycles)
{
    if (cycles < 8) {
        return (uint32_t)cycles;
    }
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(cycles);
    uint32_t place = (octave - 1) * 4 + (uint32_t)(cycles >> (octave - 2) & 3);
    return place < SM_LATENCY_PLACES ? place : SM_LATENCY_PLACES - 1;
}

static inline uint64_t sm_latency_begin(uint32_t place)
{
    return place < 8 ? place : (uint64_t)(4 + place % 4) << (place / 4 - 1);
}

struct sm_stats {
    uint64_t unit_insns[ISA_UNIT_COUNT]; /* warp instructions by the unit they go to */
    uint64_t unit_lanes[ISA_UNIT_COUNT]; /* thread instructions, likewise */
    uint64_t division_lanes;             /* of those, divisions of floating-point numbers */
    uint64_t lowered_insns;              /* warp instructions that a lowering counts otherwise: */
    uint64_t machine_insns;              /* what they have issued */
    uint64_t unit_parts[ISA_UNIT_COUNT]; /* to which units, in LOWER_ONE-ths */
    uint64_t lanes[33];                  /* warp instructions by their active lanes */
    uint64_t space[SPACE_COUNT];         /* warp accesses to memory by state space; fetches: tex */
    uint64_t space_lanes[SPACE_COUNT];   /* of how many threads */
    uint64_t issue_cycles;               /* in which an instruction issued */
    uint64_t wait_cycles[SM_WAIT_COUNT]; /* in which none did, with a CTA resident */
    uint64_t latency[SM_LATENCY_PLACES];
    uint64_t shared_accesses, shared_conflicts; /* warp accesses; passes beyond the first */
    uint64_t transactions;                      /* to L1 or the network */
    uint64_t merged_requests;                   /* answered with one of another warp's */
    uint64_t l1_bypasses;
    uint64_t pending_stalls; /* accesses that found no place among what may be outstanding */
    uint64_t ctas;
};

#endif

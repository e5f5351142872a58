/*
 * The result of a dissection as data. Its parts have a header each in dissection/.
 *
 *   dissection   all that was found of one device
 *   attribute    a value, or the reason why there is none (dissection/attribute.h)
 *   method       a published recipe, and what it gives for a cache
 *   evidence     the requests and the statistic that decided, by an id
 */
#ifndef SONDE_INFER_DISSECTION_H
#define SONDE_INFER_DISSECTION_H

#include "infer/dissection/cache.h"
#include "infer/dissection/device.h"
#include "infer/dissection/sm.h"
#include "infer/dissection/tlb.h"

#define INFER_MAX_EVIDENCE 512

struct evidence_entry {
    char id[24];
    char text[400];
}; /* requests and the statistic that decided */

struct dissection {
    struct cache_result caches[INFER_MAX_CACHES];
    size_t cache_count;
    struct method_result methods[INFER_MAX_METHODS];
    size_t method_count;
    struct tlb_result tlbs[INFER_MAX_TLBS];
    size_t tlb_count;
    struct latency_pattern patterns[INFER_MAX_PATTERNS];
    size_t pattern_count;
    struct refusal pattern_refusal; /* why there are none */
    struct shared_result shared;
    struct outstanding_result outstanding;
    struct memory_result memory;
    struct sm_result sm;
    struct attribute memory_latency;
    struct latency_class classes[INFER_MAX_LATENCIES]; /* over everything measured */
    size_t class_count;
    struct evidence_entry evidence[INFER_MAX_EVIDENCE];
    size_t evidence_count;
};

#endif

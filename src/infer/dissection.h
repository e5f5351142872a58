/*
 * The result of a dissection as data: attributes, each with a value or with the reason why there is
 * none. Confidence is in [0, 1] and means the probability that the value is right (calibrated over
 * blind runs); evidence names the traces it rests on. Zero is never a substitute for "not
 * measured".
 */
#ifndef SONDE_INFER_DISSECTION_H
#define SONDE_INFER_DISSECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum attribute_status { ATTRIBUTE_NOT_MEASURED, ATTRIBUTE_MEASURED };

struct attribute {
    enum attribute_status status;
    double value;
    const char *unit; /* static: "B", "cycles", "ns", "B/s", "entries", "1" */
    double confidence;
    char evidence[160]; /* id of an entry of dissection->evidence */
    char reason[160];   /* why not measured */
};

#define INFER_MAX_CACHES 8
#define INFER_MAX_LATENCIES 16
#define INFER_MAX_STEPS 64
#define INFER_MAX_EVIDENCE 256

struct latency_class {
    double cycles, low, high, share;
}; /* median, 5 % and 95 % quantile */

struct capacity_step {
    double bytes, median_cycles, miss_share;
}; /* one point of the size sweep */

struct cache_result {
    char id[16];   /* "l1_data", "l2" */
    char scope[8]; /* "sm", "gpu" */
    bool present;
    struct attribute size, line, fetch_granularity, sets, ways, hit_latency, miss_penalty;
    struct attribute load_to_use_latency; /* average of an untimed dependent chain */
    struct attribute carveout_shared;     /* shared memory asked for while size was measured */
    struct capacity_step steps[INFER_MAX_STEPS];
    size_t step_count;
    struct latency_class latencies[INFER_MAX_LATENCIES]; /* distribution of hits */
    size_t latency_count;
};

/*
 * What a published recipe gives for a cache, beside the general inference: "mei" (Mei and Chu 2014,
 * four steps), "saavedra" (1995) and "wong" (2010), the latter two from averages. periodic is 1
 * when every pass misses alike, as LRU does, else 0.
 */
#define INFER_MAX_METHODS 16
struct method_result {
    char name[16], cache[16];
    struct attribute size, line, sets, ways, periodic;
};

struct evidence_entry {
    char id[24];
    char text[400];
}; /* requests and the statistic that decided */

struct dissection {
    struct cache_result caches[INFER_MAX_CACHES];
    size_t cache_count;
    struct method_result methods[INFER_MAX_METHODS];
    size_t method_count;
    struct attribute memory_latency;
    struct latency_class classes[INFER_MAX_LATENCIES]; /* over everything measured */
    size_t class_count;
    struct evidence_entry evidence[INFER_MAX_EVIDENCE];
    size_t evidence_count;
};

#endif

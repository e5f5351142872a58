/*
 * A model: one GPU, described in one YAML file. param.def lists every parameter once (path, unit,
 * default, range, doc); loading, validating, printing and `sonde model params` are expanded from
 * it. A file may say `inherits: NAME` to start from a shipped model. Unknown keys, wrong units,
 * values out of range and impossible geometry are errors with file, line, column and reason (all of
 * them, up to 20).
 */
#ifndef SONDE_MODEL_MODEL_H
#define SONDE_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/spec.h"
#include "mem/spec.h"

/* The version of model files. One that says none (`schema`) is of version 1. */
#define MODEL_SCHEMA "sonde.model/1"
#define MODEL_NAME_MAX 64
#define MODEL_MAX_SMS 1024
#define MODEL_MAX_CARVEOUTS 12

/* What the simulated driver reports. It may lie: no inference may look at it. */
struct driver_spec {
    char device_name[128];
    uint32_t compute_major, compute_minor;
    uint64_t clock_hz; /* 0: the core clock's */
    uint64_t l2_bytes;
    uint64_t shared_per_block_bytes, shared_per_sm_bytes;
    uint64_t const_bytes;
    uint32_t memory_bus_bits;
    uint64_t memory_clock_hz;
};

/* One way to cut the array. What is 0 or empty is as l1_data says. */
struct carveout_choice {
    uint64_t shared_bytes, l1_bytes, data_bytes;
    uint32_t l1_sets, l1_ways;
    uint32_t index_mask_count; /* bits or xor masks of this geometry's set index */
    uint64_t index_masks[MEM_MAX_INDEX_MASKS];
    uint32_t probability_count; /* a biased policy's victim probabilities */
    double probability[MEM_MAX_WAYS];
};

/* A number for each SM, each cluster or each slice. */
struct number_list {
    uint32_t count;
    uint16_t number[MODEL_MAX_SMS];
};

/*
 * L2 in parts: each has as many slices, and is near to some of the SMs. Every line has a home in
 * one of them; the others keep copies of it, for reads, and ask the home for what they miss.
 */
struct l2_parts_spec {
    uint32_t count;
    struct index_spec index;           /* the part that is a line's home */
    struct number_list of_cluster;     /* the part that is near to a cluster; empty: runs */
    uint32_t crossing_cycles;          /* from one part to another, one way */
    uint32_t crossing_bytes_per_cycle; /* of each part, each way; 0: no limit */
    uint32_t atomic_cycles;            /* more for an atomic that goes there */
    uint32_t copy_cycles;              /* more for a copy than for a line at home */
    struct number_list slice_cycles;   /* of each slice of a part: how far it lies; empty: 0 */
};

/* L1 and shared memory cut from one array: the choices and what each gives. */
struct carveout_spec {
    uint32_t count; /* 0: the division is fixed, as l1_data and sm.shared say */
    struct carveout_choice choice[MODEL_MAX_CARVEOUTS];
    uint32_t initial;
    bool follows_preference; /* a kernel's preference selects a choice; else it is ignored */
    bool follows_occupancy;  /* without one, shared memory keeps no block from an SM */
};

/* The way to the host. */
struct link_spec {
    uint64_t to_device_bytes_per_s, from_device_bytes_per_s, pageable_bytes_per_s;
    uint64_t latency_ps;
    uint32_t copy_engines;
};

struct model {
    char name[MODEL_NAME_MAX];
    char doc[512];
    char file[4096];
    char open_end[192];   /* of a file that may have been cut off: what it leaves to defaults */
    char open_file[4096]; /* that file: `file`, or one that it inherits */
    uint32_t sms, clusters;
    struct number_list cluster_of; /* each SM's cluster; empty: runs of (almost) equal length */
    struct cta_deal_spec {
        bool by_cluster;
        uint32_t apart_sms, apart_every, tpc_sms;
    } cta_deal; /* see gpu/deal.c */
    uint32_t concurrent_grids;
    uint32_t device_launch_cycles;
    struct cta_rate {
        uint32_t ctas, interval_cycles; /* no more in so many cycles; 0 CTAs: any */
    } cta_starts, cta_ends;             /* of all SMs */
    uint32_t cta_end_cycles;            /* from an end that is noted to a start in its place */
    uint32_t grid_end_cycles;           /* from the last that is noted, where memory was reached */
    uint64_t core_period_ps;
    struct sm_spec sm;
    struct cache_spec l1_data;
    struct cache_spec texture_l1; /* an SM's; of its FIFO, hit_cycles is the length */
    struct cache_spec constant_l1,
        constant_l15;                    /* an SM's; what misses the first asks the second */
    enum tlb_scope constant_l15_scope;   /* whom one of the second serves: an SM, a cluster */
    uint32_t constant_l15_return_cycles; /* of a cluster's: its answer's way to the SM */
    struct cache_spec l2;                /* one slice */
    uint32_t l2_slices;
    struct index_spec l2_slice_index; /* which slice of a part an address belongs to */
    struct l2_parts_spec l2_parts;
    struct noc_spec noc;
    struct dram_spec dram;
    struct vm_spec vm;
    struct tlb_spec tlb_l1, tlb_l2; /* what misses the first asks the second */
    struct walker_spec walker;
    struct carveout_spec carveout;
    struct link_spec link;
    struct driver_spec driver;
    bool copies_allocate_in_l2; /* host-device copies leave their lines in L2 */
};

/*
 * `name`: a shipped model's name, or a path that holds a '/' or ends in .yaml or .yml.
 * SONDE_EUSAGE: no such shipped model (the text names the nearest). SONDE_EINPUT: the file is
 * wrong, a line of text for each mistake. The model is the caller's, to be given to
 * model_destroy().
 */
int model_load(struct model **out, const char *name);
/* `file` stands in messages and gives the name where the text gives none. */
int model_parse(struct model **out, const char *file, const char *text, size_t length);
/* As model_parse, of a text that may inherit from a file: a path is relative to `file`'s folder. */
int model_parse_heir(struct model **out, const char *file, const char *text, size_t length);
void model_destroy(struct model *model);

/*
 * The L1 and the shared memory of a carve-out choice (one of carveout.count), index and
 * probabilities included. The model's own l1_data and sm.shared are those of the initial choice.
 */
void model_carve(struct cache_spec *l1, uint64_t *shared_bytes, const struct model *model,
                 uint32_t choice);

/* The model as YAML: every parameter that applies, with its meaning. It parses back to the same
 * model, and is refused when it was cut off at a line. free() the text. */
int model_show(char **yaml, const struct model *model);
/* Every parameter with unit, default, range and meaning, for people and as JSON. free() the text.
 */
/*
 * What a file may say, for people: of a section ("l2", "sm.lsu") or a single path, or all (NULL).
 * SONDE_EUSAGE: there is none of that name; the nearest one.
 */
int model_params_text(char **text, const char *section);
int model_params_json(char **text);

/* The shipped models, in the order of their names. Texts end with a zero byte. */
size_t model_builtin_count(void);
const char *model_builtin_name(size_t i);
const char *model_builtin_text(size_t i, size_t *length);

#endif

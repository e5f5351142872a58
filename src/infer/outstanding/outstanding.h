/*
 * What an SM may have outstanding, from the probe `threads`: rays of configurations along which
 * loads become more, and where along them the time jumps.
 */
#ifndef SONDE_INFER_OUTSTANDING_H
#define SONDE_INFER_OUTSTANDING_H

#include "infer/ask/lab.h"

/* ---- between the files of this experiment ---- */

enum { OUT_WARP = 32, OUT_BLOCK = 1024, OUT_LOADS = 16, OUT_RAYS = 8 };

/* What grows along a ray. */
enum ray_axis {
    RAY_LOADS,    /* loads of `warps` warps of one lane */
    RAY_LANES,    /* lanes of one warp */
    RAY_REQUESTS, /* requests of full warps: threads, then second loads of some, and so on; or of
                     warps of `lanes` lanes, a load each, of which the last has fewer */
    RAY_INSTRUCTIONS, /* warp loads, at most `loads` a warp */
};

struct ray {
    enum ray_axis axis;
    uint32_t loads, lanes, warps, merge, share;
    uint32_t apart; /* lanes that share nothing, the last ones */
    uint32_t last;  /* its highest value */
};

/* One configuration, in the probe's terms. */
struct ray_shape {
    uint32_t threads, loads, more, lanes, merge, share, common;
};
struct ray_shape ray_shape(const struct ray *ray, uint32_t x);
/* Warp instructions and single requests (after coalescing, before any merging) of a value. */
uint32_t ray_instructions(const struct ray *ray, uint32_t x);
uint32_t ray_requests(const struct ray *ray, uint32_t x);

/* What all rays are held against. */
struct yardstick {
    double one_cycles;      /* one load of one thread */
    double overhead_cycles; /* of a block without a load */
    double jump_cycles;     /* from here on it is a jump */
    const char *op;
    uint32_t line_bytes;
    bool cold; /* of lines that L2 does not hold, so many bytes apart */
    /* Instead, what a hit of L1 takes that comes so many cycles after; 0: no such. Then one_cycles
     * is what it takes behind one load, round_cycles what a load takes at most until answered, and
     * turn_cycles what a request takes at most until it has left. */
    uint32_t hit;
    double round_cycles, turn_cycles;
};

/* What a ray showed. */
struct ray_result {
    struct ray ray;
    bool jumped;
    uint32_t fits; /* the last value before the jump; else the last at which a jump would show */
    double before_cycles, after_cycles;
    double turn_cycles; /* what a request of the first warp added */
    bool by_part;       /* a small step at a part of a larger one: see ray.c */
    uint32_t at_once;   /* the largest value whose loads were certainly all under way together */
};

/* The time of a configuration: the least of its runs. */
int ray_measure(struct lab *lab, double *cycles, const struct yardstick *yard,
                const struct ray *ray, uint32_t x, uint32_t run);
/* Of `x`, and of so many more, each of more runs. */
int ray_measure_both(struct lab *lab, double cycles[2], const struct yardstick *yard,
                     const struct ray *ray, uint32_t x, uint32_t more);
/* Does a step behind `x` exceed those around it, both times it is measured? */
int ray_steps(struct lab *lab, bool *steps, const struct yardstick *yard, const struct ray *ray,
              uint32_t x);
int ray_follow(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
               const struct ray *ray);

/* meet.c: what all rays say of a count: it is within [low, high]. */
struct bounds {
    double low, high;
    bool agree;
};
struct meeting {
    const struct ray_result *rays;
    size_t count; /* OUT_RAYS at most */
    bool hits;    /* they time a hit behind the loads */
};
/* Each ray give or take `slack` of its count. */
struct bounds meet_all(const struct meeting *m, bool by_instructions, double slack);
/* Where not all meet: a table of instructions, beside which the others may be as they are. */
bool meet_most(const struct meeting *m, struct bounds *b);
/* Or what all say but one of at least three that jump, if no other one could be left out. */
bool meet_but_one(const struct meeting *m, struct bounds *b, size_t *left_out,
                  bool by_instructions);

/* foretold.c: do as many loads of another shape fit, and does one more wait? `loads` in flight of a
 * warp, at most; `size` instructions, or requests; `height` in cycles, of the rays' lowest jump. */
int foretold_holds(struct lab *lab, bool *holds, const struct yardstick *yard, uint32_t loads,
                   bool by_instructions, uint32_t size, double height);

/* narrow.c: where several numbers of requests are left, which of them it is, if that shows. */
int narrow_requests(struct lab *lab, struct bounds *b, const struct yardstick *yard);

/* table.c: whether what `size` requests fill is a table of lines or a limit on requests. */
struct table_study {
    struct lab *lab;
    const struct yardstick *yard;
    uint32_t loads;                /* in flight of a warp, at most */
    const struct ray_result *jump; /* the clearest of those that show it */
    double confidence;             /* of what is told, at most; and what it is */
    const char *kind;              /* "mshr", "request_limit"; NULL: undecided */
    bool is_l1s;                   /* loads past L1 do not fill it */
    char id[24];                   /* of the evidence */
};
int table_tell(struct table_study *t, double size);

/* mergers.c: how many loads of a line wait for its fill */
int mergers_tell(struct lab *lab, const struct yardstick *yard);

/* tell.c: as ray_follow(), and a jump is listed for the reader; what is not measured, but at least
 * so many */
int tell_ray(struct lab *lab, struct ray_result *out, const struct yardstick *yard,
             const struct ray *ray);
void tell_least(struct attribute *attribute, double *least, double value, const char *unit,
                const char *why);

#endif

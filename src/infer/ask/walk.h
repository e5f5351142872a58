/*
 * A chase as inference asks for it. Offsets are bytes inside the buffer.
 *
 *   shape     the ring of addresses
 *   element   one address of the ring
 *   warm-up   ordered loads that are not recorded
 *   window    records in a row; a walk has one or several
 *   plan      shape, warm-up and windows; the walk is what came back, each record tied to its
 * element
 */
#ifndef SONDE_INFER_WALK_H
#define SONDE_INFER_WALK_H

#include <assert.h>
#include "infer/ask/lab.h"
#include "infer/ask/stats.h"

enum { CHASE_WORD_BYTES = 4 }; /* what a load of a chase reads */

/* Elements at 0, stride, 2 stride ..., or the given offsets, each once a turn. Borrowed. */
struct walk_shape {
    const uint32_t *ring; /* NULL: regular */
    uint64_t stride;      /* regular only */
    size_t count;
};

struct walk;
struct walk_plan;

/* Filler accesses that go with rings: `run` walks a plan with them and gives the ring's own
 * records. The first member of who chooses them (behind/filler.h). */
struct walk_filler {
    int (*run)(struct lab *lab, struct walk *out, const struct walk_plan *plan);
};

/* What is read ahead of elements, to have their pages translated: lines in other sets than theirs,
 * ascending, where such are known; else it lies half a page away, or, in another turn, elsewhere.
 */
struct walk_leads {
    uint32_t *line;
    size_t count;
    unsigned turn;
};

/*
 * A cache may take longer to answer than what lies behind it. Then its hits are the slow loads. In
 * the mirror, what takes above `above` and up to `upto` cycles takes `sum` less that, so that hits
 * come before misses as everywhere else; twice mirrored is as before.
 */
struct walk_mirror {
    uint32_t above, upto, sum; /* cycles; sum 0: no mirror */
};

static inline uint32_t walk_mirrored(const struct walk_mirror *mirror, uint32_t cycles)
{
    bool within = mirror->sum && cycles > mirror->above && cycles <= mirror->upto &&
                  mirror->sum > cycles + mirror->above;
    return within ? mirror->sum - cycles : cycles;
}

struct walk_plan {
    const char *op;
    struct walk_shape shape;
    uint64_t warm;         /* ordered loads before each window */
    bool touch;            /* all threads read the footprint first */
    uint32_t touch_stride; /* bytes between what they read; 0: the probe's choice */
    uint32_t window, windows;
    bool spread;  /* windows start evenly over the ring; else each goes on where the last ended */
    bool persist; /* only the first window is warmed */
    uint64_t cold_bytes;   /* of other memory, read before each window that nothing warms; 0: not */
    uint32_t scale;        /* bytes that an offset of the shape counts; 0: 1 */
    uint32_t shared_bytes; /* carve-out to ask for; 0: the probe's choice */
    uint32_t run;          /* tells repeats apart */
    uint32_t repeats;      /* walks, of which the least of each record is kept; 0: 1 */
    uint32_t turns;        /* 2: either half of the ring has each offset once (op=local); 0: 1 */
    const struct walk_filler *filler; /* goes with rings that are given; NULL: none */
    /* Records of a window at most, where filler accesses need more than was asked; 0: no more. */
    uint32_t most_window;
    const struct walk_leads *leads; /* of walk_in_pages; NULL: none */
    /* The first elements of the ring, whose sets filler accesses leave alone; 0: all. */
    size_t guarded;
    struct walk_mirror mirror; /* what the latencies pass through */
};

enum { WALK_REPEATED = 20000 }; /* is added to `run` from one repeat to the next */

struct walk {
    const uint32_t *latency; /* cycles; window after window */
    size_t window, windows, count;
    const uint32_t *first; /* element index each window starts with; owned */
    uint32_t *own;         /* the latencies, where no trace has them; owned */
    struct walk_shape shape;
};

static inline uint64_t walk_offset(const struct walk_shape *shape, size_t element)
{
    return shape->ring ? shape->ring[element] : element * shape->stride;
}

/* The element that record i read. */
static inline size_t walk_element(const struct walk *walk, size_t i)
{
    assert(walk->shape.count > 0);
    return (walk->first[i / walk->window] + i % walk->window) % walk->shape.count;
}

/* What a chase can do on the path of an operator: the rows of paths.def. */
struct path_info {
    const char *op;
    uint64_t reach_bytes; /* 0: as memory goes */
    uint32_t interleave;  /* bytes of the caches that a byte of the path takes */
    bool can_touch, can_chain, can_go_on;
};

/* NULL: no such path. */
const struct path_info *path_find(const char *op);

/*
 * Measure. What the trace says it visited is checked against the ring: a trace that visited
 * something else is refused (undecided). Where the path cannot be touched, ordered loads warm it
 * instead. A walk beyond the path's reach is undecided. walk_free() what succeeded.
 */
int walk_run(struct lab *lab, struct walk *out, const struct walk_plan *plan);
void walk_free(struct walk *walk);
/*
 * Of a walk over a ring and filler accesses: the ring's own records alone, alike many of each
 * window and `most` at most. `element` says of each place of what was walked which of the ring's
 * elements it is; WALK_FILLER: none. What fails leaves the walk as it was.
 */
#define WALK_FILLER UINT32_MAX
int walk_keep(struct lab *lab, struct walk *walk, const uint32_t *element,
              const struct walk_shape *ring, size_t most);
/*
 * after_hits.c: of caches whose sets keep what was hit. Hits all lines of a plan, in a walk of its
 * own; or walks a ring after that, as another run than without (WALK_AFTER_HITS is added).
 */
enum { WALK_AFTER_HITS = 1000 };
int walk_hit_all(struct lab *lab, const struct walk_plan *plan);
extern const struct walk_filler walk_after_hits;
/* in_pages.c: each element of a ring finds its page translated. Alone, or after hits. */
extern const struct walk_filler walk_in_pages, walk_in_pages_after_hits;
/* The latencies alone, as a sample. */
int walk_sample(struct lab *lab, struct sample *out, const struct walk_plan *plan);

#endif

/*
 * Walks on a cache behind another. Lines that are walked alone stay in the cache in front, and the
 * one behind never hears of them; so others are walked with them, which drive them out there and
 * lie in other sets of the cache behind. A walk with filler accesses gives the records of the lines
 * that were asked for, as if nothing else had been walked.
 */
#ifndef SONDE_INFER_FILLER_H
#define SONDE_INFER_FILLER_H

#include "infer/level.h"

struct filler {
    struct walk_filler base;
    const struct level *level;         /* the one behind; borrowed */
    const struct level_summary *front; /* borrowed */
    size_t rounds;     /* of a set's ways in front: so many other lines drive out any of its own */
    size_t favoured;   /* and of so many more ways, for a bias against one */
    uint32_t *outside; /* offsets that do not lie in the conflicting set; owned */
    size_t outside_count;
    unsigned turn; /* which lines without a known set come first */
};

/* Ready for the level's walks, which level_plan() then sends with it. `outside` is taken over, also
 * by a failure. The level must know its conflicting set; undecided where the lines in front are
 * unknown. level_free() frees it. */
int filler_create(struct level *level, uint32_t *outside, size_t outside_count);
void filler_free(struct filler *filler);

/*
 * While an index is sought: the `number`th choice among lines whose sets are not known yet, of
 * FILLER_TURNS. One that shares the set in question shows it fuller than it is.
 */
enum { FILLER_TURNS = 4 };
void filler_turn(struct filler *filler, unsigned number);

/* Room for the filler accesses of a ring. */
int filler_room(uint32_t **out, const struct filler *filler);
/*
 * Offsets that drive every element of the ring out of the cache in front and lie in no set behind
 * of the first `guarded` elements: `times` as many lines as it takes. Where there are fewer, those
 * for `times` 1 again by other words.
 */
int filler_find(const struct filler *filler, uint32_t *out, size_t *count,
                const struct walk_shape *ring, size_t guarded, size_t times);

#endif

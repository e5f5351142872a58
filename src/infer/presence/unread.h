/*
 * The outermost cache where loads are dear: its misses in memory that no walk has read, and which
 * arrays fit by their lines. Functions return 0, INFER_UNDECIDED or an error.
 */
#ifndef SONDE_INFER_UNREAD_H
#define SONDE_INFER_UNREAD_H

#include "infer/level.h"

struct unread {
    struct walk walk;
    uint32_t *ring; /* owned */
};

/* Is it asked so, instead of by walks through arrays of so many bytes and more? */
bool unread_applies(const struct level *level, uint64_t bytes);
/* Word by word, whole blocks; unread_free() what succeeded. */
int unread_walk(struct level *level, struct unread *out);
void unread_free(struct unread *unread);
enum unread_array {
    UNREAD_FITS,
    UNREAD_MISSES,
    UNREAD_DEAR,    /* nobody knows: it is too dear to touch */
    UNREAD_REFUSED, /* nor here: the device did not touch it, or a recording lacks it */
};
/* Needs the threshold. */
int unread_array(struct level *level, enum unread_array *out, uint64_t bytes);

#endif

/* Caches that are too large for ordered walks of whole arrays: what their experiments share. */
#ifndef SONDE_INFER_LARGE_H
#define SONDE_INFER_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct level;

/* evict.c: the policy of the conflicting set; where it is not told, the result has the reason. */
int large_policy(struct level *level);
/* drawn.c: a conflicting set among these lines, ascending, which are far more than fit. */
int large_conflict_among(struct level *level, const uint32_t *lines, size_t count);
/* crowd.c: line, sets and policy, from the level's conflicting set. */
int large_take_apart(struct level *level);
/*
 * to_and_fro.c: the lines that all sets hold together, as level_held(), in one launch; answered: it
 * could be asked.
 */
bool to_and_fro_applies(const struct level *level);
int to_and_fro(struct level *level, size_t *held, bool *answered);
/* One reading of so many lines, as many as to_and_fro_most_lines() at most, from another place each
 * run. Lines that begin or end a page, and may miss translation, count as their neighbours do. */
struct held_count {
    size_t hits;     /* on the way back and there again */
    size_t doubtful; /* lines whose neighbours differ, of those that count as these */
    bool elsewhere;  /* of run 0: many lines are in another part */
};
size_t to_and_fro_most_lines(const struct level *level);
/* Rows of so many lines that memory has one behind the other: readings beyond these are the first
 * ones again. */
uint64_t to_and_fro_places(const struct level *level, size_t lines);
int to_and_fro_count(struct level *level, struct held_count *out, size_t lines, unsigned run);
/* by_rule.c: the sets and the size by the policy, where what all sets hold together does not tell
 * them. */
int large_sets_by_rule(struct level *level);

#endif

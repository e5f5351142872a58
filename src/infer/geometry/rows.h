/*
 * Rows of a hashed cache. Where a cache has several slices, each with its own sets, a row is as
 * many lines beside each other as there are slices, one of the sets of each; which line of the row
 * is in which slice is hashed, and so one line of a row on average shares a set:
 *
 *     | . . x . | . . . . | . x x . |      x: lines of one set, rows of 4 lines,
 *       row 0     row 100   row 200        100 sets in each slice: 400 in all
 */
#ifndef SONDE_INFER_ROWS_H
#define SONDE_INFER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct level;

struct row_fit {
    uint32_t width;  /* lines of a row */
    uint32_t period; /* rows after which a set comes again */
    uint64_t sets;   /* width * period: lines from a row to the next one of the same set */
    double share;    /* of what is likely, of all numbers of sets: 0 to 1 */
};

/*
 * The rows of lines (ascending) that share a set. False: none that are likely; so it is where lines
 * share a set by chance.
 */
bool rows_fit(struct row_fit *out, const uint32_t *lines, size_t count);

/*
 * Lines that are hashed together, beside each other in a row: each row that has lines has so many
 * of them, or a multiple. 1: each line by itself.
 */
uint32_t rows_block(const struct row_fit *fit, const uint32_t *lines, size_t count);

/*
 * How far apart in their rows lines of a set lie, none of them before the first: a number of lines
 * that divides a row, and all their distances. 1: anywhere, as where they are hashed. More: lines
 * come to slices in turn.
 */
uint32_t rows_apart(const struct row_fit *fit, const uint32_t *lines, size_t count);

/*
 * How many lines of a set a row has, of so many in so many rows that were asked to their ends: one
 * of its slices' share. Where L2 has two parts, and each keeps the other's lines as well, a part
 * has half of the slices that a row goes over, and its sets two lines of each row. By Poisson's
 * law, for lines are hashed: k lines in n rows are 2^k exp(-n) times as likely. `estimate`: the
 * sets that drawn lines have told (large/drawn.c), which speak for one or for two; 0: not known.
 * *sure becomes the chance that the answer is right.
 */
uint32_t rows_each(const struct row_fit *fit, double rows, double lines, double estimate,
                   double *sure);

/*
 * Do the lines lie as the fit says, each hashed by itself? `each` is the lines of a row that was
 * asked, on average. Not where lines come in blocks of as many; nor in rows of one line of which
 * some lack theirs, which are of slices that no row shows; nor where they are few. The number of
 * sets is then doubtful.
 */
bool rows_as_hashed(const struct row_fit *fit, const uint32_t *lines, size_t count, double each);

/*
 * Finds more lines of the conflicting set, and the rows that they lie in: sets and size. The ways
 * are those of the conflicting set. INFER_UNDECIDED where there are no rows.
 */
int level_rows(struct level *level);

#endif

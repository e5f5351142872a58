/* The circle of words that is all hits (words.c). Functions return 0, INFER_UNDECIDED or an error.
 */
#ifndef SONDE_INFER_WORDS_H
#define SONDE_INFER_WORDS_H

#include "infer/level.h"

enum { WORDS_BYTES = 1024 }; /* most caches hold so many */

/* Latencies of loads by `op` that circle in so many bytes; sample_free() what succeeded. */
int words_sample(struct level *level, struct sample *out, const char *op, size_t bytes,
                 uint32_t run);
/* Which circle is all hits: WORDS_BYTES, or less. */
int words_choose(struct level *level, size_t *bytes);

#endif

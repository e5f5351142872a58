/*
 * Distance between words: the optimal string alignment distance (Damerau 1964), three rows of the
 * table kept. Words longer than SUGGEST_MAX are near nothing: nobody mistypes those.
 */
#include "util/text/suggest.h"

#include <stddef.h>
#include <string.h>

#define SUGGEST_MAX 63

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > SUGGEST_MAX || b_length > SUGGEST_MAX) {
        return SUGGEST_MAX + 1;
    }
    unsigned rows[3][SUGGEST_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above2[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

struct suggest suggest_begin(const char *word)
{
    return (struct suggest){.word = word, .distance = SUGGEST_MAX};
}

void suggest_offer(struct suggest *suggest, const char *candidate)
{
    unsigned d = distance(suggest->word, candidate);
    if (d < suggest->distance) {
        suggest->distance = d;
        suggest->best = candidate;
    }
}

const char *suggest_best(const struct suggest *suggest)
{
    size_t length = strlen(suggest->word);
    unsigned allowed = length < 3 ? 1 : (unsigned)(length + 2) / 3;
    return suggest->distance <= allowed ? suggest->best : NULL;
}

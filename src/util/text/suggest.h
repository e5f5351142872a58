/*
 * "Did you mean": the candidate nearest to a mistyped word, by the number of letters to insert,
 * delete, replace or swap. Candidates are offered one by one; the first of equals wins.
 *
 *     struct suggest suggest = suggest_begin(word);
 *     for (...) suggest_offer(&suggest, candidates[i]);
 *     const char *near = suggest_best(&suggest);      NULL when nothing is near
 */
#ifndef SONDE_UTIL_SUGGEST_H
#define SONDE_UTIL_SUGGEST_H

struct suggest {
    const char *word, *best; /* both borrowed */
    unsigned distance;
};

struct suggest suggest_begin(const char *word);
void suggest_offer(struct suggest *suggest, const char *candidate);

/* The nearest candidate, or NULL when more than a third of the word would have to change. */
const char *suggest_best(const struct suggest *suggest);

#endif

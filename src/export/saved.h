/*
 * A dissection that was kept as JSON (docs/dissection.schema.json), read back. Only what is needed
 * to find values is checked here: the schema's name, and the kinds of the values that are asked
 * for.
 */
#ifndef SONDE_EXPORT_SAVED_H
#define SONDE_EXPORT_SAVED_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* The document of `path`, to be given to json_decref(). SONDE_EIO: the file cannot be read;
 * SONDE_EINPUT: it is no dissection, with the reason. */
int saved_read(json_t **out, const char *path);

/* A cache or a TLB that is present; NULL: it is not there, or not known to be. */
const json_t *saved_cache(const json_t *root, const char *id);
/* Whether a cache was looked for and shown not to exist. */
bool saved_is_absent(const json_t *root, const char *id);
const json_t *saved_tlb(const json_t *root, const char *id);

/* Whether the cache `id` was found to be the same as `other`. */
bool saved_shares(const json_t *root, const char *id, const char *other);

/* Whether a cache was found to serve a cluster of SMs, or all of them, as one cluster; false also
 * where `cache` is NULL. */
bool saved_is_of_cluster(const json_t *cache);

/* An attribute that was measured, as a number. */
struct saved_value {
    double value;
    double confidence;
    const char *evidence; /* "": not told. Borrowed from the document */
};
/* False: `owner` is NULL, or the attribute was not measured, or is no number. */
bool saved_value(struct saved_value *out, const json_t *owner, const char *key);
/* The same rounded to a whole number; false also for what is negative or beyond 2^53. */
bool saved_u64(uint64_t *out, const json_t *owner, const char *key);
/* The latency of the first kind of access of a name, of loads past L1: others stop sooner. False:
 * it was not measured. */
bool saved_pattern(double *cycles, const json_t *root, const char *pattern);

/* The latency of a row of `latency_patterns`. False: it was not measured, or the row is of other
 * loads than those of this kind of access and op. */
bool saved_kind(struct saved_value *out, const json_t *row, const char *pattern, const char *op);

/* Texts and numbers that are no attributes; the fallback where they are missing. */
const char *saved_text(const json_t *owner, const char *key, const char *fallback);
uint64_t saved_plain_u64(const json_t *owner, const char *key, uint64_t fallback);

#endif

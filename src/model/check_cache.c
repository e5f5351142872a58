/*
 * What the values of a cache mean together: geometry, index function, sectors, probabilities. The
 * same rules hold for a choice of a carve-out, and for L2's slices as far as they are numbered.
 */
#include "model/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"
#include "util/error.h"
#include "util/text/units.h"

void complain(const struct subject *subject, const char *key, const char *fmt, ...)
{
    char text[400], path[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (subject->place) {
        problem(subject->reader, subject->place, "choice %u: %s", subject->choice, text);
    } else {
        snprintf(path, sizeof(path), "%s.%s", subject->prefix, key);
        problem(subject->reader, path, "%s", text);
    }
}

const char *bytes_text(char text[32], uint64_t bytes)
{
    return units_format(text, 32, bytes, UNIT_BYTES);
}

/* ---- index functions ---- */

static uint32_t lowest_bit(uint64_t mask)
{
    uint32_t bit = 0;
    while (!(mask >> bit & 1)) {
        bit++;
    }
    return bit;
}

/* Rows that are independent of each other over GF(2), by elimination from the lowest bit up. */
uint32_t masks_rank(uint64_t *rows, uint32_t count)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i] == 0) {
            continue;
        }
        uint64_t pivot = rows[i] & -rows[i];
        rank++;
        for (uint32_t j = i + 1; j < count; j++) {
            rows[j] ^= rows[j] & pivot ? rows[i] : 0;
        }
    }
    return rank;
}

bool index_is_linear(const struct index_spec *index)
{
    return index->kind == INDEX_BITS || index->kind == INDEX_XOR;
}

/* The largest aligned block of addresses that all have the same number. */
uint64_t index_grain_bytes(const struct index_spec *index, uint32_t line_bytes)
{
    if (!index_is_linear(index)) {
        return index->unit_bytes ? index->unit_bytes : line_bytes;
    }
    uint32_t lowest = 62;
    for (uint32_t i = 0; i < index->mask_count; i++) {
        uint32_t bit = lowest_bit(index->masks[i]);
        lowest = bit < lowest ? bit : lowest;
    }
    return UINT64_C(1) << lowest;
}

/* A map that leaves sets out would make the cache smaller than its size says. */
static void check_map_covers(const struct subject *subject, const struct index_spec *index,
                             uint32_t sets)
{
    bool used[MEM_MAX_MAP] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < index->map_count; i++) {
        count += !used[index->map[i]];
        used[index->map[i]] = true;
    }
    if (count < sets) {
        complain(subject, "map", "only %u of %u sets are ever used", count, sets);
    }
}

void check_index(const struct subject *subject, const struct index_spec *index, uint32_t sets,
                 uint32_t line_bytes, const char *what)
{
    static const char *const keys[] = {
        [INDEX_BITS] = "bits", [INDEX_XOR] = "masks",    [INDEX_MODULO] = "unit",
        [INDEX_HASH] = "unit", [INDEX_ROUNDS] = "block", [INDEX_MAP] = "map"};
    const char *key = keys[index->kind];
    if (mem_index_check(index, sets) < 0) {
        complain(subject, key, "%s", error_text());
        return;
    }
    uint64_t rows[MEM_MAX_INDEX_MASKS];
    memcpy(rows, index->masks, sizeof(rows));
    uint64_t grain = index_grain_bytes(index, line_bytes);
    struct words words;
    if (index_is_linear(index) && masks_rank(rows, index->mask_count) < index->mask_count) {
        complain(subject, key,
                 "the masks are not independent of each other: some of %u %s "
                 "are never used",
                 sets, what);
    } else if (index->kind == INDEX_MAP) {
        check_map_covers(subject, index, sets);
    }
    if (sets > 1 && grain % line_bytes != 0) {
        complain(subject, key, "changes every %s, which tears lines of %s apart",
                 bytes_text(words.a, grain), bytes_text(words.b, line_bytes));
    }
}

/* ---- one cache ---- */

uint64_t cache_lines(const struct cache_spec *cache)
{
    uint64_t lines = (uint64_t)cache->sets * cache->ways;
    if (cache->unequal_count > 0) {
        lines = 0;
        for (uint32_t i = 0; i < cache->unequal_count; i++) {
            lines += cache->ways_per_set[i];
        }
    }
    return lines;
}

static bool check_unequal(const struct subject *subject, const struct cache_spec *cache)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < cache->unequal_count; i++) {
        most = cache->ways_per_set[i] > most ? cache->ways_per_set[i] : most;
    }
    if (cache->unequal_count > 0 && cache->unequal_count != cache->sets) {
        complain(subject, "ways_per_set", "has %u items for %u sets", cache->unequal_count,
                 cache->sets);
        return false;
    }
    if (cache->unequal_count > 0 && cache->ways != most) {
        complain(subject, "ways", "is %u, but the largest of ways_per_set is %u", cache->ways,
                 most);
        return false;
    }
    return true;
}

static void check_size(const struct subject *subject, const struct cache_spec *cache)
{
    uint64_t product = cache_lines(cache) * cache->line_bytes;
    struct words words;
    if (product == cache->size_bytes) {
        return;
    }
    bytes_text(words.a, cache->size_bytes);
    bytes_text(words.b, cache->line_bytes);
    bytes_text(words.c, product);
    if (cache->unequal_count > 0) {
        complain(subject, "size", "is %s, but %llu lines of %s make %s", words.a,
                 (unsigned long long)cache_lines(cache), words.b, words.c);
    } else {
        complain(subject, "size", "is %s, but %u sets of %u ways of %s lines make %s", words.a,
                 cache->sets, cache->ways, words.b, words.c);
    }
}

static void check_data(const struct subject *subject, const struct cache_spec *cache)
{
    struct words words;
    if (cache->data_bytes > cache->size_bytes || cache->data_bytes % cache->line_bytes != 0) {
        complain(subject, "data", "%s are not whole lines of at most the size, %s",
                 bytes_text(words.a, cache->data_bytes), bytes_text(words.b, cache->size_bytes));
    }
}

static void check_sector(const struct subject *subject, const struct cache_spec *cache)
{
    struct words words;
    if (cache->line_bytes % cache->sector_bytes != 0) {
        complain(subject, "sector", "%s does not divide the line, %s",
                 bytes_text(words.a, cache->sector_bytes), bytes_text(words.b, cache->line_bytes));
    } else if (cache->line_bytes / cache->sector_bytes > 64) {
        complain(subject, "sector", "a line has %u sectors; 64 are the most",
                 cache->line_bytes / cache->sector_bytes);
    }
}

static void check_probabilities(const struct subject *subject, const struct cache_spec *cache)
{
    const struct replacement_spec *replacement = &cache->replacement;
    if (replacement->kind != REPLACE_BIASED && replacement->kind != REPLACE_BIASED_ALTERNATING) {
        return;
    }
    double sum = 0;
    for (uint32_t i = 0; i < replacement->probability_count; i++) {
        sum += replacement->probability[i];
    }
    if (replacement->probability_count != cache->ways) {
        complain(subject, "replacement.victim_probability", "has %u items for %u ways",
                 replacement->probability_count, cache->ways);
    } else if (fabs(sum - 1) > 1e-6) {
        complain(subject, "replacement.victim_probability", "the sum is %.6g, not 1", sum);
    }
}

/* What the cache itself refuses, told of the key that its text begins with, else of the size. */
static void complain_of_cache(const struct subject *subject)
{
    char key[48];
    const char *text = error_text();
    size_t length = strcspn(text, ":");
    bool named = strncmp(text, "written", strlen("written")) == 0 && text[length] == ':' &&
                 length < sizeof key;
    if (!named) {
        complain(subject, "size", "%s", text);
        return;
    }
    memcpy(key, text, length);
    key[length] = '\0';
    char *rest = strdup(text + length + strspn(text + length, ": "));
    complain(subject, key, "%s", rest ? rest : "out of memory");
    free(rest);
}

void check_cache(const struct subject *subject, const struct cache_spec *cache)
{
    unsigned before = subject->reader->problem_count;
    char prefix[64];
    struct subject index = *subject;
    snprintf(prefix, sizeof(prefix), "%s.index", subject->prefix);
    index.prefix = prefix;
    check_sector(subject, cache);
    if (check_unequal(subject, cache)) {
        check_size(subject, cache);
        check_data(subject, cache);
    }
    check_index(&index, &cache->index, cache->sets, cache->line_bytes, "sets");
    check_probabilities(subject, cache);
    if (subject->reader->problem_count == before && mem_cache_check(cache) < 0) {
        complain_of_cache(subject);
    }
}

void check_cache_at(struct reader *reader, const char *prefix, const struct cache_spec *cache)
{
    struct subject subject = {reader, prefix, NULL, 0};
    check_cache(&subject, cache);
}

void normalise_index(struct index_spec *index)
{
    if (!index_is_linear(index)) {
        index->mask_count = 0;
        memset(index->masks, 0, sizeof(index->masks));
    } else {
        index->unit_bytes = 0;
    }
    if (index->kind != INDEX_HASH && index->kind != INDEX_ROUNDS) {
        index->seed = 0;
    }
    if (index->kind != INDEX_ROUNDS) {
        index->block_units = 0;
    }
    if (index->kind != INDEX_MAP) {
        index->map_count = 0;
        memset(index->map, 0, sizeof(index->map));
    }
}

void normalise_cache(struct cache_spec *cache)
{
    struct replacement_spec *replacement = &cache->replacement;
    normalise_index(&cache->index);
    if (cache->sector_bytes == 0) {
        cache->sector_bytes = cache->line_bytes;
    }
    if (replacement->kind != REPLACE_BIASED && replacement->kind != REPLACE_BIASED_ALTERNATING) {
        replacement->probability_count = 0;
        memset(replacement->probability, 0, sizeof(replacement->probability));
    }
}

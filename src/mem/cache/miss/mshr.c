/*
 * Miss-status-holding registers (Kroft, ISCA 1981): a fixed number of entries, each for one pending
 * line, each with room for the first request and a fixed number of further ones (mergers),
 * whichever warp they come from. Full is: no entry for a new line, or no merger left at the line.
 * Entries are found by a hash of the line's number; real ones compare all entries at once, which
 * takes no time either.
 *
 * Where misses are separate nothing merges: each request takes an entry and fetches for itself, as
 * in a queue of outstanding requests (Bakhoda et al., ISPASS 2009, section 2.2.3).
 */
#include <stdalign.h>
#include <stdlib.h>

#include "mem/cache/miss/miss.h"
#include "mem/pool.h"
#include "util/error.h"

enum { NONE = UINT32_MAX };

struct miss_table {
    uint32_t entries, mergers;
    bool separate;
    uint32_t used;
    uint32_t free;  /* index of the first entry that was given back */
    uint32_t fresh; /* of the first that was never used */
    uint32_t bucket_mask;
    uint32_t *buckets; /* index of the first entry of a chain */
    struct miss_line *lines;
    struct pool waiters;
};

static void mshr_destroy(struct miss_table *table)
{
    if (table) {
        free(table->buckets);
        free(table->lines);
        pool_free_all(&table->waiters);
        free(table);
    }
}

static int mshr_create(struct miss_table **out, const struct cache_spec *spec)
{
    *out = NULL;
    struct miss_table *table = calloc(1, sizeof *table);
    if (!table) {
        return error_memory();
    }
    uint32_t buckets = 16;
    while (buckets < 2 * (uint64_t)spec->mshr_entries) {
        buckets *= 2;
    }
    table->entries = spec->mshr_entries;
    table->mergers = spec->mshr_mergers;
    table->separate = spec->separate_misses;
    table->free = NONE;
    table->bucket_mask = buckets - 1;
    table->buckets = malloc(buckets * sizeof *table->buckets);
    table->lines = aligned_alloc(alignof(struct miss_line), table->entries * sizeof *table->lines);
    pool_init(&table->waiters, sizeof(struct miss_waiter));
    if (!table->buckets || !table->lines) {
        mshr_destroy(table);
        return error_memory();
    }
    for (uint32_t i = 0; i < buckets; i++) {
        table->buckets[i] = NONE;
    }
    *out = table;
    return 0;
}

static uint32_t *mshr_bucket(const struct miss_table *table, uint64_t line)
{
    uint64_t mixed = line * UINT64_C(0x9e3779b97f4a7c15);
    return &table->buckets[(mixed >> 32) & table->bucket_mask];
}

static struct miss_line *mshr_find(const struct miss_table *table, uint64_t line)
{
    if (table->used == 0) {
        return NULL;
    }
    for (uint32_t i = *mshr_bucket(table, line); i != NONE; i = table->lines[i].next) {
        if (table->lines[i].line == line) {
            return &table->lines[i];
        }
    }
    return NULL;
}

/* There is a free entry. */
static struct miss_line *mshr_allocate(struct miss_table *table, uint64_t line)
{
    bool again = table->free != NONE;
    uint32_t index = again ? table->free : table->fresh++, *bucket = mshr_bucket(table, line);
    struct miss_line *entry = &table->lines[index];
    table->free = again ? entry->next : NONE;
    *entry = (struct miss_line){.line = line, .next = *bucket};
    *bucket = index;
    table->used++;
    return entry;
}

static void mshr_release(struct miss_table *table, struct miss_line *entry)
{
    uint32_t index = (uint32_t)(entry - table->lines), *link = mshr_bucket(table, entry->line);
    while (*link != index) {
        link = &table->lines[*link].next;
    }
    *link = entry->next;
    entry->next = table->free;
    table->free = index;
    table->used--;
}

static int mshr_add(struct miss_line **out, uint64_t *fetch, uint32_t *placed,
                    struct miss_table *table, uint64_t line, const struct miss_waiter *waiter)
{
    struct miss_line *entry = table->separate ? NULL : mshr_find(table, line);
    if (entry ? entry->waiting > table->mergers : table->used == table->entries) {
        return MISS_FULL;
    }
    struct miss_waiter *copy = NULL;
    if (!entry) {
        entry = mshr_allocate(table, line);
        copy = &entry->opener;
    } else if (!(copy = pool_take(&table->waiters))) {
        return SONDE_ENOMEM;
    }
    *copy = *waiter;
    copy->next = NULL;
    *(entry->first ? &entry->last->next : &entry->first) = copy;
    entry->last = copy;
    uint64_t room = table->separate ? UINT32_MAX : (uint64_t)table->mergers + 1 - entry->waiting;
    copy->places = waiter->places < room ? waiter->places : (uint32_t)room;
    entry->waiting += copy->places;
    *placed = copy->places;
    *fetch = waiter->sectors & ~entry->pending;
    entry->pending |= waiter->sectors;
    *out = entry;
    return MISS_PLACED;
}

static void mshr_arrive(struct miss_table *table, struct miss_line *entry, uint64_t sectors,
                        miss_served *served, void *ctx)
{
    entry->pending &= ~sectors;
    struct miss_waiter *w = entry->first;
    entry->first = entry->last = NULL;
    for (struct miss_waiter *next; w; w = next) {
        next = w->next;
        w->sectors &= ~sectors;
        w->next = NULL;
        if (w->sectors) {
            *(entry->first ? &entry->last->next : &entry->first) = w;
            entry->last = w;
        } else {
            served(ctx, w);
            entry->waiting -= w->places;
            if (w != &entry->opener) {
                pool_put(&table->waiters, w);
            }
        }
    }
    if (!entry->pending) {
        mshr_release(table, entry);
    }
}

static void mshr_discard_all(struct miss_table *table)
{
    for (uint32_t i = 0; i <= table->bucket_mask && table->used; i++) {
        for (uint32_t j = table->buckets[i]; j != NONE; j = table->lines[j].next) {
            table->lines[j].discard = true;
        }
    }
}

static void mshr_discard(struct miss_table *table, uint64_t line)
{
    uint32_t i = table->used ? *mshr_bucket(table, line) : NONE;
    for (; i != NONE; i = table->lines[i].next) {
        table->lines[i].discard |= table->lines[i].line == line;
    }
}

static uint32_t mshr_used(const struct miss_table *table)
{
    return table->used;
}

const struct miss_ops miss_MSHR = {.create = mshr_create,
                                   .destroy = mshr_destroy,
                                   .discard = mshr_discard,
                                   .add = mshr_add,
                                   .arrive = mshr_arrive,
                                   .discard_all = mshr_discard_all,
                                   .used = mshr_used};

/* Launches that do again what one before did: see again.h. */
#include "sample/again.h"

#include <stdlib.h>
#include <string.h>

#include "exec/memory/memory.h"
#include "util/error.h"
#include "util/hash.h"

static const struct {
    size_t bytes;     /* of all that is kept */
    size_t launches;  /* that are told apart */
    uint64_t changed; /* times that lines may change before a launch is given up, .. */
    uint64_t more;    /* .. and for each time that they did not */
} limits = {.bytes = 256u << 20, .launches = 1u << 16, .changed = 2, .more = 1};

static size_t result_bytes(const struct again *again)
{
    return again->results.before ? 2 * again->lines.count * TRAIL_LINE_BYTES : 0;
}

static size_t bytes_of(const struct again *again)
{
    return again->counts.length * sizeof(uint64_t) +
           again->lines.count * sizeof *again->lines.data +
           again->read.count * (sizeof(uint64_t) + TRAIL_LINE_BYTES) + result_bytes(again);
}

void again_clear(struct again_all *all, struct again *again)
{
    if (again->known) {
        all->kept_bytes -= bytes_of(again);
    }
    free((void *)again->counts.blocks);
    free(again->bytes);
    free(again->results.before);
    free(again->results.after);
    free(again->results.params);
    again->results.before = again->results.after = again->results.params = NULL;
    again->results.known = false;
    vec_free(&again->lines);
    vec_free(&again->read);
    again->known = false;
    again->counts = (struct trail_counts){0};
    again->bytes = NULL;
    again->bytes_capacity = 0;
}

void again_free(struct again_all *all)
{
    for (size_t i = 0; i < all->list.count; i++) {
        again_clear(all, all->list.data[i]);
        free(all->list.data[i]->key);
        free(all->list.data[i]);
    }
    vec_free(&all->list);
    free(all->slot);
    free(all->key);
}

static int key_add(struct again_all *all, const void *data, size_t bytes)
{
    if (vec_grow((void **)&all->key, &all->key_capacity, all->key_bytes + bytes, 1) < 0) {
        return error_memory();
    }
    memcpy(all->key + all->key_bytes, data, bytes);
    all->key_bytes += bytes;
    return 0;
}

/* Parameters that steer nothing are left out. */
static int key_make(struct again_all *all, const struct exec_launch *launch, uint64_t kernel,
                    const struct exec_steering *steering)
{
    all->key_bytes = 0;
    int rc = key_add(all, &kernel, sizeof kernel);
    rc = rc < 0 ? rc : key_add(all, launch->grid, sizeof launch->grid);
    rc = rc < 0 ? rc : key_add(all, launch->block, sizeof launch->block);
    rc = rc < 0 ? rc
                : key_add(all, &launch->dynamic_shared_bytes, sizeof launch->dynamic_shared_bytes);
    for (uint32_t i = 0; rc == 0 && i < steering->param_bytes; i++) {
        uint8_t byte = steering->params[i] ? launch->params[i] : 0;
        rc = key_add(all, &byte, 1);
    }
    return rc;
}

static bool is_key_of(const struct again_all *all, uint64_t hash, const struct again *again)
{
    return again->hash == hash && again->key_bytes == all->key_bytes &&
           memcmp(again->key, all->key, all->key_bytes) == 0;
}

static int make_slots(struct again_all *all)
{
    all->slots = 2 * limits.launches; /* a power of two, never full */
    all->slot = calloc(all->slots, sizeof *all->slot);
    return all->slot ? 0 : error_memory();
}

static struct again *add(struct again_all *all, uint64_t hash, size_t at)
{
    struct again *again = calloc(1, sizeof *again);
    uint8_t *key = malloc(all->key_bytes + 1);
    if (!again || !key || vec_push(&all->list, again) < 0) {
        free(again);
        free(key);
        return NULL;
    }
    memcpy(key, all->key, all->key_bytes);
    again->hash = hash;
    again->key = key;
    again->key_bytes = all->key_bytes;
    all->slot[at] = (uint32_t)all->list.count;
    return again;
}

struct again *again_of(struct again_all *all, const struct exec_launch *launch, uint64_t kernel,
                       const struct exec_steering *steering)
{
    if (key_make(all, launch, kernel, steering) < 0 || (!all->slot && make_slots(all) < 0)) {
        return NULL;
    }
    uint64_t hash = hash_bytes(HASH_BEGIN, all->key, all->key_bytes);
    size_t at = hash_word(HASH_BEGIN, hash) & (all->slots - 1);
    for (; all->slot[at]; at = (at + 1) & (all->slots - 1)) {
        struct again *again = all->list.data[all->slot[at] - 1];
        if (is_key_of(all, hash, again)) {
            return again;
        }
    }
    return all->list.count < limits.launches ? add(all, hash, at) : NULL;
}

bool again_is_same(struct again *again, uint64_t base)
{
    if (!again->known) {
        return false;
    }
    for (size_t i = 0; i < again->read.count; i++) {
        const void *now = (const void *)(uintptr_t)(base + again->read.data[i] * TRAIL_LINE_BYTES);
        if (memcmp(now, again->bytes + i * TRAIL_LINE_BYTES, TRAIL_LINE_BYTES) != 0) {
            again->changed++;
            return false;
        }
    }
    again->same++;
    return true;
}

static bool is_worth(uint64_t same, uint64_t changed)
{
    return changed <= limits.changed + limits.more * same;
}

bool again_is_wanted(const struct again_all *all, const struct again *again)
{
    return all->kept_bytes < limits.bytes && is_worth(again->same, again->changed);
}

int again_read(struct again *again, uint64_t line, uint64_t base)
{
    size_t count = again->read.count;
    if (vec_push(&again->read, line) < 0 ||
        vec_grow((void **)&again->bytes, &again->bytes_capacity, count + 1, TRAIL_LINE_BYTES) < 0) {
        return error_memory();
    }
    memcpy(again->bytes + count * TRAIL_LINE_BYTES,
           (const void *)(uintptr_t)(base + line * TRAIL_LINE_BYTES), TRAIL_LINE_BYTES);
    return 0;
}

void again_keep(struct again_all *all, struct again *again)
{
    again->known = true;
    all->kept_bytes += bytes_of(again);
}

/* ---- results ---- */

static uint8_t *line_at(const struct exec_launch *launch, uint64_t line)
{
    return (uint8_t *)(uintptr_t)(exec_memory_base(launch->memory) + line * TRAIL_LINE_BYTES);
}

static bool finds_the_same(const struct again *again, const struct exec_launch *launch)
{
    const struct again_results *r = &again->results;
    bool same = r->changes == exec_memory_changes(launch->memory) &&
                memcmp(r->params, launch->params, launch->param_bytes) == 0;
    for (size_t i = 0; same && i < again->lines.count; i++) {
        same = memcmp(line_at(launch, again->lines.data[i].line), r->before + i * TRAIL_LINE_BYTES,
                      TRAIL_LINE_BYTES) == 0;
    }
    return same;
}

bool again_redo(struct again *again, const struct exec_launch *launch)
{
    struct again_results *r = &again->results;
    if (!r->known) {
        return false;
    }
    if (!finds_the_same(again, launch)) {
        r->changed++;
        return false;
    }
    r->same++;
    for (size_t i = 0; i < again->lines.count; i++) {
        if (again->lines.data[i].wrote) {
            memcpy(line_at(launch, again->lines.data[i].line), r->after + i * TRAIL_LINE_BYTES,
                   TRAIL_LINE_BYTES);
        }
    }
    return true;
}

bool again_results_begin(struct again_all *all, struct again *again,
                         const struct exec_launch *launch)
{
    struct again_results *r = &again->results;
    if (!again->closed || all->kept_bytes >= limits.bytes || !is_worth(r->same, r->changed)) {
        return false;
    }
    r->known = false;
    if (!r->before) {
        size_t bytes = again->lines.count * TRAIL_LINE_BYTES;
        r->before = malloc(bytes + 1);
        r->after = malloc(bytes + 1);
        r->params = malloc(launch->param_bytes + 1);
        all->kept_bytes += result_bytes(again);
    }
    if (!r->before || !r->after || !r->params) {
        return false;
    }
    r->changes = exec_memory_changes(launch->memory);
    memcpy(r->params, launch->params, launch->param_bytes);
    for (size_t i = 0; i < again->lines.count; i++) {
        memcpy(r->before + i * TRAIL_LINE_BYTES, line_at(launch, again->lines.data[i].line),
               TRAIL_LINE_BYTES);
    }
    return true;
}

void again_results_end(struct again *again, const struct exec_launch *launch)
{
    for (size_t i = 0; i < again->lines.count; i++) {
        if (again->lines.data[i].wrote) {
            memcpy(again->results.after + i * TRAIL_LINE_BYTES,
                   line_at(launch, again->lines.data[i].line), TRAIL_LINE_BYTES);
        }
    }
    again->results.known = true;
}

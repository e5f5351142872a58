/*
 * The pending events are a four-way heap of keys; what is to be called lies in a slot beside it,
 * so that moving an event in the heap moves 24 bytes. A few events (one SM chasing a pointer
 * keeps one or two) sit in the first cache lines and need no comparison at all.
 *
 * A busy memory system has thousands pending, most of them some hundred cycles ahead. Once the heap
 * is not small, events later than its first go into a ring of buckets instead, unsorted, each for a
 * stretch of time; a bucket is poured into the heap when its time comes (a calendar queue: Brown,
 * Communications of the ACM 31(10), 1988). What lies beyond the ring goes into the heap.
 */
#include "engine/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "util/error.h"

enum { FANOUT = 4, FIRST_CAPACITY = 64 };
/* A bucket is a cycle or so; the ring is a few hundred. */
enum { BUCKET_SHIFT = 10, RING = 256, RING_WORDS = RING / 64, SMALL_HEAP = 8 };

/* Events of one time go by source, then by sequence: the two share a word. */
#define SEQUENCE_BITS 44

struct event_key {
    uint64_t time_ps;
    uint64_t order;
    uint32_t slot;
};

struct event_call {
    engine_handler *handler;
    void *ctx;
    uint64_t arg;
};

struct bucket {
    struct event_key *keys;
    uint32_t count, capacity;
};

struct engine {
    struct engine *root; /* the engine that this one is joined to, or itself */
    uint64_t now_ps;
    uint64_t limit_ps; /* of engine_run_before() */
    uint64_t sequence;
    uint32_t count, capacity; /* of all events */
    uint32_t heap_count;
    struct event_key *heap;
    struct event_call *calls;
    uint32_t *free_slots; /* a stack: [count, capacity) are free, filled in from there */
    /* Buckets by stretch of time; those that are not empty begin within a ring's length after
     * `poured` and not before `first`. */
    uint64_t poured, first;
    uint64_t filled[RING_WORDS];
    struct bucket ring[RING];
    int error;
};

/* Grows all three arrays or none. */
static int engine_reserve(struct engine *engine, uint32_t capacity)
{
    struct event_key *heap = malloc(capacity * sizeof *heap);
    struct event_call *calls = malloc(capacity * sizeof *calls);
    uint32_t *free_slots = malloc(capacity * sizeof *free_slots);
    if (!heap || !calls || !free_slots) {
        free(heap);
        free(calls);
        free(free_slots);
        return error_memory();
    }
    for (uint32_t i = 0; i < engine->capacity; i++) {
        heap[i] = engine->heap[i];
        calls[i] = engine->calls[i];
        free_slots[i] = engine->free_slots[i];
    }
    for (uint32_t i = engine->capacity; i < capacity; i++) {
        free_slots[i] = i;
    }
    free(engine->heap);
    free(engine->calls);
    free(engine->free_slots);
    engine->heap = heap;
    engine->calls = calls;
    engine->free_slots = free_slots;
    engine->capacity = capacity;
    return 0;
}

int engine_create(struct engine **out)
{
    *out = NULL;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        return error_memory();
    }
    int rc = engine_reserve(engine, FIRST_CAPACITY);
    if (rc < 0) {
        free(engine);
        return rc;
    }
    engine->root = engine;
    engine->limit_ps = ENGINE_NEVER;
    engine->first = UINT64_MAX;
    *out = engine;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    if (engine) {
        for (uint32_t i = 0; i < RING; i++) {
            free(engine->ring[i].keys);
        }
        free(engine->heap);
        free(engine->calls);
        free(engine->free_slots);
        free(engine);
    }
}

uint64_t engine_now_ps(const struct engine *engine)
{
    return engine->root->now_ps;
}

uint64_t engine_next_ps(const struct engine *engine)
{
    engine = engine->root;
    return engine->count && engine->heap[0].time_ps < engine->limit_ps ? engine->heap[0].time_ps
                                                                       : engine->limit_ps;
}

size_t engine_pending(const struct engine *engine)
{
    return engine->root->count;
}

void engine_advance(struct engine *engine, uint64_t time_ps)
{
    assert(time_ps >= engine->root->now_ps && time_ps <= engine_next_ps(engine));
    engine->root->now_ps = time_ps;
}

void engine_fail(struct engine *engine, int code)
{
    if (engine->root->error == 0) {
        engine->root->error = code;
    }
}

int engine_error(const struct engine *engine)
{
    return engine->root->error;
}

/* Which of two comes first is as good as random: no branches. */
static inline bool key_before(const struct event_key *a, const struct event_key *b)
{
    return ((unsigned __int128)a->time_ps << 64 | a->order) <
           ((unsigned __int128)b->time_ps << 64 | b->order);
}

static void heap_push(struct engine *engine, struct event_key key)
{
    struct event_key *heap = engine->heap;
    uint32_t i = engine->heap_count++;
    while (i > 0) {
        uint32_t parent = (i - 1) / FANOUT;
        if (!key_before(&key, &heap[parent])) {
            break;
        }
        heap[i] = heap[parent];
        i = parent;
    }
    heap[i] = key;
}

static inline uint32_t earlier(const struct event_key *heap, uint32_t a, uint32_t b)
{
    uint32_t choose = -(uint32_t)key_before(&heap[b], &heap[a]);
    return a ^ ((a ^ b) & choose);
}

static inline uint32_t least_of_four(const struct event_key *heap, uint32_t first)
{
    return earlier(heap, earlier(heap, first, first + 1), earlier(heap, first + 2, first + 3));
}

static inline uint32_t least_of(const struct event_key *heap, uint32_t first, uint32_t end)
{
    uint32_t least = first;
    for (uint32_t child = first + 1; child < end; child++) {
        least = earlier(heap, least, child);
    }
    return least;
}

/* Put `key` where the root was taken from, walking down past earlier children. */
static void heap_sift_down(struct event_key *heap, uint32_t count, struct event_key key)
{
    uint32_t i = 0;
    for (;;) {
        uint32_t first = i * FANOUT + 1;
        if (first >= count) {
            break;
        }
        uint32_t least =
            first + FANOUT <= count ? least_of_four(heap, first) : least_of(heap, first, count);
        if (!key_before(&heap[least], &key)) {
            break;
        }
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = key;
}

/* False: it belongs into the heap, or memory is out and it may as well. */
static bool ring_put(struct engine *engine, struct event_key key)
{
    uint64_t stretch = key.time_ps >> BUCKET_SHIFT, now = engine->now_ps >> BUCKET_SHIFT;
    engine->poured = now > engine->poured ? now : engine->poured;
    if (stretch <= engine->heap[0].time_ps >> BUCKET_SHIFT || stretch - engine->poured >= RING) {
        return false;
    }
    struct bucket *bucket = &engine->ring[stretch % RING];
    if (bucket->count == bucket->capacity) {
        uint32_t capacity = bucket->capacity ? bucket->capacity * 2 : 16;
        struct event_key *keys = realloc(bucket->keys, capacity * sizeof *keys);
        if (!keys) {
            return false;
        }
        bucket->keys = keys;
        bucket->capacity = capacity;
    }
    bucket->keys[bucket->count++] = key;
    engine->filled[stretch % RING / 64] |= UINT64_C(1) << stretch % 64;
    engine->first = stretch < engine->first ? stretch : engine->first;
    return true;
}

/* The first stretch after `first`, which is empty, whose bucket is not; UINT64_MAX: none. */
static uint64_t next_filled(const struct engine *engine)
{
    uint64_t at = engine->first;
    uint64_t word = engine->filled[at % RING / 64] >> at % 64;
    for (uint32_t looked = 0; looked <= RING; at += 64 - at % 64, looked += 64) {
        if (looked > 0) {
            word = engine->filled[at % RING / 64];
        }
        if (word) {
            return at + (uint64_t)__builtin_ctzll(word);
        }
    }
    return UINT64_MAX;
}

/* The first bucket is due: its events go into the heap. */
static void pour(struct engine *engine)
{
    uint64_t stretch = engine->first;
    struct bucket *bucket = &engine->ring[stretch % RING];
    for (uint32_t i = 0; i < bucket->count; i++) {
        heap_push(engine, bucket->keys[i]);
    }
    bucket->count = 0;
    engine->filled[stretch % RING / 64] &= ~(UINT64_C(1) << stretch % 64);
    engine->poured = stretch;
    engine->first = next_filled(engine);
}

/* Takes the earliest event out; there is one, and the heap has it. */
static inline struct event_key take_first(struct engine *engine)
{
    struct event_key top = engine->heap[0];
    uint32_t last = --engine->heap_count;
    if (last > 0) {
        heap_sift_down(engine->heap, last, engine->heap[last]);
    }
    engine->free_slots[--engine->count] = top.slot;
    while (engine->count > engine->heap_count &&
           (engine->heap_count == 0 || engine->heap[0].time_ps >> BUCKET_SHIFT >= engine->first)) {
        pour(engine);
    }
    return top;
}

void engine_at(struct engine *engine, uint64_t time_ps, uint32_t source, engine_handler *handler,
               void *ctx, uint64_t arg)
{
    engine = engine->root;
    assert(time_ps >= engine->now_ps && time_ps != ENGINE_NEVER);
    assert(source <= ENGINE_SOURCE_MAX);
    if (engine->count == engine->capacity && engine_reserve(engine, engine->capacity * 2) < 0) {
        engine_fail(engine, SONDE_ENOMEM);
        return;
    }
    uint32_t slot = engine->free_slots[engine->count++];
    engine->calls[slot] = (struct event_call){.handler = handler, .ctx = ctx, .arg = arg};
    struct event_key key = {.time_ps = time_ps,
                            .order = (uint64_t)source << SEQUENCE_BITS | engine->sequence++,
                            .slot = slot};
    if (engine->heap_count < SMALL_HEAP || !ring_put(engine, key)) {
        heap_push(engine, key);
    }
}

bool engine_step(struct engine *engine)
{
    engine = engine->root;
    if (engine->count == 0 || engine->error < 0) {
        return false;
    }
    struct event_key top = take_first(engine);
    engine->now_ps = top.time_ps;
    /* A copy: the handler may schedule, which may reuse the slot or move the array. */
    struct event_call call = engine->calls[top.slot];
    call.handler(call.ctx, call.arg);
    return true;
}

void engine_run(struct engine *engine, uint64_t until_ps)
{
    engine = engine->root;
    while (engine->count > 0 && engine->heap[0].time_ps <= until_ps && engine_step(engine)) {
    }
}

void engine_run_before(struct engine *engine, uint64_t limit_ps)
{
    engine = engine->root;
    engine->limit_ps = limit_ps;
    while (engine->count > 0 && engine->heap[0].time_ps < limit_ps && engine_step(engine)) {
    }
    engine->limit_ps = ENGINE_NEVER;
}

void engine_join(struct engine *engine, struct engine *into)
{
    assert(engine->root == engine && into->root == into && into != engine);
    while (engine->count > 0) {
        struct event_key top = take_first(engine);
        const struct event_call *call = &engine->calls[top.slot];
        uint32_t source = (uint32_t)(top.order >> SEQUENCE_BITS);
        engine_at(into, top.time_ps, source, call->handler, call->ctx, call->arg);
    }
    if (engine->error < 0) {
        engine_fail(into, engine->error);
    }
    engine->root = into;
}

void engine_part(struct engine *engine)
{
    engine->now_ps = engine->root->now_ps;
    engine->error = 0;
    engine->root = engine;
}

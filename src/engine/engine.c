/*
 * The pending events are a four-way heap. A few events (one SM chasing a pointer keeps one or two)
 * sit in the first cache lines and need no comparison at all. An event is moved as a whole: places
 * of their own for what is to be called cost more than they save, since most events are moved once.
 *
 * A busy memory system has thousands pending, most of them some hundred cycles ahead. Once there
 * are not few, events later than the first go into a ring of buckets instead, unsorted, each for a
 * stretch of time (a calendar queue: Brown, Communications of the ACM 31(10), 1988). When its time
 * comes a bucket is sorted as a whole, which is cheaper than a heap of as many, and becomes the run
 * that events are taken from; the heap has what is added to that stretch late, and what lies beyond
 * the ring.
 *
 * Buckets are chains of chunks that all of them share, the one given back last first: it is still
 * in the host's cache. With memory of its own a bucket is written to once in a turn of the ring,
 * and the rings of a GPU's engines are more than such a cache.
 */
#include "engine/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

enum { FANOUT = 4, FIRST_CAPACITY = 64 };
/* A bucket is a cycle or so; the ring is a few hundred. */
enum { BUCKET_SHIFT = 10, RING = 256, RING_WORDS = RING / 64, FEW_EVENTS = 8 };
/* Events of a chunk, so that it is two lines of the host's cache; chunks at first; no chunk. */
enum { CHUNK = 3, FIRST_CHUNKS = 16, HOST_LINE_BYTES = 64 };
#define NO_CHUNK UINT32_MAX
/* Runs of so many keys are sorted by insertion, longer ones by merging such. */
enum { SHORT_RUN = 8 };

/* Events of one time go by source, then by sequence: the two share a word. */
#define SEQUENCE_BITS 44

struct event {
    uint64_t time_ps;
    uint64_t order;
    engine_handler *handler;
    void *ctx;
    uint64_t arg;
};

struct chunk {
    _Alignas(HOST_LINE_BYTES) struct event events[CHUNK];
};
_Static_assert(sizeof(struct chunk) == 128, "a chunk fits two lines of a cache");

struct bucket {
    uint32_t last; /* chunk */
    uint32_t left; /* places there that have no event; all chunks before are full */
};

struct engine {
    struct engine *root; /* the engine that this one is joined to, or itself */
    uint64_t now_ps;
    uint64_t limit_ps; /* of engine_run_before() */
    uint64_t sequence;
    uint32_t count; /* of all events */
    uint32_t heap_count, heap_capacity;
    struct event *heap;
    /* A bucket's events, sorted; [next, end) are not taken yet. They are in `run`, which has room
     * for as many as all chunks, as has `room`, to sort in; or in the one chunk that is held. */
    struct event *run_next, *run_end, *run, *room;
    /* Buckets by stretch of time; those that are not empty begin within a ring's length after
     * `poured`, which is the run's stretch, and not before `first`. */
    uint64_t poured, first;
    uint64_t filled[RING_WORDS];
    struct bucket ring[RING]; /* `left` is 0 where the bucket is empty */
    struct chunk *chunks;
    /* The next of each: of a bucket, after the last one the first; or of the free ones. Apart from
     * the chunks, of which it would be all that is read of one that is taken again. */
    uint32_t *next;
    uint32_t chunk_count, free; /* chunks; the first that is free */
    uint32_t held;
    int error;
    bool stands; /* it has failed, or is paused */
};

/* What seldom happens stays out of the way of what every event passes. */
#define SELDOM __attribute__((noinline, cold))

SELDOM static int heap_reserve(struct engine *engine, uint32_t capacity)
{
    struct event *heap = realloc(engine->heap, capacity * sizeof *heap);
    if (!heap) {
        return error_memory();
    }
    engine->heap = heap;
    engine->heap_capacity = capacity;
    return 0;
}

int engine_create(struct engine **out)
{
    *out = NULL;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        return error_memory();
    }
    int rc = heap_reserve(engine, FIRST_CAPACITY);
    if (rc < 0) {
        free(engine);
        return rc;
    }
    engine->root = engine;
    engine->limit_ps = ENGINE_NEVER;
    engine->first = UINT64_MAX;
    engine->free = engine->held = NO_CHUNK;
    *out = engine;
    return 0;
}

void engine_destroy(struct engine *engine)
{
    if (engine) {
        free(engine->chunks);
        free(engine->next);
        free(engine->run);
        free(engine->room);
        free(engine->heap);
        free(engine);
    }
}

uint64_t engine_now_ps(const struct engine *engine)
{
    return engine->root->now_ps;
}

/* Which of two comes first is as good as random: no branches. */
static inline bool comes_before(uint64_t time_ps, uint64_t order, const struct event *b)
{
    return ((unsigned __int128)time_ps << 64 | order) <
           ((unsigned __int128)b->time_ps << 64 | b->order);
}

static inline bool event_before(const struct event *a, const struct event *b)
{
    return comes_before(a->time_ps, a->order, b);
}

/* The earliest event is the run's next one, not the heap's; there is one. */
static inline bool run_first(const struct engine *engine)
{
    return engine->run_next < engine->run_end &&
           (engine->heap_count == 0 || event_before(engine->run_next, &engine->heap[0]));
}

/* The time of the earliest event; there is one. */
static inline uint64_t first_ps(const struct engine *engine)
{
    return run_first(engine) ? engine->run_next->time_ps : engine->heap[0].time_ps;
}

uint64_t engine_next_ps(const struct engine *engine)
{
    engine = engine->root;
    uint64_t next_ps = engine->count ? first_ps(engine) : ENGINE_NEVER;
    return next_ps < engine->limit_ps ? next_ps : engine->limit_ps;
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

bool engine_try_advance(struct engine *engine, uint64_t time_ps)
{
    engine = engine->root;
    assert(time_ps >= engine->now_ps);
    if (time_ps >= engine->limit_ps || (engine->count && first_ps(engine) <= time_ps)) {
        return false;
    }
    engine->now_ps = time_ps;
    return true;
}

void engine_fail(struct engine *engine, int code)
{
    if (engine->root->error == 0) {
        engine->root->error = code;
    }
    engine->root->stands = true;
}

void engine_pause(struct engine *engine)
{
    engine->root->stands = true;
}

void engine_go_on(struct engine *engine)
{
    engine->root->stands = engine->root->error < 0;
}

int engine_error(const struct engine *engine)
{
    return engine->root->error;
}

/* Out of line, with what engine_at() has in registers: it has none to save for it. */
__attribute__((noinline)) static void heap_push(struct engine *engine, uint64_t time_ps,
                                                uint64_t order, engine_handler *handler, void *ctx,
                                                uint64_t arg)
{
    if (engine->heap_count == engine->heap_capacity &&
        heap_reserve(engine, engine->heap_capacity * 2) < 0) {
        engine->count--;
        engine_fail(engine, SONDE_ENOMEM);
        return;
    }
    struct event *heap = engine->heap;
    uint32_t i = engine->heap_count++;
    while (i > 0) {
        uint32_t parent = (i - 1) / FANOUT;
        if (!comes_before(time_ps, order, &heap[parent])) {
            break;
        }
        heap[i] = heap[parent];
        i = parent;
    }
    heap[i] = (struct event){time_ps, order, handler, ctx, arg};
}

static inline uint32_t earlier(const struct event *heap, uint32_t a, uint32_t b)
{
    uint32_t choose = -(uint32_t)event_before(&heap[b], &heap[a]);
    return a ^ ((a ^ b) & choose);
}

static inline uint32_t least_of_four(const struct event *heap, uint32_t first)
{
    return earlier(heap, earlier(heap, first, first + 1), earlier(heap, first + 2, first + 3));
}

static inline uint32_t least_of(const struct event *heap, uint32_t first, uint32_t end)
{
    uint32_t least = first;
    for (uint32_t child = first + 1; child < end; child++) {
        least = earlier(heap, least, child);
    }
    return least;
}

/* Put `event` where the root was taken from, walking down past earlier children. */
static void heap_sift_down(struct event *heap, uint32_t count, const struct event *event)
{
    uint32_t i = 0;
    for (;;) {
        uint32_t first = i * FANOUT + 1;
        if (first >= count) {
            break;
        }
        uint32_t least =
            first + FANOUT <= count ? least_of_four(heap, first) : least_of(heap, first, count);
        if (!event_before(&heap[least], event)) {
            break;
        }
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = *event;
}

/* As many chunks again, all of them free. */
static bool chunks_grow(struct engine *engine)
{
    uint32_t count = engine->chunk_count ? 2 * engine->chunk_count : FIRST_CHUNKS;
    struct chunk *chunks = aligned_alloc(HOST_LINE_BYTES, count * sizeof *chunks);
    uint32_t *next = malloc(count * sizeof *next);
    struct event *run = malloc(count * sizeof run[0] * CHUNK);
    struct event *room = malloc(count * sizeof room[0] * CHUNK);
    if (!chunks || !next || !run || !room) {
        free(chunks);
        free(next);
        free(run);
        free(room);
        return false;
    }
    if (engine->chunk_count) {
        memcpy(chunks, engine->chunks, engine->chunk_count * sizeof *chunks);
        memcpy(next, engine->next, engine->chunk_count * sizeof *next);
    }
    size_t left = (size_t)(engine->run_end - engine->run_next);
    if (left > 0) {
        memcpy(run, engine->run_next, left * sizeof *run);
    }
    free(engine->chunks);
    free(engine->next);
    free(engine->run);
    free(engine->room);
    engine->chunks = chunks;
    engine->next = next;
    engine->run = engine->run_next = run;
    engine->run_end = run + left;
    engine->room = room;
    for (uint32_t i = count; i-- > engine->chunk_count;) {
        next[i] = engine->free;
        engine->free = i;
    }
    engine->chunk_count = count;
    return true;
}

/* A chunk more for a bucket whose last one is full, or that has none. There is one that is free. */
static inline void bucket_extend(struct engine *engine, struct bucket *bucket, uint64_t stretch)
{
    uint32_t taken = engine->free, *next = engine->next;
    engine->free = next[taken];
    uint64_t *word = &engine->filled[stretch % RING / 64], bit = UINT64_C(1) << stretch % 64;
    if (*word & bit) {
        next[taken] = next[bucket->last];
        next[bucket->last] = taken;
    } else {
        next[taken] = taken;
        *word |= bit;
        engine->first = stretch < engine->first ? stretch : engine->first;
    }
    *bucket = (struct bucket){taken, CHUNK};
}

static inline void bucket_add(struct engine *engine, struct bucket *bucket, struct event event)
{
    engine->chunks[bucket->last].events[CHUNK - bucket->left--] = event;
}

/* Where no chunk is free. Where memory is out the heap does as well. */
SELDOM static void bucket_grow(struct engine *engine, uint64_t time_ps, uint64_t order,
                               engine_handler *handler, void *ctx, uint64_t arg)
{
    uint64_t stretch = time_ps >> BUCKET_SHIFT;
    struct bucket *bucket = &engine->ring[stretch % RING];
    if (!chunks_grow(engine)) {
        heap_push(engine, time_ps, order, handler, ctx, arg);
        return;
    }
    bucket_extend(engine, bucket, stretch);
    bucket_add(engine, bucket, (struct event){time_ps, order, handler, ctx, arg});
}

/* An event of that stretch belongs into the ring, not into the heap; there are more than a few. */
static inline bool is_for_ring(struct engine *engine, uint64_t stretch)
{
    uint64_t now = engine->now_ps >> BUCKET_SHIFT;
    engine->poured = now > engine->poured ? now : engine->poured;
    bool runs = engine->run_next < engine->run_end;
    uint64_t at_work = runs ? engine->poured : engine->heap[0].time_ps >> BUCKET_SHIFT;
    return stretch > at_work && stretch - engine->poured < RING;
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

static inline void sort_short(struct event *events, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (!event_before(&events[i], &events[i - 1])) {
            continue; /* mostly: components schedule in order of time */
        }
        struct event event = events[i];
        uint32_t at = i;
        do {
            events[at] = events[at - 1];
            at--;
        } while (at > 0 && event_before(&event, &events[at - 1]));
        events[at] = event;
    }
}

/* Two sorted neighbours, [0, middle) and [middle, count) of `from`. */
static void merge(struct event *to, const struct event *from, uint32_t middle, uint32_t count)
{
    const struct event *a = from, *a_end = from + middle, *b = a_end, *b_end = from + count;
    while (a < a_end && b < b_end) {
        bool second = event_before(b, a);
        const struct event *first = second ? b : a;
        *to++ = *first;
        b += second;
        a += !second;
    }
    memcpy(to, a, (size_t)((const char *)a_end - (const char *)a));
    to += a_end - a;
    memcpy(to, b, (size_t)((const char *)b_end - (const char *)b));
}

/* `room`: for as many. */
static void sort_events(struct event *events, struct event *room, uint32_t count)
{
    for (uint32_t at = 0; at < count; at += SHORT_RUN) {
        sort_short(events + at, count - at < SHORT_RUN ? count - at : SHORT_RUN);
    }
    struct event *from = events, *to = room;
    for (uint32_t length = SHORT_RUN; length < count; length *= 2) {
        for (uint32_t at = 0; at < count; at += 2 * length) {
            uint32_t left = count - at;
            merge(to + at, from + at, left < length ? left : length,
                  left < 2 * length ? left : 2 * length);
        }
        struct event *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != events) {
        memcpy(events, from, count * sizeof *events);
    }
}

/* Copies the events of a bucket to the run and gives its chunks back. Returns their end. */
static struct event *copy_to_run(struct engine *engine, struct bucket *bucket)
{
    uint32_t *next = engine->next, first = next[bucket->last];
    struct event *end = engine->run;
    for (uint32_t chunk = first;; chunk = next[chunk]) {
        memcpy(end, engine->chunks[chunk].events, sizeof engine->chunks[chunk].events);
        end += CHUNK;
        if (chunk == bucket->last) {
            break;
        }
    }
    next[bucket->last] = engine->free;
    engine->free = first;
    return end - bucket->left;
}

/* Asks the host's caches for what the events are called with, which nobody has touched since they
 * were scheduled: there are thousands of such. `arg` is mostly a request, of two lines
 * (mem/mem.h). To ask for what is no address does no harm. */
static inline void expect(const struct event *event, const struct event *end)
{
    for (; event < end; event++) {
        __builtin_prefetch(event->ctx, 1);
        __builtin_prefetch((const void *)(uintptr_t)event->arg, 1);
        __builtin_prefetch((const void *)(uintptr_t)(event->arg + HOST_LINE_BYTES), 1);
    }
}

/* The first bucket is due: its events become the run, whose own have been taken. */
__attribute__((noinline)) static void pour(struct engine *engine)
{
    uint64_t stretch = engine->first;
    struct bucket *bucket = &engine->ring[stretch % RING];
    if (engine->held != NO_CHUNK) {
        engine->next[engine->held] = engine->free;
        engine->free = engine->held;
        engine->held = NO_CHUNK;
    }
    if (engine->next[bucket->last] == bucket->last) {
        engine->held = bucket->last;
        engine->run_next = engine->chunks[bucket->last].events;
        engine->run_end = engine->run_next + CHUNK - bucket->left;
    } else {
        engine->run_end = copy_to_run(engine, bucket);
        engine->run_next = engine->run;
    }
    bucket->left = 0;
    expect(engine->run_next, engine->run_end);
    uint32_t count = (uint32_t)(engine->run_end - engine->run_next);
    if (count <= SHORT_RUN) {
        sort_short(engine->run_next, count);
    } else {
        sort_events(engine->run_next, engine->room, count);
    }
    engine->filled[stretch % RING / 64] &= ~(UINT64_C(1) << stretch % 64);
    engine->poured = stretch;
    engine->first = next_filled(engine);
}

__attribute__((noinline)) static void heap_drop_first(struct engine *engine)
{
    uint32_t last = --engine->heap_count;
    if (last > 0) {
        struct event event = engine->heap[last];
        heap_sift_down(engine->heap, last, &event);
    }
}

/* Takes the earliest event out, which is the run's or the heap's, as run_first() says. A copy: its
 * handler may schedule, which may reuse its place or move it. */
static inline struct event take(struct engine *engine, bool from_run)
{
    struct event top;
    if (from_run) {
        top = *engine->run_next++;
    } else {
        top = engine->heap[0];
        heap_drop_first(engine);
    }
    engine->count--;
    if (engine->run_next == engine->run_end && engine->count > engine->heap_count &&
        (engine->heap_count == 0 || engine->heap[0].time_ps >> BUCKET_SHIFT >= engine->first)) {
        pour(engine);
    }
    return top;
}

static struct event take_first(struct engine *engine)
{
    return take(engine, run_first(engine));
}

void engine_at(struct engine *engine, uint64_t time_ps, uint32_t source, engine_handler *handler,
               void *ctx, uint64_t arg)
{
    engine = engine->root;
    assert(time_ps >= engine->now_ps && time_ps != ENGINE_NEVER);
    assert(source <= ENGINE_SOURCE_MAX);
    uint64_t order = (uint64_t)source << SEQUENCE_BITS | engine->sequence++;
    uint64_t stretch = time_ps >> BUCKET_SHIFT;
    if (++engine->count <= FEW_EVENTS || !is_for_ring(engine, stretch)) {
        heap_push(engine, time_ps, order, handler, ctx, arg);
        return;
    }
    struct bucket *bucket = &engine->ring[stretch % RING];
    if (bucket->left == 0) {
        if (engine->free == NO_CHUNK) {
            bucket_grow(engine, time_ps, order, handler, ctx, arg);
            return;
        }
        bucket_extend(engine, bucket, stretch);
    }
    bucket_add(engine, bucket, (struct event){time_ps, order, handler, ctx, arg});
}

static inline void run_event(struct engine *engine, bool from_run)
{
    struct event top = take(engine, from_run);
    engine->now_ps = top.time_ps;
    top.handler(top.ctx, top.arg);
}

bool engine_step(struct engine *engine)
{
    engine = engine->root;
    if (engine->count == 0 || engine->stands) {
        return false;
    }
    run_event(engine, run_first(engine));
    return true;
}

/* All events earlier than `limit_ps`. */
static inline void run_earlier(struct engine *engine, uint64_t limit_ps)
{
    while (engine->count > 0 && !engine->stands) {
        bool from_run = run_first(engine);
        const struct event *first = from_run ? engine->run_next : &engine->heap[0];
        if (first->time_ps >= limit_ps) {
            return;
        }
        run_event(engine, from_run);
    }
}

void engine_run(struct engine *engine, uint64_t until_ps)
{
    engine = engine->root;
    while (engine->count > 0 && first_ps(engine) <= until_ps && engine_step(engine)) {
    }
}

bool engine_step_before(struct engine *engine, uint64_t limit_ps)
{
    engine = engine->root;
    engine->limit_ps = limit_ps;
    bool stepped = engine_step(engine);
    engine->limit_ps = ENGINE_NEVER;
    return stepped;
}

void engine_run_before(struct engine *engine, uint64_t limit_ps)
{
    engine = engine->root;
    engine->limit_ps = limit_ps;
    run_earlier(engine, limit_ps);
    engine->limit_ps = ENGINE_NEVER;
}

void engine_join(struct engine *engine, struct engine *into)
{
    assert(engine->root == engine && into->root == into && into != engine);
    while (engine->count > 0) {
        struct event top = take_first(engine);
        if (engine->error < 0) {
            continue; /* it may be behind, and nothing runs any more */
        }
        uint32_t source = (uint32_t)(top.order >> SEQUENCE_BITS);
        engine_at(into, top.time_ps, source, top.handler, top.ctx, top.arg);
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
    engine->stands = false;
    engine->root = engine;
}

/*
 * From a plan to a chase request and back. The trace itself says where it went (`start`, `next`).
 * This is checked record by record before anything is concluded, for it ties each latency to an
 * address.
 */
#include "infer/ask/follow.h"
#include "infer/ask/walk.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/sort.h"

static const struct path_info paths[] = {
#define PATH(op, reach, interleave, touches, chains, goes_on)                                      \
    {#op, reach, interleave, touches, chains, goes_on},
#include "infer/ask/paths.def"
};

const struct path_info *path_find(const char *op)
{
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        if (strcmp(paths[i].op, op) == 0) {
            return &paths[i];
        }
    }
    return NULL;
}

/* Does the walk stay where the path leads? */
static int check_reach(struct lab *lab, const struct walk_plan *plan, const struct path_info *path)
{
    uint64_t end = plan->shape.count * plan->shape.stride;
    for (size_t i = 0; plan->shape.ring && i < plan->shape.count; i++) {
        end = plan->shape.ring[i] >= end ? plan->shape.ring[i] + UINT64_C(4) : end;
    }
    if (path && path->reach_bytes && end > path->reach_bytes) {
        return lab_undecided(lab, "what op=%s reads is %llu bytes, and %llu are wanted", plan->op,
                             (unsigned long long)path->reach_bytes, (unsigned long long)end);
    }
    return 0;
}

static int build_request(struct trace_request *request, const struct walk_plan *plan)
{
    trace_request_init(request, "chase");
    int rc = trace_request_set_text(request, "op", plan->op);
    if (plan->shape.ring) {
        request->ring = plan->shape.ring;
        request->ring_count = plan->shape.count;
    } else {
        rc = rc ? rc
                : trace_request_set_u64(request, "bytes", plan->shape.count * plan->shape.stride);
        rc = rc ? rc : trace_request_set_u64(request, "stride", plan->shape.stride);
    }
    rc = rc ? rc : trace_request_set_u64(request, "warm", plan->warm);
    rc = rc ? rc : trace_request_set_u64(request, "window", plan->window);
    rc = rc ? rc : trace_request_set_u64(request, "windows", plan->windows);
    if (!rc && plan->touch) {
        rc = trace_request_set_u64(request, "touch", 1);
    }
    if (!rc && plan->touch && plan->touch_stride) {
        rc = trace_request_set_u64(request, "touch_stride", plan->touch_stride);
    }
    if (!rc && plan->persist) {
        rc = trace_request_set_u64(request, "persist", 1);
    }
    if (!rc && plan->cold_bytes) {
        rc = trace_request_set_u64(request, "cold", 1);
        rc = rc ? rc : trace_request_set_u64(request, "flush_bytes", plan->cold_bytes);
    }
    if (!rc && plan->spread) {
        rc = trace_request_set_u64(request, "spread", 1);
    }
    if (!rc && plan->scale > 1) {
        rc = trace_request_set_u64(request, "scale", plan->scale);
    }
    if (!rc && plan->shared_bytes) {
        rc = trace_request_set_u64(request, "shared", plan->shared_bytes);
    }
    if (!rc && plan->turns > 1) {
        rc = trace_request_set_u64(request, "turns", plan->turns);
    }
    if (!rc && plan->run) {
        rc = trace_request_set_u64(request, "run", plan->run);
    }
    return rc;
}

/* The element at an offset, or count if there is none: `guess`, where it lies there. A ring need
 * not be in order; it mostly is. */
static size_t find_element(const struct walk_shape *shape, uint32_t offset, size_t guess)
{
    if (walk_offset(shape, guess) == offset) {
        return guess;
    }
    if (!shape->ring) {
        return offset % shape->stride == 0 && offset / shape->stride < shape->count
                   ? (size_t)(offset / shape->stride)
                   : shape->count;
    }
    size_t at = first_from_u32(shape->ring, shape->count, offset);
    if (at == shape->count || shape->ring[at] != offset) {
        for (at = 0; at < shape->count && shape->ring[at] != offset;) {
            at++;
        }
    }
    return at;
}

static int check_visits(struct lab *lab, const struct walk *walk,
                        const struct chase_columns *columns, uint32_t *first)
{
    const struct walk_shape *shape = &walk->shape;
    for (size_t w = 0; w < walk->windows; w++) {
        size_t guess = w * walk->window % shape->count; /* each goes on where the last ended */
        size_t element = find_element(shape, columns->start[w], guess);
        if (element == shape->count) {
            return lab_undecided(lab, "a trace starts outside of its ring");
        }
        first[w] = (uint32_t)element;
        if (!chase_follows(columns, w, shape, element)) {
            return lab_undecided(lab, "a trace does not follow its ring");
        }
    }
    return 0;
}

/* The latencies as they are in the plan's mirror. */
static int mirror_latencies(struct walk *walk, const struct walk_mirror *mirror)
{
    if (!mirror->sum) {
        return 0;
    }
    uint32_t *mirrored = malloc((walk->count + 1) * sizeof *mirrored);
    if (!mirrored) {
        return error_memory();
    }
    for (size_t i = 0; i < walk->count; i++) {
        mirrored[i] = walk_mirrored(mirror, walk->latency[i]);
    }
    free(walk->own);
    walk->latency = walk->own = mirrored;
    return 0;
}

/* One walk. */
static int run_once(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    const struct path_info *path = path_find(plan->op);
    *out = (struct walk){.window = plan->window, .windows = plan->windows, .shape = plan->shape};
    struct trace_request request;
    const struct trace *trace;
    int rc = check_reach(lab, plan, path);
    rc = rc ? rc : build_request(&request, plan);
    rc = rc ? rc : lab_measure(lab, &trace, &request);
    if (rc) {
        return rc;
    }
    lab->loads +=
        plan->warm * (plan->persist ? 1 : plan->windows) + (uint64_t)plan->window * plan->windows;
    struct chase_columns columns;
    if (!chase_columns(&columns, trace, plan->windows, plan->window) || plan->shape.count == 0) {
        return lab_undecided(lab, "a chase trace lacks columns or records");
    }
    out->latency = columns.latency;
    out->count = columns.windows * columns.window;
    uint32_t *first = malloc(plan->windows * sizeof *first);
    if (!first) {
        return error_memory();
    }
    out->first = first;
    rc = check_visits(lab, out, &columns, first);
    if (rc) {
        walk_free(out);
    }
    return rc;
}

/* Each record becomes the least of its own and of the other walk's, which went the same way. */
static int keep_least(struct lab *lab, struct walk *walk, const struct walk *other)
{
    bool alike = walk->count == other->count && walk->first && other->first &&
                 memcmp(walk->first, other->first, walk->windows * sizeof *walk->first) == 0;
    if (!alike) {
        return lab_undecided(lab, "a walk that is repeated begins elsewhere");
    }
    if (!walk->own) {
        walk->own = malloc((walk->count + 1) * sizeof *walk->own);
        if (!walk->own) {
            return error_memory();
        }
        memcpy(walk->own, walk->latency, walk->count * sizeof *walk->own);
        walk->latency = walk->own;
    }
    for (size_t i = 0; i < walk->count; i++) {
        walk->own[i] = other->latency[i] < walk->own[i] ? other->latency[i] : walk->own[i];
    }
    return 0;
}

/* Noise makes loads slower: the least of some repeats has little of it. */
static int run_again(struct lab *lab, struct walk *out, const struct walk_plan *plan)
{
    struct walk_plan again = *plan;
    int rc = 0;
    for (uint32_t i = 1; rc == 0 && i < plan->repeats; i++) {
        struct walk other;
        again.run = plan->run + i * WALK_REPEATED;
        rc = run_once(lab, &other, &again);
        if (rc == 0) {
            rc = keep_least(lab, out, &other);
            walk_free(&other);
        }
    }
    return rc;
}

int walk_run(struct lab *lab, struct walk *out, const struct walk_plan *asked)
{
    if (asked->filler && asked->shape.ring) {
        return asked->filler->run(lab, out, asked);
    }
    const struct path_info *path = path_find(asked->op);
    struct walk_plan own = *asked, *plan = &own;
    if (own.touch && path && !path->can_touch) {
        own.touch = false;
        own.warm += own.shape.count;
    }
    own.persist = own.persist && (!path || path->can_go_on); /* else each window warms anew */
    int rc = run_once(lab, out, plan);
    if (rc) {
        return rc;
    }
    rc = run_again(lab, out, plan);
    rc = rc ? rc : mirror_latencies(out, &plan->mirror);
    if (rc) {
        walk_free(out);
    }
    return rc;
}

void walk_free(struct walk *walk)
{
    free((void *)(uintptr_t)walk->first);
    free(walk->own);
    walk->first = NULL;
    walk->own = NULL;
}

/* As many of the ring's own as the window with the fewest has. */
static size_t least_kept(const struct walk *walk, const uint32_t *element, size_t most)
{
    size_t least = walk->windows ? most : 0;
    for (size_t w = 0; w < walk->windows; w++) {
        size_t kept = 0;
        for (size_t i = 0; i < walk->window; i++) {
            kept += element[walk_element(walk, w * walk->window + i)] != WALK_FILLER;
        }
        least = kept < least ? kept : least;
    }
    return least;
}

/* The element that is walked at `place`, or the next one. */
static uint32_t element_from(const struct walk *walk, const uint32_t *element, size_t place)
{
    while (element[place] == WALK_FILLER) {
        place = (place + 1) % walk->shape.count;
    }
    return element[place];
}

int walk_keep(struct lab *lab, struct walk *walk, const uint32_t *element,
              const struct walk_shape *ring, size_t most)
{
    size_t least = least_kept(walk, element, most), windows = walk->windows;
    if (least == 0) {
        return lab_undecided(lab, "a window holds nothing but filler accesses");
    }
    uint32_t *latency = malloc(least * windows * sizeof *latency);
    uint32_t *first = malloc(windows * sizeof *first);
    if (!latency || !first) {
        free(latency);
        free(first);
        return error_memory();
    }
    for (size_t w = 0; w < windows; w++) {
        first[w] = element_from(walk, element, walk->first[w]);
        for (size_t kept = 0, at = w * walk->window; kept < least; at++) {
            if (element[walk_element(walk, at)] != WALK_FILLER) {
                latency[w * least + kept++] = walk->latency[at];
            }
        }
    }
    walk_free(walk);
    *walk = (struct walk){.latency = latency,
                          .own = latency,
                          .first = first,
                          .window = least,
                          .windows = windows,
                          .count = least * windows,
                          .shape = *ring};
    return 0;
}

int walk_sample(struct lab *lab, struct sample *out, const struct walk_plan *plan)
{
    struct walk walk;
    int rc = walk_run(lab, &walk, plan);
    if (rc == 0) {
        rc = sample_create(out, walk.latency, walk.count);
        walk_free(&walk);
    }
    return rc;
}

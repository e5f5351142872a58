/*
 * How many of each cache there are. An SM, the owner, walks lines that fit; then each of the others
 * looks at lines of its own among them (the probe `peers`, all in one launch). An SM that finds
 * them is served by the owner's cache. That is asked of up to three owners, of different caches.
 * When as many SMs share with each, and that number divides the SMs, the caches are as many as it
 * goes into them: all SMs' own, one for all, or something between.
 *
 * SMs are those on which a block ran, by their numbers; of a single one it is not told whose it is.
 * Each request takes lines that none before it took, for a cache may keep them from launch to
 * launch. Of the outermost cache that says that all SMs find one another's lines in it, not of how
 * many parts it consists.
 */
#include "infer/count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/level.h"
#include "util/error.h"

#define OWNERS 3
#define MOST_SMS 1024
#define MOST_PLACES 65
#define AGAIN 4
#define FEW 12      /* lines */
#define ASIDE 2     /* elements that each SM reads besides: probes.def */
#define REPEATS 3   /* where some of an SM's lines are found and some not */
#define CERTAIN 0.8 /* share of the lines that decides */
#define LINE_BYTES 128
#define SPREAD                                                                                     \
    (UINT64_C(16) << 20) /* lines are taken from so much memory, where there is no less */

enum finding { ABSENT, FINDS, MISSES, DOUBT };

struct counting {
    struct lab *lab;
    const struct level_summary *of;
    const struct path_info *path;
    uint64_t stride, next_base, room;
    uint32_t again, places; /* of a launch, the owner's among them */
    uint32_t sms;           /* numbers; 0: not known yet */
    uint8_t finding[OWNERS][MOST_SMS];
};

static int build_request(struct trace_request *request, struct counting *c, uint32_t owner,
                         uint32_t from, uint32_t count)
{
    uint64_t extent = (uint64_t)c->places * (AGAIN + ASIDE) * c->stride;
    uint64_t base = c->next_base + extent <= c->room ? c->next_base : 0;
    c->next_base = base + extent;
    trace_request_init(request, "peers");
    int rc = trace_request_set_text(request, "op", c->of->info->op);
    rc = rc ? rc : trace_request_set_u64(request, "stride", c->stride);
    rc = rc ? rc : trace_request_set_u64(request, "base", base);
    rc = rc ? rc : trace_request_set_u64(request, "owner", owner);
    rc = rc ? rc : trace_request_set_u64(request, "from", from);
    rc = rc ? rc : trace_request_set_u64(request, "count", count);
    rc = rc ? rc : trace_request_set_u64(request, "again", c->again);
    if (rc == 0 && c->of->info->shared_bytes) {
        rc = trace_request_set_u64(request, "shared", c->of->info->shared_bytes);
    }
    return rc;
}

/* What a part's latencies say. */
static enum finding judge(const struct counting *c, const uint32_t *latency)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->again; i++) {
        found += latency[i] <= c->of->threshold;
    }
    double share = (double)found / c->again;
    return share >= CERTAIN ? FINDS : share <= 1 - CERTAIN ? MISSES : DOUBT;
}

/* SMs from `from` on against one owner; what was in doubt before is overwritten. */
static int look(struct counting *c, uint8_t *finding, uint32_t owner, uint32_t from, uint32_t count)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    size_t records = 0, parts = 0, one = 0;
    int rc = build_request(&request, c, owner, from, count);
    rc = rc ? rc : lab_measure(c->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    const uint32_t *latency = trace_u32(trace, "latency", &records);
    const uint32_t *there = trace_u32(trace, "there", &parts);
    const uint32_t *sms = trace_u32(trace, "sms", &one);
    if (!latency || !there || !sms || parts != 1 + (size_t)count || records != parts * c->again ||
        one != 1) {
        return lab_undecided(c->lab, "a trace of several SMs lacks columns or records");
    }
    c->lab->loads += records;
    c->sms = *sms < MOST_SMS ? *sms : MOST_SMS;
    if (judge(c, latency) != FINDS) {
        return lab_undecided(c->lab, "what SM %u walked it does not find again", owner);
    }
    for (uint32_t k = 0; k < count && from + k < MOST_SMS; k++) {
        finding[from + k] = (uint8_t)(from + k == owner ? FINDS
                                      : !there[1 + k]   ? ABSENT
                                                        : judge(c, latency + (1 + k) * c->again));
    }
    return 0;
}

/* All SMs against one owner. */
static int look_all(struct counting *c, uint8_t *finding, uint32_t owner)
{
    int rc = c->sms ? 0 : look(c, finding, owner, 0, c->places - 1);
    for (uint32_t from = 0; rc == 0 && from < c->sms; from += c->places - 1) {
        uint32_t count = c->sms - from < c->places - 1 ? c->sms - from : c->places - 1;
        bool doubt = true;
        for (unsigned repeat = 0; rc == 0 && doubt && repeat < REPEATS; repeat++) {
            rc = look(c, finding, owner, from, count);
            doubt = false;
            for (uint32_t k = 0; rc == 0 && k < count; k++) {
                doubt = doubt || finding[from + k] == DOUBT;
            }
        }
        if (rc == 0 && doubt) {
            rc = lab_undecided(c->lab, "an SM finds some of the lines of SM %u, time and again",
                               owner);
        }
    }
    return rc;
}

static uint32_t count_findings(const struct counting *c, const uint8_t *finding, enum finding what)
{
    uint32_t count = 0;
    for (uint32_t sm = 0; sm < c->sms; sm++) {
        count += finding[sm] == what;
    }
    return count;
}

/* The first or the last SM that shares with none of the owners so far; false: there is none. */
static bool find_owner(const struct counting *c, uint32_t *owner, unsigned owners, bool last)
{
    bool found = false;
    for (uint32_t sm = 0; sm < c->sms && (last || !found); sm++) {
        bool free = true;
        for (unsigned i = 0; i < owners; i++) {
            free = free && c->finding[i][sm] == MISSES;
        }
        *owner = free ? sm : *owner;
        found = found || free;
    }
    return found;
}

static void report(struct counting *c, struct cache_result *result, uint32_t present,
                   uint32_t served, unsigned owners)
{
    char id[24];
    lab_evidence(c->lab, id, c->of->info->id,
                 "peers op=%s: %u SMs looked for what another one had walked in the same launch; "
                 "with %u of them in its place, each of %u is served with %u others",
                 c->of->info->op, present, owners, owners, served - 1);
    uint32_t count = present / served;
    attribute_set(&result->count, count, "1", served == 1 || served == present ? 0.95 : 0.9, id);
    if (present > 1) {
        snprintf(result->scope, sizeof result->scope, "%s",
                 served == 1         ? "sm"
                 : served == present ? "gpu"
                                     : "cluster");
    }
}

static int count_one(struct counting *c, struct cache_result *result)
{
    uint32_t owner = 0, served[OWNERS] = {0}, present = 0;
    unsigned owners = 0;
    do {
        int rc = look_all(c, c->finding[owners], owner);
        if (rc) {
            return rc;
        }
        served[owners] = count_findings(c, c->finding[owners], FINDS);
        present = served[owners] + count_findings(c, c->finding[owners], MISSES);
        owners++;
    } while (owners < OWNERS && find_owner(c, &owner, owners, owners + 1 == OWNERS));
    for (unsigned i = 1; i < owners; i++) {
        if (served[i] != served[0]) {
            return lab_undecided(c->lab, "one serves %u SMs, another %u", served[0], served[i]);
        }
    }
    if (served[0] == 0 || present % served[0] != 0) {
        return lab_undecided(c->lab, "it serves %u SMs, and there are %u", served[0], present);
    }
    report(c, result, present, served[0], owners);
    return 0;
}

/* Lines apart, half as many as fit (of few, all), in parts for as many SMs as they are enough for.
 */
static int plan_parts(struct counting *c)
{
    const struct level_summary *of = c->of;
    uint64_t reach = c->path->reach_bytes, most = c->lab->options->max_footprint_bytes;
    uint64_t unit = of->line_bytes > of->fetch_bytes ? of->line_bytes : of->fetch_bytes;
    uint64_t step = of->fit_count ? of->fit_stride : LINE_BYTES;
    c->stride = (unit + step - 1) / step * step;
    uint64_t room = reach ? reach : most < SPREAD ? most : SPREAD;
    uint64_t lines = of->fit_count ? of->fit_count * of->fit_stride / c->stride : UINT64_MAX;
    lines /= lines >= FEW ? 2 : 1;
    lines = lines < room / c->stride ? lines : room / c->stride;
    c->again = lines >= 4 * (AGAIN + ASIDE) ? AGAIN : 1;
    uint64_t places = lines / (c->again + ASIDE);
    c->places = (uint32_t)(places < MOST_PLACES ? places : MOST_PLACES);
    c->room = room;
    return c->places >= 2 ? 0
                          : lab_undecided(c->lab, "too few lines fit to give each of two SMs some");
}

/* Why it cannot be asked; NULL where it can. */
static const char *not_for(const struct level_summary *of, const struct path_info *path)
{
    bool outermost = !of->info->beneath[0];
    return !of->known                     ? "hits and misses cannot be told apart"
           : path->interleave > 1         ? "a thread's own memory is read by its own SM alone"
           : !outermost && !of->fit_count ? "how much fits is not known"
                                          : NULL;
}

static int count_level(struct lab *lab, size_t i)
{
    const struct level_summary *of = &lab->levels[i];
    struct cache_result *result = &lab->out->caches[i];
    struct counting *c = calloc(1, sizeof *c);
    if (!c) {
        return error_memory();
    }
    *c = (struct counting){.lab = lab, .of = of, .path = path_find(of->info->op)};
    const char *reason = not_for(of, c->path);
    lab->why[0] = '\0';
    int rc = reason ? lab_undecided(lab, "%s", reason) : plan_parts(c);
    rc = rc ? rc : count_one(c, result);
    free(c);
    if (rc && lab_soft(rc)) {
        attribute_refuse(&result->count, "1",
                         lab->why[0] ? lab->why : "the measurements do not decide");
        rc = 0;
    }
    return rc;
}

/* A cache that another path has shown is counted there. */
static void take_over(struct lab *lab, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(lab->levels[k].info->id, lab->levels[i].same_as) == 0) {
            lab->out->caches[i].count = lab->out->caches[k].count;
            memcpy(lab->out->caches[i].scope, lab->out->caches[k].scope,
                   sizeof lab->out->caches[i].scope);
        }
    }
}

int count_dissect(struct lab *lab)
{
    for (size_t i = 0; i < lab->level_count; i++) {
        int rc = 0;
        if (lab->levels[i].same_as) {
            take_over(lab, i);
        } else if (lab->out->caches[i].present) {
            rc = count_level(lab, i);
        }
        if (rc) {
            return rc;
        }
    }
    return 0;
}

void count_refuse(struct dissection *out, const char *reason)
{
    for (size_t i = 0; i < out->cache_count; i++) {
        struct attribute *count = &out->caches[i].count;
        bool open = !count->reason[0] || strcmp(count->reason, NOT_APPLICABLE) == 0;
        if (count->status == ATTRIBUTE_NOT_MEASURED && open) {
            attribute_refuse(count, "1", reason);
        }
    }
}

/*
 * How many of each cache there are. One SM, the owner, walks lines that fit. Then each other SM
 * looks at lines of its own among them (the probe `peers`, all in one launch). An SM that finds
 * them is served by the owner's cache. Then an SM whose cache is not known yet is the owner. Where
 * three owners share with nobody, all SMs are taken to have their own cache. Else it goes on until
 * the cache of each SM is known.
 *
 * SMs are those on which a block ran, by their numbers. A single SM does not tell whom a cache
 * serves. Each request takes lines that none before it took, for a cache may keep lines from launch
 * to launch.
 *
 * The outermost cache may consist of parts. Each part keeps lines for the SMs near it, and a share
 * of the lines comes from a part for all SMs. Then an SM finds only that share of another part's
 * lines. So it looks at more lines, wide apart, which tells that share from all.
 */
#include "infer/experiments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Fixed by: an H200, where a member does not say that it was chosen. */
static const struct {
    unsigned owners, most_places, dear_places, again, noisy_again, aside, few, repeats, many,
        scattered;
    double beyond, decides, sure, hidden, half, all, a_part, sooner_cycles, sooner_share, part;
    uint64_t apart, wide, spread;
} limits = {
    .owners = 3,       /* SMs that share with nobody stand for all. Chosen */
    .most_places = 65, /* blocks of a launch, the owner's among them. Chosen */
    .dear_places = 9,  /* the same of large parts where loads are dear: each block waits for all of
                          the owner's loads, which are as many as all parts have. Chosen */
    .again = 4,        /* elements of a part. Chosen */
    .aside = 2,        /* elements that each SM reads besides: the probe peers does (probes.def) */
    .few = 12,         /* lines: of fewer all are walked. Chosen */
    .repeats = 3,      /* looks, where some of the lines of an SM are found and some not. Chosen */
    .beyond = 1.5,     /* times a hit, that a miss takes at least: L2 is farther away. Chosen */
    .decides = 0.8,    /* share of the lines that decides. Chosen */
    .half = 0.5, /* the same where noise makes misses of hits, and no hits of misses. Chosen */
    .noisy_again = 12, /* elements of a part there. Chosen */
    .many = 32,        /* elements of a part of the outermost cache */
    .scattered = 8,    /* lines of the cache, of which one is walked where the sets are hashed */
    .apart = 512,      /* bytes, where no line is known. Chosen */
    .wide =
        4224, /* the same where the path reaches all of memory, and at most where one is known */
    .sure = 0.95,       /* confidence of a count */
    .hidden = 0.7,      /* the same of one outermost cache, where lines are too few to tell parts */
    .all = 0.9,         /* share of many: all are found */
    .a_part = 0.75,     /* share of many: no more come from a part for all SMs */
    .sooner_cycles = 6, /* cycles: a line that comes sooner by so many, and by */
    .sooner_share = 0.03, /* such a share of them, is nearer than before. Chosen */
    .part = 0.2, /* share of the lines, beyond chance: they come from another part. Chosen */
    .spread = UINT64_C(256) << 20, /* bytes that lines are taken from, where there is so much */
};
enum { MOST_SMS = 1024 };

enum finding { ABSENT, FINDS, MISSES, DOUBT };

struct counting {
    struct lab *lab;
    const struct level_summary *of;
    const struct path_info *path;
    uint64_t stride, next_base, room;
    uint64_t first_base;              /* of this round through the room; 0 in the first */
    double threshold;                 /* a hit takes no longer */
    double share;                     /* that was found at most of what another cache holds */
    uint64_t unit;                    /* bytes of a line, or what a miss fetches */
    uint32_t again, places;           /* of a launch, the owner's among them */
    uint32_t sms;                     /* numbers; 0: not known yet */
    uint8_t finding[MOST_SMS];        /* with the last owner */
    uint32_t caches, cache[MOST_SMS]; /* found; of each SM, 0: not known */
    bool present[MOST_SMS];
};

/* SMs from `from` on that look for the owner's lines, which lie from `base` on. */
struct looking {
    uint32_t owner, from, count;
    uint64_t base;
};

/*
 * Where all that a path reaches has been walked, the lines beside those come next: what an SM
 * looked at before may still be in its cache, and would pass for the owner's.
 */
static uint64_t next_base(struct counting *c)
{
    uint64_t extent = (uint64_t)c->places * (c->again + limits.aside) * c->stride;
    if (c->next_base + extent > c->room) {
        uint64_t beside = c->first_base + c->unit;
        c->first_base = beside + c->unit <= c->stride ? beside : 0;
        c->next_base = c->first_base;
    }
    uint64_t base = c->next_base;
    c->next_base = base + extent;
    return base;
}

static int build_request(struct trace_request *request, const struct counting *c,
                         const struct looking *at, uint32_t run)
{
    trace_request_init(request, "peers");
    int rc = trace_request_set_text(request, "op", c->of->info->op);
    rc = rc ? rc : trace_request_set_u64(request, "stride", c->stride);
    rc = rc ? rc : trace_request_set_u64(request, "base", at->base);
    rc = rc ? rc : trace_request_set_u64(request, "owner", at->owner);
    rc = rc ? rc : trace_request_set_u64(request, "from", at->from);
    rc = rc ? rc : trace_request_set_u64(request, "count", at->count);
    rc = rc ? rc : trace_request_set_u64(request, "again", c->again);
    if (rc == 0 && c->of->info->shared_bytes) {
        rc = trace_request_set_u64(request, "shared", c->of->info->shared_bytes);
    }
    return rc || run == 0 ? rc : trace_request_set_u64(request, "run", run);
}

/* What a part's latencies say. */
static enum finding judge(struct counting *c, const uint32_t *latency)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->again; i++) {
        found += walk_mirrored(&c->of->timing.mirror, latency[i]) <= c->threshold;
    }
    double share = (double)found / c->again;
    bool many = c->again == limits.many;
    double decides = c->of->repeats ? limits.half : limits.decides;
    if (share >= (many ? limits.all : decides)) {
        return FINDS;
    }
    if (share > (many ? limits.a_part : 1 - limits.decides)) {
        return DOUBT;
    }
    c->share = share > c->share ? share : c->share;
    return MISSES;
}

/* What a launch gave: of the owner, then of each SM that looked, `again` latencies. */
struct looks {
    const uint32_t *latency, *there;
    uint32_t sms;
};

static int measure_looks(struct counting *c, struct looks *out, const struct looking *at,
                         uint32_t run)
{
    struct trace_request request;
    const struct trace *trace = NULL;
    size_t records = 0, parts = 0, one = 0;
    int rc = build_request(&request, c, at, run);
    rc = rc ? rc : lab_measure(c->lab, &trace, &request);
    if (rc) {
        return rc;
    }
    out->latency = trace_u32(trace, "latency", &records);
    out->there = trace_u32(trace, "there", &parts);
    const uint32_t *sms = trace_u32(trace, "sms", &one);
    if (!out->latency || !out->there || !sms || parts != 1 + (size_t)at->count ||
        records != parts * c->again || one != 1) {
        return lab_undecided(c->lab, "a trace of several SMs lacks columns or records");
    }
    c->lab->loads += records;
    out->sms = *sms;
    return 0;
}

/* Of some lines, the share that came sooner the second time, less the share that came later. */
static double share_sooner(const uint32_t *first, const uint32_t *second, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        double margin = fmax(limits.sooner_cycles, limits.sooner_share * second[i]);
        sum += first[i] > second[i] + margin;
        sum -= second[i] > first[i] + margin;
    }
    return sum / count;
}

/* What looking for the same lines twice says of each SM. */
struct twice {
    uint8_t finding; /* the first time */
    bool sooner;     /* some of them come sooner the second time, more than of the owner's own */
};

static int look_twice(struct counting *c, struct twice *out, const struct looking *at)
{
    size_t parts = 1 + (size_t)at->count;
    struct looks first = {0}, again = {0};
    int rc = measure_looks(c, &first, at, 0);
    uint32_t *copy = rc ? NULL : malloc(parts * c->again * sizeof *copy);
    if (rc || !copy) {
        return rc ? rc : error_memory();
    }
    memcpy(copy, first.latency, parts * c->again * sizeof *copy);
    double found = c->share;
    for (uint32_t k = 0; k < at->count; k++) {
        out[k].finding = (uint8_t)judge(c, copy + (1 + (size_t)k) * c->again);
    }
    c->share = found;
    rc = measure_looks(c, &again, at, 1);
    double chance = rc ? 0 : fmax(0, share_sooner(copy, again.latency, c->again));
    for (uint32_t k = 0; rc == 0 && k < at->count; k++) {
        size_t row = (1 + (size_t)k) * c->again;
        double share = share_sooner(copy + row, again.latency + row, c->again);
        out[k].sooner = share > chance + limits.part;
    }
    free(copy);
    return rc;
}

/*
 * A part of the outermost cache may have a line at once from another part, sooner than memory has
 * it. It keeps the line: so what an SM finds there comes sooner when it looks for it again, and
 * what it finds in its own part does not. The owner's own lines say what chance does.
 *
 * Where lines are so far apart that each is of another page, it may be the translation that is
 * missed, and kept. Then other lines of these pages, which the SM has not had, come at once.
 */
static int look_for_parts(struct counting *c, const struct looking *at)
{
    struct twice *own = calloc(2 * (size_t)at->count + 1, sizeof *own);
    if (!own) {
        return error_memory();
    }
    struct twice *beside = own + at->count;
    struct looking other_lines = *at;
    uint64_t apart = c->stride / 2 / c->unit * c->unit;
    other_lines.base += apart;
    bool any = false;
    int rc = look_twice(c, own, at);
    for (uint32_t k = 0; rc == 0 && k < at->count && at->from + k < MOST_SMS; k++) {
        uint8_t finding = c->finding[at->from + k];
        any = any || finding == MISSES || finding == DOUBT || own[k].sooner;
    }
    int aside = rc == 0 && any && apart ? look_twice(c, beside, &other_lines) : INFER_UNDECIDED;
    bool known = aside == 0; /* an older recording has none */
    rc = rc || known || lab_soft(aside) ? rc : aside;
    for (uint32_t k = 0; rc == 0 && k < at->count && at->from + k < MOST_SMS; k++) {
        uint8_t *finding = &c->finding[at->from + k];
        if (*finding == ABSENT || at->from + k == at->owner) {
            continue;
        }
        bool all_come = known && beside[k].finding == FINDS;
        *finding = all_come ? FINDS : *finding;
        bool other = own[k].sooner && (!known || beside[k].sooner);
        *finding = other && *finding != MISSES ? MISSES : *finding;
        /* The next owner's lines lie where no walk has been, for parts keep what they have had. */
        c->next_base = other && c->next_base < c->room / 2 ? c->room / 2 : c->next_base;
    }
    free(own);
    return rc && lab_soft(rc) ? 0 : rc; /* a recording has them once */
}

/* SMs from `from` on against one owner; what was in doubt before is overwritten. */
static int look(struct counting *c, uint32_t owner, uint32_t from, uint32_t count)
{
    const struct looking at = {owner, from, count, next_base(c)};
    struct looks looks = {0};
    int rc = measure_looks(c, &looks, &at, 0);
    if (rc) {
        return rc;
    }
    const uint32_t *latency = looks.latency, *there = looks.there;
    c->sms = looks.sms < MOST_SMS ? looks.sms : MOST_SMS;
    if (judge(c, latency) != FINDS) {
        return lab_undecided(c->lab, "what SM %u walked it does not find again", owner);
    }
    for (uint32_t k = 0; k < count && from + k < MOST_SMS; k++) {
        c->finding[from + k] = (uint8_t)(from + k == owner ? FINDS
                                         : !there[1 + k]   ? ABSENT
                                                         : judge(c, latency + (1 + k) * c->again));
    }
    bool outermost = !c->of->info->beneath[0];
    return outermost && c->again == limits.many ? look_for_parts(c, &at) : 0;
}

/*
 * One line of an SM that comes soon may have come from an L2 that is nearer to this SM than to the
 * first one. Other lines say so: whom the owner's cache serves finds them all.
 */
static int confirm_single(struct counting *c, uint32_t owner, uint32_t from, uint32_t count)
{
    uint8_t found[MOST_SMS];
    bool any = false;
    for (uint32_t k = 0; k < count; k++) {
        found[k] = c->finding[from + k] == FINDS;
        any = any || (found[k] && from + k != owner);
    }
    int rc = 0;
    unsigned turn = 1;
    for (; rc == 0 && any && turn < limits.repeats; turn++) {
        rc = look(c, owner, from, count);
        for (uint32_t k = 0; rc == 0 && k < count; k++) {
            found[k] = (uint8_t)(found[k] + (c->finding[from + k] == FINDS));
        }
    }
    if (rc == SONDE_ENOTRECORDED && turn == 2) { /* an older recording has one look */
        return 0;
    }
    for (uint32_t k = 0; rc == 0 && any && k < count; k++) {
        uint8_t *finding = &c->finding[from + k];
        *finding = *finding == ABSENT              ? ABSENT
                   : found[k] == limits.repeats    ? FINDS
                   : 2 * found[k] > limits.repeats ? DOUBT
                                                   : MISSES;
    }
    return rc;
}

/* Some SMs against one owner, with other lines as long as some of an SM's are found and some not.
 */
static int look_again(struct counting *c, uint32_t owner, uint32_t from, uint32_t count)
{
    bool doubt = true;
    int rc = 0;
    for (unsigned repeat = 0;
         (rc == 0 || rc == INFER_UNDECIDED) && doubt && repeat < limits.repeats; repeat++) {
        rc = look(c, owner, from, count);
        rc = rc || c->again > 1 ? rc : confirm_single(c, owner, from, count);
        doubt = rc != 0;
        for (uint32_t k = 0; rc == 0 && k < count; k++) {
            doubt = doubt || c->finding[from + k] == DOUBT;
        }
    }
    return rc || !doubt
               ? rc
               : lab_undecided(c->lab, "an SM finds some of the lines of SM %u, time and again",
                               owner);
}

/* All SMs against one owner. */
static int look_all(struct counting *c, uint32_t owner)
{
    int rc = c->sms ? 0 : look(c, owner, 0, c->places - 1);
    rc = rc == INFER_UNDECIDED && c->sms ? 0 : rc; /* a few of its lines had no place */
    for (uint32_t from = 0; rc == 0 && from < c->sms; from += c->places - 1) {
        uint32_t count = c->sms - from < c->places - 1 ? c->sms - from : c->places - 1;
        rc = look_again(c, owner, from, count);
    }
    return rc;
}

/* The first or the last SM of which no cache is known; false: there is none. */
static bool find_owner(const struct counting *c, uint32_t *owner, bool last)
{
    bool found = false;
    for (uint32_t sm = 0; sm < c->sms && (last || !found); sm++) {
        bool is_open = c->present[sm] && c->cache[sm] == 0;
        *owner = is_open ? sm : *owner;
        found = found || is_open;
    }
    return found;
}

/* Whom the owner's cache serves; nobody can have two. */
static int serve(struct counting *c, uint32_t owner)
{
    int rc = look_all(c, owner);
    for (uint32_t sm = 0; rc == 0 && sm < c->sms; sm++) {
        c->present[sm] = c->finding[sm] != ABSENT;
        if (c->finding[sm] == FINDS && c->cache[sm] != 0) {
            return lab_undecided(c->lab, "SM %u finds what two caches hold", sm);
        }
        c->cache[sm] = c->finding[sm] == FINDS ? c->caches + 1 : c->cache[sm];
    }
    c->caches += rc == 0;
    return rc;
}

static uint32_t count_served(const struct counting *c, uint32_t cache)
{
    uint32_t count = 0;
    for (uint32_t sm = 0; sm < c->sms; sm++) {
        count += c->present[sm] && (cache == 0 || c->cache[sm] == cache);
    }
    return count;
}

static void report(struct counting *c, struct cache_result *result, uint32_t count)
{
    uint32_t present = count_served(c, 0), least = present, most = 0;
    char id[24];
    for (uint32_t i = 1; i <= c->caches; i++) {
        uint32_t served = count_served(c, i);
        least = served < least ? served : least;
        most = served > most ? served : most;
    }
    lab_evidence(c->lab, id, c->of->info->id,
                 "peers op=%s: each of %u SMs looked for what another one had walked in the same "
                 "launch, with %u of them in that place: a cache serves %u to %u SMs; the others "
                 "find up to %.0f %% of its lines",
                 c->of->info->op, present, c->caches, least, most, 100 * c->share);
    bool hides_parts = !c->of->info->beneath[0] && c->again != limits.many && count == 1;
    attribute_set(&result->count, count, "1", hides_parts ? limits.hidden : limits.sure, id);
    if (present > 1 && c->of->info->beneath[0]) {
        snprintf(result->scope, sizeof result->scope, "%s",
                 most == 1          ? "sm"
                 : least == present ? "gpu"
                                    : "cluster");
    }
}

/* Does this cache, or one behind it, answer later than what lies behind that? */
static bool is_overtaken(const struct counting *c)
{
    bool overtaken = c->of->timing.mirror.sum > 0;
    for (size_t i = 0; i < c->lab->level_count; i++) {
        const struct level_summary *other = &c->lab->levels[i];
        bool behind = strcmp(other->info->behind, c->of->info->id) == 0;
        overtaken = overtaken || (behind && other->timing.mirror.sum > 0);
    }
    return overtaken;
}

/* Three SMs that share with nobody stand for all of them; else each cache is sought. */
static int count_one(struct counting *c, struct cache_result *result)
{
    uint32_t owner = 0, most = 0;
    bool is_left = true;
    int rc = 0;
    while (rc == 0 && is_left && (c->caches < limits.owners || most > 1)) {
        rc = serve(c, owner);
        if (rc == 0) {
            uint32_t served = count_served(c, c->caches);
            most = served > most ? served : most;
            is_left = find_owner(c, &owner, c->caches + 1 == limits.owners);
        }
    }
    if (rc == 0 && !c->of->known && c->caches == 1) {
        return lab_undecided(c->lab, "loads of all SMs come as soon, and no miss is known that "
                                     "they could be");
    }
    if (rc == 0 && most > 1 && is_overtaken(c)) { /* ways to L2 differ from SM to SM */
        return lab_undecided(c->lab,
                             "what is behind the cache answers sooner than it: a hit of one "
                             "SM may be a miss of another");
    }
    if (rc == 0) {
        report(c, result, is_left ? count_served(c, 0) : c->caches);
    }
    return rc;
}

/*
 * Lines that find a place whichever sets they fall into: of a cache whose sets are known by their
 * number alone the first lines that fit say little. 0: it is not such a cache.
 */
static uint64_t scattered_lines(const struct counting *c, const struct cache_result *result)
{
    const struct attribute *sets = &result->sets, *ways = &result->ways;
    bool is_counted = sets->status == ATTRIBUTE_MEASURED && ways->status == ATTRIBUTE_MEASURED;
    bool is_hashed = !c->of->info->beneath[0] && c->of->map.sets == 0 && c->of->fit.count;
    return is_counted && is_hashed ? (uint64_t)(sets->value * ways->value) / limits.scattered : 0;
}

/*
 * Lines beside each other may all be at home in one part of the outermost cache. All of an array
 * fits whose length is known: so lines of it may be as far apart as it is long.
 */
static void spread_lines(struct counting *c)
{
    const struct level_fit *fit = &c->of->fit;
    uint64_t lines = (uint64_t)c->places * (c->again + limits.aside);
    uint64_t apart = lines ? fit->count * fit->stride / lines / c->unit * c->unit : 0;
    uint64_t wide = limits.wide / c->unit * c->unit;
    apart = apart < wide ? apart : wide;
    c->stride = apart > c->stride ? apart : c->stride;
}

/*
 * Lines apart, half as many as fit (of few, all), in parts for as many SMs as they are enough for.
 * What fits in order may be far less than what is held of lines apart, where sets are hashed: so of
 * the outermost cache `boldly` many lines are taken, for one SM at a time. The owner finds them
 * again, or they were too many.
 */
static int plan_parts(struct counting *c, const struct cache_result *result, bool boldly)
{
    const struct level_summary *of = c->of;
    uint64_t reach = c->path->reach_bytes, most = c->lab->options->max_footprint_bytes;
    uint64_t unit =
        of->line.bytes > of->timing.fetch_bytes ? of->line.bytes : of->timing.fetch_bytes;
    c->unit = unit ? unit : limits.apart;
    uint64_t scattered = scattered_lines(c, result);
    uint64_t step = of->fit.count && !scattered ? of->fit.stride
                    : reach                     ? limits.apart
                                                : limits.wide;
    bool outermost = !of->info->beneath[0];
    c->stride = unit > step ? (unit + step - 1) / step * step : step;
    uint64_t room = reach ? reach : most < limits.spread ? most : limits.spread;
    uint64_t lines = of->fit.count ? of->fit.count * of->fit.stride / c->stride : UINT64_MAX;
    lines = scattered ? scattered : lines / (lines >= limits.few ? 2 : 1);
    if (boldly) {
        c->stride = limits.wide / c->unit * c->unit + c->unit;
        lines = 2 * (limits.many + limits.aside);
    }
    lines = lines < room / c->stride ? lines : room / c->stride;
    c->again = outermost && lines >= 2 * (limits.many + limits.aside) ? limits.many
               : lines >= 4 * (limits.again + limits.aside)           ? limits.again
                                                                      : 1;
    if (of->repeats && c->again == limits.again &&
        lines >= 4 * (limits.noisy_again + limits.aside)) {
        c->again = limits.noisy_again;
    }
    uint64_t places = lines / (c->again + limits.aside);
    bool dear = c->again == limits.many && c->lab->options->max_cache_loads;
    uint32_t most_places = dear ? limits.dear_places : limits.most_places;
    c->places = (uint32_t)(places < most_places ? places : most_places);
    c->room = room;
    if (dear && !boldly) {
        spread_lines(c);
    }
    return c->places >= 2 ? 0
                          : lab_undecided(c->lab, "too few lines fit to give each of two SMs some");
}

/*
 * Behind another cache all that the path reaches may fit, so that no miss shows; then what takes
 * half as long again as its hits is one, for L2 is farther away than that.
 */
static bool find_threshold(struct counting *c, const struct cache_result *result)
{
    const struct attribute *hit = &result->hit_latency;
    bool is_behind = c->of->info->behind[0] && hit->status == ATTRIBUTE_MEASURED;
    c->threshold = c->of->known ? c->of->timing.threshold
                   : is_behind  ? limits.beyond * hit->value
                                : 0;
    return c->threshold > 0;
}

static int prepare(struct counting *c, const struct cache_result *result, bool boldly)
{
    const struct level_summary *of = c->of;
    bool is_reached = c->path->reach_bytes && !of->known;
    if (!find_threshold(c, result)) {
        return lab_undecided(c->lab, "hits and misses cannot be told apart");
    }
    if (c->path->interleave > 1) {
        return lab_undecided(c->lab, "a thread's own memory is read by its own SM alone");
    }
    if (of->info->beneath[0] && !of->fit.count && !is_reached) {
        return lab_undecided(c->lab, "how much fits is not known");
    }
    int rc = plan_parts(c, result, boldly);
    return rc == 0 && of->repeats && c->again == 1
               ? lab_undecided(c->lab, "noise hides which single loads hit")
               : rc;
}

static int count_with(struct lab *lab, size_t i, bool boldly)
{
    struct cache_result *result = &lab->out->caches[i];
    struct counting *c = calloc(1, sizeof *c);
    if (!c) {
        return error_memory();
    }
    *c = (struct counting){
        .lab = lab, .of = &lab->levels[i], .path = path_find(lab->levels[i].info->op)};
    lab->why.reason[0] = '\0';
    int rc = prepare(c, result, boldly);
    bool too_few = c->again != limits.many; /* to tell parts */
    rc = rc == 0 && boldly && too_few ? INFER_UNDECIDED : rc;
    rc = rc ? rc : count_one(c, result);
    free(c);
    return rc;
}

static int count_level(struct lab *lab, size_t i)
{
    struct cache_result *result = &lab->out->caches[i];
    int rc = count_with(lab, i, false);
    if (rc == INFER_UNDECIDED && !lab->levels[i].info->beneath[0]) {
        struct refusal first = lab_refusal(lab);
        rc = count_with(lab, i, true);
        lab->why = rc && lab_soft(rc) ? first : lab->why;
    }
    if (rc && lab_soft(rc)) {
        struct refusal why = lab_refusal(lab);
        attribute_refuse_as(&result->count, "1", &why);
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

void count_refuse(struct dissection *out, const struct refusal *why)
{
    for (size_t i = 0; i < out->cache_count; i++) {
        struct attribute *count = &out->caches[i].count;
        bool open = !count->reason[0] || strcmp(count->reason, NOT_APPLICABLE) == 0;
        if (count->status != ATTRIBUTE_MEASURED && open) {
            attribute_refuse_as(count, "1", why);
        }
    }
}

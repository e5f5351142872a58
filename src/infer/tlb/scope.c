/*
 * Whom a level of translation serves. An SM walks more pages than the level holds, so that the
 * first of them are gone; another SM walks these; then the first SM is timed on them (the probe
 * `scope`). If it finds them translated, both ask the same level. What that looks like is seen with
 * the SM itself in the other's place, and what it looks like when nobody walks in between.
 *
 * Under some policies pages that were walked again stay for long, and SM 0 finds them with nobody's
 * help. So that is asked once more, after the others; if it is so, or was from the beginning, each
 * SM is tried with pages of its own, which nobody has walked before.
 *
 * All of the SMs that were tried sharing it makes the level the GPU's, none an SM's own, some that
 * of a cluster, whatever that is: two SMs or sixteen. Clusters are not of one size, and SM 0 may be
 * alone in its own: where it shares with none, others are asked in its place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/ask/stats.h"
#include "infer/tlb/tlb.h"
#include "util/error.h"

#define AGAIN 24 /* pages that are walked again, at most */
#define REPEATS 3
#define SCOPE_OTHERS 48 /* SMs that are tried in all */
/* Thresholds. Fixed by: an H200: 48 SMs, both levels. */
static const struct {
    unsigned skipped, neighbours, others, itself, tries, votes, lead, vote_round, bases, times, few;
} limits = {
    .skipped = 2,     /* first records of each run: their instructions may come late */
    .neighbours = 16, /* SMs of the next numbers that are tried */
    .others = SCOPE_OTHERS,
    .tries = 3,       /* of what an SM walked itself. Chosen */
    .votes = 10,      /* more of an SM, where some share and some do not, */
    .lead = 4,        /* unless so many more say one thing than the other. Both chosen */
    .vote_round = 16, /* repeats that no other question takes */
    .times = 4,       /* the entries of a level of few, in a ring: of fewer pages some stay by
                         chance, where victims are drawn. Chosen */
    .few = 32,        /* entries: a level of few. Chosen */
    .bases = 2,       /* SMs that are asked beside SM 0, where it shares with none. Chosen */
    .itself = 2,      /* rings of pages that SM 0 takes by itself */
};
#define NOBODY UINT32_MAX

struct scope {
    struct tlb_lab *tl;
    const struct tlb_level *level;
    struct tlb_ring ring;
    size_t again;
    uint32_t *turned;     /* the ring from another page on; owned */
    uint32_t base;        /* the SM that is timed */
    uint32_t sms;         /* as the device tells, once measured */
    uint32_t round;       /* repeats of the whole */
    uint32_t repeats;     /* walks of a measurement */
    bool fresh;           /* other pages each time */
    bool afresh;          /* each time another group of pages is walked again */
    size_t group;         /* the next one */
    size_t shift, shifts; /* rings that lie before the one in use, and that memory has */
    size_t walked;        /* the last of those in use so far */
};

/* Pages that are walked again, of a level or a ring of so many. */
static size_t pages_again(size_t fits)
{
    return fits / 2 > AGAIN ? AGAIN : fits > 1 ? fits / 2 : 1;
}

/*
 * The other SM's own first level may still translate what that SM walked before: when the first
 * level's scope was sought, or in the run before. Then the level in question is not asked, as if
 * the other SM had not walked. So where half of the pages may be there, the ring begins elsewhere.
 */
static size_t first_page(const struct scope *s, uint32_t run)
{
    const struct tlb_level *level = s->level;
    bool from_front = level->front_page == level->page && level->in_front > 0 &&
                      2 * pages_again(level->in_front) >= s->again;
    bool turns = from_front || (run > 0 && level->in_front >= s->again);
    return turns && s->ring.count ? (level->in_front + run * s->again) % s->ring.count : 0;
}

/* Groups of pages that a ring may begin with. */
static size_t groups_of(const struct scope *s)
{
    return s->ring.count / s->again;
}

/* Pages that nobody has walked are at their end. */
static bool afresh_ended(const struct scope *s)
{
    return 1 + (s->group + REPEATS - 1) / groups_of(s) >= s->shifts;
}

static void turn_ring(struct scope *s, size_t first)
{
    uint64_t ring_units = s->ring.count * (s->level->page / TLB_UNIT_BYTES);
    size_t shift = s->afresh ? 1 + s->group / groups_of(s) : s->shift;
    uint32_t from = (uint32_t)(shift * ring_units);
    first = s->afresh ? s->group % groups_of(s) * s->again : first;
    for (size_t i = 0; i < s->ring.count; i++) {
        s->turned[i] = from + s->ring.unit[(first + i) % s->ring.count];
    }
    s->group += s->afresh; /* never those of before */
    s->walked = s->fresh && s->shift > s->walked ? s->shift : s->walked;
    s->shift = s->fresh ? s->shift % (s->shifts - 1) + 1 : 0;
}

static int build_request(struct trace_request *request, const struct scope *s, uint32_t other,
                         uint32_t run)
{
    trace_request_init(request, "scope");
    request->ring = s->turned;
    request->ring_count = s->ring.count;
    int rc = trace_request_set_u64(request, "scale", TLB_UNIT_BYTES);
    rc = rc || !s->tl->mapped ? rc : trace_request_set_text(request, "pages", "mapped");
    rc = rc || s->base == 0 ? rc : trace_request_set_u64(request, "sm", s->base);
    rc = rc ? rc : trace_request_set_u64(request, "again", s->again);
    rc = rc || other == NOBODY ? rc : trace_request_set_u64(request, "other", other);
    return rc || run == 0 ? rc : trace_request_set_u64(request, "run", run);
}

/* The median of what is timed after the other SM's walk. */
static int measure(struct scope *s, double *median, uint32_t other)
{
    uint32_t all[REPEATS * AGAIN];
    size_t kept = 0;
    for (uint32_t run = 0; run < s->repeats; run++) {
        struct trace_request request;
        const struct trace *trace;
        size_t count, one;
        turn_ring(s, first_page(s, run));
        int rc = build_request(&request, s, other, s->round * REPEATS + run);
        rc = rc ? rc : lab_measure(s->tl->lab, &trace, &request);
        if (rc) {
            return rc;
        }
        const uint32_t *latency = trace_u32(trace, "latency", &count);
        const uint32_t *sms = trace_u32(trace, "sms", &one);
        if (!latency || !sms || count != s->again || one != 1) {
            return lab_undecided(s->tl->lab, "a trace of two SMs lacks columns or records");
        }
        s->sms = *sms;
        size_t first = limits.skipped < count / 2 ? limits.skipped : count / 2;
        for (size_t i = first; i < count; i++) {
            all[kept++] = latency[i];
        }
    }
    struct sample sample;
    int rc = sample_create(&sample, all, kept);
    if (rc == 0) {
        *median = sample_quantile(&sample, 0.5);
        sample_free(&sample);
    }
    return rc;
}

/* The k-th SM to try beside the one that is timed: its neighbours, then others evenly spread. */
static uint32_t other_sm(const struct scope *s, uint32_t k)
{
    uint32_t apart = k + 1;
    if (s->sms > limits.others + 1 && k >= limits.neighbours) {
        apart = limits.neighbours + 1 +
                (uint32_t)((uint64_t)(k - limits.neighbours) * (s->sms - limits.neighbours - 1) /
                           (limits.others - limits.neighbours));
    }
    return (s->base + apart) % s->sms;
}

/*
 * Is the time that of what the SM finds itself? Less than without the other's walk is not enough of
 * a first level: the level behind it may be one that both ask, and save its own part. Nor is it of
 * pages that nobody had walked: the other SM has brought entries of page tables into L2, and so
 * saves reads of memory. What the SM finds itself is in the level in front, too.
 */
static bool finds(const struct scope *s, double median, double alone, double own)
{
    double half = 0.5 * s->level->penalty;
    bool is_first = s->level->in_front == 0;
    double front = is_first ? 0 : s->level->before;
    bool is_near = median - own < half + front;
    return alone - median > half && (is_near || (!is_first && !s->fresh && !s->afresh));
}

/* What was seen of SM 0 and each of those that were tried. */
enum seen { NO_SUCH_SM, SHARES_NOT, SHARES };

static int try_one(struct scope *s, enum seen *seen, uint32_t k, double alone, double own)
{
    double median = 0;
    int rc = measure(s, &median, other_sm(s, k));
    if (rc == INFER_UNDECIDED) {
        *seen = NO_SUCH_SM; /* though there are numbers for it */
        return 0;
    }
    *seen = finds(s, median, alone, own) ? SHARES : SHARES_NOT;
    return rc;
}

static uint32_t count_seen(const enum seen *seen, uint32_t count, enum seen which)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        sum += seen[k] == which;
    }
    return sum;
}

/*
 * Where some share and some do not, the latter may have a first level that serves several of them,
 * and has kept what another one walked: each walks pages of its own, that no other SM has walked.
 * These are a part of SM 0's ring, which begins with them.
 */
static int try_afresh(struct scope *s, enum seen *seen, uint32_t k, double alone, double own)
{
    enum seen now = *seen;
    s->afresh = true;
    s->round++;
    int rc = try_one(s, &now, k, alone, own);
    s->afresh = false;
    s->round--;
    *seen = rc == 0 && now == SHARES ? SHARES : *seen;
    return lab_soft(rc) ? 0 : rc;
}

/* All that seemed not to share, as many of them as memory has rings for. Where such pages end
 * before one of them is confirmed, nothing tells a cluster from the GPU. */
static int try_rest_afresh(struct scope *s, enum seen *seen, uint32_t count, double alone,
                           double own)
{
    uint32_t unasked = 0;
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && k < count; k++) {
        bool ended = afresh_ended(s);
        unasked += seen[k] == SHARES_NOT && ended;
        rc = seen[k] == SHARES_NOT && !ended ? try_afresh(s, &seen[k], k, alone, own) : 0;
    }
    return rc || unasked == 0 || count_seen(seen, count, SHARES_NOT) > unasked
               ? rc
               : lab_undecided(s->tl->lab, "some SMs seem not to share it, and there is no memory "
                                           "for pages to ask them again");
}

/* Where a level draws its victims, chance decides which of a few pages are found. So an SM is asked
 * again, until one answer leads. */
static int vote(struct scope *s, enum seen *seen, uint32_t k, double alone, double own)
{
    int lead = *seen == SHARES ? 1 : -1;
    const uint32_t round = s->round;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < limits.votes && abs(lead) < (int)limits.lead; i++) {
        enum seen now = NO_SUCH_SM;
        s->round = limits.vote_round + i;
        rc = try_one(s, &now, k, alone, own);
        lead += rc || now == NO_SUCH_SM ? 0 : now == SHARES ? 1 : -1;
    }
    s->round = round;
    *seen = lead > 0 ? SHARES : SHARES_NOT;
    return lab_soft(rc) ? 0 : rc;
}

/* Those that are the fewer, until one of them says the same again: it is no chance, then. `left`:
 * rings of pages that are not walked yet; without as many as a vote may take there is none. */
static int vote_few(struct scope *s, enum seen *seen, uint32_t count, double alone, double own,
                    size_t left)
{
    const size_t each = (size_t)limits.votes * s->repeats;
    bool most_share = count_seen(seen, count, SHARES) > count_seen(seen, count, SHARES_NOT);
    enum seen few = most_share ? SHARES_NOT : SHARES;
    bool stands = false;
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && !stands && k < count; k++) {
        bool asked = seen[k] == few && left >= each;
        left -= asked ? each : 0;
        rc = asked ? vote(s, &seen[k], k, alone, own) : 0;
        stands = asked && seen[k] == few;
    }
    return rc;
}

static void report(const struct scope *s, struct tlb_result *out, const enum seen *seen,
                   uint32_t count)
{
    uint32_t sharing = count_seen(seen, count, SHARES);
    uint32_t tried = sharing + count_seen(seen, count, SHARES_NOT);
    char list[100] = "", id[24];
    for (uint32_t k = 0; k < count && (sharing < tried || s->base); k++) {
        size_t at = strlen(list);
        if (seen[k] == SHARES) {
            snprintf(list + at, sizeof list - at, "%s%u", at ? ", " : ": ", other_sm(s, k));
        }
    }
    snprintf(out->scope, sizeof out->scope, "%s",
             sharing == 0                       ? "sm"
             : sharing == tried && s->base == 0 ? "gpu"
                                                : "cluster");
    lab_evidence(s->tl->lab, id, out->id,
                 "scope: SM %u finds translated what another SM walked, of %u that were tried with "
                 "%u%s",
                 s->base, tried, sharing, list);
    snprintf(out->scope_evidence, sizeof out->scope_evidence, "%s", id);
}

static int try_others(struct scope *s, uint32_t *sharing, struct tlb_result *out, double alone,
                      double own)
{
    enum seen seen[SCOPE_OTHERS] = {NO_SUCH_SM};
    uint32_t count = s->sms - 1 < limits.others ? s->sms - 1 : limits.others;
    int rc = 0;
    size_t left = SIZE_MAX;
    if (s->fresh) { /* pages that nobody has walked end; some are kept for a vote */
        size_t most = (s->shifts - s->shift) / s->repeats;
        most = s->level->in_front || most <= 2 * limits.votes ? most : most - limits.votes;
        count = count < most ? count : (uint32_t)most;
        left = s->shifts - s->shift - (size_t)count * s->repeats;
    }
    for (uint32_t k = 0; rc == 0 && k < count; k++) {
        rc = try_one(s, &seen[k], k, alone, own);
    }
    if (rc == 0 && count_seen(seen, count, SHARES) && count_seen(seen, count, SHARES_NOT)) {
        rc = s->level->in_front ? 0 : vote_few(s, seen, count, alone, own, left);
    }
    *sharing = count_seen(seen, count, SHARES);
    bool mixed = *sharing && count_seen(seen, count, SHARES_NOT);
    if (rc == 0 && mixed && s->level->in_front && s->shifts > 2) {
        s->group = s->fresh ? s->walked * groups_of(s) : s->group; /* behind what was walked */
        rc = try_rest_afresh(s, seen, count, alone, own);
    }
    if (rc == 0 && count_seen(seen, count, NO_SUCH_SM) == count) {
        return lab_undecided(s->tl->lab, "no other SM took part");
    }
    if (rc == 0) {
        report(s, out, seen, count);
    }
    return rc;
}

/* What the SM takes without another's walk, and after its own. A level that draws its victims may
 * lose by chance what was walked last: then once more. */
static int measure_itself(struct scope *s, double *alone, double *own)
{
    int rc = 0;
    uint32_t tries = s->fresh ? 1 : limits.tries; /* pages that nobody has walked are counted */
    for (uint32_t i = 0; rc == 0 && i < tries; i++) {
        s->round += i > 0;
        rc = measure(s, alone, NOBODY);
        rc = rc ? rc : measure(s, own, s->base);
        if (rc == 0 && *alone - *own >= 0.5 * s->level->penalty) {
            return 0;
        }
    }
    return rc ? rc : lab_undecided(s->tl->lab, "what an SM walked itself it does not find again");
}

/* Does the SM find by now, with nobody's help, what it did not find at first? */
static int check_itself(struct scope *s, bool *finds, double alone)
{
    double now = alone;
    s->round++;
    int rc = measure(s, &now, NOBODY);
    *finds = rc == 0 && alone - now > 0.5 * s->level->penalty;
    if (rc && lab_soft(rc)) { /* an older recording */
        s->tl->lab->why.reason[0] = '\0';
        rc = 0;
    }
    return rc;
}

/* Does an SM other than SM 0 share with any? The first that seems to, and does so again, tells.
 * Where a level is in front, each walks pages of its own, as far as memory has such. */
static int try_base(struct scope *s, struct tlb_result *out)
{
    enum seen seen[SCOPE_OTHERS] = {NO_SUCH_SM};
    uint32_t count = s->sms - 1 < limits.others ? s->sms - 1 : limits.others;
    double alone = 0, own = 0;
    bool shares = false;
    if (s->afresh && afresh_ended(s)) {
        return 0;
    }
    int rc = measure_itself(s, &alone, &own);
    for (uint32_t k = 0; rc == 0 && !shares && k < count; k++) {
        bool ended = s->afresh && afresh_ended(s);
        rc = ended || other_sm(s, k) == 0 ? 0 : try_one(s, &seen[k], k, alone, own);
        rc = rc || seen[k] != SHARES || s->afresh ? rc : vote(s, &seen[k], k, alone, own);
        shares = rc == 0 && seen[k] == SHARES;
    }
    bool finds = false;
    rc = rc || !shares ? rc : check_itself(s, &finds, alone);
    if (rc == 0 && shares && !finds) {
        report(s, out, seen, count);
    }
    return rc;
}

/* SM 0 may be alone in its cluster. So others are asked, far from it and from each other. What they
 * cannot tell leaves what SM 0 says. */
static int try_bases(struct scope *s, struct tlb_result *out)
{
    int rc = 0;
    s->afresh = s->level->in_front > 0;
    s->group = s->walked * groups_of(s); /* behind what was walked */
    for (uint32_t i = 0; rc == 0 && i < limits.bases && strcmp(out->scope, "sm") == 0; i++) {
        s->base = s->sms - 1 - i * (s->sms / 2);
        rc = s->base > 1 ? try_base(s, out) : 0;
        if (rc && lab_soft(rc)) {
            s->tl->lab->why.reason[0] = '\0';
            rc = 0;
        }
    }
    return rc;
}

/*
 * What the SM does not find sooner after its own walk may be there all along: pages of the ring
 * that were walked for other questions stay under some policies. Then pages that nobody has walked
 * tell, if memory has them.
 */
static int begin_scope(struct scope *s, double *alone, double *own)
{
    int rc = measure_itself(s, alone, own);
    const struct refusal why = s->tl->lab->why;
    bool timed = *own > 0, room = s->shifts >= 2 + (limits.itself + 1) * s->repeats;
    if (rc != INFER_UNDECIDED || !timed || !room) {
        return rc;
    }
    s->fresh = true;
    s->shift = 1;
    rc = measure_itself(s, alone, own);
    s->tl->lab->why = rc ? why : (struct refusal){0};
    return rc;
}

static int find_scope(struct scope *s, struct tlb_result *out)
{
    double alone = 0, own = 0;
    uint32_t sharing = 0;
    bool finds = false;
    int rc = begin_scope(s, &alone, &own);
    if (rc == 0 && s->sms < 2) {
        return lab_undecided(s->tl->lab, "there is a single SM");
    }
    rc = rc ? rc : try_others(s, &sharing, out, alone, own);
    if (rc == 0 && sharing == 0) {
        s->fresh = false; /* it is this SM's own level that keeps pages */
        s->shift = 0;
        return try_bases(s, out);
    }
    if (s->fresh) {
        return rc;
    }
    rc = rc ? rc : check_itself(s, &finds, alone);
    if (rc || !finds) {
        return rc;
    }
    out->scope[0] = '\0';
    s->fresh = true;
    s->shift = 1 + (s->group + groups_of(s) - 1) / groups_of(s);
    rc = s->shifts >= s->shift + (limits.itself + 1) * s->repeats
             ? measure_itself(s, &alone, &own)
             : lab_undecided(s->tl->lab, "an SM finds with nobody's help what it did not find at "
                                         "first, and there is no memory for other pages");
    return rc ? rc : try_others(s, &sharing, out, alone, own);
}

/* In a ring of so many times the pages that the level holds, or SM 0's first level does. */
static int scope_in_ring(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level,
                         unsigned times)
{
    struct scope s = {.tl = tl,
                      .level = level,
                      .again = pages_again(level->fits),
                      .repeats = 4 * tl->record_noise < level->penalty ? 1 : REPEATS};
    size_t most = (size_t)(tl->limit_bytes / level->page), held = level->fits;
    held = held > level->in_front ? held : level->in_front;
    size_t pages = times * held < most ? times * held : most;
    int rc = pages > held + s.again + held / 4
                 ? tlb_ring_of_pages(tl, &s.ring, level->page, pages, 0)
                 : lab_undecided(tl->lab, "there is no memory for more pages than it holds");
    if (rc == 0) {
        s.shifts = s.ring.count ? most / s.ring.count : 0;
        s.turned = calloc(s.ring.count + 1, sizeof *s.turned);
        rc = s.turned ? find_scope(&s, out) : error_memory();
    }
    free(s.turned);
    free(s.ring.unit);
    return rc;
}

/* Of a level of few entries a short ring leaves pages by chance, so that it seems to serve some SMs
 * and others not: then a longer one decides. (Not at once: what keeps what was walked twice would
 * find nothing in the shorter one any more.) */
static int scope_again(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    struct tlb_result longer = *out;
    int rc = scope_in_ring(tl, &longer, level, limits.times);
    if (rc == 0) {
        *out = longer;
    } else if (lab_soft(rc)) { /* an older recording has no longer ring */
        tl->lab->why.reason[0] = '\0';
        rc = 0;
    }
    return rc;
}

int tlb_scope(struct tlb_lab *tl, struct tlb_result *out, const struct tlb_level *level)
{
    bool few = level->in_front == 0 && level->fits <= limits.few;
    int rc = scope_in_ring(tl, out, level, 2);
    if (rc == 0 && few && strcmp(out->scope, "cluster") == 0) {
        rc = scope_again(tl, out, level);
    }
    if (rc && lab_soft(rc)) {
        out->scope_refusal = lab_refusal(tl->lab);
        tl->lab->why.reason[0] = '\0';
        rc = 0;
    }
    return rc;
}

/*
 * Of requests that fill something: is it a table of lines, or a limit on requests? Pairs of warps
 * that share lines take fewer places of a table, and as many of a limit. Where the second load of a
 * line waits for the first in any case, or pairs do not decide, loads past L1 (op=cg) are asked: a
 * table of L1's misses does not know them, a limit counts all. (Of a GPU that keeps both in one
 * table, that says a limit: what is told so is less sure.)
 */
#include "infer/outstanding/outstanding.h"

#include <math.h>

/* Thresholds. Fixed by: blind trials of outstanding loads (tests/blind/outstanding.c). */
static const struct {
    double apart, waits, past, like, past_step;
} limits = {
    .apart = 0.3,     /* of what waiting costs: as one that waits, or that does not. Chosen */
    .waits = 0.85,    /* confidence where the second load of a line waits: of a table that has no
                         mergers, which need not be what is full. Chosen */
    .past = 0.85,     /* the same where loads past L1 decide. Chosen */
    .past_step = 0.5, /* of what loads through L1 wait for: as much. Chosen */
    .like = 0.5, /* of what lines of their own wait for: pairs of a limit wait as much, but turns
                    may be all that they wait for. Chosen */
};

/*
 * Warps that ask for a quarter more than fits (`times`), in as few instructions as possible, of at
 * least four lanes. In pairs, they share the lines of three in four lanes, and ask for five in
 * eight as many: all fit into a table, and none waits. Where each request counts, some wait for the
 * first answer, and among them lanes that share nothing, which then wait for their own, as without
 * pairs. (A line that is shared would be in L1 by then.)
 */
static bool pairs_shape(const struct table_study *t, struct ray *ray, uint32_t *loads, double size,
                        double times)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t l = 1; l <= t->loads; l++) {
        for (uint32_t warps = 2; warps <= (t->yard->hit ? OUT_WARP - 2 : OUT_WARP); warps += 2) {
            for (uint32_t lanes = 4; lanes <= OUT_WARP; lanes += 4) {
                uint32_t all = l * warps * lanes, rank = l * warps * OUT_BLOCK + lanes;
                if (all >= times * size + lanes && all * 5 <= 8 * size && rank < best) {
                    best = rank;
                    *loads = l;
                    *ray = (struct ray){
                        .axis = RAY_LOADS, .warps = warps, .lanes = lanes, .merge = 1, .share = 1};
                }
            }
        }
    }
    return best < UINT32_MAX;
}

/* The time of as many requests as pairs have lines: pairs take that where a line counts once. 0: a
 * recording has no such loads. */
static int measure_lines(struct table_study *t, double *cycles, const struct ray *alone,
                         uint32_t loads)
{
    struct ray lines = *alone;
    lines.lanes = (5 * alone->lanes + 7) / 8;
    int rc = ray_measure(t->lab, cycles, t->yard, &lines, loads, 1);
    *cycles = rc ? 0 : *cycles;
    return rc && lab_soft(rc) ? 0 : rc;
}

/* What pairs say. */
enum verdict { UNDECIDED, WAITS, AS_TABLE, LIKE_LIMIT, AS_LIMIT };
static const char *const verdict_words[] = {
    [UNDECIDED] = "undecided",
    [WAITS] = "the second of a pair has to wait",
    [AS_TABLE] = "a line counts once",
    [LIKE_LIMIT] = "each request seems to count, if it is not the turns of those that leave",
    [AS_LIMIT] = "each request counts",
};

/* What so many of a ray's values more cost, of such loads. */
static int measure_step(struct table_study *t, double *step, const struct yardstick *yard,
                        uint32_t more)
{
    double cycles[2] = {0};
    int rc = ray_measure_both(t->lab, cycles, yard, &t->jump->ray, t->jump->fits, more);
    *step = cycles[1] - cycles[0];
    return rc;
}

/* So many of a ray's values more behind what fits, as far as a block has threads for them. */
static uint32_t as_many_as_fit(const struct table_study *t, uint32_t more)
{
    uint32_t most = t->yard->hit ? OUT_BLOCK - OUT_WARP : OUT_BLOCK; /* a hit has a warp */
    while (more > 1 && ray_shape(&t->jump->ray, t->jump->fits + more).threads > most) {
        more--;
    }
    return more;
}

/*
 * Do loads past L1 make the time jump at the same number? `known` false: a recording has none. A
 * hit waits little longer for one more where the first answers are nearly back, so of hits several
 * more are asked as well; but then past L1 answers may come faster one after the other, and either
 * tells.
 */
static int ask_past_l1(struct table_study *t, bool *known, bool *alike)
{
    const struct ray_result *jump = t->jump;
    struct yardstick past = *t->yard;
    double own = jump->after_cycles - jump->before_cycles, step = 0;
    uint32_t more = 1;
    past.op = "cg";
    int rc = measure_step(t, &step, &past, more);
    bool open = rc ? lab_soft(rc) : step <= limits.past_step * own; /* not recorded: open as well */
    if (t->yard->hit && open) {
        more = as_many_as_fit(t, more + jump->fits / 4);
        rc = measure_step(t, &own, t->yard, more);
        rc = rc ? rc : measure_step(t, &step, &past, more);
    }
    *known = rc == 0;
    if (rc) {
        return lab_soft(rc) ? 0 : rc;
    }
    *alike = step > limits.past_step * own;
    lab_evidence(t->lab, t->id, "outstanding",
                 "threads op=cg: behind %u requests %u more take %.0f cycles more, and past L1 "
                 "%.0f: %s",
                 ray_requests(&jump->ray, jump->fits),
                 ray_requests(&jump->ray, jump->fits + more) - ray_requests(&jump->ray, jump->fits),
                 own, step, *alike ? "no table of L1's misses alone" : "what is full is L1's");
    return 0;
}

static int say(struct table_study *t, enum verdict verdict)
{
    bool known = false, alike = false;
    bool open = verdict == UNDECIDED || verdict == WAITS;
    /* Misses of L2 fill its table, too, which counts lines as well. */
    int rc = open || (t->yard->cold && verdict == AS_TABLE) ? ask_past_l1(t, &known, &alike) : 0;
    if (rc || (verdict == UNDECIDED && !known)) {
        return rc;
    }
    if (open || verdict == LIKE_LIMIT) {
        t->confidence = fmin(t->confidence, known ? limits.past : limits.waits);
    }
    t->is_l1s = known && !alike;
    t->kind = verdict == AS_LIMIT || verdict == LIKE_LIMIT || (open && known && alike)
                  ? "request_limit"
                  : "mshr";
    return 0;
}

/* What a hit waits for at most behind requests that had not all left when it came. */
static double turns_of(const struct table_study *t, const struct ray *ray, uint32_t loads)
{
    double left = ray_requests(ray, loads) * t->yard->turn_cycles;
    return fmax(0, left - t->yard->hit);
}

/*
 * By hits, behind a little more than fits, and a little less. Pairs that share lines make a hit
 * wait where each request counts, and not where a line does; where the second of a pair finds no
 * merger, also behind few.
 */
static int tell_by_hits(struct table_study *t, double size)
{
    struct ray over, fewer;
    uint32_t loads = 1;
    double cycles[2][2] = {{0}}; /* over or fewer; apart or in pairs */
    int rc = 0;
    if (!pairs_shape(t, &over, &loads, size, 1)) {
        return 0;
    }
    fewer = over;
    while (fewer.warps > 2 && fewer.warps * fewer.lanes * loads > size) {
        fewer.warps -= 2;
    }
    if (fewer.warps * fewer.lanes * loads > size) {
        return 0;
    }
    for (int k = 0; k < 4 && rc == 0; k++) {
        struct ray ray = k / 2 ? fewer : over;
        ray.share = k % 2 ? 2 : 1;
        ray.apart = k % 2 ? ray.lanes / 4 : 0;
        rc = ray_measure(t->lab, &cycles[k / 2][k % 2], t->yard, &ray, loads, 1);
    }
    /* One request too many costs that; many, each of which waits for an answer more, cost more. */
    const struct ray_result *jump = t->jump;
    double none = cycles[1][0], height = jump->after_cycles - jump->before_cycles;
    if (rc || cycles[0][0] - none < (1 - limits.apart) * height) {
        return rc;
    }
    double few = (cycles[1][1] - none) / height, many = (cycles[0][1] - none) / height;
    double least = many - turns_of(t, &over, loads) / height; /* but for what takes turns alone */
    bool few_wait_not = few < limits.apart;
    bool as_own = cycles[0][1] - none > limits.like * (cycles[0][0] - none);
    enum verdict verdict = few > 1 - limits.apart                              ? WAITS
                           : many < limits.apart                               ? AS_TABLE
                           : few_wait_not && least > 1 - limits.apart          ? AS_LIMIT
                           : few_wait_not && many > 1 - limits.apart && as_own ? LIKE_LIMIT
                                                                               : UNDECIDED;
    lab_evidence(t->lab, t->id, "outstanding",
                 "threads hit=%u lanes=%u loads=%u: a hit takes %.0f cycles behind %u requests of "
                 "%u warps, with share=2 common=%u, where pairs of warps share lines, %.0f; behind "
                 "those of %u warps %.0f and %.0f: %s",
                 t->yard->hit, over.lanes, loads, cycles[0][0], over.warps * over.lanes * loads,
                 over.warps, over.lanes - over.lanes / 4, cycles[0][1], fewer.warps, none,
                 cycles[1][1], verdict_words[verdict]);
    return say(t, verdict);
}

int table_tell(struct table_study *t, double size)
{
    if (t->yard->hit) {
        return tell_by_hits(t, size);
    }
    const struct ray_result *jump = t->jump;
    double height = jump->after_cycles - jump->before_cycles, apart = 0, paired = 0, lines = 0;
    struct ray alone;
    uint32_t loads = 1;
    if (!pairs_shape(t, &alone, &loads, size, 1.25) && !pairs_shape(t, &alone, &loads, size, 1)) {
        return 0;
    }
    struct ray pairs = alone;
    pairs.share = 2;
    pairs.apart = alone.lanes / 4;
    int rc = ray_measure(t->lab, &apart, t->yard, &alone, loads, 1);
    rc = rc ? rc : ray_measure(t->lab, &paired, t->yard, &pairs, loads, 1);
    rc = rc ? rc : measure_lines(t, &lines, &alone, loads);
    if (rc) {
        return rc;
    }
    /* What waits for the first answer may hit the line by then, so that pairs are a little sooner
     * under a limit, too. */
    height = lines > 0 && paired < apart ? fmax(height, apart - lines) : height;
    /* Where pairs take longer than loads apart, the second of a pair finds no merger: that is a
     * table's, and no limit makes loads of one line slower. What counts may be another's. */
    bool as_table = fabs(apart - paired) > 0.5 * height,
         as_limit = fabs(apart - paired) < 0.25 * height;
    enum verdict verdict = as_table   ? paired < apart ? AS_TABLE : WAITS
                           : as_limit ? AS_LIMIT
                                      : UNDECIDED;
    lab_evidence(
        t->lab, t->id, "outstanding",
        "threads lanes=%u loads=%u: %u requests of %u warps take %.0f cycles, with share=2 "
        "common=%u, where pairs of warps share lines, %.0f: %s",
        alone.lanes, loads, ray_requests(&alone, loads), alone.warps, apart,
        alone.lanes - alone.lanes / 4, paired, verdict_words[verdict]);
    return say(t, verdict);
}

/*
 * How many sets a cache has, from how many lines hit on the way back and there again
 * (to_and_fro.c), where these are not all that it holds: victims are drawn, a rule protects what
 * hits, or a few lines of something else (page tables) took places. The replacement of one set is
 * known by then (policy/): so a modelled set reads as many lines, there, back and there again, as
 * chance brings to it, and what hits there in the mean says how many such sets there are. As many
 * other lines are read before, of the model as of the cache: what a set held before that hardly
 * counts. Several times as many lines are read as fit. Then hits of a set hardly depend on how many
 * lines it gets, either:
 *
 *     hits of a set                  x x x x x x
 *                            x   x
 *                        x
 *                    x
 *     lines of the set   1 2 3 ... ways ... 3 ways
 *
 * That is a measurement to some thousandths, or hundredths where victims are drawn. Where it leaves
 * one number of sets alone, that is told. Else caches are built of slices, and slices of sets,
 * whose numbers are mostly small multiples of powers of two: where exactly one such number is
 * within what was measured, it is told, and the confidence says that others are built as well.
 * Where none is, or several are, nothing is told.
 *
 * Left out: a cache in parts, whose lines have copies elsewhere; sets of unequal ways. Victims that
 * depend on the one before are modelled as if they did not, and what that is off by is allowed for.
 */
#include "infer/large/large.h"
#include "infer/level.h"
#include "infer/policy/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* Thresholds. Chosen. */
static const struct {
    unsigned rounds, readings, steps, most_sets, most_odd;
    double first, lines, nearly, least, work, states, same, precise, misfit, drawn_misfit,
        serial_misfit, slow_misfit, most_slow, least_hits, deviations, sure, narrow, exact_sure,
        doubtful;
    uint64_t loads, seed;
} limits = {
    .rounds = 4,           /* readings that say how many lines are enough */
    .readings = 64,        /* of these lines, at most */
    .steps = 4,            /* from sets to lines of a set and back */
    .most_sets = 60000,    /* modelled sets, at most */
    .first = 2,            /* times the lines that fit: the first reading */
    .lines = 3.5,          /* times the ways: lines that a set gets in the mean */
    .nearly = 0.75,        /* of these are enough, */
    .least = 0.4,          /* and where no more can be read */
    .work = 1e7,           /* ways that modelled sets look at */
    .states = 5000,        /* the same for the states of a rule's set, about */
    .same = 1e-4,          /* share of the sets by which a step differs that is the last */
    .least_hits = 1e-9,    /* of a set: no division by 0 */
    .precise = 0.004,      /* deviation of the sets: no more readings are made */
    .misfit = 0.002,       /* share of the sets that the model may be off by, */
    .drawn_misfit = 0.012, /* and where the shares of victims are only counted */
    .serial_misfit =
        0.25,           /* and by the ways, where one victim depends on the other: four ways of
                           which one goes at evenly spaced misses make 5 % more hits, 20 make 1 % */
    .slow_misfit = 0.5, /* and of the hits that noise makes slow */
    .most_slow = 0.2,   /* of these at most, as a share of the hits */
    .deviations = 2.5,  /* to either side that count as measured */
    .most_odd = 15,     /* times a power of two: numbers of sets that are built */
    .narrow = 0.01,     /* share to either side: of what is measured better, a built number is
                           likelier */
    .sure = 0.75,       /* confidence then */
    .doubtful = 0.6,    /* and else */
    .exact_sure = 0.85, /* confidence of that */
    .loads = 4000000,   /* loads that all this may take */
    .seed = 47,
};

struct by_rule {
    struct level *level;
    uint32_t ways;
    enum policy_kind kind;   /* POLICY_COUNT: victims are drawn */
    double hits, doubtful;   /* of all readings, on both ways; how many may be none */
    unsigned readings, runs; /* that count; all */
    size_t each;             /* lines of a reading */
    double mean, deviation;  /* hits of a modelled set */
    double sets, error;      /* found; deviation */
    uint64_t start;
    struct policy_set set;
};

/* ---- a modelled set ---- */

static bool read_line(struct by_rule *b, uint32_t line, struct rng *rng)
{
    const double *probability = b->level->result->policy.probability;
    return b->kind == POLICY_COUNT ? policy_set_read_drawn(&b->set, line, probability, rng)
                                   : policy_set_read(&b->set, line);
}

static uint32_t draw_poisson(double mean, struct rng *rng)
{
    double left = exp(-mean), product = rng_double(rng);
    uint32_t count = 0;
    while (product > left) {
        product *= rng_double(rng);
        count++;
    }
    return count;
}

/* A set full of other lines, from `first` on, in any state. */
static void fill_set(struct by_rule *b, uint32_t first, struct rng *rng)
{
    if (b->kind != POLICY_COUNT) {
        policy_set_init(&b->set, b->kind, b->ways);
        policy_set_scramble(&b->set, first, rng);
        return;
    }
    b->set.ways = b->ways;
    for (uint32_t i = 0; i < b->ways; i++) {
        b->set.line[i] = first + i;
    }
}

/* Hits of a set on the way back and there again; what hits is read twice. */
static unsigned read_set(struct by_rule *b, uint32_t first, uint32_t lines, struct rng *rng)
{
    unsigned hits = 0;
    for (uint32_t i = 0; i < lines; i++) {
        read_line(b, first + i, rng);
    }
    for (uint32_t i = 0; i < 2 * lines; i++) {
        uint32_t line = first + (i < lines ? lines - 1 - i : i - lines);
        bool hit = read_line(b, line, rng);
        hits += hit;
        if (hit) {
            read_line(b, line, rng);
        }
    }
    return hits;
}

/* The same of a set that has been read through before, as any reading but the first finds it. */
static unsigned hits_of_set(struct by_rule *b, double mean, struct rng *rng)
{
    uint32_t others = draw_poisson(mean, rng), lines = draw_poisson(mean, rng);
    fill_set(b, others + lines, rng);
    read_set(b, lines, others, rng);
    return read_set(b, 0, lines, rng);
}

/* In the mean, and the deviation, where chance brings so many lines. */
static double mean_hits(struct by_rule *b, double lines, double *deviation)
{
    double sum = 0, squares = 0, cost = 8 * lines * b->ways;
    cost += b->kind == POLICY_COUNT ? 0 : limits.states;
    unsigned sets = (unsigned)fmin(limits.most_sets, limits.work / cost + 1);
    struct rng rng;
    rng_seed(&rng, limits.seed);
    for (unsigned i = 0; i < sets; i++) {
        double hits = hits_of_set(b, lines, &rng);
        sum += hits;
        squares += hits * hits;
    }
    *deviation = sqrt(fmax(0, squares / sets - sum / sets * (sum / sets)));
    return sum / sets;
}

/* ---- from hits to sets ---- */

/* Sets that make so many hits of the readings so far, if a set has so many in the mean. Readings of
 * the same lines say the same. */
static void take_sets(struct by_rule *b)
{
    double readings = b->readings;
    double apart = fmax(1, fmin(readings, (double)to_and_fro_places(b->level, b->each)));
    double hits = b->hits / (1 - fmin(level_slow_share(b->level), limits.most_slow));
    b->sets = fmax(1, hits / readings / b->mean);
    double variance = b->sets * readings * readings / apart * b->deviation * b->deviation;
    b->error = sqrt(variance + b->doubtful) / (readings * b->mean);
}

/* The same, and how many hits a set has: these go by its lines, and so by the sets. */
static void fit_sets(struct by_rule *b)
{
    double before = 0;
    for (unsigned i = 0; i < limits.steps && fabs(b->sets - before) > limits.same * before; i++) {
        double mean = mean_hits(b, (double)b->each / b->sets, &b->deviation);
        b->mean = fmax(mean, limits.least_hits);
        before = b->sets;
        take_sets(b);
    }
}

static int add_reading(struct by_rule *b)
{
    struct held_count count;
    int rc = to_and_fro_count(b->level, &count, b->each, b->runs++);
    if (rc == 0 && count.elsewhere) {
        rc = lab_undecided(b->level->lab, "lines of another part are held as well");
    }
    if (rc == 0 && count.hits == 0) {
        rc = lab_undecided(b->level->lab, "of %zu lines read to and fro none is held", b->each);
    }
    b->hits += (double)count.hits;
    b->doubtful += (double)count.doubtful;
    b->readings++;
    return rc;
}

static bool is_spent(const struct by_rule *b)
{
    return b->level->lab->loads - b->start > limits.loads;
}

static void forget_readings(struct by_rule *b)
{
    b->readings = 0;
    b->hits = b->doubtful = 0;
}

/* Lines of a reading of which each set gets several times as many as it has ways, or as many as can
 * be read, if these are not much fewer. */
static int find_lines(struct by_rule *b)
{
    size_t most = to_and_fro_most_lines(b->level);
    double enough = (double)b->each;
    for (unsigned round = 0; round < limits.rounds && !is_spent(b); round++) {
        b->each = enough < (double)most ? (size_t)enough : most;
        forget_readings(b);
        int rc = add_reading(b);
        if (rc) {
            return rc;
        }
        b->sets = b->sets > 0 ? b->sets : (double)b->each / limits.lines / b->ways;
        fit_sets(b);
        enough = limits.lines * b->ways * b->sets;
        double nearly = b->each == most ? limits.least : limits.nearly;
        if ((double)b->each > nearly * enough) {
            return 0;
        }
        if (b->each == most) {
            break;
        }
    }
    return lab_undecided(b->level->lab, "reading %.0f lines to and fro takes too long", enough);
}

/* Readings that find the cache as one of as many lines has left it, until they are enough for the
 * sets. */
static int read_on(struct by_rule *b)
{
    forget_readings(b);
    int rc = add_reading(b);
    if (rc == 0) {
        fit_sets(b);
    }
    while (rc == 0 && 2 * b->readings <= limits.readings && b->error > limits.precise * b->sets &&
           !is_spent(b)) {
        unsigned more = b->readings; /* twice as many */
        for (unsigned i = 0; rc == 0 && i < more && !is_spent(b); i++) {
            rc = add_reading(b);
        }
        if (rc == 0) {
            take_sets(b);
        }
    }
    return rc;
}

/* ---- the number ---- */

/* How many numbers of sets that are built lie within, and the last of them. */
static unsigned count_built(double low, double high, double *last)
{
    unsigned count = 0;
    for (uint32_t odd = 1; odd <= limits.most_odd; odd += 2) {
        for (uint64_t sets = odd; (double)sets <= high; sets *= 2) {
            if ((double)sets >= low) {
                *last = (double)sets;
                count++;
            }
        }
    }
    return count;
}

struct told {
    double sets, half, confidence; /* half: to either side of what was measured */
    const char *why;
};

static void tell(const struct by_rule *b, const struct told *told)
{
    struct level *level = b->level;
    struct cache_result *r = level->result;
    char id[24];
    double line = (double)level->line.bytes * b->ways;
    lab_evidence(
        level->lab, id, level->info->id,
        "held op=%s: %u times %zu lines read there, back and there again, of which %.0f hit; by "
        "%s of %u ways that is %.1f sets, give or take %.1f; %.0f is %s",
        level->info->op, b->readings, b->each, b->hits, r->policy.name, b->ways, b->sets,
        told->half, told->sets, told->why);
    level->size_bytes = (uint64_t)(told->sets * line);
    attribute_set(&r->sets, told->sets, "1", told->confidence, id);
    attribute_set(&r->size, told->sets * line, "B", told->confidence, id);
    r->sets.low = fmin(told->sets, b->sets - told->half);
    r->sets.high = fmax(told->sets, b->sets + told->half);
    r->size.low = line * r->sets.low;
    r->size.high = line * r->sets.high;
}

static int judge(const struct by_rule *b)
{
    bool serial = b->level->result->policy.serial == SERIAL_YES;
    double misfit = b->kind == POLICY_COUNT ? limits.drawn_misfit : limits.misfit;
    misfit += serial ? limits.serial_misfit / b->ways : 0;
    misfit += limits.slow_misfit * level_slow_share(b->level);
    double half = limits.deviations * b->error + misfit * b->sets, nearest = round(b->sets);
    double low = b->sets - half, high = b->sets + half;
    bool narrow = half < limits.narrow * b->sets;
    struct told told = {.half = half,
                        .confidence = narrow ? limits.sure : limits.doubtful,
                        .why = "the one small multiple of a power of two there"};
    if (nearest >= low && nearest <= high && nearest - low < 1 && high - nearest < 1) {
        told = (struct told){nearest, half, limits.exact_sure, "the one number there"};
    } else if (count_built(low, high, &told.sets) != 1) {
        return lab_undecided(b->level->lab,
                             "what hits of lines read to and fro is that of %.0f to %.0f sets", low,
                             high);
    }
    tell(b, &told);
    return 0;
}

/* Is what misses in a set known by its rule, or by the shares of its victims? */
static bool is_known(const struct policy_result *policy, size_t ways)
{
    enum policy_kind kind = policy_named(policy->name);
    bool known =
        policy->probability_count ? policy->probability_count == ways : kind != POLICY_COUNT;
    return policy->confidence > 0 && policy->equivalent_count == 0 && known;
}

static bool applies(const struct level *level)
{
    size_t ways = level->conflict.count ? level->conflict.count - 1 : 0;
    return to_and_fro_applies(level) && ways > 1 && ways <= INFER_MAX_WAYS &&
           is_known(&level->result->policy, ways);
}

int large_sets_by_rule(struct level *level)
{
    const struct policy_result *policy = &level->result->policy;
    if (!applies(level)) {
        return lab_undecided(level->lab, "which lines sets evict does not show");
    }
    struct by_rule *b = malloc(sizeof *b);
    if (!b) {
        return error_memory();
    }
    *b = (struct by_rule){.level = level,
                          .ways = (uint32_t)level->conflict.count - 1,
                          .kind =
                              policy->probability_count ? POLICY_COUNT : policy_named(policy->name),
                          .each = (size_t)(limits.first * (double)level->fit.count),
                          .sets = level->crowded_sets,
                          .start = level->lab->loads};
    if (b->sets > 0) {
        b->each = (size_t)(limits.lines * b->ways * b->sets);
    }
    int rc = find_lines(b);
    rc = rc ? rc : read_on(b);
    rc = rc ? rc : judge(b);
    free(b);
    return rc;
}

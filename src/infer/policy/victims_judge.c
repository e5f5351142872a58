/*
 * Tests counts of victims: are the shares of the ways equal, and are the draws independent? Equal
 * shares are tested by chi square, which adds up over windows that number their ways differently.
 * Independence is tested by how often the likeliest way is the victim twice in succession, beside
 * what its share predicts.
 */
#include "infer/policy/victims.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/sort.h"

/* Thresholds. Fixed by: blind trials (tests/blind). */
static const struct {
    double doubt, alike_by_chance, favoured, assumed, range, testable, by_use, unnumbered, uses;
    unsigned few_a_way, much, left_out, apart;
} limits = {
    .doubt = 1e-4,           /* probability below which chance is ruled out */
    .alike_by_chance = 1e-3, /* the same for equal shares of the ways after the likeliest */
    .testable = 5,           /* victims after one of their own way, expected: fewer tell nothing */
    .few_a_way = 20,         /* victims a way and window that sorted shares need */
    .apart = 50,             /* victims of a stretch of which neighbours are a small part. Chosen */
    .by_use = 0.1, /* squared difference of the ages' shares from equal ones, by these. A rule's are
                      some tens; unequal shares of blind trials make 0.02 to 0.04 */
    .unnumbered = 0.85, /* the same of a first level whose ways have no numbers: the shares are told
                           by their size. Of blind trials 6 of 7 were right all the same */
    .uses = 0.85,       /* confidence of shares beside which ages differ. Chosen */
    .much = 6,          /* standard deviations that chance does not reach */
    .left_out = 4,      /* one group in so many, on either side of the mean, is left out */
    .assumed = 0.8,  /* confidence where the ways after the likeliest are equal by assumption: blind
                        trials of wide machines, 12 of 16 sets of translation right */
    .range = 1.3,    /* times the range that sorting gives equal shares. Chosen */
    .favoured = 3.0, /* times as likely as another way: a bias that a test must detect */
};

/* P(chi square of so many degrees of freedom > x), by Wilson and Hilferty's approximation. */
static double chi_square_tail(double x, double degrees)
{
    double spread = 2 / (9 * degrees);
    double z = (cbrt(x / degrees) - (1 - spread)) / sqrt(spread);
    return 0.5 * erfc(z / sqrt(2));
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return order_u64(y, x);
}

/* Probability that chance makes so great a difference. */
static double by_chance(double seen, double expected, double variance)
{
    double z = variance > 0 ? (seen - expected) / sqrt(variance) : 0;
    return erfc(fabs(z) / sqrt(2));
}

/* Adds how often the likeliest way was the victim twice in succession, and any way, and how often
 * independent draws would make it so. */
static void sum_dependence(struct victim_sums *sums, const struct victim_tally *tally)
{
    size_t ways = tally->ways, likeliest = 0;
    double n = (double)tally->pairs;
    for (size_t i = 0; i < ways; i++) {
        likeliest = tally->count[i] > tally->count[likeliest] ? i : likeliest;
    }
    for (size_t way = 0; way < ways && n >= 2; way++) {
        double row = 0, column = 0, seen = (double)tally->pair[way * ways + way];
        for (size_t i = 0; i < ways; i++) {
            row += (double)tally->pair[way * ways + i];
            column += (double)tally->pair[i * ways + way];
        }
        double expected = row * column / n;
        double variance = row * column * (n - row) * (n - column) / (n * n * (n - 1));
        sums->again += seen;
        sums->expected_again += expected;
        sums->variance_again += variance;
        if (expected >= limits.testable && seen < expected) {
            double chance = by_chance(seen, expected, variance);
            sums->rarest = sums->tried++ ? fmin(sums->rarest, chance) : chance;
        }
        sums->seen += way == likeliest ? seen : 0;
        sums->expected += way == likeliest ? expected : 0;
        sums->variance += way == likeliest ? variance : 0;
    }
}

void victims_test(struct victim_sums *sums, const struct victim_tally *tally)
{
    size_t ways = tally->ways;
    if (tally->victims == 0) {
        return;
    }
    double expected = (double)tally->victims / (double)ways;
    for (size_t i = 0; i < ways; i++) {
        double d = (double)tally->count[i] - expected;
        sums->x += d * d / expected;
    }
    sums->degrees += (double)ways - 1;
    sum_dependence(sums, tally);
    sums->victims += tally->victims;
}

/* Adds the chi square of equal shares of the ways after the likeliest. */
static void sum_rest(struct victim_group *group, const uint64_t *count, size_t ways, double victims)
{
    double rest = victims - (double)count[0], expected = rest / (double)(ways - 1);
    for (size_t i = 1; i < ways && expected > 0; i++) {
        double d = (double)count[i] - expected;
        group->rest_x += d * d / expected;
    }
    group->rest_degrees += expected > 0 ? (double)ways - 2 : 0;
}

void victims_share(struct victim_sums *sums, const struct victim_tally *tally,
                   const uint64_t *since)
{
    uint64_t count[INFER_MAX_WAYS], victims = 0;
    struct victim_group *group = &sums->group[0]; /* the one with the fewest victims */
    for (size_t i = 0; i < tally->ways; i++) {
        count[i] = tally->count[i] - (since ? since[i] : 0);
        victims += count[i];
    }
    if (victims == 0) {
        return;
    }
    for (size_t i = 1; i < VICTIM_GROUPS; i++) {
        group = sums->group[i].victims < group->victims ? &sums->group[i] : group;
    }
    if (!sums->cold) {
        qsort(count, tally->ways, sizeof *count, compare_counts);
        sum_rest(group, count, tally->ways, (double)victims);
    }
    for (size_t i = 0; i < tally->ways; i++) {
        double n = (double)count[i];
        group->count[i] += n;
        group->same += n * (n - 1);
        group->thrice += n * (n - 1) * (n - 2);
    }
    double all = (double)victims;
    group->any += all * (all - 1);
    group->any_three += all * (all - 1) * (all - 2);
    group->victims += victims;
    sums->stretches++;
}

void victims_sum(struct victim_sums *sums, const struct victim_tally *tally)
{
    victims_test(sums, tally);
    victims_share(sums, tally, NULL);
}

/* True when a way evicted `favoured` times as often as each other would have shown. */
static bool has_power(const struct victim_sums *sums, size_t ways)
{
    double w = (double)ways, all = w - 1 + limits.favoured;
    double favourite = limits.favoured / all - 1 / w, other = 1 / all - 1 / w;
    double each = (favourite * favourite + (w - 1) * other * other) * w;
    return (double)sums->victims * each > 8 * sqrt(2 * sums->degrees);
}

static void write_share(struct policy_result *out, size_t way, double p, double total)
{
    out->probability[way] = p;
    out->error[way] = 1.96 * sqrt(fmax(p * (1 - p), 1e-6) / total);
}

/* The mean over the groups of part / whole; where noise is, without the outermost groups. */
static double mean_share(const double part[VICTIM_GROUPS], const double whole[VICTIM_GROUPS],
                         bool noisy)
{
    double share[VICTIM_GROUPS], parts = 0, wholes = 0, sum = 0;
    size_t groups = 0;
    for (size_t i = 0; i < VICTIM_GROUPS; i++) {
        parts += part[i];
        wholes += whole[i];
        if (whole[i] > 0) {
            share[groups++] = part[i] / whole[i];
        }
    }
    size_t beside = groups / limits.left_out;
    if (!noisy || beside == 0) {
        return wholes > 0 ? parts / wholes : 0;
    }
    sort_double(share, groups);
    for (size_t i = beside; i < groups - beside; i++) {
        sum += share[i];
    }
    return sum / (double)(groups - 2 * beside);
}

static double share_of_way(const struct victim_sums *sums, size_t way)
{
    double part[VICTIM_GROUPS], whole[VICTIM_GROUPS];
    for (size_t i = 0; i < VICTIM_GROUPS; i++) {
        part[i] = sums->group[i].count[way];
        whole[i] = (double)sums->group[i].victims;
    }
    return mean_share(part, whole, sums->noisy);
}

/* The probability that two victims of a stretch are of one way, or three are: the sums of the
 * squares and of the cubes of the shares, however the ways are numbered. */
static double share_of_same(const struct victim_sums *sums, bool three)
{
    double part[VICTIM_GROUPS], whole[VICTIM_GROUPS];
    for (size_t i = 0; i < VICTIM_GROUPS; i++) {
        const struct victim_group *group = &sums->group[i];
        part[i] = three ? group->thrice : group->same;
        whole[i] = three ? group->any_three : group->any;
    }
    return mean_share(part, whole, sums->noisy);
}

/* True when chance explains how the ways after the likeliest differ. Where noise is, the groups
 * that differ most are left out. */
static bool rest_is_alike(const struct victim_sums *sums)
{
    double excess[VICTIM_GROUPS], x = 0, degrees = 0;
    size_t left_out = sums->noisy ? VICTIM_GROUPS / limits.left_out : 0;
    for (size_t i = 0; i < VICTIM_GROUPS; i++) {
        x += sums->group[i].rest_x;
        degrees += sums->group[i].rest_degrees;
        excess[i] = sums->group[i].rest_x - sums->group[i].rest_degrees;
    }
    sort_double(excess, VICTIM_GROUPS);
    for (size_t i = VICTIM_GROUPS - left_out; i < VICTIM_GROUPS; i++) {
        x -= fmax(excess[i], 0);
    }
    return degrees <= 0 || chi_square_tail(x, degrees) > limits.alike_by_chance;
}

static bool too_few_to_sort(const struct victim_sums *sums, size_t ways)
{
    return (double)sums->victims / (double)sums->stretches / (double)ways < limits.few_a_way;
}

/* The range of so many normal deviates, in standard deviations: by Blom's score, and Tukey's lambda
 * for the normal quantile. */
static double range_by_chance(size_t count)
{
    double at = ((double)count - 0.375) / ((double)count + 0.25);
    return 2 * 4.91 * (pow(at, 0.14) - pow(1 - at, 0.14));
}

/* Sorting draws equal shares apart. So from the largest on, those that differ by no more than that
 * get their mean. Each was sorted in stretches of so many victims. */
static void even_out(double share[], size_t ways, double victims)
{
    for (size_t from = 0, to; from < ways; from = to) {
        double sum = share[from], mean = sum;
        for (to = from + 1; to < ways; to++) {
            double count = (double)(to - from + 1), next = (sum + share[to]) / count;
            double chance = range_by_chance(to - from + 1) * sqrt(next * (1 - next) / victims);
            if (share[from] - share[to] > limits.range * chance) {
                break;
            }
            sum += share[to];
            mean = next;
        }
        for (size_t i = from; i < to; i++) {
            share[i] = mean;
        }
    }
}

/*
 * How many of the ways are likelier, where shares are of two sizes: few that stand out make their
 * distribution more skewed than many do. Three of one way are rarer where it is not drawn twice in
 * succession; in short stretches that says nothing of the shares.
 */
static size_t likelier_ways(const struct victim_sums *sums, double w, double variance, bool serial)
{
    const double mean = 1 / w;
    if (variance <= 0 || (serial && sums->victims < limits.apart * sums->stretches)) {
        return 1;
    }
    double skew = share_of_same(sums, true) - mean * mean - 3 * mean * variance, nearest = INFINITY;
    size_t best = 1;
    for (size_t k = 1; (double)k <= w / 2; k++) {
        double n = (double)k, odds = n / (w - n);
        double expected = n * (1 - odds * odds) / pow(n * w / (w - n), 1.5);
        double apart = fabs(expected - skew / pow(variance, 1.5));
        best = apart < nearest ? k : best;
        nearest = fmin(apart, nearest);
    }
    return best;
}

/*
 * Writes the shares, sorted by size where the numbers of the ways do not last. Sorting makes equal
 * shares look unequal, so the ways after the likeliest get equal shares unless a test rules that
 * out. Where victims are too few for sorting, one or more likelier ways, and the others, get equal
 * shares each. These follow from the variance of all shares.
 */
static void write_shares(struct policy_result *out, const struct victim_sums *sums, size_t ways,
                         bool biased)
{
    bool serial = out->serial == SERIAL_YES;
    double total = (double)sums->victims, w = (double)ways, sum = 0;
    bool few = too_few_to_sort(sums, ways);
    out->probability_count = ways;
    if (sums->cold || (biased && !few && !rest_is_alike(sums))) {
        for (size_t i = 0; i < ways; i++) {
            out->probability[i] = share_of_way(sums, i);
            sum += out->probability[i];
        }
        if (!sums->cold) {
            even_out(out->probability, ways, total / (double)sums->stretches);
        }
        for (size_t i = 0; i < ways; i++) {
            write_share(out, i, out->probability[i] / sum, total);
        }
        return;
    }
    double variance = sums->group[0].any > 0 ? fmax(0, share_of_same(sums, false) - 1 / w) : 0;
    double likelier = biased && few ? (double)likelier_ways(sums, w, variance, serial) : 1;
    double favourite = (1 + sqrt((w - likelier) * w * variance / likelier)) / w;
    favourite = biased ? fmin(favourite, 1 / likelier) : 1 / w;
    for (size_t i = 0; i < ways; i++) {
        bool is_likelier = (double)i < likelier;
        double rest = w > likelier ? (1 - likelier * favourite) / (w - likelier) : favourite;
        write_share(out, i, is_likelier ? favourite : rest, total);
    }
}

enum use { ANY_USE, FEW_USES, BY_USE };

/*
 * Does the victim depend on when its line was last used? A set that draws evicts any line. A rule
 * prefers lines used long ago, which the walk reads next, or the contrary: then next to all victims
 * are of few ages. Unequal shares make some ages of many a little more frequent than others, for
 * lines fill the ways in the order of the walk.
 */
static enum use asks_for_use(const struct victim_sums *sums, size_t ways)
{
    double w = (double)ways, all = 0, x = 0;
    for (size_t i = 1; i <= ways; i++) {
        all += (double)sums->gap[i];
    }
    for (size_t i = 1; i <= ways && all > 0; i++) {
        double differs = (double)sums->gap[i] - all / w;
        x += differs * differs / (all / w);
    }
    bool differ = x > w + limits.much * sqrt(2 * w) + limits.much * limits.much;
    return !differ ? ANY_USE : x - w > limits.by_use * all ? BY_USE : FEW_USES;
}

/* Behind another cache: is a way that chance would not spare never the victim? */
static bool stays_in_front(const struct level *level, const struct victim_sums *sums, size_t ways)
{
    bool spared = false;
    for (size_t way = 0; level->front && sums->cold && way < ways; way++) {
        spared = spared || share_of_way(sums, way) == 0;
    }
    return spared && ways > 1 && exp(-(double)sums->victims / (double)ways) < limits.doubt;
}

/* A first level begins a launch empty, and a cold fill numbers its ways: of others, and of levels
 * of translation, nobody can tell which way is which. */
static bool can_be_numbered(const struct level *level)
{
    return level->info->beneath && level->info->beneath[0];
}

int victims_judge(struct level *level, struct policy_result *out, const struct victim_sums *sums,
                  size_t ways)
{
    double uniform = ways > 1 ? chi_square_tail(sums->x, sums->degrees) : 1;
    double independent = by_chance(sums->seen, sums->expected, sums->variance);
    bool testable = sums->expected >= limits.testable;
    bool biased = uniform < limits.doubt, serial = testable && independent < limits.doubt;
    /* A hit that noise makes a miss puts its way twice into the row: once too early, and once when
     * the line comes that was away. */
    serial = serial && !(sums->noisy && sums->seen > sums->expected);
    if (stays_in_front(level, sums, ways)) {
        return lab_undecided(level->lab, "a way has no victim, and its line may stay in the cache "
                                         "in front");
    }
    if (biased && !serial) { /* of several ways that are as likely one may be that which does not */
        double any = by_chance(sums->again, sums->expected_again, sums->variance_again);
        serial = testable && sums->again < sums->expected_again && any < limits.doubt;
        /* Among many ways the one hardly shows in the sum. Chance had as many tries. */
        serial = serial || (sums->tried && (double)sums->tried * sums->rarest < limits.doubt);
    }
    if (uniform > 1 - limits.doubt || (ways == 2 && serial && !biased)) {
        return lab_undecided(level->lab, "shares of victims are more equal than chance makes them: "
                                         "a rule, but none that is known here");
    }
    enum use use = ways > 2 ? asks_for_use(sums, ways) : ANY_USE;
    if (use == BY_USE || (use == FEW_USES && !biased)) {
        return lab_undecided(level->lab, "victims depend on what was used last: a rule, but none "
                                         "that is known");
    }
    bool sure = biased || serial || has_power(sums, ways);
    snprintf(out->name, sizeof out->name, "%s", biased || serial ? "biased" : "random");
    if (!sure) {
        snprintf(out->equivalent[out->equivalent_count++], sizeof out->equivalent[0], "biased");
    }
    out->victims = sums->victims;
    out->serial = serial ? SERIAL_YES : testable ? SERIAL_NO : SERIAL_UNKNOWN;
    write_shares(out, sums, ways, biased || serial);
    lab_evidence(level->lab, out->evidence, level->info->id,
                 "chase op=%s: %llu victims in walks over %zu lines of one set, %s: equal shares "
                 "by chance %.2g, the likeliest after itself %.0f times, %.1f expected, by chance "
                 "%.2g",
                 level->info->op, (unsigned long long)sums->victims, ways + 1,
                 sums->cold ? "ways numbered by cold fill"
                            : "in each window ways ordered by their share",
                 uniform, sums->seen, sums->expected, independent);
    bool assumed = biased && ways > 2 && !sums->cold && too_few_to_sort(sums, ways);
    out->confidence = !sure                                             ? 0.5
                      : assumed                                         ? limits.assumed
                      : use == FEW_USES                                 ? limits.uses
                      : biased && !sums->cold && can_be_numbered(level) ? limits.unnumbered
                      : biased && uniform > 1e-8                        ? 0.85
                                                                        : 0.95;
    return 0;
}

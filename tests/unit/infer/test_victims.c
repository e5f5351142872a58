/* Shares of victims from counts made up here, some of them with names that went wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "infer/policy/victims.h"
#include "util/rng.h"

#define MOST_WAYS 24
#define WINDOWS 18

static struct dissection dissection;

/* A favourite three times as likely as each other; its name moves to the next way where a window
 * is halfway through, in the first `wrong` windows. */
struct drawing {
    size_t ways, victims, wrong;
    bool cold, noisy, first_level;
};

static void count_window(struct victim_tally *tally, const struct drawing *d, bool wrong,
                         struct rng *rng)
{
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < d->victims; i++) {
        size_t drawn = rng_below(rng, d->ways + 2), way = drawn < d->ways ? drawn : 0;
        if (wrong && i > d->victims / 2 && way < 2) {
            way = 1 - way;
        }
        victims_count(tally, way, &before);
    }
}

static struct policy_result judge(const struct drawing *d)
{
    uint64_t count[MOST_WAYS] = {0}, pair[MOST_WAYS * MOST_WAYS] = {0}, since[MOST_WAYS];
    struct victim_tally tally = {.ways = d->ways, .count = count, .pair = pair};
    struct victim_sums sums = {.cold = d->cold, .noisy = d->noisy};
    struct lab lab = {.out = &dissection};
    struct level_info info = {.id = "made_up", .op = "ca", .beneath = d->first_level ? "cg" : ""};
    struct level level = {.lab = &lab, .info = &info};
    struct policy_result out = {0};
    struct rng rng;
    rng_seed(&rng, 5);
    for (size_t w = 0; w < WINDOWS; w++) {
        memcpy(since, count, sizeof since);
        if (!d->cold) {
            victims_clear(&tally);
        }
        count_window(&tally, d, w < d->wrong, &rng);
        if (d->cold) {
            victims_share(&sums, &tally, since);
        } else {
            victims_sum(&sums, &tally);
        }
    }
    if (d->cold) {
        victims_test(&sums, &tally);
    }
    assert_int_equal(victims_judge(&level, &out, &sums, d->ways), 0);
    assert_string_equal(out.name, "biased");
    assert_int_equal(out.probability_count, d->ways);
    return out;
}

/* How far the worst share is from the truth; the favourite is the first. */
static double worst(const struct drawing *d)
{
    struct policy_result out = judge(d);
    double each = 1 / ((double)d->ways + 2), error = fabs(out.probability[0] - 3 * each);
    for (size_t i = 1; i < d->ways; i++) {
        error = fmax(error, fabs(out.probability[i] - each));
    }
    return error;
}

static void shares_come_out_with_and_without_names(void **state)
{
    (void)state;
    for (size_t ways = 2; ways <= MOST_WAYS; ways += 2) {
        for (int i = 0; i < 4; i++) {
            struct drawing d = {.ways = ways, .victims = 600, .cold = i & 1, .noisy = i & 2};
            assert_true(worst(&d) < 0.015);
        }
    }
}

static void windows_whose_names_changed_do_not_move_the_shares(void **state)
{
    (void)state;
    for (size_t ways = 2; ways <= 22; ways += 5) {
        for (int cold = 0; cold < 2; cold++) {
            struct drawing d = {.ways = ways, .victims = 600, .wrong = 2, .cold = cold};
            d.noisy = true;
            assert_true(worst(&d) < 0.015);
        }
    }
}

/* The test above would notice: where everything counts, so do they. */
static void without_noise_every_window_counts(void **state)
{
    (void)state;
    struct drawing d = {.ways = 2, .victims = 600, .wrong = 2, .cold = true};
    double straight = worst(&d);
    d.noisy = true;
    assert_true(straight > 0.02);
    assert_true(straight > 2 * worst(&d));
}

/* What is judged of a cache that a level hides or not. */
static int judge_sums(struct policy_result *out, const struct victim_sums *sums, size_t ways,
                      bool hidden)
{
    struct lab lab = {.out = &dissection};
    struct level_info info = {.id = "made_up", .op = "const"};
    struct level_summary front = {.info = &info};
    struct level level = {.lab = &lab, .info = &info, .front = hidden ? &front : NULL};
    *out = (struct policy_result){0};
    return victims_judge(&level, out, sums, ways);
}

/* The same of ways' counts. */
static int judge_counts(struct policy_result *out, const struct victim_tally *tally, bool hidden,
                        bool noisy)
{
    struct victim_sums sums = {.cold = true, .noisy = noisy};
    victims_share(&sums, tally, NULL);
    victims_test(&sums, tally);
    return judge_sums(out, &sums, tally->ways, hidden);
}

/* One victim in so many comes again at once, as a hit does that noise makes a miss. */
static void noise_that_repeats_a_way_is_no_dependence(void **state)
{
    (void)state;
    for (int noisy = 0; noisy < 2; noisy++) {
        uint64_t count[4] = {0}, pair[16] = {0};
        struct victim_tally tally = {.ways = 4, .count = count, .pair = pair};
        struct policy_result out;
        struct rng rng;
        size_t before = SIZE_MAX;
        rng_seed(&rng, 5);
        for (size_t i = 0; i < 6000; i++) {
            size_t drawn = rng_below(&rng, 6);
            victims_count(&tally, drawn < 4 ? drawn : 0, &before);
            if (i % 10 == 0) {
                victims_count(&tally, before, &before);
            }
        }
        assert_int_equal(judge_counts(&out, &tally, false, noisy), 0);
        assert_string_equal(out.name, "biased");
        assert_int_equal(out.serial, noisy ? SERIAL_NO : SERIAL_YES);
    }
}

/* Of four ways one is never the victim: behind another cache its line may have stayed there. */
static void a_line_that_stays_in_front_makes_no_shares(void **state)
{
    (void)state;
    for (int hidden = 0; hidden < 2; hidden++) {
        uint64_t count[4] = {0}, pair[16] = {0};
        struct victim_tally tally = {.ways = 4, .count = count, .pair = pair};
        struct policy_result out;
        struct rng rng;
        size_t before = SIZE_MAX;
        rng_seed(&rng, 5);
        for (size_t i = 0; i < 1500; i++) {
            victims_count(&tally, 1 + rng_below(&rng, 3), &before);
        }
        assert_int_equal(judge_counts(&out, &tally, hidden, false), hidden ? INFER_UNDECIDED : 0);
        assert_string_equal(out.name, hidden ? "" : "biased");
    }
}

/* So many ways thrice as likely as others, in windows too short to sort them: each numbers its ways
 * anew, and its victims are few a way. */
static void several_likelier_ways_are_not_taken_for_one(void **state)
{
    (void)state;
    static const struct {
        size_t ways, likelier, victims;
    } drawn[] = {{6, 1, 60}, {6, 2, 60}, {22, 1, 300}, {22, 8, 300}, {24, 8, 200}};
    for (size_t c = 0; c < sizeof drawn / sizeof *drawn; c++) {
        uint64_t count[MOST_WAYS] = {0}, pair[MOST_WAYS * MOST_WAYS] = {0};
        struct victim_tally tally = {.ways = drawn[c].ways, .count = count, .pair = pair};
        struct victim_sums sums = {0};
        struct policy_result out;
        struct rng rng;
        const size_t shares = drawn[c].ways + 2 * drawn[c].likelier;
        rng_seed(&rng, 5);
        for (size_t w = 0; w < 6000 / drawn[c].victims; w++) {
            size_t before = SIZE_MAX;
            victims_clear(&tally);
            for (size_t i = 0; i < drawn[c].victims; i++) {
                size_t way = rng_below(&rng, shares);
                way = way < drawn[c].ways ? way : (way - drawn[c].ways) / 2;
                victims_count(&tally, way, &before);
            }
            victims_sum(&sums, &tally);
        }
        assert_int_equal(judge_sums(&out, &sums, drawn[c].ways, false), 0);
        for (size_t i = 0; i < drawn[c].ways; i++) {
            double truth = (i < drawn[c].likelier ? 3.0 : 1.0) / (double)shares;
            assert_true(fabs(out.probability[i] - truth) < 0.03);
        }
    }
}

/* Three of twelve ways go as often; one of them never twice in succession, as evenly spaced misses
 * take it. */
static void one_of_several_favourites_is_not_drawn(void **state)
{
    (void)state;
    for (int spaced = 0; spaced < 2; spaced++) {
        uint64_t count[12] = {0}, pair[144] = {0};
        struct victim_tally tally = {.ways = 12, .count = count, .pair = pair};
        struct policy_result out;
        struct rng rng;
        size_t before = SIZE_MAX;
        rng_seed(&rng, 5);
        for (size_t i = 0; i < 8000; i++) {
            size_t drawn = rng_below(&rng, 18), way = drawn < 12 ? drawn : drawn % 3;
            way = spaced && way == 2 ? rng_below(&rng, 12) : way;
            victims_count(&tally, spaced && i % 6 == 0 ? 2 : way, &before);
        }
        assert_int_equal(judge_counts(&out, &tally, false, false), 0);
        assert_string_equal(out.name, "biased");
        assert_int_equal(out.serial, spaced ? SERIAL_YES : SERIAL_NO);
        /* Ways were numbered, so no order is assumed: surer than the 0.8 of an assumption. */
        assert_true(out.confidence >= 0.85);
    }
}

/* Ten of 24 ways go three times as often as each other; one of them follows itself never. Among so
 * many it hardly shows in the sum of all. */
static void one_of_many_favourites_is_not_drawn(void **state)
{
    enum { WAYS = 24, FAVOURITES = 10, TICKETS = WAYS + 2 * FAVOURITES };
    (void)state;
    for (int spaced = 0; spaced < 2; spaced++) {
        uint64_t count[WAYS] = {0}, pair[WAYS * WAYS] = {0};
        struct victim_tally tally = {.ways = WAYS, .count = count, .pair = pair};
        struct policy_result out;
        struct rng rng;
        size_t before = SIZE_MAX;
        rng_seed(&rng, 5);
        for (size_t i = 0; i < 8000; i++) {
            size_t way;
            do {
                size_t drawn = rng_below(&rng, TICKETS);
                way = drawn < WAYS ? drawn : drawn % FAVOURITES;
            } while (spaced && way == 2 && before == 2);
            victims_count(&tally, way, &before);
        }
        assert_int_equal(judge_counts(&out, &tally, false, false), 0);
        assert_string_equal(out.name, "biased");
        assert_int_equal(out.serial, spaced ? SERIAL_YES : SERIAL_NO);
    }
}

/* Shares of ways, of which the first goes three times as often as each other, beside ages of the
 * victims: how often each, by `age_of` of its number. */
static int judge_ages(struct policy_result *out, uint64_t (*age_of)(size_t number))
{
    enum { WAYS = 24, VICTIMS = 6000 };
    uint64_t count[WAYS] = {0}, pair[WAYS * WAYS] = {0};
    struct victim_tally tally = {.ways = WAYS, .count = count, .pair = pair};
    struct victim_sums sums = {.cold = true};
    struct drawing d = {.ways = WAYS, .victims = VICTIMS};
    struct rng rng;
    rng_seed(&rng, 5);
    count_window(&tally, &d, false, &rng);
    victims_share(&sums, &tally, NULL);
    victims_test(&sums, &tally);
    for (size_t age = 1; age <= WAYS; age++) {
        sums.gap[age] = age_of(age);
    }
    return judge_sums(out, &sums, WAYS, false);
}

static uint64_t all_ages(size_t number)
{
    (void)number;
    return 250;
}

static uint64_t every_third_more(size_t number)
{
    return number % 3 ? 225 : 300;
}

static uint64_t oldest(size_t number)
{
    return number == 1 ? 6000 : 0;
}

/* Lines fill the ways in the order of the walk: where every third way is a favourite, some ages
 * are a little more frequent. A rule has next to no others. */
static void ages_that_differ_a_little_are_no_rule(void **state)
{
    (void)state;
    struct policy_result out;
    assert_int_equal(judge_ages(&out, all_ages), 0);
    assert_true(out.confidence > 0.9);
    assert_int_equal(judge_ages(&out, every_third_more), 0);
    assert_string_equal(out.name, "biased");
    assert_true(out.confidence > 0.8 && out.confidence < 0.9);
    assert_int_equal(judge_ages(&out, oldest), INFER_UNDECIDED);
}

/* Which way has which share a cold fill tells: without one it is a guess. */
static void shares_of_a_first_level_whose_ways_have_no_numbers_are_not_sure(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct drawing d = {.ways = 4, .victims = 600, .cold = i & 1, .first_level = i & 2};
        assert_int_equal(judge(&d).confidence < 0.9, d.first_level && !d.cold);
    }
}

/* A favourite of four ways; the others are drawn alike, and their chi square is on average as large
 * as its degrees of freedom. */
static void ways_that_are_drawn_alike_differ_as_chance_says(void **state)
{
    (void)state;
    struct rng rng;
    double x = 0, degrees = 0;
    rng_seed(&rng, 8);
    for (int window = 0; window < 2000; window++) {
        uint64_t count[4] = {0}, pair[16] = {0};
        struct victim_tally tally = {.ways = 4, .count = count, .pair = pair};
        struct victim_sums sums = {0};
        size_t before = SIZE_MAX;
        for (size_t i = 0; i < 300; i++) {
            size_t drawn = rng_below(&rng, 6);
            victims_count(&tally, drawn < 4 ? drawn : 0, &before);
        }
        victims_share(&sums, &tally, NULL);
        for (size_t i = 0; i < VICTIM_GROUPS; i++) {
            x += sums.group[i].rest_x;
            degrees += sums.group[i].rest_degrees;
        }
    }
    assert_true(fabs(x / degrees - 1) < 0.1);
}

/* Nothing is measured of it: there is no source to ask. */
static void of_a_cache_without_a_known_set_nothing_is_told(void **state)
{
    (void)state;
    struct lab lab = {.out = &dissection};
    struct level_info info = {.id = "made_up", .op = "ca"};
    struct level level = {.lab = &lab, .info = &info, .conflict = {.count = 1}};
    struct policy_result out = {0};
    assert_int_equal(victims_measure(&level, &out), INFER_UNDECIDED);
    assert_string_equal(lab.why.reason, "no set is known");
    assert_string_equal(out.name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_come_out_with_and_without_names),
        cmocka_unit_test(windows_whose_names_changed_do_not_move_the_shares),
        cmocka_unit_test(without_noise_every_window_counts),
        cmocka_unit_test(noise_that_repeats_a_way_is_no_dependence),
        cmocka_unit_test(a_line_that_stays_in_front_makes_no_shares),
        cmocka_unit_test(several_likelier_ways_are_not_taken_for_one),
        cmocka_unit_test(one_of_several_favourites_is_not_drawn),
        cmocka_unit_test(one_of_many_favourites_is_not_drawn),
        cmocka_unit_test(shares_of_a_first_level_whose_ways_have_no_numbers_are_not_sure),
        cmocka_unit_test(ages_that_differ_a_little_are_no_rule),
        cmocka_unit_test(ways_that_are_drawn_alike_differ_as_chance_says),
        cmocka_unit_test(of_a_cache_without_a_known_set_nothing_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Adding up what trials scored, and showing it: shares, where they come from, and the reliability
 * curve, which holds the confidence that values were given with against how many were right.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "blind.h"

#define SURE 0.9

const double blind_bin_edges[BLIND_BINS + 1] = {0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0001};

const char *blind_owner_name(unsigned owner)
{
    static const char *const names[] = {
#define OWNER(id) #id,
#include "scored.def"
    };
    return names[owner];
}

const char *blind_score_name(unsigned score)
{
    static const char *const names[] = {
#define SCORE(id) #id,
#include "scored.def"
    };
    return names[score];
}

void blind_add(struct blind_tally *sum, const struct blind_tally *more)
{
    const uint64_t *from = (const uint64_t *)more;
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++) {
        to[i] += from[i];
    }
}

struct each {
    void (*visit)(void *ctx, const char *name, uint64_t *count);
    void *ctx;
};

static void each_score(const struct each *each, const char *what, uint64_t counts[OWNERS][SCORES])
{
    char name[80];
    for (unsigned owner = 0; owner < OWNERS; owner++) {
        for (unsigned score = 0; score < SCORES; score++) {
            snprintf(name, sizeof(name), "%s.%s.%s", what, blind_owner_name(owner),
                     blind_score_name(score));
            each->visit(each->ctx, name, &counts[owner][score]);
        }
    }
}

void blind_each_count(struct blind_tally *t,
                      void (*visit)(void *ctx, const char *name, uint64_t *count), void *ctx)
{
    const struct each each = {visit, ctx};
    const struct {
        const char *name;
        uint64_t *count;
    } single[] = {{"trials", &t->trials},
                  {"failed", &t->failed},
                  {"died", &t->died},
                  {"undrawn", &t->undrawn},
                  {"untold", &t->untold},
                  {"told", &t->told},
                  {"sure", &t->sure},
                  {"surely_wrong", &t->surely_wrong},
                  {"whole_trials", &t->whole_trials},
                  {"square_all", &t->square_all},
                  {"square_right", &t->square_right},
                  {"cross", &t->cross}};
    for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++) {
        visit(ctx, single[i].name, single[i].count);
    }
    each_score(&each, "right", t->right);
    each_score(&each, "wrong", t->wrong);
    each_score(&each, "missing", t->missing);
    for (unsigned bin = 0; bin < BLIND_BINS; bin++) {
        char name[40];
        snprintf(name, sizeof(name), "bin_given.%u", bin);
        visit(ctx, name, &t->bin_given[bin]);
        snprintf(name, sizeof(name), "bin_right.%u", bin);
        visit(ctx, name, &t->bin_right[bin]);
    }
}

static uint64_t total(const uint64_t counts[OWNERS][SCORES])
{
    uint64_t sum = 0;
    for (unsigned owner = 0; owner < OWNERS; owner++) {
        for (unsigned score = 0; score < SCORES; score++) {
            sum += counts[owner][score];
        }
    }
    return sum;
}

void blind_totals(const struct blind_tally *t, uint64_t *right, uint64_t *wrong, uint64_t *missing)
{
    *right = total(t->right);
    *wrong = total(t->wrong);
    *missing = total(t->missing);
}

double blind_share(const struct blind_tally *t)
{
    uint64_t right, wrong, missing;
    blind_totals(t, &right, &wrong, &missing);
    uint64_t all = right + wrong + missing;
    return all ? (double)right / (double)all : 0;
}

/* Of a ratio of sums: attributes of one trial fail together, so it is trials that are independent.
 */
double blind_share_error(const struct blind_tally *t)
{
    uint64_t right, wrong, missing;
    blind_totals(t, &right, &wrong, &missing);
    double all = (double)(right + wrong + missing), share = blind_share(t);
    double residue = (double)t->square_right - 2 * share * (double)t->cross +
                     share * share * (double)t->square_all;
    return all > 0 ? sqrt(fmax(residue, 0)) / all : 0;
}

static size_t bin_of(double confidence)
{
    size_t bin = 0;
    while (bin + 1 < BLIND_BINS && confidence >= blind_bin_edges[bin + 1]) {
        bin++;
    }
    return bin;
}

void blind_count_given(struct blind_tally *t, double confidence, bool right)
{
    t->bin_given[bin_of(confidence)]++;
    t->bin_right[bin_of(confidence)] += right;
    t->sure += confidence > SURE;
    t->surely_wrong += confidence > SURE && !right;
}

static void print_row(const char *name, uint64_t right, uint64_t wrong, uint64_t missing)
{
    if (right + wrong + missing > 0) {
        printf("  %-18s %7llu right %6llu wrong %6llu not measured   %.4f\n", name,
               (unsigned long long)right, (unsigned long long)wrong, (unsigned long long)missing,
               (double)right / (double)(right + wrong + missing));
    }
}

static void print_owners(const struct blind_tally *t)
{
    for (unsigned owner = 0; owner < OWNERS; owner++) {
        uint64_t right = 0, wrong = 0, missing = 0;
        for (unsigned score = 0; score < SCORES; score++) {
            right += t->right[owner][score];
            wrong += t->wrong[owner][score];
            missing += t->missing[owner][score];
        }
        print_row(blind_owner_name(owner), right, wrong, missing);
    }
}

static void print_scores(const struct blind_tally *t)
{
    for (unsigned score = 0; score < SCORES; score++) {
        uint64_t right = 0, wrong = 0, missing = 0;
        for (unsigned owner = 0; owner < OWNERS; owner++) {
            right += t->right[owner][score];
            wrong += t->wrong[owner][score];
            missing += t->missing[owner][score];
        }
        print_row(blind_score_name(score), right, wrong, missing);
    }
}

void blind_print(const char *name, const struct blind_tally *t)
{
    uint64_t right, wrong, missing;
    blind_totals(t, &right, &wrong, &missing);
    printf("%s: %llu hierarchies (%llu without a dissection, %llu died, %llu told whole): %llu "
           "right, %llu "
           "wrong, %llu not measured, share %.4f (+- %.4f)\n",
           name, (unsigned long long)t->trials, (unsigned long long)t->failed,
           (unsigned long long)t->died, (unsigned long long)t->whole_trials,
           (unsigned long long)right, (unsigned long long)wrong, (unsigned long long)missing,
           blind_share(t), blind_share_error(t));
    printf("%s: not to be told: %llu left, %llu given; above %.1f: %llu, of these wrong %llu\n",
           name, (unsigned long long)t->untold, (unsigned long long)t->told, SURE,
           (unsigned long long)t->sure, (unsigned long long)t->surely_wrong);
    print_owners(t);
    printf("  --\n");
    print_scores(t);
}

static double edge_of(size_t bin)
{
    return bin < BLIND_BINS ? blind_bin_edges[bin] : 1;
}

void blind_print_curve(const struct blind_tally *t)
{
    printf("confidence    given   right\n");
    for (size_t i = 0; i < BLIND_BINS; i++) {
        if (t->bin_given[i]) {
            printf("%.2f - %.2f  %6llu   %.3f\n", edge_of(i), edge_of(i + 1),
                   (unsigned long long)t->bin_given[i],
                   (double)t->bin_right[i] / (double)t->bin_given[i]);
        }
    }
}

void blind_plot_curve(const struct blind_tally *t, const char *svg_path)
{
    FILE *plot = popen("gnuplot 2>/dev/null", "w");
    if (!plot) {
        printf("no picture of the curve: gnuplot cannot be run\n");
        return;
    }
    fprintf(plot,
            "set terminal svg size 480,420\nset output '%s'\nset xrange [0:1]\nset yrange [0:1]\n"
            "set xlabel 'confidence'\nset ylabel 'share right'\nset key left top\n"
            "plot x with lines dashtype 2 title 'calibrated', "
            "'-' using 1:2:3 with yerrorlines title 'blind trials'\n",
            svg_path);
    for (size_t i = 0; i < BLIND_BINS; i++) {
        double n = (double)t->bin_given[i];
        if (n > 0) {
            double p = (double)t->bin_right[i] / n, q = ((double)t->bin_right[i] + 1) / (n + 2);
            fprintf(plot, "%g %g %g\n", (edge_of(i) + edge_of(i + 1)) / 2, p,
                    sqrt(q * (1 - q) / n));
        }
    }
    fprintf(plot, "e\n");
    bool drawn = pclose(plot) == 0;
    printf(drawn ? "reliability curve: %s\n" : "no picture of the curve in %s: gnuplot failed\n",
           svg_path);
}

/*
 * blind [--seed TEXT] [--count N] [--noisy|--noise-free|--mix] [--jobs N] [--replay SEED]
 * [--curve FILE.svg] [--figures] [--gate N] [--require|--known] [--loud] [--only LIST] [--draw
 * KIND]
 * [--write DIR] [--sweep DIR [--resume]]
 *
 * Dissects N random hierarchies (default 20), each without and with noise (--mix: one or
 * the other in turn), and prints what was not right, the shares, and the reliability curve: of the
 * values given with some confidence, how many were right. TEXT is any text (a commit's hash); each
 * trial's own seed is printed with what it got wrong, and `--replay SEED` prints that trial whole,
 * its model file first; --loud prints all trials like that. --figures ends with the benchmark's
 * lines. --require makes the exit status 1 below the limits that gate.def has for drawn trials,
 * --known below those for the trials of run.sh's own seed; --gate N computes limits of the former
 * kind from the trials just made.
 *
 * KIND is `narrow` (default: small hierarchies, which gate.def is computed from), `wide` (machines
 * of every size) or `changed` (one parameter of a shipped model): DRAW.md. Of the last two it
 * prints also what each trial took. --write dissects nothing: DIR gets each trial's machine as
 * SEED.yaml.
 *
 * --sweep makes each trial a point of a sweep (spread.h), N at a time with --jobs, under mpirun on
 * each rank: DIR gets table and journal, from which --resume goes on. --trial I --point FILE is
 * such a point.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blind.h"
#include "blind_wide.h"
#include "spread.h"

enum { DRAWN, KNOWN, GATES };

/* gate.def */
static const struct {
    double least_share;
    uint64_t most_surely_wrong;
} gates[GATES][MODES] = {
#define GATE(which, mode, least_share, most_surely_wrong)                                          \
    [which][mode] = {least_share, most_surely_wrong},
#include "gate.def"
};

struct options {
    const char *seed_text, *curve, *folder, *only;
    const char *spread; /* the folder of a sweep whose points are the trials */
    const char *point;  /* one trial's file */
    const struct blind_kind *kind;
    uint64_t count, jobs, replay, gate, trial;
    bool mode[MODES], mix, has_replay, figures, require, known, loud, resume;
};

/* What a run leaves in memory that its processes share: a tally a job and a mode, and each trial's
 * score. */
struct outcome {
    struct blind_tally *tallies;
    struct blind_score *scores; /* trial by trial, both modes; all 0: not made */
    size_t bytes;
};

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Trial i's seed is the same whoever runs it, and short enough to be typed. */
static uint64_t trial_seed(uint64_t base, uint64_t i)
{
    uint64_t state = base + i;
    return rng_splitmix64(&state) >> 24;
}

/* In a process of its own, which may die: then nothing of the trial is right, and the others go on.
 */
static void one_trial(struct blind_tally *tally, struct blind_score *score,
                      const struct options *options, uint64_t seed, bool noisy)
{
    struct blind_tally own = {0};
    struct rusage used = {0};
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        score->class_of = blind_trial(&own, options->kind, seed, noisy, options->loud);
        blind_add_trial(tally, score, &own);
        fflush(NULL);
        _exit(0);
    }
    bool ended = child > 0 && wait4(child, &status, 0, &used) == child && WIFEXITED(status) &&
                 WEXITSTATUS(status) == 0;
    if (!ended) {
        blind_trial_died(&own, options->kind, seed, noisy,
                         WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        blind_add_trial(tally, score, &own);
    }
    score->milliseconds = blind_milliseconds(&used);
    score->kilobytes = (uint32_t)used.ru_maxrss;
    if (options->kind->judge != blind_judge) {
        printf("seed %llu%s: %.1f s, %u MiB, %u of %u\n", (unsigned long long)seed,
               noisy ? " (noisy)" : "", score->milliseconds / 1e3, score->kilobytes / 1024,
               score->right, score->all);
    }
}

/* Jobs take trials in turn. */
static void work(const struct outcome *outcome, const struct options *options, uint64_t job)
{
    uint64_t base = hash_text(options->seed_text);
    for (uint64_t i = job; i < options->count; i += options->jobs) {
        for (uint64_t mode = 0; mode < MODES; mode++) {
            if (options->mode[mode] && !(options->mix && i % MODES != mode)) {
                one_trial(&outcome->tallies[job * MODES + mode], &outcome->scores[i * MODES + mode],
                          options, trial_seed(base, i), mode == NOISY);
            }
        }
    }
}

static bool outcome_create(struct outcome *out, const struct options *options)
{
    size_t tallies = options->jobs * MODES * sizeof(*out->tallies);
    out->bytes = tallies + options->count * MODES * sizeof(*out->scores);
    void *shared =
        mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    out->tallies = shared;
    out->scores = (struct blind_score *)(void *)((char *)shared + tallies);
    return true;
}

/* False: a job died, or could not be started. */
static bool work_in_jobs(struct blind_tally sum[MODES], const struct outcome *outcome,
                         const struct options *options)
{
    bool whole = true;
    fflush(NULL);
    for (uint64_t job = 0; job < options->jobs; job++) {
        pid_t child = fork();
        if (child == 0) {
            work(outcome, options, job);
            fflush(NULL);
            _exit(0);
        }
        whole = whole && child > 0;
    }
    for (int status; wait(&status) > 0;) {
        whole = whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    for (uint64_t i = 0; i < options->jobs * MODES; i++) {
        blind_add(&sum[i % MODES], &outcome->tallies[i]);
    }
    return whole;
}

/* ---- limits for few trials ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * Draws `few` of the trials made, with replacement, again and again: the share that all but one
 * draw of a thousand reach, and the number of sure and wrong values that all but one keep. A
 * hierarchy's attributes fail together, so whole trials are drawn.
 */
enum { DRAWS = 200000 };
static void compute_gate(const struct outcome *outcome, const struct options *options,
                         uint64_t mode, uint64_t few)
{
    static double shares[DRAWS], wrongs[DRAWS];
    struct rng rng;
    uint64_t made = 0;
    struct blind_score *of = malloc(options->count * sizeof(*of));
    for (uint64_t i = 0; of && i < options->count; i++) {
        if (outcome->scores[i * MODES + mode].all) {
            of[made++] = outcome->scores[i * MODES + mode];
        }
    }
    rng_seed(&rng, 1);
    for (uint64_t draw = 0; made && draw < DRAWS; draw++) {
        double all = 0, right = 0, wrong = 0;
        for (uint64_t i = 0; i < few; i++) {
            const struct blind_score *score = &of[rng_below(&rng, made)];
            all += score->all;
            right += score->right;
            wrong += score->surely_wrong;
        }
        shares[draw] = right / all;
        wrongs[draw] = wrong;
    }
    free(of);
    if (made) {
        qsort(shares, DRAWS, sizeof(*shares), compare_doubles);
        qsort(wrongs, DRAWS, sizeof(*wrongs), compare_doubles);
        printf("gate for %llu trials %s, of %llu made: share %.4f, sure and wrong %.0f\n",
               (unsigned long long)few, mode == NOISY ? "with noise" : "without noise",
               (unsigned long long)made, shares[DRAWS / 1000], wrongs[DRAWS - 1 - DRAWS / 1000]);
    }
}

/* ---- the result ---- */

static bool below_gate(const char *name, const struct blind_tally *t, unsigned which, unsigned mode)
{
    bool below = blind_share(t) < gates[which][mode].least_share ||
                 t->surely_wrong > gates[which][mode].most_surely_wrong;
    if (below || t->undrawn + t->died > 0) {
        printf("%s: not within gate.def: a share of %.4f, %llu sure and wrong, none that died\n",
               name, gates[which][mode].least_share,
               (unsigned long long)gates[which][mode].most_surely_wrong);
    }
    return below || t->undrawn + t->died > 0;
}

static int finish(const struct blind_tally sum[MODES], const struct outcome *outcome,
                  const struct options *options)
{
    static const char *const names[] = {"noise-free", "noisy"};
    struct blind_tally all = {0};
    int status = 0;
    for (unsigned mode = 0; mode < MODES; mode++) {
        if (options->mode[mode]) {
            blind_print(names[mode], &sum[mode]);
            if (options->kind->judge != blind_judge) {
                blind_print_cost(outcome->scores + mode, options->count, MODES);
            }
            blind_add(&all, &sum[mode]);
            if (options->gate) {
                compute_gate(outcome, options, mode, options->gate);
            }
            for (unsigned which = 0; which < GATES; which++) {
                bool asked = which == KNOWN ? options->known : options->require;
                status |= asked && below_gate(names[mode], &sum[mode], which, mode);
            }
        }
    }
    blind_print_curve(&all);
    if (options->curve) {
        blind_plot_curve(&all, options->curve);
    }
    if (options->figures) {
        printf("blind.noise_free.exact_share\t%.5f\tshare\nblind.noisy.exact_share\t%.5f\tshare\n"
               "blind.confidently_wrong\t%.5f\tshare\n",
               blind_share(&sum[NOISE_FREE]), blind_share(&sum[NOISY]),
               all.sure ? (double)all.surely_wrong / (double)all.sure : 0);
    }
    return status;
}

static bool parse_flag(struct options *options, const char *word)
{
    bool *flags[] = {&options->mix,   &options->figures, &options->require,
                     &options->known, &options->loud,    &options->resume};
    static const char *const names[] = {"--mix",   "--figures", "--require",
                                        "--known", "--loud",    "--resume"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) == 0) {
            *flags[i] = true;
            return true;
        }
    }
    bool noisy = strcmp(word, "--noisy") == 0, noise_free = strcmp(word, "--noise-free") == 0;
    options->mode[NOISE_FREE] = options->mode[NOISE_FREE] && !noisy;
    options->mode[NOISY] = options->mode[NOISY] && !noise_free;
    return noisy || noise_free;
}

static bool parse_number(struct options *options, const char *word, const char *value)
{
    uint64_t *numbers[] = {&options->count, &options->jobs, &options->replay, &options->gate,
                           &options->trial};
    static const char *const names[] = {"--count", "--jobs", "--replay", "--gate", "--trial"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) == 0) {
            char *end;
            *numbers[i] = strtoull(value, &end, 0);
            options->has_replay = options->has_replay || numbers[i] == &options->replay;
            return *value && !*end;
        }
    }
    return false;
}

static bool parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.seed_text = "1",
                                .count = 20,
                                .jobs = 1,
                                .mode = {true, true},
                                .kind = blind_kind_find("narrow")};
    for (int i = 1; i < argc; i++) {
        if (parse_flag(options, argv[i])) {
            continue;
        }
        if (++i == argc) {
            return false;
        }
        if (strcmp(argv[i - 1], "--seed") == 0) {
            options->seed_text = argv[i];
        } else if (strcmp(argv[i - 1], "--draw") == 0) {
            options->kind = blind_kind_find(argv[i]);
        } else if (strcmp(argv[i - 1], "--curve") == 0) {
            options->curve = argv[i];
        } else if (strcmp(argv[i - 1], "--write") == 0) {
            options->folder = argv[i];
        } else if (strcmp(argv[i - 1], "--sweep") == 0) {
            options->spread = argv[i];
        } else if (strcmp(argv[i - 1], "--point") == 0) {
            options->point = argv[i];
        } else if (strcmp(argv[i - 1], "--only") == 0) {
            options->only = argv[i];
        } else if (!parse_number(options, argv[i - 1], argv[i])) {
            return false;
        }
    }
    return options->kind && options->jobs >= 1 && options->jobs <= 256 && options->count >= 1 &&
           options->count <= 1000000;
}

static int replay(const struct options *options)
{
    for (int mode = 0; mode < MODES; mode++) {
        struct blind_tally tally = {0};
        if (options->mode[mode]) {
            blind_trial(&tally, options->kind, options->replay, mode == NOISY, true);
        }
    }
    return 0;
}

/* The machines alone: a line each, the file's name. */
static int write_machines(const struct options *options)
{
    for (uint64_t i = 0; i < options->count; i++) {
        struct blind_hierarchy hierarchy;
        char path[512];
        uint64_t seed = trial_seed(hash_text(options->seed_text), i);
        bool drawn = options->kind->draw(&hierarchy, seed);
        snprintf(path, sizeof(path), "%s/%llu.yaml", options->folder, (unsigned long long)seed);
        FILE *file = drawn ? fopen(path, "w") : NULL;
        bool written = file && fputs(hierarchy.yaml, file) >= 0;
        written = file && fclose(file) == 0 && written;
        blind_forget(&hierarchy);
        if (!written) {
            fprintf(stderr, "blind: %s: %s\n", path, drawn ? strerror(errno) : "not drawn");
            return 1;
        }
        printf("%s\n", path);
    }
    return 0;
}

static uint64_t seed_of(const char *seed_text, uint64_t trial)
{
    return trial_seed(hash_text(seed_text), trial);
}

/* 1: done; 0: another rank tells; negative: not done. */
static int work_as_sweep(struct blind_tally sum[MODES], const struct outcome *outcome,
                         const struct options *options)
{
    const struct blind_spread how = {
        .folder = options->spread,
        .seed_text = options->seed_text,
        .kind = options->kind,
        .count = options->count,
        .jobs = options->jobs,
        .mode = {options->mode[NOISE_FREE], options->mode[NOISY]},
        .mix = options->mix,
        .resume = options->resume,
        .seed_of = seed_of,
    };
    return blind_spread(sum, outcome->scores, &how);
}

/* Makes the trials, and tells. The exit status. */
static int make_trials(const struct options *options)
{
    struct blind_tally sum[MODES] = {0};
    struct outcome outcome;
    if (!outcome_create(&outcome, options)) {
        fprintf(stderr, "blind: no memory\n");
        return 1;
    }
    int done = 1, status = 0;
    if (options->spread) {
        done = work_as_sweep(sum, &outcome, options);
    } else {
        printf("seed %s\n", options->seed_text);
        done = work_in_jobs(sum, &outcome, options) ? 1 : -1;
        fputs(done < 0 ? "blind: a job died\n" : "", stderr);
    }
    if (done > 0 || !options->spread) {
        status = finish(sum, &outcome, options);
    }
    munmap(outcome.tallies, outcome.bytes);
    return done < 0 ? 1 : status;
}

int main(int argc, char **argv)
{
    struct options options;
    if (!parse(&options, argc, argv)) {
        fprintf(stderr, "usage: blind [--seed TEXT] [--count N] [--noisy|--noise-free|--mix] "
                        "[--jobs N] [--replay SEED] [--curve FILE.svg] [--figures] [--gate N] "
                        "[--require|--known] [--loud] [--only LIST] [--draw narrow|wide|changed] "
                        "[--write DIR] [--sweep DIR [--resume]]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct blind_kind kind = *options.kind;
    kind.only = options.only;
    options.kind = &kind;
    if (options.has_replay) {
        return replay(&options);
    }
    if (options.folder) {
        return write_machines(&options);
    }
    if (options.point) {
        return blind_point(options.kind, seed_of(options.seed_text, options.trial),
                           !options.mode[NOISE_FREE], options.point);
    }
    return make_trials(&options);
}

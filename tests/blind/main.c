/*
 * blind [--seed TEXT] [--count N] [--noisy|--noise-free] [--jobs N] [--replay SEED] [--figures]
 * [--require]
 *
 * Dissects N random hierarchies (default 20), each without and with noise (--mix: one or
 * the other in turn), and prints what was not
 * right, the shares, and the reliability curve: of the values given with some confidence, how many
 * were right. TEXT is any text (a commit's hash); each trial's own seed is printed with what it got
 * wrong, and `--replay SEED` prints that trial whole, its model file first. --figures ends with the
 * benchmark's lines; --require makes the exit status 1 when the shares lie below what so few trials
 * allow.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blind.h"
#include "device/device.h"
#include "infer/infer.h"
#include "probe/probe.h"
#include "report/report.h"
#include "util/error.h"
#include "util/json_glue.h"
#include "util/rng.h"

/* The targets over many trials are 0.99, 0.97 and 0.1 % (make bench). --require allows for the
 * spread of few: 3 deviations of about 300 attributes, of which those of one hierarchy fail
 * together. */
#define LEAST_NOISE_FREE 0.93
#define LEAST_NOISY 0.80
#define MOST_SURELY_WRONG 6

/* A trial that takes longer (processor time) has failed, with every attribute that it was to tell.
 */
#define TRIAL_SECONDS 20
#define ATTRIBUTES 15

enum { NOISE_FREE, NOISY, MODES };

/* A signal handler can reach nothing but a global. */
static volatile int overdue;

static void on_alarm(int number)
{
    (void)number;
    overdue = 1;
}

struct options {
    const char *seed_text;
    uint64_t count, jobs, replay;
    bool mode[MODES], mix, has_replay, figures, require;
};

/* The simulator takes models from files. */
static int write_model(char path[64], const char *yaml)
{
    snprintf(path, 64, "/tmp/sonde-blind-XXXXXX.yaml");
    int file = mkstemps(path, 5);
    size_t length = strlen(yaml);
    if (file < 0 || write(file, yaml, length) != (ssize_t)length) {
        return error_set(SONDE_EIO, "cannot write %s", path);
    }
    close(file);
    return 0;
}

static int infer_as_json(json_t **out, struct trace_source *source, struct probe_live *live)
{
    static struct dissection result;
    struct trace_device none = {.sms = 1};
    struct report_subject subject = {.version = "", .device_spec = "", .device = &none, .date = ""};
    struct infer_options options = {.seed = 1,
                                    .skip =
                                        "policy,index,mei,average,sweep,tlbs", /* not scored yet */
                                    .cancel = &overdue,
                                    .max_window = probe_live_max_window(live),
                                    .max_footprint_bytes = probe_live_max_footprint(live)};
    char *text = NULL;
    int rc = infer_dissect(&result, source, &options);
    rc = rc < 0 ? rc : report_json(&text, &result, &subject);
    rc = rc < 0 ? rc : json_from_text(out, text, strlen(text), "dissection");
    free(text);
    return rc;
}

static int dissect(json_t **out, const char *path, const struct blind_noise *noise, uint64_t seed)
{
    char spec[80];
    struct device *device = NULL;
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    struct noise_source *noisy = NULL;
    snprintf(spec, sizeof(spec), "sim:%s", path);
    overdue = 0;
    signal(SIGVTALRM, on_alarm);
    struct itimerval limit = {.it_value.tv_sec = TRIAL_SECONDS};
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    int rc = device_open(&device, spec);
    if (rc == 0) {
        device->cancel = &overdue;
    }
    rc = rc < 0 ? rc : traceset_create(&set);
    rc = rc < 0 ? rc : probe_live_create(&live, device, set);
    if (rc == 0) {
        struct trace_source source = probe_live_source(live);
        noisy = noise ? noise_source_create(source, noise, seed) : NULL;
        source = noisy ? noise_source_get(noisy) : source;
        rc = infer_as_json(out, &source, live);
    }
    limit.it_value.tv_sec = 0;
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    noise_source_destroy(noisy);
    probe_live_destroy(live);
    traceset_destroy(set);
    if (device) {
        device_close(device);
    }
    return rc;
}

static void trial(struct blind_tally *tally, uint64_t seed, bool with_noise, bool loud)
{
    struct blind_hierarchy hierarchy;
    struct blind_noise noise;
    char path[64] = "";
    json_t *dissection = NULL;
    blind_draw_noise(&noise, seed);
    bool drawn = blind_draw(&hierarchy, seed);
    if (loud) {
        printf("%s\n", hierarchy.yaml);
    }
    int rc = drawn ? write_model(path, hierarchy.yaml) : SONDE_EINTERNAL;
    rc = rc < 0 ? rc : dissect(&dissection, path, with_noise ? &noise : NULL, seed);
    tally->trials++;
    if (rc < 0) {
        printf("WRONG seed %llu: no dissection in %d s: %s\n", (unsigned long long)seed,
               TRIAL_SECONDS, error_text());
        tally->failed++;
        tally->missing += ATTRIBUTES;
    } else {
        blind_judge(tally, &hierarchy, with_noise ? &noise : NULL, dissection, seed, loud);
    }
    json_decref(dissection);
    if (path[0]) {
        unlink(path);
    }
    blind_forget(&hierarchy);
}

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

static void work(struct blind_tally *tallies, const struct options *options, uint64_t job)
{
    uint64_t base = hash_text(options->seed_text);
    for (uint64_t i = job; i < options->count; i += options->jobs) {
        tallies->at_seed = trial_seed(base, i);
        for (int mode = 0; mode < MODES; mode++) {
            if (options->mode[mode] && !(options->mix && i % MODES != (uint64_t)mode)) {
                trial(&tallies[mode], trial_seed(base, i), mode == NOISY, false);
            }
        }
    }
}

/* Each job's tallies lie in memory that the processes share. False: a job died. */
static bool work_in_jobs(struct blind_tally sum[MODES], const struct options *options)
{
    size_t bytes = options->jobs * MODES * sizeof(struct blind_tally);
    struct blind_tally *shared =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    fflush(NULL);
    for (uint64_t job = 0; job < options->jobs; job++) {
        pid_t child = fork();
        if (child == 0) {
            work(shared + job * MODES, options, job);
            fflush(NULL);
            _exit(0);
        }
    }
    bool whole = true; /* whoever died left the seed it was at */
    for (int status; wait(&status) > 0;) {
        whole = whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    for (uint64_t job = 0; job < options->jobs; job++) {
        if (!whole) {
            printf("a job died; one was at seed %llu\n",
                   (unsigned long long)shared[job * MODES].at_seed);
        }
        for (int mode = 0; mode < MODES; mode++) {
            blind_add(&sum[mode], &shared[job * MODES + (uint64_t)mode]);
        }
    }
    munmap(shared, bytes);
    return whole;
}

static double exact_share(const struct blind_tally *t)
{
    uint64_t all = t->right + t->wrong + t->missing;
    return all == 0 ? 0 : (double)t->right / (double)all;
}

static void print_tally(const char *name, const struct blind_tally *t)
{
    printf("%s: %llu hierarchies: %llu right, %llu wrong, %llu not measured, share %.4f; not to be "
           "told: %llu left, %llu given; above 0.9: %llu, of these wrong %llu\n",
           name, (unsigned long long)t->trials, (unsigned long long)t->right,
           (unsigned long long)t->wrong, (unsigned long long)t->missing, exact_share(t),
           (unsigned long long)t->untold, (unsigned long long)t->told, (unsigned long long)t->sure,
           (unsigned long long)t->surely_wrong);
}

static void print_curve(const struct blind_tally *t)
{
    printf("confidence    given   right\n");
    for (size_t i = 0; i < BLIND_BINS; i++) {
        if (t->bin_given[i]) {
            printf("%.2f - %.2f  %6llu   %.3f\n", blind_bin_edges[i],
                   i + 1 == BLIND_BINS ? 1.0 : blind_bin_edges[i + 1],
                   (unsigned long long)t->bin_given[i],
                   (double)t->bin_right[i] / (double)t->bin_given[i]);
        }
    }
}

static int finish(struct blind_tally sum[MODES], const struct options *options)
{
    static const char *const names[] = {"noise-free", "noisy"};
    static const double least[] = {LEAST_NOISE_FREE, LEAST_NOISY};
    struct blind_tally all = {0};
    int status = 0;
    for (int mode = 0; mode < MODES; mode++) {
        if (options->mode[mode]) {
            print_tally(names[mode], &sum[mode]);
            blind_add(&all, &sum[mode]);
            status |=
                exact_share(&sum[mode]) < least[mode] || sum[mode].surely_wrong > MOST_SURELY_WRONG;
        }
    }
    print_curve(&all);
    if (options->figures) {
        printf("blind.noise_free.exact_share\t%.5f\tshare\nblind.noisy.exact_share\t%.5f\tshare\n"
               "blind.confidently_wrong\t%.5f\tshare\n",
               exact_share(&sum[NOISE_FREE]), exact_share(&sum[NOISY]),
               all.sure ? (double)all.surely_wrong / (double)all.sure : 0);
    }
    return options->require ? status : 0;
}

static bool parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.seed_text = "1", .count = 20, .jobs = 1, .mode = {true, true}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--noisy") == 0) {
            options->mode[NOISE_FREE] = false;
        } else if (strcmp(argv[i], "--noise-free") == 0) {
            options->mode[NOISY] = false;
        } else if (strcmp(argv[i], "--mix") == 0) {
            options->mix = true;
        } else if (strcmp(argv[i], "--figures") == 0) {
            options->figures = true;
        } else if (strcmp(argv[i], "--require") == 0) {
            options->require = true;
        } else if (!value) {
            return false;
        } else if (strcmp(argv[i++], "--seed") == 0) {
            options->seed_text = value;
        } else if (strcmp(argv[i - 1], "--count") == 0) {
            options->count = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i - 1], "--jobs") == 0) {
            options->jobs = strtoull(value, NULL, 0);
        } else if (strcmp(argv[i - 1], "--replay") == 0) {
            options->replay = strtoull(value, NULL, 0);
            options->has_replay = true;
        } else {
            return false;
        }
    }
    return options->jobs >= 1 && options->jobs <= 256;
}

int main(int argc, char **argv)
{
    struct options options;
    struct blind_tally sum[MODES] = {0};
    if (!parse(&options, argc, argv)) {
        fprintf(stderr, "usage: blind [--seed TEXT] [--count N] [--noisy|--noise-free|--mix] "
                        "[--jobs N] "
                        "[--replay SEED] [--figures] [--require]\n");
        return 2;
    }
    if (options.has_replay) {
        for (int mode = 0; mode < MODES; mode++) {
            if (options.mode[mode]) {
                trial(&sum[mode], options.replay, mode == NOISY, true);
            }
        }
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %s\n", options.seed_text);
    if (!work_in_jobs(sum, &options)) {
        fprintf(stderr, "blind: a job died\n");
        return 1;
    }
    return finish(sum, &options);
}

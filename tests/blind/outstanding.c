/*
 * blind_outstanding [--seed TEXT] [--count N] [--jobs N] [--noisy|--noise-free|--mix] [--replay
 * SEED]
 * [--figures] [--require]
 *
 * Blind trials of what an SM may have outstanding. An SM is drawn at random as a model file: a
 * table of misses (16 to 256 entries, 1 to 16 mergers, of requests or of lanes), a table of
 * instructions (8 to 128), a limit on requests, or nothing that fills; 1 to 8 loads of a warp in
 * flight; latencies and turns. The simulator runs it, the experiment `outstanding` dissects it, and
 * the answer is held against the file: what can be told must be right, and of the rest nothing
 * wrong may be said, no bound above what the file allows included.
 *
 * What can be told follows from the drawing (can_tell): a structure shows only if it is full before
 * the first answer is back, that is if its entries leave in clearly less than a round trip, and if
 * one block's loads can fill it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blind.h"
#include "device/device.h"
#include "infer/infer.h"
#include "probe/probe.h"
#include "util/error.h"

/* Few trials spread: over 200 it is 0.97 that is asked for (make bench). */
#define LEAST_SHARE 0.9
#define MOST_FALSE 0.05

enum structure { NOTHING, MSHR, PRT, REQUEST_LIMIT, STRUCTURES };
static const char *const structure_names[] = {"", "mshr", "prt", "request_limit"};

struct sm {
    enum structure structure;
    uint32_t entries, mergers, loads_per_warp; /* the last 0: no limit */
    bool of_lanes, l1;
    uint32_t lsu, request, reply, l2_hit, l1_hit, parallel, interval, writeback, retry;
    bool hold;
};

struct can_tell {
    bool structure, mergers, loads;
};

static uint32_t below(struct rng *rng, uint32_t bound)
{
    return (uint32_t)rng_below(rng, bound);
}

static void draw_sm(struct sm *sm, uint64_t seed)
{
    static const uint32_t parallel[] = {1, 2, 3, 4, 8, 32};
    struct rng rng;
    rng_seed(&rng, seed);
    *sm = (struct sm){.structure = (enum structure)below(&rng, STRUCTURES),
                      .mergers = 1 + below(&rng, 16),
                      .of_lanes = below(&rng, 3) == 0,
                      .loads_per_warp = below(&rng, 9),
                      .lsu = 4 + below(&rng, 20),
                      .request = 40 + below(&rng, 160),
                      .reply = 40 + below(&rng, 160),
                      .l2_hit = 20 + below(&rng, 150),
                      .l1_hit = 60 + below(&rng, 60),
                      .parallel = parallel[below(&rng, 6)],
                      .interval = 1 + below(&rng, 3),
                      .writeback = below(&rng, 2),
                      .retry = below(&rng, 2) * below(&rng, 20),
                      .hold = below(&rng, 4) == 0};
    sm->entries = sm->structure == PRT ? 8 + below(&rng, 121) : 16 + below(&rng, 241);
    sm->l1 = sm->structure == MSHR || below(&rng, 2);
}

/* L1 and L2 have ports for everything, so that the SM alone decides. */
static char *model_of(const struct sm *sm)
{
    struct strbuf out = {0};
    bool table = sm->structure == MSHR;
    strbuf_printf(
        &out,
        "name: blind\ndoc: drawn at random\nsm:\n  issue_per_scheduler: 2\n  lsu: {latency: "
        "%u cycles, queue: 64, parallel: %u, request_interval: %u cycles, "
        "writeback_interval: %u cycles}\n  l1_caches_global: %s\n  coalesce: {segment: "
        "128 B}\n  loads_per_warp: %u\n",
        sm->lsu, sm->parallel, sm->interval, sm->writeback, sm->l1 ? "true" : "false",
        sm->loads_per_warp);
    if (sm->structure == PRT || sm->structure == REQUEST_LIMIT) {
        strbuf_printf(&out,
                      "  outstanding: {structure: %s, entries: %u, retry_interval: %u cycles%s}\n",
                      structure_names[sm->structure], sm->entries, sm->retry,
                      sm->structure == REQUEST_LIMIT && sm->hold ? ", hold_instruction: true" : "");
    }
    strbuf_printf(
        &out,
        "l1_data:\n  line: 128 B\n  sector: 128 B\n  sets: 64\n  ways: 8\n  size: 64 KiB\n"
        "  index: {kind: modulo}\n  hit_latency: %u cycles\n  invalidate_on_launch: true\n"
        "  accesses_per_cycle: 0\n  queue: 64\n  data_width: 0 B/cycle\n  miss: "
        "{entries: %u, mergers: %u, merger: %s}\n",
        sm->l1_hit, table ? sm->entries : 4096, table ? sm->mergers : 4096,
        table && sm->of_lanes ? "lane" : "request");
    strbuf_printf(
        &out,
        "l2:\n  line: 128 B\n  sector: 32 B\n  sets: 1024\n  ways: 16\n  size: 2 MiB\n  "
        "index: {kind: modulo}\n  hit_latency: %u cycles\n  accesses_per_cycle: 0\n  "
        "data_width: 0 B/cycle\n  miss: {entries: 1024, mergers: 64}\n"
        "noc: {request_latency: %u cycles, reply_latency: %u cycles, request_width: 0 "
        "B/cycle, reply_width: 0 B/cycle, queue: 64}\n"
        "dram: {channels: 1}\nvm: {memory: 1 GiB}\ndriver: {compute_major: 7, compute_minor: 0}\n",
        sm->l2_hit, sm->request, sm->reply);
    return strbuf_take(&out);
}

/*
 * A round trip, and what is spent beside it between the barriers; what an instruction of one lane
 * and what a request of a full warp take at most of the time in which a structure fills. The jump
 * at its end must be over what inference takes for one, a quarter of a single load's time.
 */
static struct can_tell can_tell(const struct sm *sm)
{
    const double beside = 60, instruction = 2.5, margin = 0.4;
    double round = sm->lsu + sm->request + sm->l2_hit + sm->reply;
    double turn = (double)sm->interval / sm->parallel;
    turn = turn < 1 ? 1 : turn;
    bool by_instructions = sm->structure == PRT;
    double each = by_instructions ? (turn > instruction ? turn : instruction) : turn * 1.15;
    uint32_t most = sm->loads_per_warp && sm->loads_per_warp < 8 ? sm->loads_per_warp : 8;
    bool fills = round - sm->entries * each > margin * (round + beside);
    bool reached = !by_instructions || sm->entries < 32 * most;
    struct can_tell can = {.structure = sm->structure != NOTHING && fills && reached};
    /* Who finds no merger waits for the line and then hits L1, or takes an entry again. */
    can.mergers = sm->structure == MSHR && sm->l1_hit > 0.13 * (round + beside);
    /* One warp's loads, and two warps', must not fill the structure first. */
    can.loads = sm->loads_per_warp > 0 &&
                (sm->structure == NOTHING || sm->entries > 2 * sm->loads_per_warp + 2);
    return can;
}

/* ---- one trial ---- */

struct tally {
    uint64_t trials, failed, can, right, wrong, missing, open, untrue;
};

struct scorer {
    struct tally *tally;
    uint64_t seed;
    bool loud, said;
};

static void score(struct scorer *j, const char *what, bool can, bool given, bool right,
                  const char *got)
{
    struct tally *t = j->tally;
    t->can += can;
    t->right += can && given && right;
    t->wrong += can && given && !right;
    t->missing += can && !given;
    t->open += !can;
    t->untrue += !can && given && !right;
    bool fine = given ? right : !can;
    if (!fine || j->loud) {
        printf("%s seed %llu: %s is %s%s\n", fine ? "ok   " : "WRONG", (unsigned long long)j->seed,
               what, given ? got : "not measured", can ? "" : " (cannot be told)");
        j->said |= !fine;
    }
}

static void score_number(struct scorer *j, const char *what, bool can, const struct attribute *a,
                         double truth)
{
    char got[80];
    snprintf(got, sizeof got, "%g, in the model %g", a->value, truth);
    score(j, what, can, a->status == ATTRIBUTE_MEASURED, a->value == truth, got);
}

/* What is given as a lower bound must be one. */
static void score_bound(struct scorer *j, const char *what, double least, double truth)
{
    char got[80];
    if (least > 0) {
        snprintf(got, sizeof got, "at least %g, in the model %g", least, truth);
        score(j, what, false, true, least <= truth, got);
    }
}

static void judge_result(struct scorer *j, const struct sm *sm, const struct outstanding_result *o)
{
    struct can_tell can = can_tell(sm);
    bool by_requests = sm->structure == MSHR || sm->structure == REQUEST_LIMIT;
    char got[64];
    snprintf(got, sizeof got, "%s, in the model %s", o->structure, structure_names[sm->structure]);
    score(j, "structure", can.structure, o->structure[0] != '\0',
          strcmp(o->structure, structure_names[sm->structure]) == 0, got);
    score_number(j, "entries", can.structure, &o->entries,
                 sm->structure == NOTHING ? -1.0 : sm->entries);
    score_number(j, "mergers", can.mergers, &o->mergers,
                 sm->structure == MSHR ? sm->mergers : -1.0);
    score_number(j, "loads per warp", can.loads, &o->loads_per_warp,
                 sm->loads_per_warp ? sm->loads_per_warp : -1.0);
    if (by_requests) {
        score_number(j, "requests per SM", can.structure, &o->max_requests, sm->entries);
        score_bound(j, "requests per SM", o->max_requests_least, sm->entries);
    }
    if (sm->structure != NOTHING) {
        score_bound(j, "entries", o->entries_least, sm->entries);
        score_bound(j, "instructions", o->instructions_least, sm->entries);
    }
    if (sm->structure == MSHR) {
        score_bound(j, "mergers", o->mergers_least, sm->mergers);
    }
    if (sm->loads_per_warp) {
        score_bound(j, "loads per warp", o->loads_per_warp_least, sm->loads_per_warp);
    }
}

static int dissect(struct dissection *out, const char *path, const struct blind_noise *noise,
                   uint64_t seed)
{
    char spec[300];
    struct device *device = NULL;
    struct traceset *set = NULL;
    struct probe_live *live = NULL;
    struct noise_source *noisy = NULL;
    snprintf(spec, sizeof spec, "sim:%s", path);
    int rc = device_open(&device, spec);
    rc = rc < 0 ? rc : traceset_create(&set);
    rc = rc < 0 ? rc : probe_live_create(&live, device, set);
    if (rc == 0) {
        struct trace_source source = probe_live_source(live);
        struct infer_options options = {.only = "outstanding", .seed = 1};
        noisy = noise ? noise_source_create(source, noise, seed) : NULL;
        rc = noise && !noisy ? error_memory() : 0;
        source = noisy ? noise_source_get(noisy) : source;
        rc = rc < 0 ? rc : infer_dissect(out, &source, &options);
    }
    noise_source_destroy(noisy);
    probe_live_destroy(live);
    traceset_destroy(set);
    if (device) {
        device_close(device);
    }
    return rc;
}

static void trial(struct tally *tally, uint64_t seed, bool with_noise, bool loud)
{
    static struct dissection result;
    struct sm sm;
    struct blind_noise noise;
    char path[256] = "";
    draw_sm(&sm, seed);
    blind_draw_noise(&noise, seed);
    char *yaml = model_of(&sm);
    int rc = blind_write_model(path, yaml);
    rc = rc < 0 ? rc : dissect(&result, path, with_noise ? &noise : NULL, seed);
    struct scorer judge = {.tally = tally, .seed = seed, .loud = loud};
    tally->trials++;
    if (rc < 0) {
        printf("WRONG seed %llu: no dissection: %s\n", (unsigned long long)seed, error_text());
        tally->failed++;
    } else {
        judge_result(&judge, &sm, &result.outstanding);
    }
    if (loud || judge.said || rc < 0) {
        printf("%s%s\n", with_noise ? "with noise\n" : "", yaml ? yaml : "");
        for (size_t i = 0; rc == 0 && i < result.evidence_count; i++) {
            printf("%s %s\n", result.evidence[i].id, result.evidence[i].text);
        }
    }
    if (path[0]) {
        unlink(path);
    }
    free(yaml);
}

/* ---- all of them ---- */

enum { NOISE_FREE, NOISY, MODES, JOBS_MAX = 64 };

struct options {
    const char *seed_text;
    uint64_t count, jobs, replay;
    bool mode[MODES], mix, has_replay, figures, require;
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
static uint64_t trial_seed(const char *text, uint64_t i)
{
    uint64_t state = hash_text(text) + i;
    return rng_splitmix64(&state) >> 24;
}

static void work(struct tally tallies[MODES], const struct options *o, uint64_t job)
{
    for (uint64_t i = job; i < o->count; i += o->jobs) {
        for (int mode = 0; mode < MODES; mode++) {
            if (o->mode[mode] && !(o->mix && i % MODES != (uint64_t)mode)) {
                trial(&tallies[mode], trial_seed(o->seed_text, i), mode == NOISY, false);
            }
        }
    }
}

/* Each job's tallies lie in memory that the processes share. False: a job died. */
static bool work_in_jobs(struct tally sum[MODES], const struct options *o)
{
    struct tally(*shared)[MODES] = mmap(NULL, JOBS_MAX * sizeof *shared, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    fflush(NULL);
    for (uint64_t job = 0; job < o->jobs; job++) {
        if (fork() == 0) {
            work(shared[job], o, job);
            fflush(NULL);
            _exit(0);
        }
    }
    bool whole = true;
    for (int status; wait(&status) > 0;) {
        whole = whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    for (uint64_t job = 0; job < o->jobs; job++) {
        for (int mode = 0; mode < MODES; mode++) {
            const uint64_t *from = (const uint64_t *)&shared[job][mode];
            uint64_t *to = (uint64_t *)&sum[mode];
            for (size_t i = 0; i < sizeof sum[mode] / sizeof *to; i++) {
                to[i] += from[i];
            }
        }
    }
    munmap(shared, JOBS_MAX * sizeof *shared);
    return whole;
}

static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static int finish(const struct tally sum[MODES], const struct options *o)
{
    static const char *const names[] = {"noise-free", "noisy"};
    int status = 0;
    uint64_t right = 0, can = 0;
    for (int mode = 0; mode < MODES; mode++) {
        const struct tally *t = &sum[mode];
        if (t->trials == 0) {
            continue;
        }
        printf("%s: %llu SMs: of %llu values that can be told %llu right, %llu wrong, %llu not "
               "measured, "
               "share %.4f; of %llu others and bounds %llu not true\n",
               names[mode], (unsigned long long)t->trials, (unsigned long long)t->can,
               (unsigned long long)t->right, (unsigned long long)t->wrong,
               (unsigned long long)t->missing, share(t->right, t->can), (unsigned long long)t->open,
               (unsigned long long)t->untrue);
        status |= t->failed > 0 || share(t->right, t->can) < LEAST_SHARE ||
                  share(t->untrue, t->open) > MOST_FALSE;
        right += t->right;
        can += t->can;
    }
    if (o->figures) {
        printf("blind.outstanding.exact_share\t%.5f\tshare\n", share(right, can));
    }
    return o->require ? status : 0;
}

/* An option that has a value. */
static bool take_value(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0) {
        o->seed_text = value;
        return true;
    }
    char *end;
    uint64_t number = strtoull(value, &end, 0);
    if (strcmp(name, "--count") == 0) {
        o->count = number;
    } else if (strcmp(name, "--jobs") == 0) {
        o->jobs = number;
    } else if (strcmp(name, "--replay") == 0) {
        o->replay = number;
        o->has_replay = true;
    } else {
        return false;
    }
    return *value && !*end;
}

static bool parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.seed_text = "1", .count = 10, .jobs = 1, .mode = {true, true}};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--noisy") == 0) {
            o->mode[NOISE_FREE] = false;
        } else if (strcmp(argv[i], "--noise-free") == 0) {
            o->mode[NOISY] = false;
        } else if (strcmp(argv[i], "--mix") == 0) {
            o->mix = true;
        } else if (strcmp(argv[i], "--figures") == 0) {
            o->figures = true;
        } else if (strcmp(argv[i], "--require") == 0) {
            o->require = true;
        } else if (!value || !take_value(o, argv[i++], value)) {
            return false;
        }
    }
    return o->jobs >= 1 && o->jobs <= JOBS_MAX;
}

int main(int argc, char **argv)
{
    struct options options;
    struct tally sum[MODES] = {0};
    if (!parse(&options, argc, argv)) {
        fprintf(stderr, "usage: blind_outstanding [--seed TEXT] [--count N] [--jobs N] "
                        "[--noisy|--noise-free|--mix] [--replay SEED] [--figures] [--require]\n");
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
        fprintf(stderr, "blind_outstanding: a job died\n");
        return 1;
    }
    return finish(sum, &options);
}

/*
 * What is told of a run: which launches are timed, what they cost, and at the end a summary on
 * standard error and statistics in a file. The end is the end of the program, or Ctrl-C: a thread
 * waits for the signal, has the simulation stopped, writes what there is and lets the signal have
 * its effect. Without `sonde run` nothing of this is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/exec.h"
#include "model/model.h"
#include "sample/sampler.h"
#include "shim/core/options.h"
#include "shim/core/shim.h"
#include "statistics/statistics.h"
#include "statistics/summary.h"
#include "util/container/vec.h"
#include "util/error.h"
#include "util/fileio.h"
#include "util/hostthread.h"
#include "util/text/plain.h"
#include "util/text/symbol.h"

/* All launches of a kernel. */
struct tally {
    char *name; /* as people read it */
    char *kernel;
    uint64_t code; /* exec_program_code(): modules may have kernels of one name */
    uint64_t overlapping;
    uint64_t timed, functional, estimated;
    uint64_t ps, least_ps, most_ps;
    uint64_t warp_insns; /* of functional launches */
    struct gpu_stats stats;
};

static struct {
    pid_t process;
    bool ended, interrupted, faulted;
    bool exits; /* the program does */
    volatile int cancel;
    int wake[2]; /* a signal's number goes through it */
    VEC(struct tally) kernels;
    struct statistics statistics;
    uint64_t chosen;
    uint64_t copies[4], copied_bytes[4]; /* bit 0: from the host, bit 1: to the host */
    uint64_t calls;
} report;

void shim_count_call(void)
{
    __atomic_fetch_add(&report.calls, 1, __ATOMIC_RELAXED);
}

uint64_t report_calls(void)
{
    return __atomic_load_n(&report.calls, __ATOMIC_RELAXED);
}

void report_copy(uint64_t bytes, int way)
{
    __atomic_fetch_add(&report.copies[way], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&report.copied_bytes[way], bytes, __ATOMIC_RELAXED);
}

/* A kernel's name in a line of the summary. Those of templates have thousands of letters: they are
 * whole in the statistics. */
static char *brief(const char *kernel)
{
    return symbol_brief(symbol_readable(kernel), 100);
}

/* Kernels of one name whose code differs are told apart by a number; takes `name` over. */
static char *with_variant(char *name, uint32_t variant)
{
    if (variant == 1) {
        return name;
    }
    struct strbuf text = {0};
    strbuf_printf(&text, "%s (code %" PRIu32 " of this name)", name, variant);
    free(name);
    name = strdup(strbuf_text(&text));
    strbuf_free(&text);
    return name;
}

static bool matches(const char *kernel)
{
    const struct options *o = options();
    if (!o->has_kernels || regexec(&o->kernels, kernel, 0, NULL, 0) == 0) {
        return true;
    }
    char *text = symbol_readable(kernel);
    bool found = text && regexec(&o->kernels, text, 0, NULL, 0) == 0;
    free(text);
    return found;
}

bool report_wants_timing(const char *kernel)
{
    const struct options *o = options();
    if (o->functional || !matches(kernel)) {
        return false;
    }
    uint64_t number = __atomic_fetch_add(&report.chosen, 1, __ATOMIC_RELAXED);
    return number >= o->skip && (o->count == 0 || number - o->skip < o->count);
}

/* The kernels that the statistics have, and those that were not timed, in the order of their first
 * launch. */
static struct tally *tally_of(const struct rt_kernel *kernel)
{
    const char *name = rt_kernel_name(kernel);
    uint64_t code = exec_program_code(rt_kernel_program(kernel));
    for (size_t i = 0; i < report.kernels.count; i++) {
        struct tally *tally = &report.kernels.data[i];
        if (tally->code == code && strcmp(tally->kernel, name) == 0) {
            return tally;
        }
    }
    struct gpu_stats none = {0};
    statistics_launched(&report.statistics, &(struct statistics_launch){
                                                .kernel = name,
                                                .code = code,
                                                .stats = &none,
                                            });
    struct tally tally = {
        .name = brief(name), .kernel = strdup(name), .code = code, .least_ps = UINT64_MAX};
    size_t place = statistics_find(&report.statistics, name, code);
    if (tally.name && place < SIZE_MAX) {
        tally.name = with_variant(tally.name, report.statistics.kernels[place].variant);
    }
    if (report.statistics.failed || !tally.name || !tally.kernel ||
        vec_push(&report.kernels, tally) < 0) {
        free(tally.name);
        free(tally.kernel);
        return NULL;
    }
    return &vec_last(&report.kernels);
}

void report_done(void *ctx, const struct rt_done *launch)
{
    shim_progress_ends();
    profiling_launched(launch, ctx);
    struct tally *tally = tally_of(launch->kernel);
    if (!tally) {
        return;
    }
    if (launch->status == SONDE_EINTERRUPTED && report.interrupted && options()->summary) {
        shim_say("%s: %s", tally->name, error_text());
    }
    if (launch->estimated) {
        tally->estimated++;
        return;
    }
    if (launch->functional) {
        tally->functional++;
        tally->warp_insns += launch->warp_insns;
        return;
    }
    uint64_t ps = launch->end_ps - launch->begin_ps;
    tally->timed++;
    tally->ps += ps;
    tally->least_ps = ps < tally->least_ps ? ps : tally->least_ps;
    tally->most_ps = ps > tally->most_ps ? ps : tally->most_ps;
    gpu_stats_add(&tally->stats, &launch->stats);
    tally->overlapping += launch->shared;
    statistics_launched(&report.statistics, &(struct statistics_launch){.kernel = tally->kernel,
                                                                        .code = tally->code,
                                                                        .grid = launch->grid,
                                                                        .block = launch->block,
                                                                        .overlaps = launch->shared,
                                                                        .stats = &launch->stats});
}

/* To `sonde run`, if it is still there (a path may have become another file's): D, there is a
 * device, F, something has failed. */
static void tell(char what)
{
    const char *status = options()->status, *path = status ? strchr(status, ':') : NULL;
    int fd = path ? open(path + 1, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    struct stat file;
    if (fd >= 0) {
        if (fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode) &&
            file.st_ino == strtoull(status, NULL, 10)) {
            ssize_t written = write(fd, &what, 1);
            (void)written;
        }
        close(fd);
    }
}

void report_fault(const char *text)
{
    if (report.faulted) {
        return;
    }
    report.faulted = true;
    shim_say("kernel fault: %s", text);
    if (report.process == getpid()) {
        tell('F');
    }
}

void report_not_run(void)
{
    if (report.process == getpid()) {
        tell('F');
    }
}

static void print_time(char *out, size_t size, uint64_t ps)
{
    static const struct {
        double ps;
        const char *unit;
    } units[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
    size_t i = 0;
    while (i < 3 && (double)ps < units[i].ps) {
        i++;
    }
    snprintf(out, size, "%.4g %s", (double)ps / units[i].ps, units[i].unit);
}

static void print_share(char *out, size_t size, uint64_t part, uint64_t whole)
{
    if (whole > 0) {
        snprintf(out, size, "%.1f%%", 100.0 * (double)part / (double)whole);
    } else {
        snprintf(out, size, "-");
    }
}

static void print_row(const struct tally *tally, uint64_t all_ps)
{
    char part[16], total[16], average[16], least[16], most[16], l1[16], l2[16], dram[16];
    const struct gpu_stats *stats = &tally->stats;
    const struct model *m = shim_model();
    print_share(part, sizeof part, tally->ps, all_ps);
    print_time(total, sizeof total, tally->ps);
    print_time(average, sizeof average, tally->timed ? tally->ps / tally->timed : 0);
    print_time(least, sizeof least, tally->timed ? tally->least_ps : 0);
    print_time(most, sizeof most, tally->most_ps);
    print_share(l1, sizeof l1, stats->l1_hits + stats->l1_pending_hits, stats->l1_reads);
    print_share(l2, sizeof l2, stats->l2_hits + stats->l2_pending_hits, stats->l2_reads);
    print_share(dram, sizeof dram, stats->dram_busy_ps,
                stats->cycles * m->core_period_ps * m->dram.channels);
    double ipc = stats->cycles ? (double)stats->thread_insns / (double)stats->cycles : 0;
    fprintf(stderr, "%8s %10s %7" PRIu64 " %10s %10s %10s %12" PRIu64 " %8.1f %7s %7s %7s  %s\n",
            part, total, tally->timed, average, least, most, stats->cycles, ipc, l1, l2, dram,
            tally->name);
}

static int by_time(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (x->ps != y->ps) {
        return x->ps < y->ps ? 1 : -1;
    }
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->kernel, y->kernel);
}

/* What all timed launches of a kernel did together, as `sonde exec --summary` has it of one. */
static void print_details(const struct tally *tally)
{
    struct strbuf out = {0};
    statistics_summary(&out, shim_model(), &tally->stats, tally->stats.cycles, 0);
    size_t i = statistics_find(&report.statistics, tally->kernel, tally->code);
    size_t sizes = i < SIZE_MAX ? report.statistics.kernels[i].size_count : 0;
    fprintf(stderr, "==sonde== %s, %" PRIu64 " launch%s", tally->name, tally->timed,
            tally->timed == 1 ? "" : "es");
    if (sizes > 1) {
        fprintf(stderr, " of %zu sizes", sizes);
    }
    fprintf(stderr, "\n%s", strbuf_text(&out));
    strbuf_free(&out);
}

static void print_copies(void)
{
    static const char *const ways[] = {"on the device", "to the device", "from the device",
                                       "on the host"};
    for (int i = 0; i < 4; i++) {
        if (report.copies[i] > 0) {
            fprintf(stderr, "%s copies %s: %" PRIu64 ", %" PRIu64 " bytes\n", "==sonde==", ways[i],
                    report.copies[i], report.copied_bytes[i]);
        }
    }
}

static void print_total(const struct sampler_total *total, const char *name)
{
    double half = total->cycles > 0 ? 50 * (total->high - total->low) / total->cycles : 0;
    fprintf(stderr,
            "==sonde== sampled: %" PRIu64 " of %" PRIu64
            " launches simulated, %.0f cycles (%.0f to %.0f, +-%.2f%%)  %s\n",
            total->timed, total->launches, total->cycles, total->low, total->high, half, name);
    if (total->inside > 0) {
        fprintf(stderr,
                "==sonde== sampled: of %" PRIu64 " launches not all blocks were simulated, %" PRIu64
                " were left out  %s\n",
                total->inside, total->skipped, name);
    }
    if (total->whole > 0) {
        fprintf(stderr,
                "==sonde== sampled: of these %" PRIu64
                " cannot be sampled and were all simulated  %s\n",
                total->whole, name);
    }
}

/* The table before tells of the launches that were simulated. */
static void print_sampling(void)
{
    const struct sampler *sampler = report.statistics.sampler;
    struct sampler_total total;
    for (size_t i = 0; i < sampler_kernels(sampler); i++) {
        char *name = brief(sampler_kernel(sampler, i, &total));
        name = name ? with_variant(name, total.variant) : NULL;
        print_total(&total, name ? name : "");
        free(name);
    }
    sampler_all(sampler, &total);
    print_total(&total, "(all)");
    fprintf(stderr,
            "==sonde== sampled: 95%% confidence, error asked for %.4g%%, seed %" PRIu64 "\n",
            100 * sampler_spec(sampler)->error, sampler_spec(sampler)->seed);
}

static void print_functional(bool some_are_timed)
{
    uint64_t launches = 0;
    for (size_t i = 0; i < report.kernels.count; i++) {
        const struct tally *tally = &report.kernels.data[i];
        if (tally->functional > 0) {
            fprintf(stderr,
                    "==sonde== functional: %" PRIu64 " launches, %" PRIu64
                    " warp instructions  %s\n",
                    tally->functional, tally->warp_insns, tally->name);
        }
        launches += tally->functional;
    }
    if (options()->stats && launches > 0 && !some_are_timed) {
        fputs("==sonde== statistics are of timed launches; there was none, and each count is 0\n",
              stderr);
    }
}

static void print_summary(void)
{
    const struct model *m = shim_model();
    struct tally all = {.name = strdup("(all)"), .least_ps = UINT64_MAX};
    fprintf(stderr, "==sonde== %s (%s)%s\n", m->driver.device_name, options()->device,
            report.interrupted ? ", interrupted" : "");
    for (size_t i = 0; i < report.kernels.count; i++) {
        const struct tally *tally = &report.kernels.data[i];
        all.timed += tally->timed;
        all.functional += tally->functional;
        all.estimated += tally->estimated;
        all.overlapping += tally->overlapping;
        all.warp_insns += tally->warp_insns;
        all.ps += tally->ps;
        all.least_ps = tally->least_ps < all.least_ps ? tally->least_ps : all.least_ps;
        all.most_ps = tally->most_ps > all.most_ps ? tally->most_ps : all.most_ps;
        gpu_stats_add(&all.stats, &tally->stats);
    }
    if (report.kernels.count > 0) {
        qsort(report.kernels.data, report.kernels.count, sizeof *report.kernels.data, by_time);
    }
    if (all.timed > 0) {
        fprintf(stderr, "%8s %10s %7s %10s %10s %10s %12s %8s %7s %7s %7s  %s\n", "Time(%)", "Time",
                "Calls", "Avg", "Min", "Max", "Cycles", "IPC", "L1 hit", "L2 hit", "DRAM", "Name");
        for (size_t i = 0; i < report.kernels.count; i++) {
            if (report.kernels.data[i].timed > 0) {
                print_row(&report.kernels.data[i], all.ps);
            }
        }
        print_row(&all, all.ps);
    }
    if (all.overlapping > 0) {
        fprintf(stderr,
                "==sonde== overlapping: %" PRIu64 " of %" PRIu64
                " launches; time, cycles and calls are each one's own, the other columns of these "
                "have what ran beside them too\n",
                all.overlapping, all.timed);
    }
    for (size_t i = 0; options()->details && i < report.kernels.count; i++) {
        if (report.kernels.data[i].timed > 0) {
            print_details(&report.kernels.data[i]);
        }
    }
    print_functional(all.timed + all.estimated > 0);
    if (report.statistics.sampler) {
        print_sampling();
    }
    print_copies();
    fprintf(stderr, "==sonde== calls: %" PRIu64 ", launches: %" PRIu64 "\n", report.calls,
            all.timed + all.functional + all.estimated);
    free(all.name);
}

bool report_write(const char *spec, char *text)
{
    const char *colon = strchr(spec, ':');
    int rc = 0;
    if (!colon) {
        fputs(text, stderr);
    } else {
        rc = file_write_all(colon + 1, text, strlen(text));
    }
    if (rc < 0) {
        shim_say("%s", error_text());
    }
    free(text);
    return rc == 0;
}

static void write_all(void)
{
    const struct options *o = options();
    if (report.ended || report.process != getpid()) {
        return;
    }
    report.ended = true;
    if (o->stats && statistics_write(o->stats, shim_model(), &report.statistics, NULL) < 0) {
        shim_say("%s", error_text());
        tell('F');
    }
    struct rt *rt = NULL;
    if (o->check && device_is_there() && shim_device(&rt) != SHIM_OK) {
        rt = NULL;
    }
    if (o->check && !checking_end(rt, !report.interrupted && !report.faulted)) {
        tell('F');
    }
    if (o->summary) {
        fflush(stdout);
        print_summary();
    }
    if (!profiling_end()) {
        tell('F');
    }
}

void report_end(void)
{
    locale_t before = plain_begin();
    write_all();
    plain_end(before);
}

static void on_signal(int number)
{
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    bool again = number == SIGINT && report.interrupted; /* who insists does not wait */
    if (again || report.process != getpid() || write(report.wake[1], &byte, 1) != 1) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = saved;
}

static void *wait_for_signal(void *ctx)
{
    struct rt *rt;
    unsigned char number;
    (void)ctx;
    hostthread_is_ours();
    while (read(report.wake[0], &number, 1) != 1) {
        if (errno != EINTR) {
            return NULL;
        }
    }
    report.cancel = 1;
    report.interrupted = true;
    if (shim_device(&rt) == SHIM_OK) {
        rt_lock(rt); /* and never given back: nothing more happens */
    }
    report_end();
    signal(number, SIG_DFL);
    kill(getpid(), number);
    return NULL;
}

/* A program that treats the signal itself is left alone. */
static void signals_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    pthread_t thread;
    sigset_t all, before;
    if (pipe(report.wake) != 0) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool watched = pthread_create(&thread, NULL, wait_for_signal, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watched) {
        return;
    }
    pthread_detach(thread);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL) {
            action.sa_handler = on_signal;
            action.sa_flags = SA_RESTART;
            sigaction(numbers[i], &action, NULL);
        }
    }
}

static void program_ends(void);

static void print_output(void *ctx, const char *text, size_t bytes)
{
    (void)ctx;
    shim_progress_ends();
    fwrite(text, 1, bytes, stdout);
    fflush(stdout);
}

void report_start(struct rt *rt)
{
    const struct options *o = options();
    bool first = report.process == 0;
    report.process = getpid();
    rt_set_print(rt, print_output, NULL);
    rt_set_cancel(rt, &report.cancel);
    rt_tell_when_cancelled(rt);
    if (o->summary) {
        rt_set_progress(rt, shim_progress());
    }
    if (o->cold) {
        rt_set_cold(rt);
    }
    if (o->sample > 0) {
        struct sampler_spec spec = {.error = o->sample, .seed = o->seed};
        if (rt_sample(rt, &spec) < 0) {
            shim_say("no samples: %s", error_text());
        }
        report.statistics.sampler = rt_sampler(rt);
    }
    rt_set_done(rt, report_done, rt);
    rt_set_timed_limit(rt, options()->max_cycles);
    if (first) {
        tell('D');
        atexit(program_ends);
    }
    if (first && (o->summary || o->stats || o->check || o->profile || o->timeline)) {
        signals_watch();
    }
}

/*
 * What was launched and never waited for has run on a real GPU, too, unless it was too late. This
 * comes before what the program has registered to be called at its end: its code is still there.
 */
static void program_ends(void)
{
    struct rt *rt;
    if (report.process != getpid() || report.exits || report.faulted || rt_in_host_function()) {
        return;
    }
    report.exits = true;
    if (device_is_there() && shim_device(&rt) == SHIM_OK && rt_finish(rt) == SONDE_EINTERRUPTED &&
        !report.interrupted) {
        shim_say("the program ended while a kernel of it was running, which ended with it");
    }
    shim_call_ends();
}

int shim_settle(struct rt *rt)
{
    return report.exits ? rt_finish(rt) : rt_sync(rt);
}

static __attribute__((destructor)) void at_exit(void)
{
    if (report.process != 0) {
        program_ends();
    }
    report_end();
}

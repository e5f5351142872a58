/*
 * sonde run: a CUDA program on a simulated device. The libraries that stand in for the vendor's are
 * put in front of the others, options go through the environment, and the program does the rest;
 * afterwards its exit status is this one's. A program that can never work is told so before it
 * starts (run_program.c).
 */
#define _GNU_SOURCE /* pipe2() */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/check_option.h"
#include "cli/cli.h"
#include "cli/run_program.h"

#ifndef SONDE_SHIM_RELATIVE
#define SONDE_SHIM_RELATIVE "../lib/sonde"
#endif

#define SAMPLE_DEFAULT 0.03 /* half an interval, of the total */
#define THREADS_MAX 256     /* of the host */
#define SAMPLE_LEAST 0.022  /* caches are right to about 2 % (sample/sampler.c) */

static const struct option_spec options[] = {
    {"-d", true},         {"--functional", false}, {"--stats", true},      {"--kernels", true},
    {"--skip", true},     {"--count", true},       {"--max-cycles", true}, {"--threads", true},
    {"-q", false},        {"--check", false},      {"--check", true},      {"--suppress", true},
    {"--profile", false}, {"--profile", true},     {"--timeline", true},   {"--cold", false},
    {"--summary", false}, {"--sample", false},     {"--sample", true},     {"--seed", true},
    {NULL, false},
};

/* Beside the command in the build's folder, and where `make install` puts them. */
static int find_libraries(char out[PATH_MAX])
{
    static const char *const places[] = {"shim", SONDE_SHIM_RELATIVE};
    char self[PATH_MAX], try[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) {
        cli_complain(": /proc/self/exe: %s", strerror(errno));
        return EXIT_DEVICE;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(try, sizeof try, "%s/%s/libcuda.so.1", self, places[i]);
        if (access(try, R_OK) == 0) {
            *strrchr(try, '/') = '\0';
            if (realpath(try, out)) {
                return EXIT_DONE;
            }
        }
    }
    cli_complain(": libcuda.so.1 is neither in %s/shim nor in %s/%s", self, self,
                 SONDE_SHIM_RELATIVE);
    return EXIT_DEVICE;
}

static void put_front(const char *name, const char *value, char separator)
{
    const char *old = getenv(name);
    size_t bytes = strlen(value) + (old ? strlen(old) : 0) + 2;
    char *text = malloc(bytes);
    if (!text) {
        return;
    }
    snprintf(text, bytes, old && *old ? "%s%c%s" : "%s", value, separator, old);
    setenv(name, text, 1);
    free(text);
}

/* A space ends a name in LD_PRELOAD: below such a folder the library is found by LD_LIBRARY_PATH,
 * in which a space is nothing special. */
static void put_preload(const char *folder, const char *name)
{
    char path[PATH_MAX + NAME_MAX + 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (*name && access(path, R_OK) == 0) {
        put_front("LD_PRELOAD", strchr(path, ' ') ? name : path, ':');
    }
}

/* A share, or per cent of it: 0.03, 3%. */
static bool sample_parse(double *share, const struct option_walk *walk)
{
    char *end;
    *share = strtod(walk->value, &end);
    bool percent = end != walk->value && *end == '%';
    *share = percent ? *share / 100 : *share;
    if (end == walk->value || end[percent] != '\0' || !(*share >= SAMPLE_LEAST && *share < 1)) {
        cli_usage(walk->command, "--sample: '%s' is no error of %g%% or more, such as 3%%",
                  walk->value, 100 * SAMPLE_LEAST);
        return false;
    }
    return true;
}

static void take_sample(const struct option_walk *walk)
{
    char text[32];
    double share = SAMPLE_DEFAULT;
    if (walk->value) {
        sample_parse(&share, walk);
    }
    snprintf(text, sizeof text, "%.9g", share);
    setenv("SONDE_SAMPLE", text, 1);
}

static void take_option(const struct option_walk *walk)
{
    static const struct {
        const char *option, *variable;
    } variables[] = {
        {"-d", "SONDE_DEVICE"},           {"--stats", "SONDE_STATS"},
        {"--kernels", "SONDE_KERNELS"},   {"--skip", "SONDE_SKIP"},
        {"--count", "SONDE_COUNT"},       {"--max-cycles", "SONDE_MAX_CYCLES"},
        {"--threads", "SONDE_THREADS"},   {"--suppress", "SONDE_CHECK_SUPPRESS"},
        {"--timeline", "SONDE_TIMELINE"}, {"--seed", "SONDE_SEED"},
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (option_is(walk, variables[i].option)) {
            setenv(variables[i].variable, walk->value, 1);
        }
    }
    if (option_is(walk, "--check")) {
        setenv("SONDE_CHECK", walk->value ? walk->value : "text", 1);
    } else if (option_is(walk, "--profile")) {
        setenv("SONDE_PROFILE", walk->value ? walk->value : "text", 1);
    } else if (option_is(walk, "--sample")) {
        take_sample(walk);
    } else if (option_is(walk, "--cold")) {
        setenv("SONDE_COLD", "1", 1);
    } else if (option_is(walk, "--functional")) {
        setenv("SONDE_FUNCTIONAL", "1", 1);
    } else if (option_is(walk, "-q")) {
        setenv("SONDE_SUMMARY", "0", 1);
    } else if (option_is(walk, "--summary")) {
        setenv("SONDE_SUMMARY", "2", 1);
    }
}

/* What is asked of timed kernels, where none is timed. */
static bool nothing_timed(const char *command)
{
    static const struct {
        const char *variable, *value, *what;
    } timed[] = {
        {"SONDE_TIMELINE", NULL, "a time line is"},
        {"SONDE_PROFILE", NULL, "a profile is"},
        {"SONDE_SUMMARY", "2", "a summary is"},
        {"SONDE_COLD", NULL, "empty caches are"},
        {"SONDE_SAMPLE", NULL, "samples are"},
        {"SONDE_MAX_CYCLES", NULL, "a bound of cycles is"},
    };
    const char *untimed = getenv("SONDE_CHECK") ? "--check" : "--functional";
    if (!getenv("SONDE_CHECK") && !getenv("SONDE_FUNCTIONAL")) {
        return false;
    }
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++) {
        const char *value = getenv(timed[i].variable);
        if (value && (!timed[i].value || strcmp(value, timed[i].value) == 0)) {
            cli_usage(command, "%s of timed launches; %s has none", timed[i].what, untimed);
            return true;
        }
    }
    return false;
}

static bool same_outputs(const char *command)
{
    const char *check = getenv("SONDE_CHECK"), *profile = getenv("SONDE_PROFILE");
    const struct cli_output outputs[] = {
        {"--stats", getenv("SONDE_STATS")},
        {"--timeline", getenv("SONDE_TIMELINE")},
        {"--check", check && strchr(check, ':') ? strchr(check, ':') + 1 : NULL},
        {"--profile", profile && strchr(profile, ':') ? strchr(profile, ':') + 1 : NULL},
    };
    return cli_same_outputs(command, outputs, sizeof outputs / sizeof *outputs);
}

static bool check_option(struct option_walk *walk)
{
    uint64_t number;
    regex_t regex;
    if (option_is(walk, "--skip") || option_is(walk, "--seed")) {
        return option_u64(walk, &number);
    }
    if (option_is(walk, "--count") || option_is(walk, "--max-cycles")) {
        bool fits = option_u64(walk, &number) && number > 0;
        if (!fits && !walk->failed) {
            cli_usage(walk->command, "%s: 0 is too little", walk->name);
        }
        return fits;
    }
    if (option_is(walk, "--threads")) {
        bool fits = option_u64(walk, &number) && number > 0 && number <= THREADS_MAX;
        if (!fits && !walk->failed) {
            cli_usage(walk->command, "--threads: '%s' is not 1 to %d host threads", walk->value,
                      THREADS_MAX);
        }
        return fits;
    }
    struct check_option check;
    double share;
    if (option_is(walk, "--sample")) {
        return !walk->value || sample_parse(&share, walk);
    }
    if (option_is(walk, "--check")) {
        return check_option_parse(&check, walk->command, walk->value) &&
               cli_check_output(check.path) == EXIT_DONE;
    }
    if (option_is(walk, "--profile")) {
        return profile_option_parse(&check, walk->command, walk->value) &&
               (!check.path || cli_check_output(check.path) == EXIT_DONE);
    }
    if (option_is(walk, "--timeline")) {
        return cli_check_output(walk->value) == EXIT_DONE;
    }
    if (option_is(walk, "--kernels")) {
        if (regcomp(&regex, walk->value, REG_EXTENDED | REG_NOSUB) != 0) {
            cli_usage(walk->command, "--kernels: '%s' is no regular expression", walk->value);
            return false;
        }
        regfree(&regex);
    }
    return true;
}

/* The program's end. Who asks this command to end means the program. */
static int child_status(pid_t child, const sigset_t *signals)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (ended < 0) {
            cli_complain(": waitpid: %s", strerror(errno));
            return EXIT_NOT_HELD;
        }
        int number = sigwaitinfo(signals, NULL);
        if (number == SIGTERM || number == SIGHUP) {
            kill(child, number);
        }
    }
}

/*
 * A pipe by which the program's library tells of a device (D), of a kernel's fault and of reports
 * that could not be written (F). It is found by its path: an open file would be closed by many who
 * start programs, and its number then be another file's.
 */
static int status_pipe(int ends[2])
{
    char path[64];
    struct stat status;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        cli_complain(": pipe: %s", strerror(errno));
        return EXIT_NOT_HELD;
    }
    if (fstat(ends[0], &status) == 0) {
        snprintf(path, sizeof path, "%llu:/proc/%ld/fd/%d", (unsigned long long)status.st_ino,
                 (long)getpid(), ends[0]);
        setenv("SONDE_STATUS", path, 1);
    }
    return EXIT_DONE;
}

static void read_told(int fd, bool *failed, bool *used)
{
    char told;
    *failed = *used = false;
    while (read(fd, &told, 1) == 1) {
        *failed |= told == 'F';
        *used |= told == 'D';
    }
}

/* Reports that were asked for and are not there. */
static void tell_unused(const char *program)
{
    static const char *const reports[] = {"SONDE_STATS", "SONDE_TIMELINE", "SONDE_PROFILE",
                                          "SONDE_CHECK"};
    const char *summary = getenv("SONDE_SUMMARY");
    bool asked = summary && strcmp(summary, "2") == 0;
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        asked |= getenv(reports[i]) != NULL;
    }
    if (asked) {
        cli_complain(": %s has used no device: there is nothing to report", program);
    }
}

static int start(char **argv)
{
    int ends[2];
    sigset_t signals, before;
    if (status_pipe(ends) != EXIT_DONE) {
        return EXIT_NOT_HELD;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[0], argv);
        int failed = errno;
        cli_complain(": %s: %s", argv[0], strerror(failed));
        _exit(failed == ENOENT ? 127 : 126);
    }
    close(ends[1]);
    if (child < 0) {
        cli_complain(": fork: %s", strerror(errno));
        close(ends[0]);
        return EXIT_NOT_HELD;
    }
    /* Ctrl-C is the program's: it writes what it has. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    int status = child_status(child, &signals);
    bool failed, used;
    read_told(ends[0], &failed, &used);
    close(ends[0]);
    if (!used) {
        tell_unused(argv[0]);
    }
    return failed && status == 0 ? EXIT_NOT_HELD : status;
}

/* A simulated device whose model can be read; told before the program starts. */
static int check_device(void)
{
    const char *name = getenv("SONDE_DEVICE");
    char *yaml = NULL, full[PATH_MAX];
    if (!name || !*name) {
        return EXIT_DONE;
    }
    if (!strchr(name, ':')) {
        snprintf(full, sizeof full, "sim:%s", name);
        setenv("SONDE_DEVICE", full, 1);
        name = full;
    }
    if (strncmp(name, "sim:", 4) != 0) {
        return cli_usage("run", "'%s': programs are run on simulated devices, sim:NAME", name);
    }
    int rc = sonde_model_show(&yaml, name + 4);
    free(yaml);
    if (rc < 0) {
        return cli_fail(rc);
    }
    cli_note_model(cli_model_file(name));
    return EXIT_DONE;
}

int cmd_run(int argc, char **argv)
{
    char libraries[PATH_MAX], runtime[NAME_MAX + 1];
    struct option_walk walk;
    int first = 0;
    unsetenv("SONDE_FUNCTIONAL");
    unsetenv("SONDE_CHECK");
    unsetenv("SONDE_CHECK_SUPPRESS");
    unsetenv("SONDE_PROFILE");
    unsetenv("SONDE_TIMELINE");
    unsetenv("SONDE_COLD");
    unsetenv("SONDE_SAMPLE");
    unsetenv("SONDE_MAX_CYCLES");
    setenv("SONDE_SUMMARY", "1", 1);
    option_walk_start(&walk, argc, argv);
    while (!first && option_walk_next(&walk, options)) {
        if (!walk.name) {
            first = walk.index - 1;
        } else if (check_option(&walk)) {
            take_option(&walk);
        } else {
            return EXIT_USAGE;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!first) {
        return cli_usage(argv[0], "which program");
    }
    if (nothing_timed(argv[0])) {
        return EXIT_USAGE;
    }
    if (getenv("SONDE_CHECK_SUPPRESS") && !getenv("SONDE_CHECK")) {
        return cli_usage(argv[0], "--suppress is of --check's reports");
    }
    const char *stats = getenv("SONDE_STATS");
    if (same_outputs(argv[0])) {
        return EXIT_USAGE;
    }
    int status = check_device();
    status = status == EXIT_DONE ? cli_check_output(stats) : status;
    status = status == EXIT_DONE ? find_libraries(libraries) : status;
    status = status == EXIT_DONE ? run_program_check(argv[first], runtime) : status;
    if (status != EXIT_DONE) {
        return status;
    }
    put_front("LD_LIBRARY_PATH", libraries, ':');
    put_preload(libraries, runtime);
    put_preload(libraries, "libsonde-linked.so");
    /* The simulated GPU lies on the program's heap: huge pages, as heap_in_huge_pages() has
     * them. What the user says of it comes later and holds. */
    put_front("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", ':');
    /* A program under the address sanitizer ends when a library is in front of the sanitizer's. */
    put_front("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
    return start(argv + first);
}

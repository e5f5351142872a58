/*
 * Errors: names and texts, and what a result of the simulator is in CUDA's numbering. A program
 * sees a number only; the reason goes to standard error, each once.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/core/shim.h"
#include "util/clock.h"
#include "util/container/map.h"
#include "util/error.h"
#include "util/progress.h"

static const struct {
    int code;
    const char *runtime, *driver, *text;
} rows[] = {
#define ERROR(code, runtime, driver, text) {code, runtime, driver, text},
#include "shim/core/errors.def"
#undef ERROR
};

const char *shim_error_name(int code, bool driver)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code == code) {
            const char *name = driver ? rows[i].driver : rows[i].runtime;
            return *name ? name : NULL;
        }
    }
    return NULL;
}

const char *shim_error_text(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code == code) {
            return rows[i].text;
        }
    }
    return NULL;
}

/* The line of a kernel that runs for longer than a second, on a terminal. */
static struct {
    bool shown, running;
    uint64_t began_ns, told_ns;
} line_of_progress;

void shim_progress_ends(void)
{
    if (line_of_progress.shown) {
        ssize_t written = write(STDERR_FILENO, "\r\033[K", 4);
        (void)written;
    }
    line_of_progress.shown = line_of_progress.running = false;
}

/* How far the blocks are; what is left, if they go on as fast as so far. */
static void show_progress(void *ctx, double fraction, const char *what)
{
    const uint64_t second_ns = UINT64_C(1000000000);
    uint64_t now_ns = time_monotonic_ns();
    (void)ctx;
    if (!line_of_progress.running) {
        line_of_progress.running = true;
        line_of_progress.began_ns = line_of_progress.told_ns = now_ns;
    }
    if (now_ns - line_of_progress.told_ns < second_ns) {
        return;
    }
    line_of_progress.told_ns = now_ns;
    double seconds = (double)(now_ns - line_of_progress.began_ns) / (double)second_ns;
    char left[48] = "";
    if (fraction > 0) {
        snprintf(left, sizeof left, ", about %.0f s left", seconds * (1 - fraction) / fraction);
    }
    fprintf(stderr, "\r\033[Ksonde: %s, %.0f s%s", what, seconds, left);
    fflush(stderr);
    line_of_progress.shown = true;
}

const struct progress *shim_progress(void)
{
    static const struct progress shown = {.report = show_progress};
    const char *term = getenv("TERM");
    bool moves = term && term[0] && strcmp(term, "dumb") != 0;
    return moves && isatty(STDERR_FILENO) ? &shown : NULL;
}

void shim_say(const char *fmt, ...)
{
    shim_progress_ends();
    char line[ERROR_TEXT_MAX + 64] = "sonde: ";
    size_t used = strlen(line);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + used, sizeof line - used - 1, fmt, args);
    va_end(args);
    used = strlen(line);
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used); /* at once: others print too */
    (void)written;
}

/* Says a text once; what is different is at most so much. */
#define SAID_MAX 100
static void say_once(const char *key, const char *fmt, const char *text)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct map said;
    pthread_mutex_lock(&mutex);
    bool news = said.count < SAID_MAX && !map_find(&said, key);
    if (news) {
        map_put(&said, key, NULL);
    }
    pthread_mutex_unlock(&mutex);
    if (news) {
        shim_say(fmt, text);
    }
}

void shim_leave_out(const char *what)
{
    say_once(what, "%s is not simulated: results may differ from those of a real GPU", what);
}

int shim_missing(const char *name)
{
    say_once(name, "%s() is not supported: it returns an error", name);
    return SHIM_NOT_SUPPORTED;
}

/* A fault by what its text says of it: the words are those of exec and core. */
static const struct {
    const char *words;
    int code;
} faults[] = {
    {"Assertion `", SHIM_ASSERT},
    {"misaligned", SHIM_MISALIGNED},
    {": trap", SHIM_LAUNCH_FAILED},
    {"is out of bounds", SHIM_ILLEGAL_ADDRESS},
    {"call stack overflow", SHIM_LAUNCH_FAILED},
    {"is no function", SHIM_BAD_PC},
    {" of a tensor that begins at ", SHIM_BAD_INSTRUCTION},
    {" to a tensor that begins at ", SHIM_BAD_INSTRUCTION},
    {" memory at 0x", SHIM_BAD_SPACE},
    {"more cycles than", SHIM_TIMEOUT},
};

static int fault_code(const char *text)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (strstr(text, faults[i].words)) {
            return faults[i].code;
        }
    }
    return SHIM_LAUNCH_FAILED;
}

int shim_code(int rc)
{
    const char *text = error_text();
    switch (rc) {
    case SONDE_ENOMEM:
        return SHIM_NO_MEMORY;
    case SONDE_EUSAGE:
        if (strstr(text, "captur")) {
            return SHIM_CAPTURE_UNSUPPORTED;
        }
        if (rt_in_host_function()) {
            return SHIM_NOT_PERMITTED;
        }
        say_once(text, "%s", text);
        return SHIM_INVALID;
    case SONDE_EINPUT:
        say_once(text, "%s", text);
        return SHIM_INVALID;
    case SONDE_EDEVICE:
        return SHIM_CONTEXT_DESTROYED;
    case SONDE_EIO:
        say_once(text, "%s", text);
        return SHIM_NO_FILE;
    case SONDE_EUNSUPPORTED:
        say_once(text, "%s", text);
        return SHIM_NOT_SUPPORTED;
    case SONDE_EFAULT: {
        report_fault(text);
        return fault_code(text);
    }
    case SONDE_EINTERRUPTED:
        return SHIM_LAUNCH_FAILED;
    case RT_BUSY:
        return SHIM_NOT_READY;
    default:
        return rc == 0 ? SHIM_OK : SHIM_UNKNOWN;
    }
}

int shim_launch_code(int rc)
{
    static const struct {
        const char *words;
        int code;
    } refusals[] = {
        {"cooperative launch of", SHIM_TOO_LARGE}, {"cluster", SHIM_BAD_CLUSTER},
        {"shared memory", SHIM_INVALID},           {"threads a block", SHIM_BAD_CONFIGURATION},
        {": grid.", SHIM_BAD_CONFIGURATION},       {": block.", SHIM_BAD_CONFIGURATION},
        {"registers", SHIM_OUT_OF_RESOURCES},
    };
    if (rc == SONDE_EINPUT) {
        const char *text = error_text();
        for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
            if (strstr(text, refusals[i].words)) {
                say_once(text, "%s", text);
                return refusals[i].code;
            }
        }
    }
    return shim_code(rc);
}

/*
 * What a person sees of long work: a progress line on a terminal, none when piped; and Ctrl-C,
 * which asks the work to stop at a place where nothing is lost (a second one ends the program at
 * once). A hang-up, a quit and a termination ask the same.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

/* A signal handler can reach nothing but a global. */
static volatile int interrupted;
static bool line_is_shown;
static char work_shown[256];
static struct timespec watch_began, line_shown; /* for a person: nothing is made of these times */

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + 1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void on_interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

/* The same but for numbers: the same work, further on. */
static bool is_the_same_work(const char *what, const char *shown)
{
    static const char digits[] = "0123456789";
    for (;; what++, shown++) {
        what += strspn(what, digits);
        shown += strspn(shown, digits);
        if (*what != *shown || !*what) {
            return *what == *shown;
        }
    }
}

/* For what is under way, behind bar and time: a line that the terminal breaks cannot be taken back.
 */
static int room(void)
{
    enum { BEFORE = 39, USUAL = 80 };
    struct winsize window;
    bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
    int columns = told ? window.ws_col : USUAL;
    return columns > BEFORE ? columns - BEFORE : 0;
}

static void show(void *ctx, double fraction, const char *what)
{
    (void)ctx;
    if (line_is_shown && seconds_since(&line_shown) < 0.1 && is_the_same_work(what, work_shown)) {
        return;
    }
    snprintf(work_shown, sizeof work_shown, "%s", what);
    clock_gettime(CLOCK_MONOTONIC, &line_shown);
    unsigned seconds = (unsigned)seconds_since(&watch_began);
    double done = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    int filled = (int)(done * 20 + 1e-9), percent = (int)(done * 100 + 1e-9);
    fprintf(stderr, "\r\033[K[%.*s%.*s] %3d %% %3u:%02u  %.*s", filled, "####################",
            20 - filled, "....................", percent, seconds / 60, seconds % 60, room(), what);
    fflush(stderr);
    line_is_shown = true;
}

bool cli_terminal_moves(void)
{
    const char *term = getenv("TERM");
    return term && term[0] && strcmp(term, "dumb") != 0;
}

struct sonde_watch cli_watch(bool quiet)
{
    clock_gettime(CLOCK_MONOTONIC, &watch_began);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    signal(SIGQUIT, on_interrupt);
    if (signal(SIGHUP, on_interrupt) == SIG_IGN) {
        signal(SIGHUP, SIG_IGN); /* under nohup */
    }
    return (struct sonde_watch){
        .progress = !quiet && isatty(STDERR_FILENO) && cli_terminal_moves() ? show : NULL,
        .cancel = &interrupted,
    };
}

void cli_watch_end(void)
{
    if (line_is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        line_is_shown = false;
    }
}

bool cli_interrupted(void)
{
    return interrupted;
}

/*
 * Messages and results: usage errors, the exit status of an error code, checked output. All
 * commands use this file; it uses none of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/container/strbuf.h"
#include "util/text/printable.h"

/* An error text has up to 4 KiB, and a usage error an argument of any length, of which the
 * beginning is enough. */
#define ERROR_BYTES 4352

static void print_error(const char *text)
{
    char *shown = printable_text(text, false);
    fprintf(stderr, "sonde%s\n", shown ? shown : ": out of memory");
    free(shown);
}

void cli_complain(const char *fmt, ...)
{
    char text[ERROR_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    /* What the user wrote may hold an end of line; the message has one. */
    struct strbuf line = {0};
    printable_append_name(&line, text);
    print_error(strbuf_text(&line));
    strbuf_free(&line);
}

static enum exit_status status_of(int code)
{
    switch (code) {
    case SONDE_OK:
        return EXIT_DONE;
    case SONDE_EUSAGE:
        return EXIT_USAGE;
    case SONDE_EDEVICE:
        return EXIT_DEVICE;
    case SONDE_EINPUT:
    case SONDE_EUNSUPPORTED:
    case SONDE_ENOTRECORDED:
        return EXIT_INPUT;
    case SONDE_EINTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_NOT_HELD;
    }
}

int cli_fail(int code)
{
    cli_watch_end();
    char text[ERROR_BYTES];
    snprintf(text, sizeof(text), ": %s", sonde_error_last());
    print_error(text);
    return (int)status_of(code);
}

int cli_usage(const char *command, const char *fmt, ...)
{
    va_list args;
    char text[ERROR_BYTES - 256];
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    cli_complain(" %s: %s; try: sonde %s --help", command, text, command);
    return EXIT_USAGE;
}

int cli_print(const char *text)
{
    char *shown = printable_text(text, cli_colour());
    errno = shown ? 0 : ENOMEM;
    bool printed = shown && fputs(shown, stdout) >= 0 && fflush(stdout) == 0;
    if (!printed && errno != EPIPE) {
        fprintf(stderr, "sonde: standard output: %s\n", strerror(errno));
    }
    free(shown);
    return printed ? EXIT_DONE : EXIT_NOT_HELD;
}

int cli_print_text(int rc, char *text)
{
    if (rc < 0) {
        return cli_fail(rc);
    }
    int status = cli_print(text);
    sonde_free(text);
    return status;
}

bool cli_colour(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && cli_terminal_moves() && !(no_color && no_color[0]);
}

void cli_note_model(const char *file)
{
    char *note = NULL;
    struct stat about;
    /* What is no file can be read once, by who simulates it. */
    bool is_file = file && stat(file, &about) == 0 && S_ISREG(about.st_mode);
    if (is_file && sonde_model_check_note(&note, file) == 0 && *note) {
        cli_complain(": %s", note);
    }
    sonde_free(note);
}

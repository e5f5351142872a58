/*
 * Entry point: picks the subcommand.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/glue/heap.h"

static int overview(void)
{
    char text[4096];
    int used =
        snprintf(text, sizeof(text),
                 "usage: sonde COMMAND [OPTIONS]\n\n"
                 "Takes a GPU's memory hierarchy apart by measurement, and simulates GPUs.\n\n");
#define COMMAND(name, synopsis, summary, help)                                                     \
    used += snprintf(text + used, sizeof(text) - (size_t)used, "  %-10s %s\n", #name, summary);
#include "cli/commands.def"
#undef COMMAND
    snprintf(text + used, sizeof(text) - (size_t)used,
             "\nsonde COMMAND --help tells a command's options; sonde --version the version.\n"
             "Exit status: 0 done, 1 done and something did not hold, 2 usage, 3 device not\n"
             "available, 4 bad input, 130 interrupted.\n");
    return cli_print(text);
}

static int help(const char *name)
{
    if (!name) {
        return overview();
    }
    return cli_command(name) ? cli_help(name) : cli_no_command(name);
}

/* The command named argv[0], which exists. */
static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } rows[] = {
#define COMMAND(name, synopsis, summary, help) {#name, cmd_##name},
#include "cli/commands.def"
#undef COMMAND
    };
    size_t i = 0;
    while (strcmp(rows[i].name, argv[0]) != 0) {
        i++;
    }
    return rows[i].run(argc, argv);
}

/* A standard stream that was closed would lend its number to the next file that is opened, and what
 * is printed would end up in there. Opened for reading, printing to it is still the error that it
 * is. */
static void occupy_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    occupy_standard_streams();
    /* A limit on file size is then an error of the write, which cleans up, not the end of the
     * program. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        fputs("sonde: no command; try: sonde --help\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return overview();
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 2) {
            fputs("sonde: --version stands alone\n", stderr);
            return EXIT_USAGE;
        }
        char text[64];
        snprintf(text, sizeof(text), "sonde %s\n", sonde_version());
        return cli_print(text);
    }
    if (strcmp(argv[1], "help") == 0) {
        bool itself = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
        return help(argc > 2 && !itself ? argv[2] : NULL);
    }
    if (!cli_command(argv[1])) {
        return cli_no_command(argv[1]);
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return cli_help(argv[1]);
        }
    }
    heap_in_huge_pages();
    return run(argc - 1, argv + 1);
}

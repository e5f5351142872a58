/* sonde topology: a dissection's memory hierarchy, drawn in text. */
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

enum { COLUMNS_PIPED = 80, COLUMNS_LEAST = 40, COLUMNS_MOST = 100 };

/* The terminal's width within what reads well. */
static int columns(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
        size.ws_col == 0) {
        return COLUMNS_PIPED;
    }
    return size.ws_col < COLUMNS_LEAST  ? COLUMNS_LEAST
           : size.ws_col > COLUMNS_MOST ? COLUMNS_MOST
                                        : size.ws_col;
}

static bool speaks_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

int cmd_topology(int argc, char **argv)
{
    static const struct option_spec options[] = {{"--ascii", false}, {NULL, false}};
    const char *file = NULL;
    bool ascii = false;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (option_is(&walk, "--ascii")) {
            ascii = true;
        } else if (file) {
            return cli_usage(argv[0], "one dissection is drawn; what is '%s'", walk.value);
        } else {
            file = walk.value;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!file) {
        return cli_usage(argv[0], "which dissection (a file that dissect --json wrote)");
    }
    char *text = NULL;
    int rc = sonde_topology(&text, file, columns(), cli_colour(), !ascii && speaks_utf8());
    return cli_print_text(rc, text);
}

/* sonde explain: what attributes are, how they are found, what can fool them. */
#include <stdlib.h>

#include "cli/cli.h"

static int print_one(const char *name)
{
    char *text = NULL;
    int rc = sonde_explain(&text, name);
    return cli_print_text(rc, text);
}

int cmd_explain(int argc, char **argv)
{
    static const struct option_spec options[] = {{NULL, false}};
    struct option_walk walk;
    size_t named = 0;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        int status = named++ > 0 ? cli_print("\n") : EXIT_SUCCESS;
        if (status == EXIT_SUCCESS) {
            status = print_one(walk.value);
        }
        if (status != EXIT_SUCCESS) {
            return status;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    return named > 0 ? EXIT_SUCCESS : print_one(NULL);
}

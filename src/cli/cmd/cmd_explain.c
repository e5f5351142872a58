/* sonde explain: what an attribute is, how it is found, what can fool it. */
#include "cli/cli.h"

int cmd_explain(int argc, char **argv)
{
    static const struct option_spec options[] = {{NULL, false}};
    const char *name = NULL;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (name) {
            return cli_usage(argv[0], "one attribute at a time");
        }
        name = walk.value;
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    char *text = NULL;
    int rc = sonde_explain(&text, name);
    return cli_print_text(rc, text);
}

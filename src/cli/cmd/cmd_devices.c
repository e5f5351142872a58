/* sonde devices: what is here. */
#include "cli/cli.h"

int cmd_devices(int argc, char **argv)
{
    static const struct option_spec spec[] = {{"--json", false}, {NULL, false}};
    struct option_walk walk;
    bool json = false;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, spec)) {
        if (!walk.name) {
            return cli_usage(argv[0], "what is '%s'", walk.value);
        }
        json = true;
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    char *text = NULL;
    int rc = json ? sonde_devices_json(&text) : sonde_devices_table(&text);
    return cli_print_text(rc, text);
}

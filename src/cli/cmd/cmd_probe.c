/* sonde probe: one probe's raw measurements as CSV. */
#include <string.h>

#include "cli/cli.h"

#define MAX_SETTINGS 32

struct probe_arguments {
    const char *name, *device, *csv;
    const char *settings[MAX_SETTINGS];
    size_t setting_count;
    bool list, quiet;
};

static const struct option_spec options[] = {
    {"--list", false}, {"-d", true}, {"--set", true}, {"--csv", true}, {"-q", false}, {NULL, false},
};

static int parse(struct probe_arguments *arguments, int argc, char **argv)
{
    struct option_walk walk;
    *arguments = (struct probe_arguments){.device = "sim:gtx780", .csv = "-"};
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (!walk.name && arguments->name) {
            return cli_usage(argv[0], "what is '%s'", walk.value);
        } else if (!walk.name) {
            arguments->name = walk.value;
        } else if (option_is(&walk, "--list")) {
            arguments->list = true;
        } else if (option_is(&walk, "-d")) {
            arguments->device = walk.value;
        } else if (option_is(&walk, "--csv")) {
            arguments->csv = walk.value;
        } else if (option_is(&walk, "-q")) {
            arguments->quiet = true;
        } else if (arguments->setting_count == MAX_SETTINGS) {
            return cli_usage(argv[0], "at most %d settings", MAX_SETTINGS);
        } else {
            arguments->settings[arguments->setting_count++] = walk.value;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!arguments->name && !arguments->list) {
        return cli_usage(argv[0], "which probe (sonde probe --list tells)");
    }
    return EXIT_DONE;
}

int cmd_probe(int argc, char **argv)
{
    struct probe_arguments arguments;
    int status = parse(&arguments, argc, argv);
    if (status != EXIT_DONE) {
        return status;
    }
    char *text = NULL;
    if (arguments.list) {
        int rc = sonde_probe_describe(&text, arguments.name);
        return cli_print_text(rc, text);
    }
    status = cli_check_output(arguments.csv);
    if (status != EXIT_DONE) {
        return status;
    }
    struct sonde_device *device;
    int rc = sonde_device_open(&device, arguments.device);
    if (rc < 0) {
        return cli_fail(rc);
    }
    cli_note_model(cli_model_file(arguments.device));
    struct sonde_watch watch = cli_watch(arguments.quiet);
    rc = sonde_probe(&text, device, arguments.name, arguments.settings, arguments.setting_count,
                     &watch);
    cli_watch_end();
    rc = rc < 0 ? rc : sonde_write(arguments.csv, text);
    sonde_free(text);
    sonde_device_close(device);
    return rc < 0 ? cli_fail(rc) : EXIT_DONE;
}

/* sonde workload: one of the programs that come with Sonde, on a simulated device. */
#include <stdint.h>
#include <string.h>

#include "cli/cli.h"

struct request {
    struct sonde_workload_options options;
    const char *device;
    bool list, quiet;
};

static bool take_number(struct option_walk *walk, uint32_t *number)
{
    uint64_t value;
    if (!option_u64(walk, &value)) {
        return false;
    }
    if (value == 0 || value > UINT32_MAX) {
        walk->failed = true;
        cli_usage("workload", "%s: out of range", walk->name);
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

static void take_option(struct request *request, struct option_walk *walk)
{
    if (option_is(walk, "-d")) {
        request->device = walk->value;
    } else if (option_is(walk, "--size")) {
        take_number(walk, &request->options.size);
    } else if (option_is(walk, "--block")) {
        take_number(walk, &request->options.block);
    } else if (option_is(walk, "--depth")) {
        take_number(walk, &request->options.depth);
    } else if (option_is(walk, "--threads")) {
        take_number(walk, &request->options.threads);
    } else if (option_is(walk, "--stats")) {
        request->options.stats_path = walk->value;
    } else if (option_is(walk, "--functional")) {
        request->options.functional = 1;
    } else if (option_is(walk, "--list")) {
        request->list = true;
    } else if (option_is(walk, "-q")) {
        request->quiet = true;
    } else if (request->options.name) {
        walk->failed = true;
        cli_usage("workload", "one workload is run; what is '%s'", walk->value);
    } else {
        request->options.name = walk->value;
    }
}

int cmd_workload(int argc, char **argv)
{
    static const struct option_spec options[] = {
        {"-d", true},      {"--size", true},    {"--block", true},       {"--depth", true},
        {"--stats", true}, {"--threads", true}, {"--functional", false}, {"--list", false},
        {"-q", false},     {NULL, false}};
    struct request request = {.device = NULL}; /* the workload's own */
    struct option_walk walk;
    char *text = NULL;
    option_walk_start(&walk, argc, argv);
    while (!walk.failed && option_walk_next(&walk, options)) {
        take_option(&request, &walk);
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (request.list) {
        int rc = sonde_workload_list(&text);
        return cli_print_text(rc, text);
    }
    if (!request.options.name) {
        return cli_usage("workload", "which workload (--list names them)");
    }
    int status = cli_check_output(request.options.stats_path);
    if (status != EXIT_DONE) {
        return status;
    }
    request.options.watch = cli_watch(request.quiet);
    cli_note_model(cli_model_file(request.device));
    int rc = sonde_workload(&text, request.device, &request.options);
    cli_watch_end();
    if (rc < 0 || !request.quiet) {
        return cli_print_text(rc, text);
    }
    sonde_free(text);
    return EXIT_DONE;
}

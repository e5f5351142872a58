/* sonde sweep: models x parameters x programs, one table. The exit status is 1 when a point did not
 * end well. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct request {
    struct sonde_sweep_options options;
    const char *spec; /* the positional argument: with --plot and --pareto, the sweep's folder */
    const char *goals;
    const char *x, *y, *by, *where;
    bool list, quiet, plot;
};

/* --plot x=COLUMN y=COLUMN: the words behind it. False: not one of them. */
static bool take_word(struct request *request, const char *word)
{
    const struct {
        const char *key;
        const char **value;
    } words[] = {{"x=", &request->x},
                 {"y=", &request->y},
                 {"by=", &request->by},
                 {"where=", &request->where}};
    for (size_t i = 0; request->plot && i < sizeof words / sizeof *words; i++) {
        if (strncmp(word, words[i].key, strlen(words[i].key)) == 0) {
            *words[i].value = word + strlen(words[i].key);
            return true;
        }
    }
    return false;
}

static void take_option(struct request *request, struct option_walk *walk)
{
    uint64_t number;
    if (option_is(walk, "-o")) {
        request->options.folder = walk->value;
    } else if (option_is(walk, "-j")) {
        if (option_u64(walk, &number)) {
            request->options.jobs = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
            if (number == 0) {
                walk->failed = true;
                cli_usage("sweep", "-j is 1 or more");
            }
        }
    } else if (option_is(walk, "--resume")) {
        request->options.resume = 1;
    } else if (option_is(walk, "--retry")) {
        request->options.retry = 1;
    } else if (option_is(walk, "--list")) {
        request->list = true;
    } else if (option_is(walk, "-q")) {
        request->quiet = true;
    } else if (option_is(walk, "--pareto")) {
        request->goals = walk->value;
    } else if (option_is(walk, "--plot")) {
        request->plot = true;
    } else if (take_word(request, walk->value)) {
        return;
    } else if (request->spec) {
        walk->failed = true;
        cli_usage("sweep", "what is '%s'", walk->value);
    } else {
        request->spec = walk->value;
    }
}

/* What needs no run. */
static int look_at(const struct request *request)
{
    char *text = NULL;
    int rc;
    if (request->plot && (!request->x || !request->y)) {
        return cli_usage("sweep", "--plot x=COLUMN y=COLUMN [by=COLUMN] [where=EXPRESSION] DIR");
    }
    if (request->list) {
        rc = sonde_sweep_list(&text, request->spec);
    } else if (request->goals) {
        rc = sonde_sweep_pareto(&text, request->spec, request->goals);
    } else {
        rc = sonde_sweep_plot(&text, request->spec, request->x, request->y, request->by,
                              request->where);
    }
    return cli_print_text(rc, text);
}

static int sweep(struct request *request)
{
    char *text = NULL;
    size_t not_ok = 0;
    request->options.watch = cli_watch(request->quiet);
    int rc = sonde_sweep(&text, &not_ok, request->spec, &request->options);
    cli_watch_end();
    int failed = rc < 0 ? cli_fail(rc) : EXIT_DONE;
    int status = text && !request->quiet ? cli_print(text) : EXIT_DONE;
    sonde_free(text);
    if (failed != EXIT_DONE || status != EXIT_DONE) {
        return failed != EXIT_DONE ? failed : status;
    }
    return not_ok > 0 ? EXIT_NOT_HELD : EXIT_DONE;
}

int cmd_sweep(int argc, char **argv)
{
    static const struct option_spec options[] = {
        {"-o", true},       {"-j", true},       {"--resume", false},
        {"--retry", false}, {"--list", false},  {"-q", false},
        {"--plot", false},  {"--pareto", true}, {NULL, false}};
    struct request request = {0};
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (!walk.failed && option_walk_next(&walk, options)) {
        take_option(&request, &walk);
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    bool looks = request.list || request.plot || request.goals;
    if (!request.spec) {
        return cli_usage("sweep",
                         looks && !request.list ? "which sweep's folder" : "which specification");
    }
    if (looks) {
        return look_at(&request);
    }
    if (!request.options.folder) {
        return cli_usage("sweep", "-o DIR: where the table goes");
    }
    return sweep(&request);
}

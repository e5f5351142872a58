/* sonde exec: kernels of a PTX file, in turn, over the same buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check_option.h"
#include "cli/cli.h"

#define MAX_ARGS 128
#define MAX_FILES 64
#define MAX_LAUNCHES 64
#define MAX_PRINTS 64
#define REPORTS 4 /* --stats, --timeline, --profile, --check */

static const struct option_spec options[] = {
    {"-d", true},
    {"--kernel", true},
    {"--grid", true},
    {"--block", true},
    {"--shared", true},
    {"--arg", true},
    {"--then", false},
    {"--print", true},
    {"--functional", false},
    {"-q", false},
    {"--cooperative", false},
    {"--printf-buffer", true},
    {"--heap", true},
    {"--max-cycles", true},
    {"--stats", true},
    {"--threads", true},
    {"--any-target", false},
    {"--check", false},
    {"--check", true},
    {"--suppress", true},
    {"--profile", false},
    {"--profile", true},
    {"--timeline", true},
    {"--cold", false},
    {"--summary", false},
    {NULL, false},
};

struct exec_arguments {
    const char *device;
    const char *args[MAX_ARGS]; /* of all launches */
    size_t arg_count;
    const char *links[MAX_FILES];
    const char *prints[MAX_PRINTS];
    struct sonde_exec_launch launches[MAX_LAUNCHES];
    size_t launch_count;
    struct sonde_exec_options options;
    struct check_option check, profile;
    bool quiet;
};

/* The launch that options are of: the first, or the one behind the last --then. */
static struct sonde_exec_launch *current(struct exec_arguments *arguments)
{
    return &arguments->launches[arguments->launch_count - 1];
}

static void begin_launch(struct exec_arguments *arguments)
{
    arguments->launches[arguments->launch_count++] = (struct sonde_exec_launch){
        .grid = {1, 1, 1},
        .block = {1, 1, 1},
        .args = arguments->args + arguments->arg_count,
    };
}

/* "X[,Y[,Z]]", each at least 1. */
static bool parse_size(struct option_walk *walk, uint32_t size[3])
{
    const char *text = walk->value;
    size[0] = size[1] = size[2] = 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long long value = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || value == 0 || value > UINT32_MAX) {
            break;
        }
        size[i] = (uint32_t)value;
        if (*end == '\0') {
            return true;
        }
        if (*end != ',') {
            break;
        }
        text = end + 1;
    }
    cli_usage(walk->command, "%s: '%s' is not X[,Y[,Z]] with numbers from 1", walk->name,
              walk->value);
    walk->failed = true;
    return false;
}

/* Bytes; none would mean the default. */
static void take_size(struct option_walk *walk, uint64_t *bytes)
{
    if (option_u64(walk, bytes) && *bytes == 0) {
        cli_usage(walk->command, "%s: 0 is too little", walk->name);
        walk->failed = true;
    }
}

static void refuse(struct option_walk *walk, const char *what, int most)
{
    cli_usage(walk->command, "at most %d %s", most, what);
    walk->failed = true;
}

static void take_argument(struct exec_arguments *arguments, struct option_walk *walk)
{
    if (arguments->arg_count == MAX_ARGS) {
        refuse(walk, "arguments", MAX_ARGS);
        return;
    }
    arguments->args[arguments->arg_count++] = walk->value;
    current(arguments)->arg_count++;
}

static void take_shared(struct exec_arguments *arguments, struct option_walk *walk)
{
    uint64_t bytes;
    if (option_u64(walk, &bytes) && bytes <= UINT32_MAX) {
        current(arguments)->dynamic_shared_bytes = (uint32_t)bytes;
    } else if (!walk->failed) {
        cli_usage(walk->command, "--shared: %s is too much", walk->value);
        walk->failed = true;
    }
}

/* What belongs to one launch. False: it is something else. */
static bool take_launch_option(struct exec_arguments *arguments, struct option_walk *walk)
{
    struct sonde_exec_launch *launch = current(arguments);
    if (option_is(walk, "--kernel")) {
        launch->kernel = walk->value;
    } else if (option_is(walk, "--grid")) {
        parse_size(walk, launch->grid);
    } else if (option_is(walk, "--block")) {
        parse_size(walk, launch->block);
    } else if (option_is(walk, "--shared")) {
        take_shared(arguments, walk);
    } else if (option_is(walk, "--cooperative")) {
        launch->cooperative = 1;
    } else if (option_is(walk, "--arg")) {
        take_argument(arguments, walk);
    } else if (!option_is(walk, "--then")) {
        return false;
    } else if (arguments->launch_count == MAX_LAUNCHES) {
        refuse(walk, "launches", MAX_LAUNCHES);
    } else {
        begin_launch(arguments);
    }
    return true;
}

static void take_threads(struct sonde_exec_options *exec, struct option_walk *walk)
{
    uint64_t threads;
    if (option_u64(walk, &threads) && threads > 0 && threads <= UINT32_MAX) {
        exec->threads = (uint32_t)threads;
    } else if (!walk->failed) {
        cli_usage(walk->command, "--threads: '%s' is no number of threads", walk->value);
        walk->failed = true;
    }
}

static void take_option(struct exec_arguments *arguments, struct option_walk *walk)
{
    struct sonde_exec_options *exec = &arguments->options;
    if (take_launch_option(arguments, walk)) {
        return;
    }
    if (option_is(walk, "-d")) {
        arguments->device = walk->value;
    } else if (option_is(walk, "--functional")) {
        exec->functional = 1;
    } else if (option_is(walk, "--any-target")) {
        exec->any_target = 1;
    } else if (option_is(walk, "-q")) {
        arguments->quiet = true;
    } else if (option_is(walk, "--printf-buffer")) {
        take_size(walk, &exec->printf_bytes);
    } else if (option_is(walk, "--heap")) {
        take_size(walk, &exec->heap_bytes);
    } else if (option_is(walk, "--max-cycles")) {
        take_size(walk, &exec->max_cycles);
    } else if (option_is(walk, "--stats")) {
        exec->stats_path = walk->value;
    } else if (option_is(walk, "--threads")) {
        take_threads(exec, walk);
    } else if (option_is(walk, "--check")) {
        walk->failed |= !check_option_parse(&arguments->check, walk->command, walk->value);
        exec->check = arguments->check.format;
    } else if (option_is(walk, "--profile")) {
        walk->failed |= !profile_option_parse(&arguments->profile, walk->command, walk->value);
        exec->profile = arguments->profile.format;
    } else if (option_is(walk, "--cold")) {
        exec->cold = 1;
    } else if (option_is(walk, "--summary")) {
        exec->summary = 1;
    } else if (option_is(walk, "--timeline")) {
        exec->timeline_path = walk->value;
    } else if (option_is(walk, "--suppress")) {
        exec->suppress = walk->value;
    } else if (exec->print_count == MAX_PRINTS) {
        refuse(walk, "buffers to print", MAX_PRINTS);
    } else {
        arguments->prints[exec->print_count++] = walk->value;
    }
}

/* The file of [NAME=]KIND:..., NULL: none, or what is no specification, whose own error tells it.
 */
struct argument_file {
    char *path;
    bool written; /* at the end; it may be the one that another argument reads */
};

static struct argument_file file_of(const char *spec)
{
    static const struct {
        const char *kind;
        bool written;
        int skipped; /* parts in front of the path */
        char end;    /* the last of these is behind it; 0: nothing is */
    } kinds[] = {{"file:", false, 0, 0},
                 {"out:", true, 0, ':'},
                 {"inout:", true, 0, 0},
                 {"texture:", false, 2, ','},
                 {"surface:", true, 2, 0}};
    const char *colon = strchr(spec, ':'), *equals = strchr(spec, '=');
    const char *kind = equals && colon && equals < colon ? equals + 1 : spec;
    for (size_t i = 0; colon && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(kind, kinds[i].kind, strlen(kinds[i].kind)) != 0) {
            continue;
        }
        const char *path = colon + 1, *end;
        for (int k = 0; path && k < kinds[i].skipped; k++) {
            path = strchr(path, ':');
            path = path ? path + 1 : NULL;
        }
        if (!path) {
            break;
        }
        end = kinds[i].end == ':' ? strrchr(path, ':')
                                  : path + strcspn(path, kinds[i].end ? "," : "");
        return (struct argument_file){
            end && end > path ? strndup(path, (size_t)(end - path)) : NULL, kinds[i].written};
    }
    return (struct argument_file){0};
}

/* PTX files, the model, what arguments read: no report takes their place. What one argument reads
 * another may write. */
static bool overwrites(const struct exec_arguments *arguments, const struct argument_file *files,
                       const struct cli_output *outputs, size_t count)
{
    const struct sonde_exec_options *exec = &arguments->options;
    bool found = cli_overwrites("exec", exec->ptx_path, outputs, count) ||
                 cli_overwrites("exec", cli_device_file(arguments->device), outputs, count);
    for (size_t i = 0; !found && i < exec->link_count; i++) {
        found = cli_overwrites("exec", arguments->links[i], outputs, count);
    }
    for (size_t i = 0; !found && i < arguments->arg_count; i++) {
        found = cli_overwrites("exec", files[i].path, outputs, REPORTS);
    }
    return found;
}

/* Reports, and files that arguments are written to. */
static int check_outputs(const struct exec_arguments *arguments)
{
    struct cli_output outputs[MAX_ARGS + REPORTS] = {
        {"--stats", arguments->options.stats_path},
        {"--timeline", arguments->options.timeline_path},
        {"--profile", arguments->profile.path},
        {"--check", arguments->check.path},
    };
    struct argument_file files[MAX_ARGS] = {0};
    int status = EXIT_DONE;
    for (size_t i = 0; i < REPORTS && status == EXIT_DONE; i++) {
        status = cli_check_output(outputs[i].path);
    }
    for (size_t i = 0; i < arguments->arg_count && status == EXIT_DONE; i++) {
        files[i] = file_of(arguments->args[i]);
        if (files[i].written) {
            outputs[REPORTS + i] = (struct cli_output){arguments->args[i], files[i].path};
            status = cli_check_output(files[i].path);
        }
    }
    size_t count = REPORTS + arguments->arg_count;
    if (status == EXIT_DONE && (cli_same_outputs("exec", outputs, count) ||
                                overwrites(arguments, files, outputs, count))) {
        status = EXIT_USAGE;
    }
    for (size_t i = 0; i < arguments->arg_count; i++) {
        free(files[i].path);
    }
    return status;
}

/* What the kernel prints. */
static void show_output(void *ctx, const char *text, size_t bytes)
{
    bool *failed = ctx;
    cli_watch_end();
    *failed |= fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout) != 0;
}

static bool take_arguments(struct exec_arguments *arguments, int argc, char **argv)
{
    struct sonde_exec_options *exec = &arguments->options;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (walk.name) {
            take_option(arguments, &walk);
        } else if (!exec->ptx_path) {
            exec->ptx_path = walk.value;
        } else if (exec->link_count < MAX_FILES) {
            arguments->links[exec->link_count++] = walk.value;
        } else {
            refuse(&walk, "files", MAX_FILES);
        }
    }
    if (!walk.failed && !exec->ptx_path) {
        cli_usage(argv[0], "which PTX file");
        walk.failed = true;
    }
    return !walk.failed;
}

/* The launches as the interface takes them: the first in the options, the others behind it. */
static void join_launches(struct exec_arguments *arguments)
{
    struct sonde_exec_options *exec = &arguments->options;
    const struct sonde_exec_launch *first = &arguments->launches[0];
    exec->kernel = first->kernel;
    memcpy(exec->grid, first->grid, sizeof(exec->grid));
    memcpy(exec->block, first->block, sizeof(exec->block));
    exec->dynamic_shared_bytes = first->dynamic_shared_bytes;
    exec->cooperative = first->cooperative;
    exec->args = first->args;
    exec->arg_count = first->arg_count;
    exec->then = arguments->launches + 1;
    exec->then_count = arguments->launch_count - 1;
    exec->prints = arguments->prints;
    exec->link_paths = arguments->links;
}

int cmd_exec(int argc, char **argv)
{
    struct exec_arguments arguments = {.device = "sim:gtx780"};
    begin_launch(&arguments);
    if (!take_arguments(&arguments, argc, argv)) {
        return EXIT_USAGE;
    }
    if (arguments.options.suppress && !arguments.options.check) {
        return cli_usage("exec", "--suppress is of --check's reports");
    }
    int status = check_outputs(&arguments);
    if (status != EXIT_DONE) {
        return status;
    }
    join_launches(&arguments);
    arguments.options.watch = cli_watch(arguments.quiet);
    bool output_failed = false;
    arguments.options.print = show_output;
    arguments.options.print_ctx = &output_failed;
    char *text = NULL, *report = NULL, *profile = NULL;
    size_t reports = 0;
    arguments.options.report = &report;
    arguments.options.reports = &reports;
    arguments.options.profile_report = &profile;
    cli_note_model(cli_model_file(arguments.device));
    int rc = sonde_exec(&text, arguments.device, &arguments.options);
    cli_watch_end();
    if (rc == 0 && arguments.quiet) {
        text[0] = '\0'; /* what the kernel prints and what was asked for is all */
    }
    int printed = cli_print_text(rc, text);
    if (report) {
        int held = check_option_report(&arguments.check, report, reports);
        printed = printed == EXIT_DONE ? held : printed;
        sonde_free(report);
    }
    if (profile) {
        int written = report_option_write(&arguments.profile, profile);
        printed = printed == EXIT_DONE ? written : printed;
        sonde_free(profile);
    }
    if (output_failed && printed == EXIT_DONE) {
        cli_complain(": standard output: what the kernel printed was not written");
        return EXIT_NOT_HELD;
    }
    return printed;
}

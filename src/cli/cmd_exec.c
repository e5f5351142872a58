/* sonde exec: one kernel of a PTX file on a simulated device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define MAX_ARGS 128
#define MAX_FILES 64

static const struct option_spec options[] = {
    {"-d", true},
    {"--kernel", true},
    {"--grid", true},
    {"--block", true},
    {"--shared", true},
    {"--arg", true},
    {"--functional", false},
    {"-q", false},
    {"--cooperative", false},
    {"--printf-buffer", true},
    {"--heap", true},
    {"--stats", true},
    {"--threads", true},
    {"--any-target", false},
    {NULL, false},
};

struct exec_arguments {
    const char *device;
    const char *args[MAX_ARGS];
    const char *links[MAX_FILES];
    struct sonde_exec_options options;
    bool quiet;
};

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

static void take_option(struct exec_arguments *arguments, struct option_walk *walk)
{
    struct sonde_exec_options *exec = &arguments->options;
    uint64_t bytes;
    if (option_is(walk, "-d")) {
        arguments->device = walk->value;
    } else if (option_is(walk, "--kernel")) {
        exec->kernel = walk->value;
    } else if (option_is(walk, "--grid")) {
        parse_size(walk, exec->grid);
    } else if (option_is(walk, "--block")) {
        parse_size(walk, exec->block);
    } else if (option_is(walk, "--functional")) {
        exec->functional = 1;
    } else if (option_is(walk, "--any-target")) {
        exec->any_target = 1;
    } else if (option_is(walk, "-q")) {
        arguments->quiet = true;
    } else if (option_is(walk, "--shared")) {
        if (option_u64(walk, &bytes) && bytes <= UINT32_MAX) {
            exec->dynamic_shared_bytes = (uint32_t)bytes;
        } else if (!walk->failed) {
            cli_usage(walk->command, "--shared: %s is too much", walk->value);
            walk->failed = true;
        }
    } else if (option_is(walk, "--cooperative")) {
        exec->cooperative = 1;
    } else if (option_is(walk, "--printf-buffer")) {
        take_size(walk, &exec->printf_bytes);
    } else if (option_is(walk, "--heap")) {
        take_size(walk, &exec->heap_bytes);
    } else if (option_is(walk, "--stats")) {
        exec->stats_path = walk->value;
    } else if (option_is(walk, "--threads")) {
        if (option_u64(walk, &bytes) && bytes > 0 && bytes <= UINT32_MAX) {
            exec->threads = (uint32_t)bytes;
        } else if (!walk->failed) {
            cli_usage(walk->command, "--threads: '%s' is no number of threads", walk->value);
            walk->failed = true;
        }
    } else if (exec->arg_count < MAX_ARGS) {
        arguments->args[exec->arg_count++] = walk->value;
    } else {
        cli_usage(walk->command, "at most %d arguments", MAX_ARGS);
        walk->failed = true;
    }
}

/* Buffers that are written to files afterwards: out:PATH:BYTES and inout:PATH. */
static int check_outputs(const struct exec_arguments *arguments)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < arguments->options.arg_count && status == EXIT_DONE; i++) {
        const char *spec = arguments->args[i];
        const char *colon = strchr(spec, ':');
        const char *end = spec + strlen(spec);
        if (strncmp(spec, "out:", 4) == 0) {
            end = strrchr(spec, ':');
        } else if (strncmp(spec, "inout:", 6) != 0) {
            continue;
        }
        /* What is no specification at all is told by its own error. */
        char *path = end > colon + 1 ? strndup(colon + 1, (size_t)(end - colon - 1)) : NULL;
        status = cli_check_output(path);
        free(path);
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

int cmd_exec(int argc, char **argv)
{
    struct exec_arguments arguments = {
        .device = "sim:gtx780",
        .options = {.grid = {1, 1, 1}, .block = {1, 1, 1}},
    };
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (walk.name) {
            take_option(&arguments, &walk);
        } else if (!arguments.options.ptx_path) {
            arguments.options.ptx_path = walk.value;
        } else if (arguments.options.link_count < MAX_FILES) {
            arguments.links[arguments.options.link_count++] = walk.value;
        } else {
            return cli_usage(argv[0], "at most %d files", MAX_FILES);
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!arguments.options.ptx_path) {
        return cli_usage(argv[0], "which PTX file");
    }
    int status = check_outputs(&arguments);
    if (status == EXIT_DONE && arguments.options.stats_path) {
        status = cli_check_output(arguments.options.stats_path);
    }
    if (status != EXIT_DONE) {
        return status;
    }
    arguments.options.args = arguments.args;
    arguments.options.link_paths = arguments.links;
    arguments.options.watch = cli_watch(arguments.quiet);
    bool output_failed = false;
    arguments.options.print = show_output;
    arguments.options.print_ctx = &output_failed;
    char *text = NULL;
    int rc = sonde_exec(&text, arguments.device, &arguments.options);
    cli_watch_end();
    int printed = cli_print_text(rc, text);
    if (output_failed && printed == EXIT_DONE) {
        cli_complain(": standard output: what the kernel printed was not written");
        return EXIT_NOT_HELD;
    }
    return printed;
}

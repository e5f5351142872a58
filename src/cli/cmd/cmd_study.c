/*
 * sonde study: a paper's numbers beside measured ones. The exit status is 1 when a row fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/fileio.h"

#define PATH_BYTES 4096
#define MAX_SETTINGS 48
#define MAX_JOBS 1024

struct study_arguments {
    const char *name, *folder, *json;
    const char *devices[MAX_SETTINGS], *sizes[MAX_SETTINGS];
    char *only, *kernels; /* the values of all their uses */
    bool quiet, list;
    struct sonde_study_options options;
};

static const struct option_spec study_options[] = {
    {"-d", true},
    {"-o", true},
    {"--json", true},
    {"--only", true},
    {"--seed", true},
    {"--list", false},
    {"-q", false},
    {"--size", true},
    {"--kernels", true},
    {"--quick", false},
    {"-j", true},
    {"--resume", false},
    {"--without-set-aside", false},
    {NULL, false},
};

static int take_option(struct study_arguments *arguments, struct option_walk *walk)
{
    if (option_is(walk, "-d")) {
        if (arguments->options.device_count == MAX_SETTINGS) {
            return cli_usage("study", "at most %d devices", MAX_SETTINGS);
        }
        arguments->devices[arguments->options.device_count++] = walk->value;
    } else if (option_is(walk, "--size")) {
        if (arguments->options.size_count == MAX_SETTINGS) {
            return cli_usage("study", "at most %d sizes", MAX_SETTINGS);
        }
        arguments->sizes[arguments->options.size_count++] = walk->value;
    } else if (option_is(walk, "-o")) {
        arguments->folder = walk->value;
    } else if (option_is(walk, "--json")) {
        arguments->json = walk->value;
    } else if (option_is(walk, "--only")) {
        option_list(walk, &arguments->only);
    } else if (option_is(walk, "--kernels")) {
        option_list(walk, &arguments->kernels);
    } else if (option_is(walk, "--quick")) {
        arguments->options.quick = 1;
    } else if (option_is(walk, "--resume")) {
        arguments->options.resume = 1;
    } else if (option_is(walk, "-j")) {
        uint64_t jobs = 0;
        if (option_u64(walk, &jobs) && (jobs == 0 || jobs > MAX_JOBS)) {
            return cli_usage("study", "-j: 1 to %d", MAX_JOBS);
        }
        arguments->options.jobs = (uint32_t)jobs;
    } else if (option_is(walk, "--without-set-aside")) {
        arguments->options.without_set_aside = 1;
    } else if (option_is(walk, "--seed")) {
        option_u64(walk, &arguments->options.seed);
    } else if (option_is(walk, "--list")) {
        arguments->list = true;
    } else {
        arguments->quiet = true;
    }
    return EXIT_DONE;
}

static int which_study(void)
{
    char names[256];
    sonde_study_names(names, sizeof(names));
    return cli_usage("study", "which study: %s", names);
}

static int parse(struct study_arguments *arguments, int argc, char **argv)
{
    struct option_walk walk;
    *arguments = (struct study_arguments){.options.seed = 1};
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, study_options)) {
        if (walk.name) {
            int status = take_option(arguments, &walk);
            if (status != EXIT_DONE) {
                return status;
            }
        } else if (arguments->name) {
            return cli_usage("study", "what is '%s'", walk.value);
        } else {
            arguments->name = walk.value;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!arguments->name && !arguments->list) {
        return which_study();
    }
    return EXIT_DONE;
}

static int prepare_outputs(const struct study_arguments *arguments)
{
    if (arguments->folder) {
        if (strlen(arguments->folder) + sizeof("/study.json") > PATH_BYTES) {
            return cli_usage("study", "-o: the path is too long");
        }
        int rc = file_make_folder(arguments->folder);
        if (rc < 0) {
            return cli_fail(rc);
        }
    }
    return cli_check_output(arguments->json);
}

static int write_in(const char *folder, const char *name, const char *text)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%.*s/%s", PATH_BYTES - 32, folder, name);
    return sonde_write(path, text);
}

static int write_files(const struct study_arguments *arguments, const struct sonde_study *study,
                       const char *table)
{
    char *json = NULL;
    int rc = sonde_study_json(&json, study);
    int asked = rc == 0 && arguments->json ? sonde_write(arguments->json, json) : 0;
    if (rc == 0 && arguments->folder) {
        rc = write_in(arguments->folder, "study.json", json);
        rc = rc < 0 ? rc : write_in(arguments->folder, "study.txt", table);
    }
    sonde_free(json);
    return rc < 0 ? rc : asked;
}

/* Also what an interrupt or a full disk left of it. */
static int show(const struct study_arguments *arguments, const struct sonde_study *study)
{
    bool json_on_stdout = arguments->json && strcmp(arguments->json, "-") == 0;
    char *table = NULL;
    int rc = sonde_study_table(&table, study);
    if (rc < 0) {
        return cli_fail(rc);
    }
    rc = write_files(arguments, study, table);
    int status = rc < 0 ? cli_fail(rc) : EXIT_DONE;
    if (!arguments->quiet) {
        fputs(sonde_study_notes(study), stderr);
        int printed = json_on_stdout ? EXIT_DONE : cli_print(table);
        status = status != EXIT_DONE ? status : printed;
    }
    sonde_free(table);
    if (status != EXIT_DONE) {
        return status;
    }
    return sonde_study_failures(study) ? EXIT_NOT_HELD : EXIT_DONE;
}

static int measure(struct study_arguments *arguments)
{
    int status = prepare_outputs(arguments);
    if (status != EXIT_DONE) {
        return status;
    }
    struct sonde_study *study = NULL;
    arguments->options.only = arguments->only;
    arguments->options.kernels = arguments->kernels;
    arguments->options.devices = arguments->devices;
    arguments->options.sizes = arguments->sizes;
    arguments->options.folder = arguments->folder;
    for (size_t i = 0; i < arguments->options.device_count; i++) { /* ROLE=DEV */
        const char *device = strchr(arguments->devices[i], '=');
        cli_note_model(cli_model_file(device ? device + 1 : NULL));
    }
    arguments->options.watch = cli_watch(arguments->quiet);
    int rc = sonde_study(&study, arguments->name, &arguments->options);
    cli_watch_end();
    /* Told first: showing the rows may fail too, with a text of its own. */
    int failed = rc < 0 ? cli_fail(rc) : EXIT_DONE;
    status = study && !sonde_study_idle(study) ? show(arguments, study) : EXIT_DONE;
    sonde_study_destroy(study);
    return failed != EXIT_DONE ? failed : status;
}

int cmd_study(int argc, char **argv)
{
    struct study_arguments arguments;
    int status = parse(&arguments, argc, argv);
    if (status == EXIT_DONE && arguments.list) {
        char *text = NULL;
        int rc =
            arguments.name ? sonde_study_describe(&text, arguments.name) : sonde_study_list(&text);
        status = cli_print_text(rc, text);
    } else if (status == EXIT_DONE) {
        status = measure(&arguments);
    }
    free(arguments.only);
    free(arguments.kernels);
    return status;
}

/*
 * sonde dissect and sonde infer: a device's, or a recording's, memory hierarchy. The two differ in
 * where the measurements come from; options and output are the same code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/fileio.h"
#include "util/text/printable.h"

#define PATH_BYTES 4096
#define FILE_ROOM 80 /* of a path, for what lies in the folder: "/figures/NAME.svg" */

struct dissect_arguments {
    const char *device, *folder, *json, *file;
    char *only, *skip; /* the values of all their uses */
    bool quiet, verbose, list;
    struct sonde_dissect_options options;
    char record[PATH_BYTES]; /* inside `folder`, when one is given and --record is not */
};

static const struct option_spec dissect_options[] = {
    {"-d", true},     {"-o", true},       {"--json", true},   {"--only", true},
    {"--skip", true}, {"--record", true}, {"--seed", true},   {"--experiments", false},
    {"-q", false},    {"-v", false},      {"--effort", true}, {NULL, false},
};

static const struct option_spec infer_options[] = {
    {"--json", true}, {"--only", true}, {"--skip", true}, {"--seed", true},
    {"-q", false},    {"-v", false},    {NULL, false},
};

static void take_effort(enum sonde_effort *effort, struct option_walk *walk)
{
    static const char *const words[] = {"normal", "quick", "thorough", NULL};
    size_t which;
    if (option_word(walk, &which, words)) {
        *effort = (enum sonde_effort)which;
    }
}

static void take_option(struct dissect_arguments *arguments, struct option_walk *walk)
{
    if (option_is(walk, "-d")) {
        arguments->device = walk->value;
    } else if (option_is(walk, "-o")) {
        arguments->folder = walk->value;
    } else if (option_is(walk, "--json")) {
        arguments->json = walk->value;
    } else if (option_is(walk, "--only")) {
        option_list(walk, &arguments->only);
    } else if (option_is(walk, "--skip")) {
        option_list(walk, &arguments->skip);
    } else if (option_is(walk, "--record")) {
        arguments->options.record = walk->value;
    } else if (option_is(walk, "--seed")) {
        option_u64(walk, &arguments->options.seed);
    } else if (option_is(walk, "--effort")) {
        take_effort(&arguments->options.effort, walk);
    } else if (option_is(walk, "--experiments")) {
        arguments->list = true;
    } else if (option_is(walk, "-q")) {
        arguments->quiet = true;
    } else if (option_is(walk, "-v")) {
        arguments->verbose = true;
    }
}

/* A recording has its file for itself. */
static int check_record(const char *command, const struct dissect_arguments *arguments)
{
    const char *record = arguments->options.record;
    if (record && strcmp(record, "-") == 0) {
        return cli_usage(command, "--record needs a file, standard output is for the result");
    }
    if (record && arguments->json && file_is_same(record, arguments->json)) {
        return cli_usage(command, "--json and --record name the same file");
    }
    const char *input = arguments->file ? arguments->file : cli_device_file(arguments->device);
    const struct cli_output outputs[] = {{"--json", arguments->json}, {"--record", record}};
    if (cli_overwrites(command, input, outputs, sizeof outputs / sizeof *outputs)) {
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int parse(struct dissect_arguments *arguments, int argc, char **argv,
                 const struct option_spec *spec, bool wants_file)
{
    struct option_walk walk;
    *arguments = (struct dissect_arguments){.device = "sim:gtx780", .options.seed = 1};
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, spec)) {
        if (walk.name) {
            take_option(arguments, &walk);
        } else if (wants_file && !arguments->file) {
            arguments->file = walk.value;
        } else {
            return cli_usage(argv[0], "what is '%s'", walk.value);
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (wants_file && !arguments->file) {
        return cli_usage(argv[0], "which recording");
    }
    if (arguments->quiet && arguments->verbose) {
        return cli_usage(argv[0], "-q and -v exclude each other");
    }
    if (option_lists_clash(argv[0], arguments->only, arguments->skip)) {
        return EXIT_USAGE;
    }
    arguments->options.only = arguments->only;
    arguments->options.skip = arguments->skip;
    return check_record(argv[0], arguments);
}

/* Before the work, so that a long dissection does not end in a path that cannot be. */
static int prepare_folder(struct dissect_arguments *arguments)
{
    const char *folder = arguments->folder;
    if (!folder) {
        return EXIT_DONE;
    }
    if (strlen(folder) > PATH_BYTES - FILE_ROOM) {
        return cli_usage("dissect", "-o: the path is too long");
    }
    int rc = file_make_folder(folder);
    if (rc < 0) {
        return cli_fail(rc);
    }
    if (!arguments->options.record) {
        snprintf(arguments->record, PATH_BYTES, "%.*s/recording.sonde", PATH_BYTES - FILE_ROOM,
                 folder);
        arguments->options.record = arguments->record;
    }
    return EXIT_DONE;
}

static int prepare_outputs(struct dissect_arguments *arguments)
{
    int status = prepare_folder(arguments);
    status = status == EXIT_DONE ? cli_check_output(arguments->json) : status;
    return status == EXIT_DONE ? cli_check_output(arguments->options.record) : status;
}

static int write_in(const char *folder, const char *name, const char *text)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof(path), "%.*s/%s", PATH_BYTES - FILE_ROOM, folder, name);
    return sonde_write(path, text);
}

/* The page of what was written as JSON. */
static int write_report(const char *folder)
{
    char path[PATH_BYTES];
    char *html = NULL;
    snprintf(path, sizeof(path), "%.*s/dissection.json", PATH_BYTES - FILE_ROOM, folder);
    int rc = sonde_report(&html, path);
    rc = rc < 0 ? rc : write_in(folder, "report.html", html);
    sonde_free(html);
    return rc;
}

/* figures/NAME.svg, each that the page has. */
static int write_figures(const char *folder)
{
    char path[PATH_BYTES], from[PATH_BYTES], name[SONDE_FIGURE_NAME], *svg = NULL;
    snprintf(from, sizeof(from), "%.*s/dissection.json", PATH_BYTES - FILE_ROOM, folder);
    snprintf(path, sizeof(path), "%.*s/figures", PATH_BYTES - FILE_ROOM, folder);
    int rc = file_make_folder(path);
    for (size_t i = 0; rc == 0; i++) {
        rc = sonde_figure(&svg, name, from, i);
        if (rc < 0 || !svg) {
            return rc;
        }
        snprintf(path, sizeof(path), "%.*s/figures/%s.svg", PATH_BYTES - FILE_ROOM, folder, name);
        rc = sonde_write(path, svg);
        sonde_free(svg);
    }
    return rc;
}

static int write_folder(const char *folder, const struct sonde_dissection *dissection)
{
    char *json = NULL;
    char *table = NULL;
    int rc = sonde_dissection_json(&json, dissection);
    rc = rc < 0 ? rc : sonde_dissection_table(&table, dissection, SONDE_TABLE_EVIDENCE);
    rc = rc < 0 ? rc : write_in(folder, "dissection.json", json);
    char *shown = rc < 0 ? NULL : printable_text(table, false);
    rc = rc < 0 ? rc : write_in(folder, "dissection.txt", shown ? shown : table);
    rc = rc < 0 ? rc : write_report(folder);
    rc = rc < 0 ? rc : write_figures(folder);
    free(shown);
    sonde_free(json);
    sonde_free(table);
    return rc;
}

static int write_json(const char *path, const struct sonde_dissection *dissection)
{
    char *json = NULL;
    int rc = sonde_dissection_json(&json, dissection);
    rc = rc < 0 ? rc : sonde_write(path, json);
    sonde_free(json);
    return rc;
}

static int show(const struct dissect_arguments *arguments,
                const struct sonde_dissection *dissection)
{
    bool json_on_stdout = arguments->json && strcmp(arguments->json, "-") == 0;
    /* Standard output last: who closes it early still finds the files. It gets the result also when
     * a file could not be written, and each of the files when another could not. */
    int rc = arguments->folder ? write_folder(arguments->folder, dissection) : 0;
    int status = rc < 0 ? cli_fail(rc) : EXIT_DONE;
    rc = arguments->json ? write_json(arguments->json, dissection) : 0;
    status = rc < 0 ? cli_fail(rc) : status;
    if (arguments->quiet || json_on_stdout) {
        return status;
    }
    unsigned flags =
        (cli_colour() ? SONDE_TABLE_COLOUR : 0u) | (arguments->verbose ? SONDE_TABLE_EVIDENCE : 0u);
    char *table = NULL;
    rc = sonde_dissection_table(&table, dissection, flags);
    int printed = cli_print_text(rc, table);
    return status != EXIT_DONE ? status : printed;
}

static int finish(const struct dissect_arguments *arguments, int rc,
                  struct sonde_dissection *dissection)
{
    cli_watch_end();
    /* Told first: showing the result may fail too, with a text of its own. */
    int failed = rc < 0 ? cli_fail(rc) : EXIT_DONE;
    int status = dissection ? show(arguments, dissection) : EXIT_DONE;
    sonde_dissection_destroy(dissection);
    return failed != EXIT_DONE ? failed : status;
}

static int dissect(struct dissect_arguments *arguments)
{
    if (arguments->list) {
        char *text = NULL;
        int rc = sonde_experiments(&text);
        return cli_print_text(rc, text);
    }
    struct sonde_device *device;
    int rc = sonde_device_open(&device, arguments->device);
    if (rc < 0) {
        return cli_fail(rc);
    }
    cli_note_model(cli_model_file(arguments->device));
    int status = prepare_outputs(arguments);
    if (status == EXIT_DONE) {
        struct sonde_dissection *dissection = NULL;
        arguments->options.watch = cli_watch(arguments->quiet);
        rc = sonde_dissect(&dissection, device, &arguments->options);
        status = finish(arguments, rc, dissection);
    }
    sonde_device_close(device);
    return status;
}

static int infer(struct dissect_arguments *arguments)
{
    int status = prepare_outputs(arguments);
    if (status != EXIT_DONE) {
        return status;
    }
    struct sonde_dissection *dissection = NULL;
    arguments->options.watch = cli_watch(arguments->quiet);
    int rc = sonde_infer(&dissection, arguments->file, &arguments->options);
    return finish(arguments, rc, dissection);
}

static int run(int argc, char **argv, const struct option_spec *spec, bool wants_file,
               int (*work)(struct dissect_arguments *arguments))
{
    struct dissect_arguments arguments;
    int status = parse(&arguments, argc, argv, spec, wants_file);
    status = status == EXIT_DONE ? work(&arguments) : status;
    free(arguments.only);
    free(arguments.skip);
    return status;
}

int cmd_dissect(int argc, char **argv)
{
    return run(argc, argv, dissect_options, false, dissect);
}

int cmd_infer(int argc, char **argv)
{
    return run(argc, argv, infer_options, true, infer);
}

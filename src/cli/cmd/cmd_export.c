/* sonde export: a dissection as a model, or in another tool's format. */
#include <string.h>

#include "cli/cli.h"

struct request {
    const char *file, *format, *out, *base;
    bool list;
};

/* False: a usage error was printed. */
static bool read_request(struct request *request, int argc, char **argv)
{
    static const struct option_spec options[] = {
        {"--format", true}, {"-o", true}, {"--base", true}, {"--list", false}, {NULL, false}};
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (option_is(&walk, "--format")) {
            request->format = walk.value;
        } else if (option_is(&walk, "-o")) {
            request->out = walk.value;
        } else if (option_is(&walk, "--base")) {
            request->base = walk.value;
        } else if (option_is(&walk, "--list")) {
            request->list = true;
        } else if (request->file) {
            cli_usage(argv[0], "one file is exported; what is '%s'", walk.value);
            return false;
        } else {
            request->file = walk.value;
        }
    }
    if (!walk.failed && !request->list && (!request->file || !request->format)) {
        cli_usage(argv[0], request->file ? "which --format (--list names them)" : "which file");
        return false;
    }
    if (!walk.failed && request->base && request->format && strcmp(request->format, "sonde") != 0) {
        cli_usage(argv[0], "--base is of --format sonde; %s has none", request->format);
        return false;
    }
    return !walk.failed;
}

/* What a model says of itself that was not taken over, a line each: there the base's values stand,
 * and nobody reads a file that was just written. */
static void tell_struck(const char *text, const char *file)
{
    static const char begin[] = "# Not taken over: ";
    for (const char *line = text; *line == '-' || *line == '#'; line = strchr(line, '\n') + 1) {
        if (strncmp(line, begin, sizeof begin - 1) == 0) {
            const char *why = line + sizeof begin - 1;
            cli_complain(": %s: not taken over, the base's stands there: %.*s", file,
                         (int)strcspn(why, "\n"), why);
        }
        if (!strchr(line, '\n')) {
            break;
        }
    }
}

int cmd_export(int argc, char **argv)
{
    struct request request = {.out = "-"};
    if (!read_request(&request, argc, argv)) {
        return EXIT_USAGE;
    }
    char *text = NULL;
    if (request.list) {
        int rc = sonde_export_formats(&text);
        return cli_print_text(rc, text);
    }
    const struct cli_output out = {"-o", request.out};
    if (cli_overwrites(argv[0], request.file, &out, 1) ||
        cli_overwrites(argv[0], request.base, &out, 1)) {
        return EXIT_USAGE;
    }
    int status = cli_check_output(request.out);
    if (status != EXIT_DONE) {
        return status;
    }
    int rc = sonde_export(&text, request.file, request.format, request.base);
    if (rc < 0) {
        return cli_fail(rc);
    }
    if (strcmp(request.format, "sonde") == 0) {
        tell_struck(text, request.file);
    }
    rc = sonde_write(request.out, text);
    sonde_free(text);
    return rc < 0 ? cli_fail(rc) : EXIT_DONE;
}

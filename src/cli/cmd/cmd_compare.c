/* sonde compare: two dissections, attribute by attribute; status 1 when they differ. */
#include <string.h>

#include "cli/cli.h"

struct request {
    const char *files[2];
    int count;
    const char *json;
    struct sonde_compare_options options;
};

/* False: a usage error was printed. */
static bool read_request(struct request *request, int argc, char **argv)
{
    static const struct option_spec options[] = {
        {"--cycles", true}, {"--percent", true}, {"--json", true}, {"-v", false}, {NULL, false}};
    struct option_walk walk;
    uint64_t amount = 0;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (option_is(&walk, "--cycles")) {
            option_u64(&walk, &amount);
            request->options.cycles = (double)amount;
        } else if (option_is(&walk, "--percent")) {
            option_u64(&walk, &amount);
            request->options.percent = (double)amount;
        } else if (option_is(&walk, "--json")) {
            request->json = walk.value;
            request->options.json = 1;
        } else if (option_is(&walk, "-v")) {
            request->options.all = 1;
        } else if (request->count == 2) {
            cli_usage(argv[0], "two files are compared; what is '%s'", walk.value);
            return false;
        } else {
            request->files[request->count++] = walk.value;
        }
    }
    if (!walk.failed && request->count < 2) {
        cli_usage(argv[0], "which two files");
        return false;
    }
    return !walk.failed;
}

int cmd_compare(int argc, char **argv)
{
    struct request request = {.json = "-"};
    if (!read_request(&request, argc, argv)) {
        return EXIT_USAGE;
    }
    const struct cli_output json = {"--json", request.json};
    if (cli_overwrites(argv[0], request.files[0], &json, 1) ||
        cli_overwrites(argv[0], request.files[1], &json, 1)) {
        return EXIT_USAGE;
    }
    int status = cli_check_output(request.json);
    if (status != EXIT_DONE) {
        return status;
    }
    char *text = NULL;
    size_t differences = 0;
    int rc =
        sonde_compare(&text, &differences, request.files[0], request.files[1], &request.options);
    if (rc < 0) {
        return cli_fail(rc);
    }
    rc = sonde_write(request.json, text);
    sonde_free(text);
    return rc < 0 ? cli_fail(rc) : differences ? EXIT_NOT_HELD : EXIT_DONE;
}

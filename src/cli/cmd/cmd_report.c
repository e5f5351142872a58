/* sonde report: one HTML page of what was kept as JSON. */
#include <string.h>

#include "cli/cli.h"

int cmd_report(int argc, char **argv)
{
    static const struct option_spec options[] = {{"-o", true}, {NULL, false}};
    const char *file = NULL, *out = NULL;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, options)) {
        if (option_is(&walk, "-o")) {
            out = walk.value;
        } else if (file) {
            return cli_usage(argv[0], "one file is reported; what is '%s'", walk.value);
        } else {
            file = walk.value;
        }
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    if (!file || !out) {
        return cli_usage(argv[0], file ? "-o FILE.html: where the page goes (- for standard output)"
                                       : "which file");
    }
    if (cli_overwrites(argv[0], file, &(struct cli_output){"-o", out}, 1)) {
        return EXIT_USAGE;
    }
    int status = cli_check_output(out);
    if (status != EXIT_DONE) {
        return status;
    }
    char *html = NULL;
    int rc = sonde_report(&html, file);
    rc = rc < 0 ? rc : sonde_write(out, html);
    sonde_free(html);
    return rc < 0 ? cli_fail(rc) : EXIT_DONE;
}

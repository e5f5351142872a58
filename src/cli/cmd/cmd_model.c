/* sonde model: list, show, check, params. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/container/strbuf.h"
#include "util/text/printable.h"

static int check(const char *path)
{
    int rc = sonde_model_check(path);
    if (rc < 0) {
        return cli_fail(rc);
    }
    struct strbuf line = {0};
    printable_append_name(&line, path);
    strbuf_append(&line, ": ok\n");
    int status = cli_print(strbuf_text(&line));
    strbuf_free(&line);
    cli_note_model(path);
    return status;
}

int cmd_model(int argc, char **argv)
{
    static const struct option_spec no_options[] = {{NULL, false}};
    const char *words[2] = {NULL, NULL};
    int count = 0;
    struct option_walk walk;
    option_walk_start(&walk, argc, argv);
    while (option_walk_next(&walk, no_options)) {
        if (count == 2) {
            return cli_usage(argv[0], "what is '%s'", walk.value);
        }
        words[count++] = walk.value;
    }
    if (walk.failed) {
        return EXIT_USAGE;
    }
    char *text = NULL;
    if (count == 1 && strcmp(words[0], "list") == 0) {
        int rc = sonde_model_list(&text);
        return cli_print_text(rc, text);
    }
    if (count >= 1 && strcmp(words[0], "params") == 0) {
        int rc = sonde_model_params_of(&text, words[1]);
        return cli_print_text(rc, text);
    }
    if (count == 2 && strcmp(words[0], "show") == 0) {
        int rc = sonde_model_show(&text, words[1]);
        return cli_print_text(rc, text);
    }
    if (count == 2 && strcmp(words[0], "check") == 0) {
        return check(words[1]);
    }
    return cli_usage(argv[0], "one of: list, show NAME, check FILE, params [SECTION]");
}

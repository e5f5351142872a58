/*
 * The table of subcommands, and what is read from it: a command by its name, its help.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text/suggest.h"

static const struct command commands[] = {
#define COMMAND(name, synopsis, summary, help) {#name, synopsis, summary, help},
#include "cli/commands.def"
#undef COMMAND
};

const struct command *cli_command_at(size_t i)
{
    return i < sizeof(commands) / sizeof(commands[0]) ? &commands[i] : NULL;
}

const struct command *cli_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

int cli_no_command(const char *name)
{
    struct suggest suggest = suggest_begin(name);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        suggest_offer(&suggest, commands[i].name);
    }
    const char *near = suggest_best(&suggest);
    if (near) {
        cli_complain(": there is no command '%s'; did you mean '%s'?", name, near);
    } else {
        cli_complain(": there is no command '%s'; try: sonde --help", name);
    }
    return EXIT_USAGE;
}

int cli_help(const char *command)
{
    const struct command *row = cli_command(command);
    char text[4096];
    snprintf(text, sizeof(text), "usage: sonde %s %s\n\n%s.\n%s%s", row->name, row->synopsis,
             row->summary, row->help[0] ? "\n" : "", row->help);
    return cli_print(text);
}

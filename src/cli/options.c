/*
 * Walks a command's arguments. Written here because getopt_long permutes argv and prints messages
 * of its own; ours name the command and the way to its help.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text/suggest.h"

void option_walk_start(struct option_walk *walk, int argc, char **argv)
{
    *walk = (struct option_walk){.command = argv[0], .argc = argc, .index = 1, .argv = argv};
}

/* The row that `argument` begins with; *attached is the value in the same argument, if any. */
static const struct option_spec *find(const struct option_spec *spec, const char *argument,
                                      const char **attached)
{
    *attached = NULL;
    for (; spec->name; spec++) {
        size_t length = strlen(spec->name);
        if (strcmp(argument, spec->name) == 0) {
            return spec;
        }
        if (!spec->takes_value || strncmp(argument, spec->name, length) != 0) {
            continue;
        }
        bool is_long = spec->name[1] == '-';
        if (!is_long || argument[length] == '=') {
            *attached = argument + length + (is_long ? 1 : 0);
            return spec;
        }
    }
    return NULL;
}

static bool fail(struct option_walk *walk)
{
    walk->failed = true;
    return false;
}

static void unknown_option(const struct option_walk *walk, const struct option_spec *spec,
                           const char *argument)
{
    struct suggest suggest = suggest_begin(argument);
    for (; spec->name; spec++) {
        suggest_offer(&suggest, spec->name);
    }
    /* One letter is near to any other. */
    const char *near = strlen(argument) > 2 ? suggest_best(&suggest) : NULL;
    if (near) {
        cli_usage(walk->command, "there is no option '%s', did you mean '%s'", argument, near);
    } else {
        cli_usage(walk->command, "there is no option '%s'", argument);
    }
}

bool option_walk_next(struct option_walk *walk, const struct option_spec *spec)
{
    if (walk->failed || walk->index >= walk->argc) {
        return false;
    }
    const char *argument = walk->argv[walk->index++];
    walk->name = NULL;
    walk->value = argument;
    if (walk->only_positional || argument[0] != '-' || argument[1] == '\0') {
        return true;
    }
    if (strcmp(argument, "--") == 0) {
        walk->only_positional = true;
        return option_walk_next(walk, spec);
    }
    const char *attached;
    const struct option_spec *row = find(spec, argument, &attached);
    if (!row) {
        unknown_option(walk, spec, argument);
        return fail(walk);
    }
    walk->name = row->name;
    walk->value = attached;
    if (row->takes_value && !attached) {
        if (walk->index >= walk->argc) {
            cli_usage(walk->command, "%s needs a value", row->name);
            return fail(walk);
        }
        walk->value = walk->argv[walk->index++];
    }
    return true;
}

bool option_is(const struct option_walk *walk, const char *name)
{
    return walk->name && strcmp(walk->name, name) == 0;
}

bool option_u64(struct option_walk *walk, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(walk->value, &end, 0);
    /* strtoull() passes blanks over, and takes a minus behind them. */
    if (errno || walk->value[0] < '0' || walk->value[0] > '9' || *end) {
        cli_usage(walk->command, "%s: '%s' is %s", walk->name, walk->value,
                  errno == ERANGE ? "too large" : "not a whole number");
        return fail(walk);
    }
    *value = number;
    return true;
}

bool option_word(struct option_walk *walk, size_t *which, const char *const *words)
{
    char all[128] = "";
    size_t at = 0;
    for (*which = 0; words[*which]; ++*which) {
        if (strcmp(walk->value, words[*which]) == 0) {
            return true;
        }
        at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", at ? ", " : "", words[*which]);
    }
    cli_usage(walk->command, "%s: '%s' is none of %s", walk->name, walk->value, all);
    return fail(walk);
}

bool option_list(struct option_walk *walk, char **list)
{
    if (*walk->value == '\0') {
        cli_usage(walk->command, "%s: the list is empty", walk->name);
        return fail(walk);
    }
    size_t before = *list ? strlen(*list) : 0;
    size_t bytes = before + strlen(walk->value) + 2;
    char *whole = realloc(*list, bytes);
    if (!whole) {
        cli_usage(walk->command, "%s: out of memory", walk->name);
        return fail(walk);
    }
    snprintf(whole + before, bytes - before, "%s%s", before ? "," : "", walk->value);
    *list = whole;
    return true;
}

/* Whether the comma-separated list holds the word. */
static bool list_holds(const char *list, const char *word, size_t length)
{
    for (const char *at = list; at;) {
        size_t item = strcspn(at, ",");
        if (item == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at = at[item] ? at + item + 1 : NULL;
    }
    return false;
}

bool option_lists_clash(const char *command, const char *only, const char *skip)
{
    for (const char *word = only && skip ? only : NULL; word;) {
        size_t length = strcspn(word, ",");
        if (list_holds(skip, word, length)) {
            cli_usage(command, "'%.*s' is in both --only and --skip", (int)length, word);
            return true;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return false;
}

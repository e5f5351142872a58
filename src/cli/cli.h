/*
 * The command line. One cmd/cmd_*.c a subcommand, listed in commands.def; only this room prints or
 * exits. Exit statuses are in docs/man/sonde.1: 0 done, 1 done and something did not hold, 2 usage,
 * 3 device not available, 4 bad input; 130 interrupted.
 */
#ifndef SONDE_CLI_CLI_H
#define SONDE_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "sonde/sonde.h"

enum exit_status {
    EXIT_DONE = 0,
    EXIT_NOT_HELD = 1,
    EXIT_USAGE = 2,
    EXIT_DEVICE = 3,
    EXIT_INPUT = 4,
    EXIT_INTERRUPTED = 130,
};

struct command {
    const char *name;
    const char *synopsis; /* after "sonde NAME " */
    const char *summary;  /* one line */
    const char *help;     /* options, a line each; "" for none */
};

/* What runs it: argv[0] is the command's name; returns an exit status. */
#define COMMAND(name, synopsis, summary, help) int cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef COMMAND

const struct command *cli_command(const char *name);
/* The commands in the order of commands.def; NULL behind the last. */
const struct command *cli_command_at(size_t i);

/* A usage error: there is no such command. Returns EXIT_USAGE. */
int cli_no_command(const char *name);

/* Prints the last error with "sonde: " in front and returns the exit status that belongs to `code`.
 */
int cli_fail(int code);

/* A usage error of the named command: the reason, then how to get help. Returns EXIT_USAGE. */
int cli_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "sonde" and the text as a line on standard error, with what is not printable in hexadecimal. */
void cli_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says on standard error what is worth a look in a model's file; NULL, or one that cannot be read:
 * nothing. */
void cli_note_model(const char *file);

/* The named command's help on standard output. Returns EXIT_DONE, or as cli_print. */
int cli_help(const char *command);

/* Writes text to standard output, checked: a full disk or closed pipe is an error. Returns an exit
 * status. */
int cli_print(const char *text);
/* Whether a result can be written to `path` (NULL and "-" can), as far as can be told beforehand.
 * Returns EXIT_DONE, or EXIT_NOT_HELD after saying why not. */
int cli_check_output(const char *path);
/* Files that options name; NULL: none. True after a usage error that was printed: two are one file,
 * of which only what is written last would stay. */
struct cli_output {
    const char *option, *path;
};
bool cli_same_outputs(const char *command, const struct cli_output *outputs, size_t count);

/* True after a usage error that was printed: the file is read, and one of these would take its
 * place.
 */
bool cli_overwrites(const char *command, const char *input, const struct cli_output *outputs,
                    size_t count);

/* The file that a device is read from, of a model or a recording, within its name; NULL: none. */
const char *cli_device_file(const char *device);
/* That of a simulated device's model. NULL: it has none, or `device` is NULL. */
const char *cli_model_file(const char *device);

/* Prints and frees a text that the library handed out with result `rc`. */
int cli_print_text(int rc, char *text);

/*
 * Options. `next_option` walks over argv: "-d DEV", "-dDEV", "--json FILE", "--json=FILE".
 * `spec` lists what the command knows, ended by a row without a name.
 */
struct option_spec {
    const char *name; /* "--json", "-d" */
    bool takes_value;
};
struct option_walk {
    const char *command;
    int argc, index;
    char **argv;
    const char *name; /* the option found, as in its spec; NULL: a positional argument */
    const char *value;
    bool only_positional;
    bool failed;
};
void option_walk_start(struct option_walk *walk, int argc, char **argv);
/* False at the end, or after a usage error that was printed (`failed`). */
bool option_walk_next(struct option_walk *walk, const struct option_spec *spec);
bool option_is(const struct option_walk *walk, const char *name);
/* A whole number; false after a usage error that was printed. */
bool option_u64(struct option_walk *walk, uint64_t *value);
/* Which of a list of few words, NULL at its end. */
bool option_word(struct option_walk *walk, size_t *which, const char *const *words);

/*
 * Adds the value of a list option, "a,b,c", to those of its earlier uses: *list is allocated anew,
 * free() it. False after a usage error that was printed: an empty list asks for nothing.
 */
bool option_list(struct option_walk *walk, char **list);
/* Whether a word stands in both lists, either of which may be NULL: after a usage error that was
 * printed. */
bool option_lists_clash(const char *command, const char *only, const char *skip);

/* Ctrl-C, a hang-up and a quit, which end work where nothing is lost; and a progress line on a
 * terminal (standard error), silent when `quiet` or piped. */
struct sonde_watch cli_watch(bool quiet);
/* Clears the progress line. */
void cli_watch_end(void);
bool cli_interrupted(void);

/* Colour on standard output: a terminal that knows escape sequences, and NO_COLOR is not set. */
bool cli_colour(void);
/* Whether the terminal, if there is one, knows escape sequences: TERM is set, and not "dumb". */
bool cli_terminal_moves(void);

#endif

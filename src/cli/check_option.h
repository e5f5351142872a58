/* --check[=FORMAT[:FILE]] and --profile[=FORMAT[:FILE]] of the commands that run kernels. */
#ifndef SONDE_CLI_CHECK_OPTION_H
#define SONDE_CLI_CHECK_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/* What the option asks for: the format, and where the report goes; NULL: to standard error. */
struct check_option {
    char format[8]; /* "": it was not given */
    const char *path;
};

/* `value` NULL: the option alone. False after a usage error that was printed. */
bool check_option_parse(struct check_option *out, const char *command, const char *value);
bool profile_option_parse(struct check_option *out, const char *command, const char *value);
/* Writes a report that may be there. Returns an exit status. */
int report_option_write(const struct check_option *option, const char *report);
/* Writes the report. Returns an exit status: EXIT_NOT_HELD where something was found. */
int check_option_report(const struct check_option *option, const char *report, size_t reports);

#endif

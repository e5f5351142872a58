/* Where a report goes, and what a checker's findings make of the exit status. */
#include "cli/check_option.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define FORMATS 3

/* `value` is FORMAT or FORMAT:FILE. */
static bool parse(struct check_option *out, const char *command, const char *option,
                  const char *value, const char *const formats[FORMATS])
{
    const char *name = value ? value : "text", *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    out->path = colon ? colon + 1 : NULL;
    if (colon && !*out->path) {
        cli_usage(command, "%s=%s: which file", option, name);
        return false;
    }
    for (size_t i = 0; i < FORMATS; i++) {
        if (strlen(formats[i]) == length && strncmp(formats[i], name, length) == 0) {
            snprintf(out->format, sizeof out->format, "%s", formats[i]);
            return true;
        }
    }
    cli_usage(command, "%s=%.*s: a report is %s, %s or %s", option, (int)length, name, formats[0],
              formats[1], formats[2]);
    return false;
}

bool check_option_parse(struct check_option *out, const char *command, const char *value)
{
    static const char *const formats[FORMATS] = {"text", "json", "junit"};
    return parse(out, command, "--check", value, formats);
}

bool profile_option_parse(struct check_option *out, const char *command, const char *value)
{
    static const char *const formats[FORMATS] = {"text", "json", "html"};
    return parse(out, command, "--profile", value, formats);
}

int report_option_write(const struct check_option *option, const char *report)
{
    if (!option->path) {
        fputs(report, stderr);
        return EXIT_DONE;
    }
    int rc = sonde_write(option->path, report);
    return rc < 0 ? cli_fail(rc) : EXIT_DONE;
}

int check_option_report(const struct check_option *option, const char *report, size_t reports)
{
    int status = report_option_write(option, report);
    return status == EXIT_DONE && reports > 0 ? EXIT_NOT_HELD : status;
}

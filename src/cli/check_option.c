/* Where a checker's report goes, and what its findings make of the exit status. */
#include "cli/check_option.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

bool check_option_parse(struct check_option *out, const char *command, const char *value)
{
    static const char *const formats[] = {"text", "json", "junit"};
    const char *name = value ? value : "text", *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    out->path = colon ? colon + 1 : NULL;
    if (colon && !*out->path) {
        cli_usage(command, "--check=%s: which file", name);
        return false;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strlen(formats[i]) == length && strncmp(formats[i], name, length) == 0) {
            snprintf(out->format, sizeof out->format, "%s", formats[i]);
            return true;
        }
    }
    cli_usage(command, "--check=%.*s: a report is text, json or junit", (int)length, name);
    return false;
}

int check_option_report(const struct check_option *option, const char *report, size_t reports)
{
    if (option->path) {
        int rc = sonde_write(option->path, report);
        if (rc < 0) {
            return cli_fail(rc);
        }
    } else {
        fputs(report, stderr);
    }
    return reports > 0 ? EXIT_NOT_HELD : EXIT_DONE;
}

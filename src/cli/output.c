/*
 * Where results go, looked at before the work begins: an hour of measuring must not end in a path
 * that is wrong. A disk that fills up meanwhile is found when the file is written.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/fileio.h"

static int cannot_write(const char *path, int error)
{
    cli_complain(": cannot write %s: %s", path, strerror(error));
    return EXIT_NOT_HELD;
}

/* The folder that a path without its last part names; the dot tells a folder from a file. */
static int check_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + sizeof("."));
    if (!folder) {
        return cannot_write(path, ENOMEM);
    }
    memcpy(folder, path, length);
    memcpy(folder + length, ".", sizeof("."));
    int failed = access(folder, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    return failed ? cannot_write(path, failed) : EXIT_DONE;
}

int cli_check_output(const char *path)
{
    if (!path || strcmp(path, "-") == 0) {
        return EXIT_DONE;
    }
    /* A file is replaced, which takes a writable folder; a device or pipe is written to as it is.
     */
    struct stat status;
    if (*path == '\0') {
        return cannot_write("''", ENOENT);
    }
    if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
        return check_folder_of(path);
    }
    if (S_ISDIR(status.st_mode)) {
        return cannot_write(path, EISDIR);
    }
    return access(path, W_OK) != 0 ? cannot_write(path, errno) : EXIT_DONE;
}

const char *cli_device_file(const char *device)
{
    const char *colon = strchr(device, ':'), *dot = strrchr(device, '.');
    bool is_path =
        strchr(device, '/') || (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0));
    bool replays = strncmp(device, "replay:", 7) == 0;
    return replays || (strncmp(device, "sim:", 4) == 0 && is_path) ? colon + 1 : NULL;
}

const char *cli_model_file(const char *device)
{
    return device && strncmp(device, "sim:", 4) == 0 ? cli_device_file(device) : NULL;
}

bool cli_overwrites(const char *command, const char *input, const struct cli_output *outputs,
                    size_t count)
{
    for (size_t i = 0; input && i < count; i++) {
        const char *path = outputs[i].path;
        if (path && strcmp(path, "-") != 0 && file_is_same(input, path)) {
            cli_usage(command, "%s would write over %s, which is read", outputs[i].option, input);
            return true;
        }
    }
    return false;
}

bool cli_same_outputs(const char *command, const struct cli_output *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; outputs[i].path && k < i; k++) {
            if (outputs[k].path && file_is_same(outputs[i].path, outputs[k].path)) {
                cli_usage(command, "%s and %s write the same file", outputs[k].option,
                          outputs[i].option);
                return true;
            }
        }
    }
    return false;
}

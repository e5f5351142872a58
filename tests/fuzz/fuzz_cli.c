/*
 * Command lines, an argument a line: any of them ends with a status that is documented. What would
 * measure or simulate for long is replaced (CMakeLists.txt has the names): of its arguments what
 * the library would parse is parsed. Nothing outside of a scratch folder can be named.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/exec/spec.h"
#include "cli/cli.h"
#include "util/error.h"

#define MOST_ARGUMENTS 40

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char folder[4096];
    const char *scratch = getenv("TMPDIR"); /* run.sh removes it */
    (void)argc;
    (void)argv;
    snprintf(folder, sizeof folder, "%s/sonde-fuzz-cli.XXXXXX", scratch ? scratch : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0 || !freopen("/dev/null", "r", stdin)) {
        abort();
    }
    setenv("PATH", "/nonexistent", 1);
    put("d.json", "{\"schema\": \"sonde.dissection/1\"}\n");
    put("k.ptx", ".version 3.0\n.target sm_20\n.visible .entry k() { ret; }\n");
    put("m.yaml", "name: m\ninherits: gtx780\nsms: 2\n");
    put("s.yaml", "run: {exec: k.ptx}\nmodels: [gtx780]\npoints: {grid: [1, 2]}\n");
    return 0;
}

/* ---- in place of what takes long ---- */

static int not_here(void)
{
    return error_set(SONDE_EDEVICE, "not while command lines are tried");
}

/* Data that an argument asks for are made at once, which takes long where they are many. */
static bool asks_for_much(const char *arg)
{
    size_t digits = 0;
    for (; *arg && digits < 8; arg++) {
        digits = *arg >= '0' && *arg <= '9' ? digits + 1 : 0;
    }
    return digits == 8;
}

int __wrap_sonde_exec(char **text, const char *device, const struct sonde_exec_options *options);
int __wrap_sonde_exec(char **text, const char *device, const struct sonde_exec_options *options)
{
    struct exec_print print;
    struct exec_arg arg;
    *text = NULL;
    (void)device;
    for (size_t i = 0; i < options->arg_count; i++) {
        if (!asks_for_much(options->args[i]) && exec_arg_parse(&arg, options->args[i]) == 0) {
            exec_arg_free(&arg);
        }
    }
    for (size_t i = 0; i < options->print_count; i++) {
        exec_print_parse(&print, options->prints[i]);
    }
    return not_here();
}

int __wrap_sonde_dissect(struct sonde_dissection **out, struct sonde_device *device,
                         const struct sonde_dissect_options *options);
int __wrap_sonde_dissect(struct sonde_dissection **out, struct sonde_device *device,
                         const struct sonde_dissect_options *options)
{
    *out = NULL;
    (void)device;
    (void)options;
    return not_here();
}

int __wrap_sonde_probe(char **csv, struct sonde_device *device, const char *name,
                       const char *const *settings, size_t count, const struct sonde_watch *watch);
int __wrap_sonde_probe(char **csv, struct sonde_device *device, const char *name,
                       const char *const *settings, size_t count, const struct sonde_watch *watch)
{
    *csv = NULL;
    (void)device;
    (void)name;
    (void)settings;
    (void)count;
    (void)watch;
    return not_here();
}

int __wrap_sonde_study(struct sonde_study **out, const char *name,
                       const struct sonde_study_options *options);
int __wrap_sonde_study(struct sonde_study **out, const char *name,
                       const struct sonde_study_options *options)
{
    *out = NULL;
    (void)name;
    (void)options;
    return not_here();
}

int __wrap_sonde_workload(char **text, const char *device,
                          const struct sonde_workload_options *options);
int __wrap_sonde_workload(char **text, const char *device,
                          const struct sonde_workload_options *options)
{
    *text = NULL;
    (void)device;
    (void)options;
    return not_here();
}

int __wrap_sonde_sweep(char **text, size_t *not_ok, const char *path,
                       const struct sonde_sweep_options *options);
int __wrap_sonde_sweep(char **text, size_t *not_ok, const char *path,
                       const struct sonde_sweep_options *options)
{
    *text = NULL;
    *not_ok = 0;
    (void)path;
    (void)options;
    return not_here();
}

/* ---- a command line ---- */

static int run(int argc, char **argv)
{
#define COMMAND(name, synopsis, summary, help)                                                     \
    if (strcmp(argv[0], #name) == 0) {                                                             \
        return cmd_##name(argc, argv);                                                             \
    }
#include "cli/commands.def"
#undef COMMAND
    return cli_no_command(argv[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *argv[MOST_ARGUMENTS + 1], *rest = text;
    int argc = 0;
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (!memchr(text, '/', strlen(text)) && !strstr(text, "..")) {
        while (rest && argc < MOST_ARGUMENTS) {
            argv[argc++] = strsep(&rest, "\n");
        }
        argv[argc] = NULL;
        int status = run(argc, argv);
        if (status < 0 || (status > EXIT_INPUT && status != 127 && status != EXIT_INTERRUPTED)) {
            abort();
        }
    }
    free(text);
    return 0;
}

/*
 * slots FILE.ptx...: what the lowering makes of each instruction, one a line: kernel, line in the
 * file, slots.
 * slots --check FILE.tsv FILE.ptx: holds each kernel's sum against the table (README.md); exits 1
 * where one differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"
#include "util/error.h"
#include "util/fileio.h"

#define FILE_BYTES (64u << 20)
#define NAME_BYTES 64
#define AWAY_MAX 2 /* instructions that a kernel of the table may be off */

static int sum_function(double *sum, const struct ptx_func *func, bool print)
{
    struct lowered *out = calloc((size_t)func->insn_count + 1, sizeof *out);
    int rc = out ? ptx_lower(out, func, LOWERING_HOPPER) : SONDE_ENOMEM;
    *sum = 0;
    for (uint32_t pc = 0; rc == 0 && pc < func->insn_count; pc++) {
        double slots = (double)out[pc].slots / LOWER_ONE;
        *sum += slots;
        if (print)
            (void)printf("%s\t%d\t%.2f\n", func->name, func->insns[pc].loc.line, slots);
    }
    free(out);
    return rc;
}

static int load(struct ptx_module **module, char **text, const char *path)
{
    size_t length = 0;
    int rc = file_read_all(text, &length, path, FILE_BYTES);
    return rc < 0 ? rc : ptx_parse(module, path, *text, length);
}

static int print_file(const char *path)
{
    struct ptx_module *module = NULL;
    char *text = NULL;
    double sum;
    int rc = load(&module, &text, path);
    for (uint32_t i = 0; rc == 0 && i < module->func_count; i++)
        if (module->funcs[i]->has_body)
            rc = sum_function(&sum, module->funcs[i], true);
    if (module)
        ptx_module_destroy(module);
    free(text);
    return rc;
}

/* A row: kernel, what ptxas made of it, and, where that is known to differ, what the lowering says.
 */
static int check_row(uint32_t *wrong, const struct ptx_module *module, const char *row)
{
    char name[NAME_BYTES];
    int made = 0, expected = 0;
    double sum;
    int fields = sscanf(row, "%63s %d %d", name, &made, &expected);
    const struct ptx_func *func = fields >= 2 ? ptx_find_func(module, name) : NULL;
    if (!func)
        return error_set(SONDE_EINPUT, "no such row or kernel: %s", row);
    int rc = sum_function(&sum, func, false);
    expected = fields == 3 ? expected : made;
    if (rc == 0 && ((int)sum != expected || abs(expected - made) > AWAY_MAX)) {
        (void)printf("%s: %g slots, not %d; ptxas made %d\n", name, sum, expected, made);
        (*wrong)++;
    }
    return rc;
}

static int check_file(uint32_t *wrong, const char *table, const char *path)
{
    struct ptx_module *module = NULL;
    char *text = NULL, *rows = NULL;
    size_t length = 0;
    uint32_t count = 0;
    int rc = load(&module, &text, path);
    rc = rc < 0 ? rc : file_read_all(&rows, &length, table, FILE_BYTES);
    char *rest = NULL;
    for (char *row = rc < 0 ? NULL : strtok_r(rows, "\n", &rest); rc == 0 && row;
         row = strtok_r(NULL, "\n", &rest), count++)
        rc = check_row(wrong, module, row);
    if (rc == 0 && count != module->func_count)
        rc =
            error_set(SONDE_EINPUT, "%s: %u rows for %u kernels", table, count, module->func_count);
    if (module)
        ptx_module_destroy(module);
    free(text);
    free(rows);
    return rc;
}

int main(int argc, char **argv)
{
    uint32_t wrong = 0;
    int rc = 0;
    if (argc == 4 && strcmp(argv[1], "--check") == 0)
        rc = check_file(&wrong, argv[2], argv[3]);
    else
        for (int i = 1; rc == 0 && i < argc; i++)
            rc = print_file(argv[i]);
    if (rc < 0)
        (void)fprintf(stderr, "%s\n", error_text());
    return rc < 0 || wrong > 0;
}

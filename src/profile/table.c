/* A profile for a terminal: each kernel's hot spots, in 80 columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/state.h"
#include "util/fileio.h"
#include "util/text/symbol.h"

#define ROWS 16
#define REASONS 5
#define PLACE_WIDTH 20
#define TEXT_WIDTH 32
#define CUT "..." /* stands for what is left out */
#define PARAMETER "_param_"

struct row {
    uint64_t cycles;
    uint32_t pc;
};

static int by_cycles(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->cycles != y->cycles) {
        return x->cycles < y->cycles ? 1 : -1;
    }
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* The reasons with the most cycles, in their order. */
static size_t order_reasons(struct row out[STALL_COUNT], const struct profile_line *line)
{
    size_t count = 0;
    for (uint32_t i = 0; i < STALL_COUNT; i++) {
        if (line->stall[i]) {
            out[count++] = (struct row){line->stall[i], i};
        }
    }
    qsort(out, count, sizeof *out, by_cycles);
    return count;
}

/* "kernel.cu:12" where .loc says so, its end if it is too long; else the PTX's line. */
static void put_place(struct strbuf *out, const struct profile_insn *insn)
{
    char text[256];
    const char *file = file_last_name(insn->source ? insn->source : insn->file);
    if (!insn->text) {
        snprintf(text, sizeof text, "%s", file);
    } else {
        snprintf(text, sizeof text, "%s:%" PRIu32, file,
                 insn->source ? insn->source_line : insn->line);
    }
    size_t length = strlen(text);
    if (length <= PLACE_WIDTH) {
        strbuf_printf(out, "%-*s", PLACE_WIDTH, text);
    } else if (insn->source) {
        strbuf_printf(out, CUT "%s", text + length - PLACE_WIDTH + strlen(CUT));
    } else if (insn->text) {
        strbuf_printf(out, "PTX:%-*" PRIu32, PLACE_WIDTH - 4, insn->line);
    } else {
        strbuf_printf(out, "%-*s", PLACE_WIDTH, "PTX");
    }
}

/* nvcc names a kernel's parameters KERNEL_param_0: without the kernel, and told where it is cut. */
static void put_text(struct strbuf *out, const struct profile_insn *insn)
{
    struct strbuf text = {0};
    const char *rest = insn->text, *name = insn->function, *at;
    while (*name && (at = strstr(rest, name))) {
        bool is_parameter = strncmp(at + strlen(name), PARAMETER, strlen(PARAMETER)) == 0;
        strbuf_printf(&text, "%.*s", (int)(at - rest), rest);
        strbuf_append(&text, is_parameter ? "" : name);
        rest = at + strlen(name) + (is_parameter ? 1 : 0);
    }
    strbuf_append(&text, rest);
    if (text.length > TEXT_WIDTH) {
        strbuf_printf(out, "%.*s" CUT "\n", TEXT_WIDTH - (int)strlen(CUT), strbuf_text(&text));
    } else {
        strbuf_printf(out, "%s\n", strbuf_text(&text));
    }
    strbuf_free(&text);
}

static void put_row(struct strbuf *out, const struct profile_kernel *kernel, const struct row *row,
                    uint64_t all)
{
    struct row reason[STALL_COUNT] = {{0}};
    const struct profile_insn *insn = &kernel->insns[row->pc];
    order_reasons(reason, &kernel->lines[row->pc]);
    strbuf_printf(out, "%5.1f%% %-12s %3.0f%%  ", percent(row->cycles, all),
                  stall_name((enum stall)reason[0].pc), percent(reason[0].cycles, row->cycles));
    put_place(out, insn);
    strbuf_append(out, "  ");
    if (insn->text) {
        put_text(out, insn);
    } else {
        strbuf_append(out, "(end)\n");
    }
}

static void put_rows(struct strbuf *out, const struct profile_kernel *kernel, uint64_t all)
{
    struct row *rows = calloc(kernel->length, sizeof *rows);
    if (!rows) {
        strbuf_append(out, "(memory is out)\n");
        return;
    }
    for (uint32_t pc = 0; pc < kernel->length; pc++) {
        rows[pc] = (struct row){profile_line_cycles(&kernel->lines[pc]), pc};
    }
    qsort(rows, kernel->length, sizeof *rows, by_cycles);
    strbuf_append(out, " share first reason       place                 instruction\n");
    for (uint32_t i = 0; i < kernel->length && i < ROWS && rows[i].cycles; i++) {
        put_row(out, kernel, &rows[i], all);
    }
    free(rows);
}

static void put_kernel(struct strbuf *out, const struct profile_kernel *kernel)
{
    struct profile_line sum;
    struct row reason[STALL_COUNT];
    profile_sum(&sum, kernel);
    uint64_t all = profile_line_cycles(&sum);
    size_t count = order_reasons(reason, &sum);
    char *name = symbol_readable(kernel->name);
    strbuf_append(out, name ? name : kernel->name);
    free(name);
    if (kernel->variant > 1) {
        strbuf_printf(out, " (code %" PRIu32 " of this name, %s)", kernel->variant,
                      file_last_name(kernel->file));
    }
    strbuf_printf(out, ": %" PRIu64 " launch%s", kernel->launches,
                  kernel->launches == 1 ? "" : "es");
    if (kernel->shapes.count > 1) {
        strbuf_printf(out, " of %zu sizes", kernel->shapes.count);
    }
    strbuf_printf(out, ", %" PRIu64 " cycles, %" PRIu64 " warp cycles\n", kernel->stats.cycles,
                  all);
    if (kernel->faults) {
        strbuf_printf(out, "up to where %s\n",
                      kernel->launches == 1 ? "it was stopped" : "the last was stopped");
    }
    for (size_t i = 0; i < count && i < REASONS; i++) {
        strbuf_printf(out, "%s%s %.1f%%", i ? ", " : "", stall_name((enum stall)reason[i].pc),
                      percent(reason[i].cycles, all));
    }
    strbuf_append(out, "\n");
    put_rows(out, kernel, all);
}

void profile_table(struct strbuf *out, const struct profile *profile)
{
    for (size_t i = 0; i < profile->kernels.count; i++) {
        strbuf_append(out, i ? "\n" : "");
        put_kernel(out, profile->kernels.data[i]);
    }
    if (profile->kernels.count == 0) {
        strbuf_append(out, "no launch was timed, so that there is no profile\n");
    }
}

/*
 * Launch by launch, predicted beside measured: as a table for people, as columns for programs, as a
 * scatter plot.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "study/figure/plot.h"
#include "study/kernels/compare.h"
#include "util/container/strbuf.h"
#include "util/error.h"
#include "util/fileio.h"

static double percent(double predicted, double measured)
{
    return measured > 0 ? 100 * (predicted / measured - 1) : 0;
}

static const char *result_word(const struct kernel_pair *pair)
{
    return pair->why ? "not run"
           : kernel_result_agrees(&pair->measured.result, &pair->predicted.counts.result)
               ? "same"
               : "differs";
}

static void put_pair(struct strbuf *out, const struct kernel_pair *pair)
{
    const struct kernel_counts *here = &pair->predicted.counts, *there = &pair->measured;
    strbuf_printf(out, "%-20s %9" PRIu64 "  %-7s %10.0f %10.0f %+7.1f", pair->row->name, pair->size,
                  kernel_class_name(pair->row->class), there->cycles, here->cycles,
                  percent(here->cycles, there->cycles));
    strbuf_printf(out, " %+7.1f %+7.1f %+7.1f ", percent(here->warp_insns, there->warp_insns),
                  percent(here->l2_sectors, there->l2_sectors),
                  percent(here->dram_bytes, there->dram_bytes));
    for (int i = 0; i < SHARES; i++) {
        strbuf_printf(out, " %3.0f", 100 * pair->predicted.shares[i]);
    }
    strbuf_printf(out, "  %s\n", pair->why ? pair->why : result_word(pair));
}

/* The worst come first. */
static int by_error(const void *a, const void *b)
{
    const struct kernel_pair *x = *(const struct kernel_pair *const *)a;
    const struct kernel_pair *y = *(const struct kernel_pair *const *)b;
    double ex = kernel_error(x->predicted.counts.cycles, x->measured.cycles);
    double ey = kernel_error(y->predicted.counts.cycles, y->measured.cycles);
    return ex != ey ? (ex < ey) - (ex > ey) : (x > y) - (x < y);
}

int kernel_table(struct strbuf *out, struct study_bench *bench)
{
    const struct kernel_pair *pairs, **order;
    size_t count = kernel_pairs(&pairs, bench), aside = 0;
    if (count == 0) {
        return 0;
    }
    order = calloc(count, sizeof(const struct kernel_pair *));
    if (!order) {
        return error_memory();
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = &pairs[i];
    }
    qsort(order, count, sizeof(const struct kernel_pair *), by_error);
    strbuf_append(out, "\nkernel                    size  class     measured  predicted   cycles   "
                       "insns      L2    DRAM"
                       "   where SMs' cycles went (%)\n"
                       "                                           cycles     cycles       %       "
                       "%       %       %"
                       "   iss uni res mem bar\n");
    for (size_t i = 0; i < count; i++) {
        aside += order[i]->set_aside;
        if (!order[i]->set_aside) {
            put_pair(out, order[i]);
        }
    }
    if (aside > 0) {
        strbuf_printf(out, "%zu launches of kernels that are set aside: as rows alone\n", aside);
    }
    free(order);
    return 0;
}

static void put_columns(struct strbuf *out, const struct kernel_pair *pair)
{
    const struct kernel_counts *sides[] = {&pair->measured, &pair->predicted.counts};
    strbuf_printf(out, "%s\t%" PRIu64 "\t%s\t%d\t%s", pair->row->name, pair->size,
                  kernel_class_name(pair->row->class), pair->set_aside, result_word(pair));
    for (int i = 0; i < 2; i++) {
        strbuf_printf(out, "\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f", sides[i]->cycles,
                      sides[i]->warp_insns, sides[i]->l1_loads, sides[i]->l1_hits,
                      sides[i]->l2_sectors, sides[i]->dram_bytes);
    }
    for (int i = 0; i < SHARES; i++) {
        strbuf_printf(out, "\t%.4f", pair->predicted.shares[i]);
    }
    strbuf_append(out, "\n");
}

static const char *const column_names =
    "cycles\twarp_insns\tl1_loads\tl1_hits\tl2_sectors\tdram_bytes";

int study_kernel_files(struct study_bench *bench, const char *folder)
{
    const struct kernel_pair *pairs;
    struct strbuf text = {0}, path = {0};
    size_t count = kernel_pairs(&pairs, bench);
    if (count == 0) {
        return 0;
    }
    strbuf_printf(&text, "kernel\tsize\tclass\tset_aside\tresult");
    for (int side = 0; side < 2; side++) {
        for (const char *at = column_names; at;) {
            size_t length = strcspn(at, "\t");
            strbuf_printf(&text, "\t%s_%.*s", side == 0 ? "card" : "sim", (int)length, at);
            at = at[length] ? at + length + 1 : NULL;
        }
    }
    strbuf_append(&text, "\tissue\tunit\tresult\tmemory\tbarrier\n");
    for (size_t i = 0; i < count; i++) {
        put_columns(&text, &pairs[i]);
    }
    strbuf_printf(&path, "%s/kernels.tsv", folder);
    int rc = strbuf_failed(&text) || strbuf_failed(&path)
                 ? error_memory()
                 : file_write_all(strbuf_text(&path), strbuf_text(&text), text.length);
    strbuf_free(&text);
    strbuf_free(&path);
    return rc;
}

/* A column a class, those set aside beside them, and where both sides are equal. */
int figure_kernels(struct plot *plot)
{
    const struct kernel_pair *pairs;
    size_t count = kernel_pairs(&pairs, plot->bench);
    for (size_t i = 0; i < count; i++) {
        struct study_value value;
        const struct kernel_pair *pair = &pairs[i];
        int column = pair->set_aside ? KERNEL_CLASSES : (int)pair->row->class;
        strbuf_printf(&plot->csv, "%.0f", pair->measured.cycles);
        for (int c = 0; c <= KERNEL_CLASSES; c++) {
            value_nothing(&value, "no kernel was run to its end");
            if (c == column && !pair->why) {
                value_number(&value, pair->predicted.counts.cycles);
            }
            plot_value(plot, &value);
        }
        strbuf_printf(&plot->csv, ",%.0f\n", pair->measured.cycles);
    }
    return 0;
}

/*
 * How an SM issues, and its units, from what its instructions take (`sm` of a dissection). Each
 * unit has a kind of instruction that stands for it; units whose kinds share pipelines, as 32-bit
 * adds on two of them, have the kind of one pipeline. What a unit does in a cycle is a whole
 * number: the roundest of those that the loops leave open, which lose up to a tenth.
 */
#include <math.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* A unit, the kinds that may stand for it, the first that was measured, and whether it has a rate:
 * a branch and a barrier have a latency alone. */
static const struct {
    const char *unit, *op, *otherwise;
    bool has_rate;
} units[] = {
    {"alu", "logic", "iadd", true},        {"imul", "imad", "imulhi", true},
    {"idiv", "idiv", "idiv", true},        {"shift", "shift", "funnel", true},
    {"fp32", "ffma", "fadd", true},        {"fp64", "dfma", "dadd", true},
    {"fdiv", "fdiv", "fsqrt", true},       {"sfu", "ex2", "rsqrt", true},
    {"cvt", "cvtround", "cvtint", true},   {"shuffle", "shfl", "shfl", true},
    {"branch", "branch", "branch", false}, {"barrier", "barrier", "barrier", false},
    {"tensor", "hmma16", "hmma8", true},
};

#define LOST 0.1 /* share of a rate that loops may not reach */

/* Of the whole numbers from the rate's lower bound to what it may be in full, the one with most
 * factors of two, of several the nearest. */
static double round_lanes(double rate, double low)
{
    double best = fmax(1, round(rate));
    unsigned twos = 0;
    for (double n = ceil(low); n <= rate * (1 + LOST) && n < 4096; n++) {
        unsigned own = n >= 1 ? (unsigned)__builtin_ctz((unsigned)n) : 0;
        bool is_nearer = fabs(n - rate) < fabs(best - rate);
        if (n >= 1 && (own > twos || (own == twos && is_nearer))) {
            best = n;
            twos = own;
        }
    }
    return best;
}

static const json_t *find_kind(const json_t *all, const char *op, const char *otherwise)
{
    struct saved_value value;
    const json_t *kind = json_object_get(all, op);
    return saved_value(&value, kind, "latency") ? kind : json_object_get(all, otherwise);
}

static void unit_lines(struct model_text *t, const json_t *all, size_t i)
{
    const json_t *kind = find_kind(all, units[i].op, units[i].otherwise);
    struct saved_value latency, rate;
    char comment[MODEL_COMMENT_BYTES];
    bool has_latency = saved_value(&latency, kind, "latency") && latency.value >= 1;
    bool has_rate = units[i].has_rate && saved_value(&rate, kind, "lanes_per_cycle");
    if (!has_latency && !has_rate) {
        return;
    }
    model_line(t, 2, "", "%s:", units[i].unit);
    if (has_latency) {
        model_line(t, 3, model_measured(comment, &latency), "latency: %.0f cycles", latency.value);
    }
    if (has_rate) {
        const json_t *low = json_object_get(json_object_get(kind, "lanes_per_cycle"), "low");
        double least = json_is_number(low) ? json_number_value(low) : rate.value;
        model_line(t, 3, model_sum(comment, "loops reach", &rate), "lanes_per_cycle: %.0f",
                   round_lanes(rate.value, least));
    }
}

static bool any_unit(const json_t *all)
{
    struct saved_value value;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        const json_t *kind = find_kind(all, units[i].op, units[i].otherwise);
        if (saved_value(&value, kind, "latency") || saved_value(&value, kind, "lanes_per_cycle")) {
            return true;
        }
    }
    return false;
}

/* What a sub-core issues, which loops tell within a twentieth: instructions a cycle, or cycles. */
static void issue_lines(struct model_text *t, const json_t *sm, bool has_issue)
{
    struct saved_value value;
    char comment[MODEL_COMMENT_BYTES];
    if (saved_value(&value, sm, "sub_cores")) {
        model_line(t, 1, model_measured(comment, &value), "schedulers: %.0f", value.value);
    }
    if (!has_issue && saved_value(&value, sm, "issue_per_sub_core") && value.value > 0) {
        model_measured(comment, &value);
        model_line(t, 1, comment, "issue_per_scheduler: %.0f", fmax(1, round(value.value)));
        model_line(t, 1, comment, "issue_interval: %.0f cycles", fmax(1, round(1 / value.value)));
    }
}

/* ---- without them: what stands around loads in flight (infer/outstanding/around.c) ---- */

static const struct {
    const char *op, *otherwise;
    enum isa_unit id;
    bool is_bound_by_others; /* a rate is not all that the unit has */
} around[] = {
    {"logic", "iadd", UNIT_ALU, false},
    {"lds4", "lds4", UNIT_LSU, true}, /* by banks */
    {"branch", "branch", UNIT_BRANCH, false},
    {"barrier", "barrier", UNIT_BARRIER, false},
};
enum { AROUND = sizeof around / sizeof *around };

/* What differs from the base, or nothing. */
static void around_text(struct strbuf *out, const struct model_text *t, size_t i)
{
    const json_t *all = json_object_get(json_object_get(t->root, "outstanding"), "around_loads");
    const json_t *pace = json_object_get(all, around[i].op);
    pace = pace ? pace : json_object_get(all, around[i].otherwise);
    const struct unit_spec *base = &t->base->sm.unit[around[i].id];
    double cycles = round(json_number_of(pace, "cycles"));
    double rate = json_number_of(pace, "lanes_per_cycle");
    double low = json_number_of(pace, "at_least");
    bool is_less = base->lanes_per_cycle < low;
    bool is_more = base->lanes_per_cycle > rate * (1 + LOST) && !around[i].is_bound_by_others;
    bool has_latency = cycles >= 1 && cycles != base->latency_cycles;
    if (has_latency) {
        strbuf_printf(out, "latency: %.0f cycles", cycles);
    }
    if (rate > 0 && (is_less || is_more)) {
        strbuf_printf(out, "%slanes_per_cycle: %.0f", has_latency ? ", " : "",
                      round_lanes(rate, low));
    }
}

static void around_lines(struct model_text *t)
{
    bool has_head = false;
    for (size_t i = 0; i < AROUND; i++) {
        struct strbuf text = {0};
        /* A branch that is lowered to what the machine issues is not the unit's alone. */
        if (around[i].id != UNIT_BRANCH || t->base->sm.lowering == LOWERING_NONE) {
            around_text(&text, t, i);
        }
        if (*strbuf_text(&text)) {
            if (!has_head) {
                model_line(t, 1, "", "units:");
            }
            has_head = true;
            model_line(t, 2, "measured: what stands around loads", "%s: {%s}",
                       isa_unit_text(around[i].id), strbuf_text(&text));
        }
        t->out.failed = t->out.failed || strbuf_failed(&text);
        strbuf_free(&text);
    }
}

void model_units(struct model_text *t, const struct latency_plan *plan)
{
    const json_t *sm = json_object_get(t->root, "sm");
    const json_t *all = json_object_get(sm, "instructions");
    issue_lines(t, sm, plan->issue.is_measured);
    if (!any_unit(all)) {
        around_lines(t);
        return;
    }
    model_line(t, 1, "", "units:");
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        unit_lines(t, all, i);
    }
}

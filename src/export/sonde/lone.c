/*
 * What lone loads of memory show of DRAM, beside how long they take: whether rows stay open, what
 * another row costs and how far one reaches, whether refreshes are met, and how fast the bursts of
 * a line follow each other. It goes into the base, with the bandwidths, before latencies are
 * divided over it.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/glue/json_glue.h"

/* Chosen, where a member does not say what fixed it. */
static const struct {
    double same_cycles, most_activate, most_ns, near_share, rare, left_out, narrow, least_refresh,
        many_late, spared, fewest_late, sure, most_closed, more_closed, commands, half;
    uint32_t lines_apart, line_bytes, longest_row;
} limits = {
    .same_cycles = 2,      /* of two medians of lone loads */
    .most_activate = 64,   /* cycles of DRAM's clock: more is something else */
    .most_ns = 64,         /* the same of a clock that is faster */
    .near_share = 0.9,     /* of a kind's share that is all of it */
    .rare = 0.05,          /* share of a class that may be a refresh's, met by few loads */
    .left_out = 0.02,      /* of all loads, in such classes: translation that missed */
    .narrow = 0.125,       /* of a refresh, over which a class without refreshes spreads at most */
    .least_refresh = 0.05, /* share of time: the rarest that classes would show */
    .most_closed = 0.4,    /* of near lines, of which most find their row open */
    .half = 0.5,           /* of near lines: a median is of those that are more */
    .more_closed = 0.05,   /* than was told. Chosen */
    .commands = 0.75,      /* of a command each clock, that streams reach. Chosen */
    .sure = 0.9,           /* confidence of a class that has nearly all of its kind */
    .fewest_late = 5,      /* loads that refreshes would make late: 1 in 150 sees none of them */
    .many_late = 8,        /* the same, to be believed where a quarter of them is seen */
    .spared = 0.25,        /* that quarter */
    .lines_apart = 8,      /* of the new lines of a page, and how long one is at least: */
    .line_bytes = 128,     /* infer/latency/spectrum.c */
    .longest_row = 65536,  /* bytes */
};

/* ---- rows ---- */

/* Lone loads of lines of one page, of a kind: the soonest, the latest, and how many are so late. */
struct kind {
    size_t count;
    bool is_one; /* class, of nearly all of its loads */
    double soonest, latest, loads, late_loads;
};

static struct kind kind_of(const json_t *root, const char *op, const char *pattern)
{
    struct kind kind = {0};
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(root, "latency_patterns"), i, row)
    {
        struct saved_value value;
        if (!saved_kind(&value, row, pattern, op)) {
            continue;
        }
        double loads = json_number_of(row, "loads");
        kind.soonest = kind.count == 0 ? value.value : fmin(kind.soonest, value.value);
        kind.late_loads = value.value >= kind.latest ? loads : kind.late_loads;
        kind.latest = fmax(kind.latest, value.value);
        kind.loads += loads;
        kind.is_one = kind.count++ == 0 && value.confidence >= limits.sure;
    }
    return kind;
}

/*
 * What a load takes more whose row is not open, 0: all rows are closed, and the share of loads
 * through lines of one page, so far apart, that find another row. A walk through lines near one
 * another (memory's latency) finds rows open, where they stay so.
 */
struct rows {
    double more, other_share;
};

static bool rows_of(struct rows *rows, const struct bandwidth_plan *plan, const struct model *base,
                    const json_t *root)
{
    struct saved_value memory = {0};
    struct kind far = kind_of(root, "cg", "P4"), hits = kind_of(root, "cg", "P1");
    bool is_told = saved_value(&memory, json_object_get(root, "memory"), "latency");
    if (model_is_in_parts(plan, base, root)) {
        if (model_kinds_in_parts(&rows->more, &rows->other_share, root)) {
            return rows->more > limits.same_cycles;
        }
        /* Those that are later than the soonest may have come from another part. */
        *rows = (struct rows){.more = far.soonest - memory.value, .other_share = 1};
        return is_told && far.count > 0 && rows->more > limits.same_cycles;
    }
    if (far.count == 0 || far.count > 2) {
        return false;
    }
    if (far.count == 1) {
        *rows = (struct rows){.more = far.latest - memory.value, .other_share = 1};
        return is_told;
    }
    /* Two kinds of hits lie near and far, and so would these. */
    bool is_near = !is_told || (memory.value >= far.soonest - limits.same_cycles &&
                                memory.value <= far.latest + limits.same_cycles);
    *rows =
        (struct rows){.more = far.latest - far.soonest, .other_share = far.late_loads / far.loads};
    return is_near && hits.count <= 1;
}

/* How long a line of those walks is: as L2's, if that is longer than the shortest one of theirs. */
static uint32_t walked_line(const json_t *root)
{
    uint64_t line;
    bool is_longer = saved_u64(&line, saved_cache(root, "l2"), "line") &&
                     line > limits.line_bytes && line < UINT16_MAX;
    return is_longer ? (uint32_t)line : limits.line_bytes;
}

/* Over how many bytes a row reaches, of lines that are so far apart: a power of two. It may be
 * shorter where none of them find it open. */
static uint32_t row_bytes(const struct rows *rows, const json_t *root)
{
    if (rows->other_share <= 0) {
        return 0;
    }
    double bytes = (double)limits.lines_apart * walked_line(root) / rows->other_share;
    bytes = exp2(round(log2(bytes)));
    return bytes <= limits.longest_row ? (uint32_t)bytes : 0;
}

/* How far one row of the base reaches: neighbouring pieces go to other channels, where they do, and
 * to other banks, whose rows are open as well. */
static double base_reach(const struct dram_spec *dram)
{
    double reach = dram->row_bytes;
    uint32_t piece = dram->bank_interleave_bytes;
    bool is_cut = piece > 0 && piece < dram->row_bytes;
    reach *= dram->interleave_bytes ? dram->channels : 1;
    uint32_t banks = dram->banks_abreast ? dram->banks_abreast : dram->banks;
    return is_cut ? reach * banks * fmax(dram->subchannels, 1) : reach;
}

/* Whether all rows are closed again before a walk of lone loads, line by line, has come around all
 * channels twice: then half of them or more find a row closed. */
static bool refreshes_soon(const struct model *base, const json_t *root)
{
    const struct dram_spec *dram = &base->dram;
    struct saved_value load = {0};
    saved_value(&load, json_object_get(root, "memory"), "latency");
    double parts = (double)model_dram_parts(dram);
    double between_s = (double)dram->t_refi * (double)dram->period_ps * 1e-12;
    return dram->t_refi > 0 && between_s < 2 * parts * load.value / ports_clock_hz(base, root);
}

static void stop_refreshes(struct bandwidth_plan *plan, struct dram_spec *dram)
{
    plan->has_no_refresh = true;
    plan->refreshed = (double)dram->t_rfc / dram->t_refi;
    dram->t_refi = 0;
}

static void take_reach(struct bandwidth_plan *plan, struct dram_spec *dram, uint32_t bytes)
{
    if (bytes == 0 || bytes == base_reach(dram)) {
        return;
    }
    plan->row_bytes = dram->row_bytes = bytes;
    dram->interleave_bytes = dram->bank_interleave_bytes = dram->banks_abreast = 0;
}

/* Whether a line so far from others would find a row of the base open. Not where pieces go to other
 * banks: lines so far apart are the first of theirs. In parts it is not told. */
static bool keeps_open(const struct bandwidth_plan *plan, const struct model *base,
                       const json_t *root)
{
    const struct dram_spec *dram = &base->dram;
    return !model_is_in_parts(plan, base, root) && dram->bank_interleave_bytes == 0 &&
           base_reach(dram) > (double)limits.lines_apart * limits.line_bytes;
}

/* The share of lines near one another that find another row open, by two classes of misses. Where
 * these do not tell it, it is less than half, since most loads find theirs open. 0: half of them or
 * more do. */
static double closed_share(double more, const json_t *root)
{
    const json_t *classes = json_object_get(saved_cache(root, "l2"), "miss_latencies");
    const json_t *open = json_array_get(classes, 0), *other = json_array_get(classes, 1);
    double apart = json_number_of(other, "cycles") - json_number_of(open, "cycles");
    bool are_two = json_array_size(classes) == 2 && fabs(apart - more) <= limits.same_cycles;
    double share = are_two ? json_number_of(other, "share") : limits.most_closed;
    return share < limits.half ? share : 0; /* channels in turn give most of them another */
}

/* Whether so few channels, with a command each clock, move what was read and written. */
static bool do_channels_move(const struct model_text *t, uint64_t channels)
{
    const struct dram_spec *dram = &t->base->dram;
    double most = (double)channels * dram->burst_bytes * 1e12 / (double)dram->period_ps;
    double moved =
        fmax(ports_measured(t->root, "read_bandwidth"), ports_measured(t->root, "write_bandwidth"));
    return moved <= limits.commands * most;
}

/* Lines of a row go to channels in turn, or by a hash, and the first that comes to each of them
 * finds another row. */
uint64_t model_channels_by_rows(const struct model_text *t, uint64_t slices, uint64_t channels)
{
    const struct bandwidth_plan *plan = &t->bandwidth;
    uint64_t few = channels;
    if (!plan->row_bytes || plan->closed_share <= 0 || model_is_in_parts(plan, t->base, t->root)) {
        return channels;
    }
    double most =
        (plan->closed_share + limits.more_closed) * plan->row_bytes / walked_line(t->root);
    while (few > 1 && (slices % few != 0 || (double)few > most)) {
        few--;
    }
    return do_channels_move(t, few) ? few : channels;
}

/*
 * Whether rows of DRAM stay open: kinds of access in lines far apart take longer than lines near
 * one another, where they do. Of lines in several parts neither says it. Where they stay open,
 * refreshes that close them sooner than the walk comes back are not the device's.
 */
static void take_rows(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    struct dram_spec *dram = &base->dram;
    struct rows rows;
    if (!rows_of(&rows, plan, base, root)) {
        return;
    }
    double period = (double)dram->period_ps * 1e-12 * ports_clock_hz(base, root); /* cycles */
    double activate = rows.more / period, own = (double)dram->t_rcd + dram->t_rp;
    bool is_closed = fabs(rows.more) <= limits.same_cycles;
    bool is_base = is_closed ? dram->closed_page : !dram->closed_page;
    double most = fmax(limits.most_activate, limits.most_ns * 1000 / (double)dram->period_ps);
    if (!is_closed && (rows.more < 0 || activate > most)) {
        return;
    }
    if (!is_closed && refreshes_soon(base, root)) {
        stop_refreshes(plan, dram);
    }
    if (!is_closed) {
        bool are_all = rows.other_share >= limits.near_share;
        if (!are_all || keeps_open(plan, base, root)) {
            take_reach(plan, dram, row_bytes(&rows, root));
        }
        plan->other_row = are_all ? rows.more : 0;
        plan->closed_share = are_all ? closed_share(rows.more, root) : 0;
        plan->mean_row = are_all ? 0 : rows.more * rows.other_share;
    }
    if (is_base && (is_closed || fabs(activate - own) * period <= limits.same_cycles)) {
        return;
    }
    dram->closed_page = is_closed;
    if (!is_closed) { /* another row was open: precharge and activate */
        dram->t_rcd = (uint32_t)round(activate / 2);
        dram->t_rp = (uint32_t)fmax(0, round(activate - dram->t_rcd));
    }
    plan->has_rows = true;
}

/* ---- refreshes ---- */

/* A class of misses that lies a miss of a TLB behind another one. */
static bool is_translated(const json_t *classes, double cycles, const json_t *root)
{
    static const char *const tlbs[] = {"l1_tlb", "l2_tlb"};
    for (size_t k = 0; k < sizeof(tlbs) / sizeof(*tlbs); k++) {
        struct saved_value penalty;
        bool is_told = saved_value(&penalty, saved_tlb(root, tlbs[k]), "miss_penalty");
        for (size_t i = 0; is_told && i < json_array_size(classes); i++) {
            double other = json_number_of(json_array_get(classes, i), "cycles");
            if (fabs(cycles - penalty.value - other) <= limits.same_cycles) {
                return true;
            }
        }
    }
    return false;
}

/* No class of misses is broad, and few loads lie in rare ones. */
static bool are_all_narrow(const json_t *classes, double refresh, const json_t *root)
{
    double rare = 0;
    size_t i;
    json_t *one;
    json_array_foreach(classes, i, one)
    {
        double loads = json_number_of(one, "share");
        double spread = json_number_of(one, "high") - json_number_of(one, "low");
        bool is_rare =
            loads < limits.rare && !is_translated(classes, json_number_of(one, "cycles"), root);
        rare += is_rare ? loads : 0;
        if (loads >= limits.rare && spread > limits.narrow * refresh) {
            return false;
        }
    }
    return rare <= limits.left_out;
}

/*
 * Where classes of misses were not told: kinds of access of which one class was, in memory and in
 * L2. The walk has as many of the one as of the other, and late ones would lack.
 */
static bool are_none_late(const json_t *root, double share)
{
    static const char *const pairs[][2] = {{"P1", "P4"}, {"P2", "P2-miss"}, {"P3", "P3-miss"}};
    double hits = 0, misses = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct kind hit = kind_of(root, "cg", pairs[i][0]), miss = kind_of(root, "cg", pairs[i][1]);
        if (hit.is_one && miss.is_one) {
            hits += hit.loads;
            misses += miss.loads;
        }
    }
    return share * hits >= limits.fewest_late && hits - misses <= limits.left_out * hits;
}

/*
 * Lines of a page whose translation is at hand, in memory and in L2, by loads of either op: of the
 * former hardly any lack, and none take as long as those that wait. So many must be late otherwise
 * that chance does not spare them.
 */
static bool are_all_in_time(const json_t *root, double share, double refresh)
{
    static const char *const ops[] = {"cg", "ca"};
    double hits = 0, misses = 0, spread = 0;
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        struct kind near = kind_of(root, ops[i], "P1"), far = kind_of(root, ops[i], "P1-l2");
        struct kind miss = kind_of(root, ops[i], "P4");
        hits += near.loads + far.loads;
        misses += miss.loads;
        spread = fmax(spread, miss.latest - miss.soonest);
    }
    return share * hits >= limits.many_late && hits - misses <= share * hits * limits.spared &&
           spread <= limits.narrow * refresh;
}

/*
 * Whether misses of L2 show none of the base's refreshes. A load that comes while one goes on waits
 * for the rest of it: such loads are as many as that share of time, and spread over all of it.
 */
static bool shows_no_refresh(const struct model *base, const json_t *root)
{
    const struct dram_spec *dram = &base->dram;
    const json_t *classes = json_object_get(saved_cache(root, "l2"), "miss_latencies");
    double share = dram->t_refi ? (double)dram->t_rfc / dram->t_refi : 0;
    double refresh =
        (double)dram->t_rfc * (double)dram->period_ps * 1e-12 * ports_clock_hz(base, root);
    if (share < limits.least_refresh) {
        return false;
    }
    if (are_all_in_time(root, share, refresh)) {
        return true;
    }
    bool is_told = json_array_size(classes) > 0;
    return !dram->refresh_by_bank &&
           (is_told ? are_all_narrow(classes, refresh, root) : are_none_late(root, share));
}

/* ---- bursts ---- */

/* Whether loads past L1 all found another row open, where those through L1 found theirs or another.
 * What the former take of a row that is open, the walk of lines near one another tells: it becomes
 * `soonest`. */
static bool finds_rows_open(double *soonest, const struct kind *through, const json_t *root)
{
    struct saved_value memory;
    bool is_told = saved_value(&memory, json_object_get(root, "memory"), "latency");
    double another = through->latest - through->soonest;
    if (!is_told || fabs(*soonest - memory.value - another) > limits.same_cycles) {
        return false;
    }
    *soonest = memory.value;
    return true;
}

/* What L1's misses take more than loads past it, of lines that L2 has and of lines of memory: the
 * rest of a line's bursts. False: not told. */
static bool bursts_take(double *cycles, const json_t *root)
{
    struct saved_value hit, penalty, past;
    const json_t *l1 = saved_cache(root, "l1_data");
    struct kind through = kind_of(root, "ca", "P4"), plain = kind_of(root, "cg", "P4");
    double soonest = plain.soonest;
    bool are_alike = through.count == plain.count || (through.count == 2 && plain.count == 1 &&
                                                      finds_rows_open(&soonest, &through, root));
    if (!saved_value(&hit, l1, "hit_latency") || !saved_value(&penalty, l1, "miss_penalty") ||
        !saved_value(&past, saved_cache(root, "l2"), "hit_latency") || through.count == 0 ||
        !are_alike) {
        return false;
    }
    *cycles = through.soonest - soonest - (hit.value + penalty.value - past.value);
    return *cycles >= 0;
}

/* A miss of L1 that fetches more than L2 does: a burst or several for each of L2's sectors. */
static void take_bursts(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    struct dram_spec *dram = &base->dram;
    uint64_t line, sector;
    double more;
    if (model_is_in_parts(plan, base, root) || !bursts_take(&more, root) ||
        !saved_u64(&line, saved_cache(root, "l1_data"), "fetch_granularity") ||
        !saved_u64(&sector, saved_cache(root, "l2"), "fetch_granularity") || sector >= line ||
        dram->bytes_per_cycle == 0 || sector % dram->burst_bytes != 0) {
        return;
    }
    double bursts = (double)(line - sector) / dram->burst_bytes;
    double core = 1e12 / ports_clock_hz(base, root); /* ps */
    double clocks = fmax(1, round(more / bursts * core / (double)dram->period_ps));
    double on_bus = ceil((double)dram->burst_bytes / dram->bytes_per_cycle);
    double own = fmax(on_bus, fmax(dram->t_ccd_s, dram->t_ccd_l));
    if (clocks == own || clocks > limits.most_activate) {
        return;
    }
    plan->has_bursts = true;
    dram->t_ccd_l = (uint32_t)clocks;
    dram->t_ccd_s = dram->t_ccd_s < dram->t_ccd_l ? dram->t_ccd_s : dram->t_ccd_l;
    if (on_bus > clocks) {
        dram->bytes_per_cycle = (uint32_t)ceil(dram->burst_bytes / clocks);
    }
}

void model_take_lone(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    model_take_crossing(plan, base, root);
    take_bursts(plan, base, root);
    take_rows(plan, base, root);
    if (shows_no_refresh(base, root)) {
        stop_refreshes(plan, &base->dram);
    }
}

void model_lone_lines(struct model_text *t, bool has_width)
{
    const struct dram_spec *dram = &t->base->dram;
    const struct bandwidth_plan *plan = &t->bandwidth;
    if (plan->has_rows) {
        model_line(t, 1, "measured: lines near one another, and far apart", "closed_page: %s",
                   dram->closed_page ? "true" : "false");
    }
    if (plan->has_rows && !plan->has_clock) {
        model_line(t, 1, "the same, half of it", "t_rcd: %" PRIu32 " cycles", dram->t_rcd);
        model_line(t, 1, "the other half", "t_rp: %" PRIu32 " cycles", dram->t_rp);
    }
    if (plan->row_bytes) {
        const char *why = "measured: of lines far apart so many find another row";
        model_line(t, 1, why, "row: %" PRIu32 " B", plan->row_bytes);
        model_line(t, 1, "the same", "interleave: 0 B");
        model_line(t, 1, "the same", "bank_interleave: 0 B");
        model_line(t, 1, "the same", "banks_abreast: 0");
    }
    if (plan->has_no_refresh) {
        model_line(t, 1, "measured: lone loads meet none", "t_refi: 0 cycles");
    }
    if (plan->has_bursts && !plan->has_spacing) {
        const char *why = "measured: a line of L1 takes longer than what L2 fetches";
        model_line(t, 1, why, "t_ccd_s: %" PRIu32 " cycles", dram->t_ccd_s);
        model_line(t, 1, "the same", "t_ccd_l: %" PRIu32 " cycles", dram->t_ccd_l);
    }
    if (plan->has_bursts && !plan->has_spacing && !has_width) {
        model_line(t, 1, "the same", "width: %" PRIu32 " B/cycle", dram->bytes_per_cycle);
    }
}

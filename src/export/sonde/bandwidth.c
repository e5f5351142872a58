/*
 * Bandwidths that the base does not have. DRAM's follows from the driver's word, its memory clock
 * and bus, where what was measured is within reach of that: the base's clock is changed and times
 * in nanoseconds are kept; without such a word, from what was measured, where something shows that
 * no port is what bounds it: then writes may move less, or more, than reads, too. An SM's ports are
 * as wide as what all of them moved together needs, and one of them alone. All of it goes into the
 * base before latencies are divided over it, since a lone load passes them as well.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "mem/mem.h"
#include "model/param.h"
#include "util/glue/json_glue.h"

/* Chosen; made with sim:k20 over gtx780. */
static const struct {
    double least_share, same, noise, lanes_each, far, slower, many, faster, reached, least_port,
        more_than_one, apart, rounded, near, about;
    uint32_t most_lanes, queue, most_steps, most_apart, window;
} limits = {
    .least_share = 0.4, /* of what the bus has: streams reach that, or the driver's word is none */
    .same = 0.02,       /* of a bandwidth: the base's own */
    .noise = 0.03,      /* of a bandwidth that was measured; ports pass that much less */
    .lanes_each = 4,    /* accesses that send, for each request that leaves in a cycle */
    .far = 0.5,         /* of the ports' rate: less is not a port, but a slower DRAM */
    .slower = 0.64,     /* of the base's bus, whose streams reach 0.85 of it at least */
    .many = 2,       /* times the base's period: a lone load would wait for single clocks. Chosen */
    .faster = 1.25,  /* a part's clock of the base's, at most */
    .reached = 0.97, /* of what a bus has, by streams, while nothing is refreshed: 0.93 to 0.99 */
    .near = 0.06,    /* of the base's bus: its own, whose writes are so, too */
    .about = 0.045,  /* of a rate: two of them that differ by less are taken as alike. Chosen */
    .apart = 0.95,   /* of a rate: what is less has another cause */
    .rounded = 0.015,   /* of a rate: commands so many clocks apart are near enough. Chosen */
    .most_steps = 16,   /* parts of a base's clock */
    .most_apart = 1000, /* dram.t_ccd_wr's own limit */
    .window = 4,        /* activates of dram.t_faw */
    .least_port = 16,   /* bytes a cycle; no GPU's is known to be narrower than 32 */
    .more_than_one = 1, /* requests a cycle */
    .most_lanes = 64,   /* sm.lsu.parallel's own limit */
    .queue = 64,        /* messages that leave in a cycle */
};

#define OPEN "what may be outstanding leaves before the first reply"

/* Times of DRAM in cycles of its clock that data sheets have in nanoseconds. */
#define DRAM_TIMES(T)                                                                              \
    T(t_cl)                                                                                        \
    T(t_rcd)                                                                                       \
    T(t_rp)                                                                                        \
    T(t_ras)                                                                                       \
    T(t_rc) T(t_rrd) T(t_rrd_l) T(t_faw) T(t_rtp) T(t_wr) T(t_wtr)

static double bus_of(const struct dram_spec *dram)
{
    return (double)model_dram_parts(dram) * dram->bytes_per_cycle * 1e12 / (double)dram->period_ps;
}

/* The share of its bus that streams reach. */
static double reached(const struct dram_spec *dram)
{
    bool is_stopped = dram->t_refi > 0 && !dram->refresh_by_bank;
    return limits.reached * (is_stopped ? 1 - (double)dram->t_rfc / dram->t_refi : 1);
}

/* Whether the loader takes such a clock and times, as they would be written. */
static bool can_be(const struct model *base, const struct dram_spec *dram)
{
    struct model changed = *base;
    struct strbuf text = {0};
    bool is_taken = mem_dram_check(dram) == 0;
    changed.dram = *dram;
    for (size_t i = 0; i < param_count() && is_taken; i++) {
        const struct param *param = param_at(i);
        if (strncmp(param->path, "dram.", 5) == 0 && param->kind != PARAM_LIST) {
            strbuf_clear(&text);
            is_taken = param_write(&text, &changed, param) == 0 &&
                       param_set(&changed, param, strbuf_text(&text)) == 0;
        }
    }
    strbuf_free(&text);
    return is_taken;
}

/*
 * Times in nanoseconds are kept; refreshes in cycles, where a slow clock leaves too few of them for
 * accesses, which is the same share of time, less often. False: there is no DRAM of such a clock.
 */
static bool scale_clock(struct model *base, double ratio)
{
    struct dram_spec *dram = &base->dram, scaled = *dram;
#define SCALE(time)                                                                                \
    scaled.time = (uint32_t)fmin(fmax(scaled.time > 0, round(scaled.time / ratio)), UINT32_MAX);
    DRAM_TIMES(SCALE)
    SCALE(t_refi)
    SCALE(t_rfc)
#undef SCALE
    scaled.period_ps = (uint64_t)fmin(round((double)dram->period_ps * ratio), UINT32_MAX);
    if (!can_be(base, &scaled)) {
        scaled.t_refi = dram->t_refi;
        scaled.t_rfc = dram->t_rfc;
    }
    bool is_possible = can_be(base, &scaled);
    *dram = is_possible ? scaled : *dram;
    return is_possible;
}

/* Parts of a bus that are `wanted` of the base's: a power of two of them, which divides most
 * numbers of slices, else a divisor of the base's slices. 0: more than there are slices. */
static uint32_t kept_parts(const struct model *base, double wanted)
{
    uint32_t twos = 1, kept = 0;
    while (twos * limits.faster < wanted) {
        twos *= 2;
    }
    for (uint32_t n = base->l2_slices; n >= wanted; n--) { /* channels divide the slices */
        kept = base->l2_slices % n == 0 ? n : kept;
    }
    return base->l2_slices % twos == 0 ? twos : kept;
}

/* A bus that is `ratio` times as slow: fewer parts about as fast as the base's, so that a lone load
 * takes no longer, and what is left by their clock. False: there is no such DRAM. */
static bool cut_bus(struct model *base, double ratio)
{
    struct dram_spec *dram = &base->dram;
    uint32_t parts = model_dram_parts(dram);
    uint32_t kept = kept_parts(base, fmax(1, (double)parts / ratio));
    if (kept == 0 || kept >= parts) {
        return scale_clock(base, ratio);
    }
    if (!scale_clock(base, ratio * kept / parts)) {
        return false;
    }
    dram->channels = kept;
    dram->subchannels = 1;
    return true;
}

/* The driver's word on its memory is one that streams may come near to. */
static bool is_told(const json_t *root)
{
    double told =
        (double)saved_plain_u64(json_object_get(root, "device"), "memory_bandwidth_reported", 0);
    double most =
        fmax(ports_measured(root, "read_bandwidth"), ports_measured(root, "write_bandwidth"));
    return most <= told && most >= limits.least_share * told;
}

/* As fast as the driver says, where what was measured comes near that. */
static bool take_clock(struct model *base, const json_t *root)
{
    const json_t *device = json_object_get(root, "device");
    double told = (double)saved_plain_u64(device, "memory_bandwidth_reported", 0);
    double most =
        fmax(ports_measured(root, "read_bandwidth"), ports_measured(root, "write_bandwidth"));
    if (told <= 0 || !is_told(root)) {
        return false;
    }
    /* Streams do not reach all of a bus; how much they do is known to the noise of one. */
    double wanted = most / reached(&base->dram);
    double ratio = bus_of(&base->dram) / (wanted > (1 + limits.noise) * told ? wanted : told);
    if (fabs(ratio - 1) < limits.same) {
        return false;
    }
    return ratio > limits.many ? cut_bus(base, ratio) : scale_clock(base, ratio);
}

/* Clocks between two reads of the base: of its bus, or its commands'. */
static uint32_t clocks_apart(const struct dram_spec *dram)
{
    uint32_t on_bus = (dram->burst_bytes + dram->bytes_per_cycle - 1) / dram->bytes_per_cycle;
    return dram->t_ccd_s > on_bus ? dram->t_ccd_s : on_bus;
}

/*
 * The bus is what bounds reads and writes, whatever their order: rows are activated as often as it
 * moves what L2 fetches, a bank is free again when its data have passed, and nothing is lost
 * between reads and writes, nor within a group of banks, of which nothing was told.
 */
static void hide_all_but_bus(struct dram_spec *dram, uint64_t fetched, bool has_bursts)
{
    uint64_t width = dram->bytes_per_cycle ? dram->bytes_per_cycle : 1;
    uint32_t most = fetched / width > 0 ? (uint32_t)(fetched / width) : 1;
    uint32_t four = limits.window * most;
    dram->t_rrd = dram->t_rrd < most ? dram->t_rrd : most;
    dram->t_rrd_l = dram->t_rrd_l < most ? dram->t_rrd_l : most;
    dram->t_faw = dram->t_faw < four ? dram->t_faw : four;
    if (!has_bursts && dram->bytes_per_cycle > 0) {
        dram->t_ccd_s = dram->t_ccd_l = clocks_apart(dram);
    }
    dram->t_ras = dram->t_rcd;
    dram->t_rc = dram->t_ras + dram->t_rp;
    dram->t_wr = dram->t_wtr = dram->t_rtw = 0;
    dram->t_wl = 0; /* as t_cl: written data come as late as read ones */
}

/* All SMs read less than their ports pass, and something says that it is memory's own rate: each of
 * them alone gets more, or did with as many loads under way, or no port passes messages at that
 * rate, since each takes a whole number of cycles. */
static bool reads_fill_memory(const struct model *base, const json_t *root, uint32_t bytes)
{
    double read = ports_measured(root, "read_bandwidth"), alone = ports_alone(root);
    double in = ports_read_cycles(base, bytes);
    double exact = ports_cycles_at(read, base, root, bytes);
    return read > 0 && alone > 0 && ports_sms(base, root) > 1 &&
           read < limits.apart * ports_rate(base, root, bytes, in) &&
           (read < limits.apart * ports_rate(base, root, 1, 1 / alone) ||
            ports_together(base, root) < limits.apart || !ports_are_whole(exact, round(exact)));
}

/* What was read is what the base's bus gives. */
static bool is_own_bus(const struct model *base, const json_t *root)
{
    double bus = ports_measured(root, "read_bandwidth") / reached(&base->dram);
    return fabs(bus / bus_of(&base->dram) - 1) < limits.near;
}

/*
 * A DRAM of another speed than the base's, of which the driver's word says nothing: where reads
 * fill it, or where what was read and written is far less than the base's ports and bus have.
 */
static bool take_slow_clock(struct model *base, const json_t *root, uint32_t bytes)
{
    double read = ports_measured(root, "read_bandwidth"),
           write = ports_measured(root, "write_bandwidth");
    double bus = read / reached(&base->dram);
    double in = ports_read_cycles(base, bytes);
    double out = ports_write_cycles(base, bytes);
    bool is_far = bus <= limits.slower * bus_of(&base->dram) &&
                  read <= limits.far * ports_rate(base, root, bytes, in) &&
                  write <= limits.far * ports_rate(base, root, bytes, out);
    if (read <= 0 || is_own_bus(base, root) ||
        (!is_far && (is_told(root) || !reads_fill_memory(base, root, bytes)))) {
        return false;
    }
    return cut_bus(base, bus_of(&base->dram) / bus);
}

static uint64_t fetched_by_l2(const struct model *base, const json_t *root)
{
    uint64_t fetched = base->l2.sector_bytes;
    saved_u64(&fetched, saved_cache(root, "l2"), "fetch_granularity");
    return fetched;
}

/* What a load asks of L2 for that goes through L1, where there is one. */
static uint32_t fetched_through_l1(const struct model *base, const json_t *root)
{
    uint64_t fetched = way_load_bytes(base);
    saved_u64(&fetched, saved_cache(root, "l1_data"), "fetch_granularity");
    return (uint32_t)fetched;
}

/* ---- writes that move less than reads do, or more ---- */

/*
 * A write `times` as many clocks apart as a read, in as few steps of a clock as give that; the bus
 * is as wide as the more frequent of both need. False: no such DRAM.
 */
static bool space_writes(struct model *base, double times)
{
    struct dram_spec before = base->dram, *dram = &base->dram;
    uint32_t reads = clocks_apart(dram), same_group = dram->t_ccd_l, steps = 1;
    double exact = times * reads;
    while (steps < limits.most_steps &&
           fabs(round(steps * exact) - steps * exact) > limits.rounded * steps * exact) {
        steps++;
    }
    double writes = round(steps * exact);
    if (writes < 1 || writes > limits.most_apart || same_group * steps > limits.most_apart ||
        !scale_clock(base, 1.0 / steps)) {
        return false;
    }
    dram->t_ccd_s = reads * steps;
    dram->t_ccd_l = same_group * steps;
    dram->t_ccd_wr = (uint32_t)writes;
    uint32_t on_bus = dram->t_ccd_s < dram->t_ccd_wr ? dram->t_ccd_s : dram->t_ccd_wr;
    dram->bytes_per_cycle = (dram->burst_bytes + on_bus - 1) / on_bus;
    bool is_possible = can_be(base, dram);
    *dram = is_possible ? *dram : before;
    return is_possible;
}

/* A port that passes about what was written, where reads say nothing of memory's own rate: then
 * nothing tells what bounds writes, and a port does so whatever their order. */
static bool narrow_port(struct bandwidth_plan *plan, struct model *base, const json_t *root,
                        uint32_t bytes)
{
    double exact = ports_cycles_at(ports_measured(root, "write_bandwidth"), base, root, bytes);
    double whole = round(exact), message = ports_written(base, bytes);
    double width = whole >= 1 ? ceil(message / whole) : 0;
    if (plan->is_slowed || plan->request_width || fabs(exact - whole) > limits.about * whole ||
        width < limits.least_port || width >= base->noc.request_bytes_per_cycle ||
        ceil(message / width) != whole) {
        return false;
    }
    plan->request_width = base->noc.request_bytes_per_cycle = (uint32_t)width;
    return true;
}

/*
 * Without the driver's word: what was written, in pieces that L2 reads the rest of where it fetches
 * more than a message has. What reads move is memory's rate, if they fill it, else at most what its
 * bus gives.
 */
static void take_writes(struct bandwidth_plan *plan, struct model *base, const json_t *root,
                        uint32_t bytes)
{
    double read = ports_measured(root, "read_bandwidth"),
           write = ports_measured(root, "write_bandwidth");
    double out = ports_write_cycles(base, bytes);
    bool is_of_port = write > limits.apart * ports_rate(base, root, bytes, out) &&
                      !(plan->is_slowed && write > read);
    double bus = bus_of(&base->dram) * reached(&base->dram);
    double reads = plan->is_slowed ? read : bus;
    if (is_told(root) || write <= 0 || read <= 0 || is_of_port || base->dram.bytes_per_cycle == 0 ||
        (!plan->is_slowed && is_own_bus(base, root))) {
        return;
    }
    bool is_part = bytes < fetched_by_l2(base, root);
    if (!is_part && narrow_port(plan, base, root, bytes)) {
        return;
    }
    if (is_part && !plan->is_slowed && 2 * write > read && 2 * write < bus) {
        plan->has_clock = plan->is_slowed = cut_bus(base, bus / (2 * write));
        return; /* half of what passes is read */
    }
    if (is_part && write < reads) {
        write = 1 / (1 / write - 1 / reads);
    }
    if (fabs(write / reads - 1) > limits.noise && space_writes(base, reads / write)) {
        plan->has_clock = plan->has_spacing = true;
    }
}

/*
 * As wide as a port has to be for `rate` bytes a second through all SMs, in messages that write
 * `bytes` or reply with them. Narrower than the base's where a whole number of cycles for each
 * message gives just that rate, and DRAM has more than that. 0: as it is. `alone`: bytes a cycle
 * that one SM gets by itself, at least.
 */
static uint32_t width_for(double rate, double alone, const struct model *base, const json_t *root,
                          uint32_t bytes, bool is_written)
{
    const struct noc_spec *noc = &base->noc;
    uint32_t width = is_written ? noc->request_bytes_per_cycle : noc->reply_bytes_per_cycle;
    double message = is_written ? ports_written(base, bytes) : noc->header_bytes + bytes;
    double exact = ports_cycles_at(rate, base, root, bytes);
    double cycles = floor(exact / (1 - limits.noise));
    double wide = cycles >= 1 ? ceil(message / cycles) : 0;
    if (width == 0 || wide > width) {
        return width > 0 && wide < UINT32_MAX ? (uint32_t)wide : 0;
    }
    double whole = round(exact), narrow = ceil(message / whole);
    bool is_port = ports_are_whole(exact, whole) && rate < limits.least_share * bus_of(&base->dram);
    bool is_narrower = narrow < width && narrow >= limits.least_port &&
                       alone * whole <= bytes; /* no port of one SM passes more than all ports do */
    return is_narrower && is_port ? (uint32_t)narrow : 0;
}

/*
 * Requests that leave an SM in a cycle. A limit on requests shows itself only if so many leave
 * before the first reply is back. Of a table of warp instructions those that just fit say it: what
 * they take more than a lone load is the time in which their requests leave.
 */
static double requests_a_cycle(const json_t *root)
{
    const json_t *outstanding = json_object_get(root, "outstanding");
    const char *structure = saved_text(outstanding, "structure", "");
    struct saved_value entries, hit;
    if (strcmp(structure, "request_limit") == 0) {
        bool is_told = saved_value(&entries, outstanding, "entries") &&
                       saved_value(&hit, saved_cache(root, "l2"), "hit_latency");
        return is_told && hit.value > 0 ? entries.value / hit.value : 0;
    }
    double alone = json_number_of(outstanding, "one_load_cycles"), most = 0;
    size_t i;
    json_t *spike;
    json_array_foreach(json_object_get(outstanding, "spikes"), i, spike)
    {
        double more = json_number_of(spike, "before_cycles") - alone;
        bool is_full = strcmp(structure, "prt") == 0 &&
                       saved_value(&entries, outstanding, "entries") &&
                       json_number_of(spike, "instructions") == entries.value;
        most = is_full && alone > 0 && more > 0
                   ? fmax(most, json_number_of(spike, "requests") / more)
                   : most;
    }
    return most;
}

/*
 * More than one request a cycle, from one SM, and as many answers of L2: nothing bounds them on
 * their way then. Several accesses send at a time, four times as many as requests leave, since each
 * begins with a pause.
 */
static void open_way(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    double rate = requests_a_cycle(root);
    if (rate <= limits.more_than_one) {
        return;
    }
    plan->lanes = 1;
    while (plan->lanes < limits.most_lanes && plan->lanes < limits.lanes_each * rate) {
        plan->lanes *= 2;
    }
    plan->is_open = base->sm.lanes.parallel < plan->lanes;
    if (plan->is_open) {
        base->noc.request_bytes_per_cycle = base->noc.reply_bytes_per_cycle = 0;
        base->l2.accesses_per_cycle = base->l2.data_bytes_per_cycle = 0;
    }
}

void model_take_bandwidth(struct bandwidth_plan *plan, struct model *base, const json_t *root)
{
    struct noc_spec *noc = &base->noc;
    uint32_t bytes = way_segment(root, base), parts = model_dram_parts(&base->dram);
    *plan = (struct bandwidth_plan){.has_clock = take_clock(base, root)};
    model_take_lone(plan, base, root);
    open_way(plan, base, root);
    double written = ports_measured(root, "write_bandwidth");
    bool is_filled = !is_told(root) && reads_fill_memory(base, root, bytes);
    plan->request_width = width_for(is_filled ? 0 : written, 0, base, root, bytes, true);
    plan->reply_width = width_for(ports_measured(root, "read_bandwidth"), ports_alone(root), base,
                                  root, bytes, false);
    bool is_port_told = plan->request_width || plan->reply_width;
    if (!plan->reply_width && !plan->is_open) {
        plan->reply_width = ports_width_by_pace(base, root, fetched_through_l1(base, root), bytes);
        plan->is_reply_paced = plan->reply_width > 0;
    }
    plan->has_pace = ports_take_pace(&base->sm.lanes, root);
    if (!plan->has_clock && !is_port_told) {
        plan->has_clock = plan->is_slowed = take_slow_clock(base, root, bytes);
    }
    noc->request_bytes_per_cycle =
        plan->request_width ? plan->request_width : noc->request_bytes_per_cycle;
    noc->reply_bytes_per_cycle = plan->reply_width ? plan->reply_width : noc->reply_bytes_per_cycle;
    take_writes(plan, base, root, bytes);
    plan->is_cut = plan->is_slowed || model_dram_parts(&base->dram) != parts;
    if (plan->is_slowed || plan->has_spacing) {
        hide_all_but_bus(&base->dram, fetched_by_l2(base, root), plan->has_bursts);
    }
}

void model_port_lines(struct model_text *t)
{
    const struct bandwidth_plan *plan = &t->bandwidth;
    if (plan->is_open) {
        model_line(t, 1, OPEN, "request_width: 0 B/cycle");
        model_line(t, 1, OPEN, "reply_width: 0 B/cycle");
        model_line(t, 1, OPEN, "queue: %u", limits.queue);
    }
    if (plan->request_width) {
        model_line(t, 1, "measured: what all SMs wrote passes",
                   "request_width: %" PRIu32 " B/cycle", plan->request_width);
    }
    if (plan->reply_width) {
        model_line(t, 1,
                   plan->is_reply_paced ? "measured: a warp's requests, one after the other"
                                        : "measured: what all SMs read passes",
                   "reply_width: %" PRIu32 " B/cycle", plan->reply_width);
    }
}

void model_open_l2(struct model_text *t)
{
    if (t->bandwidth.is_open) {
        model_line(t, 1, OPEN, "accesses_per_cycle: 0");
        model_line(t, 1, OPEN, "data_width: 0 B/cycle");
    }
}

/* 0 is a time as well, where the base's may be another. */
static void time_line(struct model_text *t, const char *name, uint32_t cycles, bool has_none)
{
    if (cycles > 0 || has_none) {
        model_line(t, 1, "", "%s: %" PRIu32 " cycles", name, cycles);
    }
}

void model_clock_lines(struct model_text *t)
{
    const struct dram_spec *dram = &t->base->dram;
    if (!t->bandwidth.has_clock) {
        return;
    }
    const char *why = t->bandwidth.is_slowed || t->bandwidth.has_spacing
                          ? "not measured: a bus for what was read and written"
                          : "the driver's word: bandwidth of the bus";
    model_line(t, 1, why, "clock: %.0f kHz", 1e9 / (double)dram->period_ps);
    if (t->bandwidth.has_spacing || (t->bandwidth.is_slowed && !t->bandwidth.has_bursts)) {
        model_line(t, 1, "reads", "t_ccd_s: %" PRIu32 " cycles", dram->t_ccd_s);
        model_line(t, 1, "", "t_ccd_l: %" PRIu32 " cycles", dram->t_ccd_l);
    }
    if (t->bandwidth.has_spacing) {
        model_line(t, 1, "", "width: %" PRIu32 " B/cycle", dram->bytes_per_cycle);
        model_line(t, 1, "what was written, beside what was read", "t_ccd_wr: %" PRIu32 " cycles",
                   dram->t_ccd_wr);
    }
    bool is_bus = t->bandwidth.is_slowed || t->bandwidth.has_spacing;
    model_line(t, 1, "",
               is_bus ? "# times of lone loads as the base's, in nanoseconds; others wait for none"
                      : "# times as the base's, in nanoseconds");
#define LINE(time) time_line(t, #time, dram->time, is_bus);
    DRAM_TIMES(LINE)
#undef LINE
    if (is_bus) {
        time_line(t, "t_wl", dram->t_wl, true);
        time_line(t, "t_rtw", dram->t_rtw, true);
    }
    time_line(t, "t_refi", dram->t_refi, false);
    time_line(t, "t_rfc", dram->t_rfc, false);
}

/*
 * A DRAM channel's commands, held against every timing constraint by a checker of its own, which
 * knows nothing of how the channel keeps them: it takes the list of commands, the specification,
 * and looks at all pairs. Random traffic must never break one. That each constraint is met on time
 * and not later shows in the same list: checked with that one parameter a clock longer, it must
 * fail, in that parameter and no other.
 *
 * GDDR3 is that of Bakhoda et al. (ISPASS 2009, Table 2); GDDR5 and HBM2 are as data sheets of 6
 * and 2 Gbit/s parts typically have them; others are random. */
#include <stdio.h>

#include "support/memory_rig.h"

enum { LOG = 1 << 16, REQUESTS = 4000, CLOCK_PS = 500 };

static struct mem_dram_command log_[LOG];
static uint32_t log_count;

static void note(void *ctx, const struct mem_dram_command *command)
{
    (void)ctx;
    assert_true(log_count < LOG);
    uint32_t i = log_count++;
    for (; i > 0 && log_[i - 1].clock > command->clock; i--) {
        log_[i] = log_[i - 1]; /* automatic precharges are told of ahead */
    }
    log_[i] = *command;
}

struct channel {
    struct engine *engine;
    struct mem_dram *dram;
    struct mem_port port;
};

static struct channel channel_open(const struct dram_spec *spec)
{
    struct channel c;
    assert_int_equal(engine_create(&c.engine), 0);
    assert_int_equal(mem_dram_create(&c.dram, spec, c.engine, &rig_clock, 1), 0);
    c.port = mem_dram_port(c.dram);
    return c;
}

/* Its commands go into the log, which begins anew. */
static struct channel channel_open_logged(const struct dram_spec *spec)
{
    struct channel c = channel_open(spec);
    log_count = 0;
    mem_dram_watch(c.dram, note, NULL);
    return c;
}

static void channel_close(struct channel *c)
{
    mem_dram_destroy(c->dram);
    engine_destroy(c->engine);
}

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static uint32_t burst_of(const struct dram_spec *s)
{
    return (s->burst_bytes + s->bytes_per_cycle - 1) / s->bytes_per_cycle;
}

/* ---- the checker ---- */

struct pair {
    const struct dram_spec *s;
    const struct mem_dram_command *a, *b; /* a before b */
    bool same_sub, same_group, same_bank;
    char *broken;
};

static void need(const struct pair *p, bool concerned, uint64_t clocks, const char *name)
{
    if (concerned && p->b->clock < p->a->clock + clocks && !*p->broken) {
        snprintf(p->broken, 64, "%s", name);
    }
}

static bool is_row(const struct mem_dram_command *c)
{
    return c->kind == MEM_DRAM_ACTIVATE || c->kind == MEM_DRAM_PRECHARGE;
}

static void check_buses(const struct pair *p)
{
    bool refresh = p->a->kind == MEM_DRAM_REFRESH || p->b->kind == MEM_DRAM_REFRESH;
    bool own = p->a->automatic || p->b->automatic || refresh;
    bool one = p->s->bus == DRAM_BUS_SINGLE ? p->same_sub : is_row(p->a) == is_row(p->b);
    need(p, !own && one, 1, "command bus");
    bool reads = p->b->kind == MEM_DRAM_READ;
    if (is_row(p->a) || is_row(p->b) || refresh || !p->same_sub) {
        return;
    }
    uint32_t wl = or_else(p->s->t_wl, p->s->t_cl), cl = p->s->t_cl;
    uint64_t a_end = p->a->clock + (p->a->kind == MEM_DRAM_READ ? cl : wl) + burst_of(p->s);
    uint64_t b_start = p->b->clock + (reads ? cl : wl);
    if (p->a->kind == MEM_DRAM_READ && !reads && b_start < a_end + p->s->t_rtw && !*p->broken) {
        snprintf(p->broken, 64, "%s", b_start < a_end ? "data bus" : "t_rtw");
    } else if (b_start < a_end && !*p->broken) {
        snprintf(p->broken, 64, "data bus");
    }
}

static void check_pair(const struct pair *p)
{
    const struct dram_spec *s = p->s;
    enum mem_dram_command_kind a = p->a->kind, b = p->b->kind;
    uint32_t burst = burst_of(s), ccd_s = or_else(s->t_ccd_s, burst);
    bool columns = a >= MEM_DRAM_READ && a <= MEM_DRAM_WRITE && b >= MEM_DRAM_READ &&
                   b <= MEM_DRAM_WRITE && p->same_sub;
    bool activates = a == MEM_DRAM_ACTIVATE && b == MEM_DRAM_ACTIVATE && p->same_sub;
    bool column = b == MEM_DRAM_READ || b == MEM_DRAM_WRITE;
    uint64_t written = or_else(s->t_wl, s->t_cl) + burst;
    need(p, p->same_bank && a == MEM_DRAM_ACTIVATE && column, s->t_rcd, "t_rcd");
    need(p, p->same_bank && a == MEM_DRAM_ACTIVATE && b == MEM_DRAM_PRECHARGE, s->t_ras, "t_ras");
    need(p, p->same_bank && a == MEM_DRAM_PRECHARGE && b == MEM_DRAM_ACTIVATE, s->t_rp, "t_rp");
    need(p, p->same_bank && activates, s->t_rc, "t_rc");
    need(p, activates && !p->same_group, s->t_rrd, "t_rrd");
    need(p, activates && p->same_group, or_else(s->t_rrd_l, s->t_rrd), "t_rrd_l");
    bool own = columns && a == MEM_DRAM_WRITE && s->t_ccd_wr > 0;
    need(p, own, s->t_ccd_wr, "t_ccd_wr");
    need(p, columns && !own && !p->same_group, ccd_s, "t_ccd_s");
    need(p, columns && !own && p->same_group, or_else(s->t_ccd_l, ccd_s), "t_ccd_l");
    need(p, p->same_bank && a == MEM_DRAM_READ && b == MEM_DRAM_PRECHARGE, or_else(s->t_rtp, burst),
         "t_rtp");
    need(p, p->same_bank && a == MEM_DRAM_WRITE && b == MEM_DRAM_PRECHARGE, written + s->t_wr,
         "t_wr");
    need(p, columns && a == MEM_DRAM_WRITE && b == MEM_DRAM_READ && s->t_wtr, written + s->t_wtr,
         "t_wtr");
    bool refreshed = !s->refresh_by_bank || p->a->bank == p->b->bank;
    need(p, refreshed && a == MEM_DRAM_REFRESH && b == MEM_DRAM_ACTIVATE, s->t_rfc, "t_rfc");
    need(p, refreshed && a == MEM_DRAM_PRECHARGE && b == MEM_DRAM_REFRESH, s->t_rp, "t_rp");
    check_buses(p);
}

/* Open rows: what a command demands of the bank's state. */
static void check_rows(char *broken, const struct dram_spec *s)
{
    static uint64_t row[64][64];
    memset(row, 0xff, sizeof row);
    for (uint32_t i = 0; i < log_count && !*broken; i++) {
        const struct mem_dram_command *c = &log_[i];
        uint64_t *open = &row[c->subchannel][c->bank];
        bool right = *open == c->row;
        if (c->kind == MEM_DRAM_ACTIVATE) {
            right = *open == UINT64_MAX;
            *open = c->row;
        } else if (c->kind == MEM_DRAM_PRECHARGE) {
            *open = UINT64_MAX;
        } else if (c->kind == MEM_DRAM_REFRESH) {
            right = true;
            for (uint32_t k = 0; k < or_else(s->subchannels, 1) * s->banks; k++) {
                bool refreshed = !s->refresh_by_bank || k % s->banks == c->bank;
                right = right && (!refreshed || row[k / s->banks][k % s->banks] == UINT64_MAX);
            }
        }
        if (!right) {
            snprintf(broken, 64, "command %u finds the wrong row", i);
        }
    }
}

/* The fifth of five activates of a subchannel. */
static void check_window(char *broken, const struct dram_spec *s)
{
    for (uint32_t sub = 0; sub < or_else(s->subchannels, 1) && s->t_faw; sub++) {
        uint64_t last[4];
        uint32_t count = 0;
        for (uint32_t i = 0; i < log_count && !*broken; i++) {
            if (log_[i].kind == MEM_DRAM_ACTIVATE && log_[i].subchannel == sub) {
                if (count >= 4 && log_[i].clock < last[count % 4] + s->t_faw) {
                    snprintf(broken, 64, "t_faw");
                }
                last[count++ % 4] = log_[i].clock;
            }
        }
    }
}

/* Between a read or write and the end of its data: as many replies as columns, at these clocks, but
 * for those reads that come before writes of half a burst. */
static uint64_t replied[REQUESTS];
static uint32_t halves;

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void check_replies(char *broken, const struct dram_spec *s)
{
    static uint64_t due[LOG];
    uint32_t count = 0;
    for (uint32_t i = 0; i < log_count; i++) {
        if (log_[i].kind == MEM_DRAM_READ || log_[i].kind == MEM_DRAM_WRITE) {
            uint32_t wl = or_else(s->t_wl, s->t_cl);
            due[count++] =
                log_[i].clock + (log_[i].kind == MEM_DRAM_READ ? s->t_cl : wl) + burst_of(s);
        }
    }
    qsort(due, count, sizeof *due, by_value);
    bool same = count == REQUESTS + halves;
    for (uint32_t i = 0, k = 0; same && i < REQUESTS; k++) {
        same = k < count && due[k] <= replied[i];
        i += same && due[k] == replied[i];
    }
    if (!same && !*broken) {
        snprintf(broken, 64, "replies");
    }
}

/* The name of a constraint that the list breaks, or "". */
static const char *check(const struct dram_spec *s)
{
    static char broken[64];
    broken[0] = '\0';
    uint64_t reach = 0; /* no constraint is longer */
    const uint32_t all[] = {s->t_rcd,   s->t_ras, s->t_rp,    s->t_rc,    s->t_rrd, s->t_rrd_l,
                            s->t_rfc,   s->t_cl,  s->t_wl,    s->t_wr,    s->t_wtr, s->t_rtw,
                            s->t_ccd_s, s->t_rtp, s->t_ccd_l, burst_of(s)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        reach += all[i];
    }
    for (uint32_t i = 0; i < log_count && !broken[0]; i++) {
        for (uint32_t j = i; j-- > 0 && log_[j].clock + reach >= log_[i].clock;) {
            uint32_t groups = or_else(s->bank_groups, 1);
            struct pair p = {.s = s, .a = &log_[j], .b = &log_[i], .broken = broken};
            p.same_sub = p.a->subchannel == p.b->subchannel;
            p.same_bank = p.same_sub && p.a->bank == p.b->bank;
            p.same_group = p.same_sub && p.a->bank % groups == p.b->bank % groups;
            check_pair(&p);
        }
    }
    check_window(broken, s);
    check_rows(broken, s);
    check_replies(broken, s);
    return broken;
}

/* ---- traffic ---- */

/* A few rows of a few banks, runs of neighbours, reads and writes, now dense and now sparse. */
static uint64_t next_address(struct rng *rng, const struct dram_spec *s, uint64_t before)
{
    if (rng_below(rng, 3)) {
        return before + s->burst_bytes;
    }
    uint64_t rows = (uint64_t)s->row_bytes * or_else(s->subchannels, 1) * s->banks * 4;
    return rng_below(rng, rows) / s->burst_bytes * s->burst_bytes;
}

static void run_traffic(const struct dram_spec *s, uint64_t seed)
{
    static struct probe probe[REQUESTS];
    struct rng rng;
    rng_seed(&rng, seed);
    struct channel c = channel_open_logged(s);
    uint64_t address = 0;
    bool write = false;
    halves = 0;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        address = next_address(&rng, s, address);
        write = rng_below(&rng, 4) ? write : !write;
        bool half = write && s->parts_read_first && rng_below(&rng, 2);
        halves += half;
        probe_init(&probe[i], c.engine, write ? MEM_WRITE : MEM_READ, address,
                   s->burst_bytes >> half);
        if (rng_below(&rng, 12) == 0) {
            uint64_t clocks = rng_below(&rng, rng_below(&rng, 10) ? 40 : 2000);
            engine_run(c.engine, engine_now_ps(c.engine) + clocks * CLOCK_PS);
            if (engine_pending(c.engine) == 0) {
                engine_advance(c.engine, engine_now_ps(c.engine) + clocks * CLOCK_PS);
            }
        }
        while (!probe_send(&probe[i], c.port)) {
            assert_true(engine_step(c.engine));
        }
    }
    engine_run(c.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(probe[i].replies, 1);
        replied[i] = probe[i].replied_ps / CLOCK_PS;
    }
    qsort(replied, REQUESTS, sizeof *replied, by_value);
    channel_close(&c);
}

static const struct dram_spec gddr3 = {.channels = 1,
                                       .banks = 8,
                                       .row_bytes = 2048,
                                       .burst_bytes = 32,
                                       .period_ps = CLOCK_PS,
                                       .t_cl = 9,
                                       .t_rcd = 12,
                                       .t_rp = 13,
                                       .t_ras = 21,
                                       .t_rc = 36, /* 34 is t_ras + t_rp and could not show */
                                       .t_rrd = 8,
                                       .t_wl = 4,
                                       .t_wr = 10,
                                       .t_wtr = 5,
                                       .t_rtw = 2,
                                       .t_rtp = 6,
                                       .t_refi = 3000,
                                       .t_rfc = 60,
                                       .bytes_per_cycle = 8,
                                       .queue_entries = 32};

static const struct dram_spec gddr5 = {.channels = 1,
                                       .subchannels = 2,
                                       .banks = 16,
                                       .bank_groups = 4,
                                       .row_bytes = 2048,
                                       .bank_interleave_bytes = 256,
                                       .burst_bytes = 32,
                                       .period_ps = CLOCK_PS,
                                       .t_cl = 18,
                                       .t_rcd = 17,
                                       .t_rp = 18,
                                       .t_ras = 42,
                                       .t_rc = 62,
                                       .t_rrd = 9,
                                       .t_rrd_l = 11,
                                       .t_faw = 44,
                                       .t_ccd_s = 2,
                                       .t_ccd_l = 3,
                                       .t_wl = 4,
                                       .t_wr = 18,
                                       .t_wtr = 8,
                                       .t_rtw = 2,
                                       .t_rtp = 5,
                                       .t_refi = 1900,
                                       .t_rfc = 240,
                                       .bytes_per_cycle = 16,
                                       .queue_entries = 32};

static const struct dram_spec hbm2 = {.channels = 1,
                                      .bus = DRAM_BUS_SPLIT,
                                      .subchannels = 2,
                                      .banks = 16,
                                      .bank_groups = 4,
                                      .row_bytes = 1024,
                                      .bank_interleave_bytes = 128,
                                      .bank_hash = true,
                                      .burst_bytes = 32,
                                      .period_ps = CLOCK_PS,
                                      .t_cl = 14,
                                      .t_rcd = 14,
                                      .t_rp = 14,
                                      .t_ras = 33,
                                      .t_rc = 49,
                                      .t_rrd = 4,
                                      .t_rrd_l = 6,
                                      .t_faw = 20,
                                      .t_ccd_s = 2,
                                      .t_ccd_l = 4,
                                      .t_wl = 4,
                                      .t_wr = 16,
                                      .t_wtr = 8,
                                      .t_rtw = 3,
                                      .t_rtp = 5,
                                      .t_refi = 1900,
                                      .t_rfc = 260,
                                      .bytes_per_cycle = 16,
                                      .queue_entries = 48};

static const struct {
    const char *name;
    const struct dram_spec *spec;
} kinds[] = {{"GDDR3", &gddr3}, {"GDDR5", &gddr5}, {"HBM2", &hbm2}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void traffic_keeps_every_constraint(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS * 4; k++) {
        struct dram_spec spec = *kinds[k % KINDS].spec;
        spec.closed_page = k / KINDS & 1;
        spec.refresh_by_bank = k % 2;
        spec.sched = k / KINDS & 2 ? DRAM_SCHED_FIFO : DRAM_SCHED_FR_FCFS;
        run_traffic(&spec, k + 1);
        const char *broken = check(&spec);
        if (*broken) {
            fail_msg("%s, closed %d, scheduler %d: %s", kinds[k % KINDS].name, spec.closed_page,
                     (int)spec.sched, broken);
        }
    }
}

static void random_channels_keep_every_constraint(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        struct dram_spec spec = {.channels = 1, .period_ps = CLOCK_PS, .burst_bytes = 32};
        spec.t_ccd_wr = seed & 4 ? (uint32_t)seed : 0;
        spec.sched = (enum dram_sched_kind)rng_below(&rng, DRAM_SCHED_KIND_COUNT);
        spec.bus = (enum dram_bus_kind)rng_below(&rng, DRAM_BUS_KIND_COUNT);
        spec.subchannels = (uint32_t)rng_below(&rng, 4);
        spec.bank_groups = 1 + (uint32_t)rng_below(&rng, 3);
        spec.banks = spec.bank_groups * (1 + (uint32_t)rng_below(&rng, 6));
        spec.bank_hash = rng_below(&rng, 2) != 0;
        spec.closed_page = rng_below(&rng, 2) != 0;
        spec.parts_read_first = seed & 1;
        spec.refresh_by_bank = seed & 2;
        spec.row_bytes = 1024;
        spec.bank_interleave_bytes = rng_below(&rng, 2) ? 0 : 128;
        spec.bytes_per_cycle = 4 + (uint32_t)rng_below(&rng, 40);
        spec.queue_entries = 1 + (uint32_t)rng_below(&rng, 40);
        uint32_t *const times[] = {&spec.t_cl,    &spec.t_rcd,   &spec.t_rp,    &spec.t_ras,
                                   &spec.t_rc,    &spec.t_rrd,   &spec.t_rrd_l, &spec.t_faw,
                                   &spec.t_ccd_s, &spec.t_ccd_l, &spec.t_wl,    &spec.t_rtp,
                                   &spec.t_wr,    &spec.t_wtr,   &spec.t_rtw,   &spec.t_rfc};
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            *times[i] = (uint32_t)rng_below(&rng, 30);
        }
        spec.t_rrd_l += spec.t_rrd;
        spec.t_ccd_s = spec.t_ccd_s ? spec.t_ccd_s % 8 : 0;
        spec.t_ccd_l += or_else(spec.t_ccd_s, burst_of(&spec));
        spec.t_refi = rng_below(&rng, 2) ? 0 : 2000;
        run_traffic(&spec, seed);
        assert_int_equal(halves > 0, spec.parts_read_first);
        const char *broken = check(&spec);
        if (*broken) {
            fail_msg("seed %u: %s", (unsigned)seed, broken);
        }
    }
}

/* A parameter, and whether a kind has a traffic in which it alone decides. */
struct parameter {
    const char *name;
    size_t offset;
    bool gddr3;
};
#define PARAMETER(field, in_gddr3)                                                                 \
    {                                                                                              \
#field, offsetof(struct dram_spec, field), in_gddr3                                        \
    }

static void each_parameter_is_kept_on_time_and_not_a_clock_early(void **state)
{
    (void)state;
    static const struct parameter parameters[] = {
        PARAMETER(t_rcd, true),  PARAMETER(t_rp, true),     PARAMETER(t_ras, true),
        PARAMETER(t_rc, true),   PARAMETER(t_rrd, false),   PARAMETER(t_rrd_l, true),
        PARAMETER(t_faw, false), PARAMETER(t_ccd_s, false), PARAMETER(t_ccd_l, false),
        PARAMETER(t_rtp, true),  PARAMETER(t_wr, true),     PARAMETER(t_wtr, true),
        PARAMETER(t_rtw, true),  PARAMETER(t_rfc, true),    PARAMETER(t_cl, true),
        PARAMETER(t_wl, true)};
    for (uint32_t k = 0; k < KINDS; k++) {
        struct dram_spec spec = *kinds[k].spec;
        run_traffic(&spec, 100 + k);
        assert_string_equal(check(&spec), "");
        for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
            if (kinds[k].spec == &gddr3 && !parameters[i].gddr3) {
                continue;
            }
            struct dram_spec longer = spec;
            uint32_t *value = (uint32_t *)(void *)((char *)&longer + parameters[i].offset);
            longer.t_rrd_l = or_else(longer.t_rrd_l, longer.t_rrd);
            *value += 1;
            const char *broken = check(&longer);
            bool data = parameters[i].offset == offsetof(struct dram_spec, t_cl) ||
                        parameters[i].offset == offsetof(struct dram_spec, t_wl);
            if (data ? !*broken : strcmp(broken, parameters[i].name) != 0) {
                fail_msg("%s with %s a clock longer breaks '%s'", kinds[k].name, parameters[i].name,
                         broken);
            }
        }
    }
}

/* Commands per clock: the bus is used in every clock, and never twice. */
static void commands_come_one_a_clock_and_no_faster(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        run_traffic(kinds[k].spec, 200 + k);
        uint32_t neighbours = 0;
        for (uint32_t i = 1; i < log_count; i++) {
            neighbours += log_[i].clock == log_[i - 1].clock + 1;
        }
        assert_string_equal(check(kinds[k].spec), "");
        assert_true(neighbours > 100);
    }
}

static double stream(struct dram_spec spec, uint32_t bytes, enum mem_kind kind)
{
    struct channel c = channel_open(&spec);
    double per_cycle = rig_bandwidth(c.engine, c.port, kind, 40000, bytes, bytes);
    channel_close(&c);
    return per_cycle * CLOCK_PS / PERIOD_PS;
}

/* A stream passes rows of all banks, whose activates hide behind the data of others. */
static void streams_of_row_hits_reach_the_bus_of_each_kind(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        struct dram_spec spec = *kinds[k].spec;
        spec.t_refi = 0;
        spec.queue_entries = 128; /* of fewer, too few banks are known ahead */
        double peak = (double)spec.bytes_per_cycle * or_else(spec.subchannels, 1);
        assert_within_2_percent(stream(spec, 32, MEM_READ), peak);
        assert_within_2_percent(stream(spec, 128, MEM_READ), peak);
        assert_within_2_percent(stream(spec, 32, MEM_WRITE), peak);
        spec.burst_bytes = 64;
        spec.t_ccd_s = spec.t_ccd_s * 2;
        assert_within_2_percent(stream(spec, 64, MEM_READ), peak);
    }
}

static void refreshes_take_their_share_of_a_stream(void **state)
{
    (void)state;
    struct dram_spec spec = gddr3;
    spec.t_refi = 2000;
    spec.t_rfc = 800;
    double peak = 8.0;
    double bandwidth = stream(spec, 32, MEM_READ);
    /* what a refresh costs besides its time: precharge before it, activate and read after */
    double lost = spec.t_rfc + spec.t_rp + spec.t_rcd + spec.t_cl;
    assert_true(bandwidth < peak * 0.6);
    assert_true(bandwidth > peak * (1 - (lost + 40) / spec.t_refi));
}

/* Each bank's come t_refi apart, the banks take turns, and the others go on beside it. */
static void refreshes_by_bank_take_turns_and_leave_the_others(void **state)
{
    (void)state;
    struct dram_spec spec = gddr3;
    spec.refresh_by_bank = true;
    run_traffic(&spec, 7);
    assert_string_equal(check(&spec), "");
    uint32_t refreshes = 0, beside = 0;
    uint64_t last = 0, slack = spec.t_rc + spec.t_wr + spec.t_rp; /* an open bank closes first */
    for (uint32_t i = 0; i < log_count; i++) {
        const struct mem_dram_command *c = &log_[i];
        if (c->kind == MEM_DRAM_REFRESH) {
            assert_int_equal(c->bank, refreshes % spec.banks);
            last = c->clock;
            uint64_t due = (uint64_t)++refreshes * spec.t_refi / spec.banks;
            assert_in_range(c->clock, due, due + slack);
        }
        beside += refreshes && c->kind == MEM_DRAM_ACTIVATE && c->clock < last + spec.t_rfc;
    }
    assert_true(refreshes > 4 * spec.banks);
    assert_true(beside > 0);
}

/* Clocks that a read of row `row` takes that comes at `clock` to a channel that was idle; `bank`:
 * where it goes. */
static uint64_t after_idling(const struct dram_spec *spec, uint64_t row, uint64_t clock,
                             uint32_t *bank)
{
    struct probe probe;
    struct channel c = channel_open_logged(spec);
    engine_advance(c.engine, clock * CLOCK_PS);
    probe_init(&probe, c.engine, MEM_READ, row * spec->row_bytes, spec->burst_bytes);
    assert_true(probe_send(&probe, c.port));
    engine_run(c.engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < log_count; i++) {
        *bank = log_[i].kind == MEM_DRAM_ACTIVATE ? log_[i].bank : *bank;
    }
    channel_close(&c);
    return probe.replied_ps / CLOCK_PS - clock;
}

static void idle_channels_are_refreshed_bank_by_bank(void **state)
{
    (void)state;
    struct dram_spec spec = gddr3;
    spec.refresh_by_bank = true;
    uint32_t seen = 0;
    for (uint32_t row = 0; row < spec.banks; row++) {
        for (uint64_t rounds = 0; rounds < 12; rounds += 11) {
            uint32_t bank = 0;
            uint64_t clock =
                rounds * spec.t_refi + 5 * spec.t_refi / spec.banks + 1; /* of bank 4 */
            uint64_t clocks = after_idling(&spec, row, clock, &bank);
            seen |= UINT32_C(1) << bank;
            assert_int_equal(clocks + 1 >= spec.t_rfc, bank == 4);
        }
    }
    assert_int_equal(seen, (1 << spec.banks) - 1);
}

static uint64_t first_refresh(const struct dram_spec *spec, uint32_t channel)
{
    struct probe probe;
    struct channel c = channel_open_logged(spec);
    mem_dram_set_channel(c.dram, channel);
    engine_advance(c.engine, UINT64_C(2) * spec->t_refi * CLOCK_PS);
    probe_init(&probe, c.engine, MEM_READ, 0, spec->burst_bytes);
    assert_true(probe_send(&probe, c.port));
    engine_run(c.engine, ENGINE_NEVER);
    channel_close(&c);
    assert_true(log_count > 0 && log_[0].kind == MEM_DRAM_REFRESH);
    return log_[0].clock;
}

/* Idle ones tell of their last refresh before 2 t_refi alone: all of them lie in the second. */
static void channels_refresh_in_turn_where_asked(void **state)
{
    (void)state;
    struct dram_spec spec = gddr3;
    spec.channels = 4;
    for (uint32_t channel = 1; channel < spec.channels; channel++) {
        spec.refresh_in_turn = false;
        assert_int_equal(first_refresh(&spec, channel), first_refresh(&spec, 0));
        spec.refresh_in_turn = true;
        assert_int_equal(first_refresh(&spec, channel), spec.t_refi + channel * spec.t_refi / 4);
    }
}

static void one_bank_group_gives_less_than_all(void **state)
{
    (void)state;
    struct dram_spec spec = gddr5;
    spec.t_refi = 0;
    spec.subchannels = 1;
    spec.banks = spec.bank_groups = 1; /* one bank: its columns are t_ccd_l apart */
    spec.row_bytes = 1 << 20;
    spec.bank_interleave_bytes = 0;
    assert_within_2_percent(stream(spec, 32, MEM_READ), 32.0 / spec.t_ccd_l);
}

static void rows_a_power_of_two_apart_meet_in_one_bank_unless_hashed(void **state)
{
    (void)state;
    for (uint32_t hashed = 0; hashed < 2; hashed++) {
        struct dram_spec spec = gddr3;
        spec.t_refi = 0;
        spec.bank_hash = hashed;
        struct channel c = channel_open_logged(&spec);
        for (uint32_t i = 0; i < spec.banks; i++) {
            probe_alone(c.engine, c.port, MEM_READ, (uint64_t)i * spec.row_bytes * spec.banks, 32,
                        NULL);
        }
        uint64_t seen = 0;
        for (uint32_t i = 0; i < log_count; i++) {
            seen |= UINT64_C(1) << log_[i].bank;
        }
        assert_int_equal(seen, hashed ? 0xff : 1);
        channel_close(&c);
    }
}

/* Utilization counts all time, efficiency the time in which there was something to do (Bakhoda et
 * al., ISPASS 2009, section 4.5): of a stream both are one; of a lone read it is its share of data.
 */
static void busy_and_pending_time_are_those_of_the_data_and_of_the_requests(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        struct dram_spec spec = *kinds[k].spec;
        spec.t_refi = 0;
        spec.queue_entries = 128;
        struct channel c = channel_open(&spec);
        const struct mem_dram_stats *stats = mem_dram_stats(c.dram);
        uint32_t subchannels = or_else(spec.subchannels, 1);
        for (uint32_t i = 1; i <= 3; i++) {
            probe_alone(c.engine, c.port, MEM_READ, i * 12345 * 1024, 32, NULL);
            rig_wait(c.engine, 1000);
            assert_int_equal(stats->busy_ps, i * (burst_of(&spec) * CLOCK_PS / subchannels));
            assert_int_equal(stats->sending_ps, i * burst_of(&spec) * CLOCK_PS);
        }
        uint64_t alone = spec.t_rcd + spec.t_cl + burst_of(&spec), other = alone + spec.t_rp;
        assert_in_range(stats->pending_ps, 3 * alone * CLOCK_PS, 3 * other * CLOCK_PS);
        struct mem_dram_stats before = *stats;
        uint64_t start_ps = engine_now_ps(c.engine);
        rig_bandwidth(c.engine, c.port, MEM_READ, 20000, 32, 32);
        double busy = (double)(stats->busy_ps - before.busy_ps);
        double pending = (double)(stats->pending_ps - before.pending_ps);
        assert_true(busy <= pending);
        assert_true(pending <= (double)(engine_now_ps(c.engine) - start_ps));
        assert_true(busy >= pending * 0.98);
        double sending = (double)(stats->sending_ps - before.sending_ps);
        assert_true(busy <= sending && sending <= pending);
        assert_int_equal(stats->reads, 20003);
        assert_int_equal(stats->row_hits + stats->row_misses, 20003);
        channel_close(&c);
    }
}

/*
 * A stream of reads of one row, and early among them one of another: how many are answered before
 * it. `bank`: of that other row; with a burst a clock, columns leave the command bus no clock.
 */
static uint32_t overtaken(uint32_t overtakes, uint32_t bank, uint32_t width)
{
    enum { STREAM = 3000, ODD = 20 };
    static struct probe probe[STREAM];
    struct dram_spec spec = {.channels = 1,
                             .banks = 4,
                             .row_bytes = 1024,
                             .burst_bytes = 32,
                             .period_ps = CLOCK_PS,
                             .t_cl = 10,
                             .t_rcd = 10,
                             .t_rp = 10,
                             .t_ras = 20,
                             .t_rc = 30,
                             .bytes_per_cycle = width,
                             .queue_entries = 16,
                             .overtakes = overtakes};
    struct channel c = channel_open(&spec);
    for (uint32_t i = 0; i < STREAM; i++) {
        uint64_t other = bank ? (uint64_t)bank * 1024 : 4096;
        probe_init(&probe[i], c.engine, MEM_READ, i == ODD ? other : i % 32 * 32, 32);
    }
    struct rig_source source = {.port = c.port, .count = STREAM, .probe = probe};
    rig_push(&source, 0);
    engine_run(c.engine, ENGINE_NEVER);
    uint32_t before = 0;
    for (uint32_t i = 0; i < STREAM; i++) {
        assert_int_equal(probe[i].replies, 1);
        before += probe[i].replied_ps < probe[ODD].replied_ps && i > ODD;
    }
    channel_close(&c);
    return before;
}

static void row_hits_keep_nobody_waiting_for_ever(void **state)
{
    (void)state;
    assert_int_equal(overtaken(0, 0, 8), 3000 - 20 - 1); /* all of them */
    for (uint32_t overtakes = 16; overtakes <= 1024; overtakes *= 4) {
        assert_in_range(overtaken(overtakes, 0, 8), overtakes - 16, overtakes + 16);
        assert_in_range(overtaken(overtakes, 0, 32), overtakes - 16, overtakes + 32);
        assert_in_range(overtaken(overtakes, 1, 32), 0, overtakes + 48);
    }
    assert_in_range(overtaken(0, 1, 8), 0, 20); /* a bank of its own, and clocks to spare */
}

static void expect_refused(struct dram_spec spec, const char *why)
{
    assert_int_equal(mem_dram_check(&spec), SONDE_EINPUT);
    assert_string_equal(error_text(), why);
}

static void channels_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct dram_spec spec = gddr5;
    spec.bank_groups = 3;
    expect_refused(spec, "DRAM: 16 banks cannot be shared out over 3 groups");
    spec = gddr5;
    spec.bank_interleave_bytes = 384;
    expect_refused(spec, "DRAM: a row of 2048 B is not made of pieces of 384 B");
    spec = gddr5;
    spec.subchannels = 65;
    expect_refused(spec, "DRAM: 65 subchannels of 16 banks; 1024 banks a channel are the most that "
                         "are simulated");
    spec = gddr5;
    spec.t_refi = 300;
    expect_refused(spec, "DRAM: a refresh of 240 cycles every 300 leaves no time for accesses");
    spec = gddr5;
    spec.t_rfc = spec.t_rc = spec.t_ras = spec.t_rp = spec.t_rcd = spec.t_cl = spec.t_wl = 0;
    spec.t_wr = spec.t_wtr = 0;
    spec.t_refi = 15;
    assert_int_equal(mem_dram_check(&spec), 0);
    spec.refresh_by_bank = true;
    expect_refused(spec, "DRAM: 16 banks are not refreshed one by one within 15 cycles");
    spec = gddr5;
    spec.bus = DRAM_BUS_KIND_COUNT;
    expect_refused(spec, "DRAM: unknown kind of command bus 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traffic_keeps_every_constraint),
        cmocka_unit_test(random_channels_keep_every_constraint),
        cmocka_unit_test(each_parameter_is_kept_on_time_and_not_a_clock_early),
        cmocka_unit_test(commands_come_one_a_clock_and_no_faster),
        cmocka_unit_test(streams_of_row_hits_reach_the_bus_of_each_kind),
        cmocka_unit_test(refreshes_take_their_share_of_a_stream),
        cmocka_unit_test(refreshes_by_bank_take_turns_and_leave_the_others),
        cmocka_unit_test(idle_channels_are_refreshed_bank_by_bank),
        cmocka_unit_test(channels_refresh_in_turn_where_asked),
        cmocka_unit_test(one_bank_group_gives_less_than_all),
        cmocka_unit_test(rows_a_power_of_two_apart_meet_in_one_bank_unless_hashed),
        cmocka_unit_test(busy_and_pending_time_are_those_of_the_data_and_of_the_requests),
        cmocka_unit_test(row_hits_keep_nobody_waiting_for_ever),
        cmocka_unit_test(channels_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

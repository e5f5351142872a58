/*
 * A DRAM channel: each command's constraint on time and not a clock early, the schedulers' order,
 * the bus at its width. 4 banks of rows of 1024 bytes; memory clock 500 ps; the controller's
 * fixed time is 7 core cycles of 1000 ps. All times are in memory clocks unless a name says
 * otherwise.
 */
#include "support/memory_rig.h"

enum { CLOCK_PS = 500, FIXED_CLOCKS = 14 };
enum { CL = 11, RCD = 13, RP = 15, RAS = 31, RC = 50, RRD = 6 };
enum { BURST = 4 };                                 /* 32 bytes at 8 a clock */
enum { ROW = 1024, BANKS = 4, ROWS = ROW * BANKS }; /* the next row of the same bank */

struct fixture {
    struct engine *engine;
    struct dram_spec spec;
    struct mem_dram *dram;
    struct mem_port port;
};

static void fixture_open(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(engine_create(&f->engine), 0);
    f->spec = (struct dram_spec){.sched = DRAM_SCHED_FR_FCFS,
                                 .channels = 1,
                                 .banks = BANKS,
                                 .row_bytes = ROW,
                                 .burst_bytes = 32,
                                 .period_ps = CLOCK_PS,
                                 .t_cl = CL,
                                 .t_rcd = RCD,
                                 .t_rp = RP,
                                 .t_ras = RAS,
                                 .t_rc = RC,
                                 .t_rrd = RRD,
                                 .bytes_per_cycle = 8,
                                 .queue_entries = 16,
                                 .fixed_cycles = 7};
}

static void fixture_start(struct fixture *f)
{
    assert_int_equal(mem_dram_create(&f->dram, &f->spec, f->engine, &rig_clock, 1), 0);
    f->port = mem_dram_port(f->dram);
}

static void fixture_close(struct fixture *f)
{
    mem_dram_destroy(f->dram);
    engine_destroy(f->engine);
}

/*
 * Sends reads of 32 bytes at once, runs to the end; the clocks from then to each reply, less the
 * fixed time.
 */
static void read_all(struct fixture *f, uint32_t count, const uint64_t *address, uint64_t *clocks)
{
    struct probe probe[32];
    uint64_t start_ps = engine_now_ps(f->engine);
    for (uint32_t i = 0; i < count; i++) {
        probe_init(&probe[i], f->engine, MEM_READ, address[i], 32);
        assert_true(probe_send(&probe[i], f->port));
    }
    engine_run(f->engine, ENGINE_NEVER);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(probe[i].replies, 1);
        assert_int_equal(probe[i].request.served_at, MEM_AT_DRAM);
        clocks[i] = (probe[i].replied_ps - start_ps) / CLOCK_PS - FIXED_CLOCKS;
    }
}

static uint64_t read_one(struct fixture *f, uint64_t address)
{
    uint64_t clocks;
    read_all(f, 1, &address, &clocks);
    return clocks;
}

static void wait_clocks(struct fixture *f, uint64_t clocks)
{
    engine_advance(f->engine, engine_now_ps(f->engine) + clocks * CLOCK_PS);
}

static void a_closed_bank_an_open_row_and_another_row_take_their_commands(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    assert_int_equal(read_one(&f, 0), RCD + CL + BURST);
    wait_clocks(&f, 100);
    assert_int_equal(read_one(&f, 64), CL + BURST);
    wait_clocks(&f, 100);
    assert_int_equal(read_one(&f, ROWS), RP + RCD + CL + BURST);
    wait_clocks(&f, 100);
    assert_int_equal(read_one(&f, ROW), RCD + CL + BURST); /* the next bank, never opened */
    const struct mem_dram_stats *stats = mem_dram_stats(f.dram);
    assert_int_equal(stats->reads, 4);
    assert_int_equal(stats->row_hits, 1);
    assert_int_equal(stats->row_misses, 3);
    assert_int_equal(stats->busy_ps, 4 * BURST * CLOCK_PS);
    fixture_close(&f);
}

static void a_reply_is_not_a_clock_early(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0, 32);
    assert_true(probe_send(&probe, f.port));
    uint64_t due_ps = (RCD + CL + BURST + FIXED_CLOCKS) * CLOCK_PS;
    engine_run(f.engine, due_ps - 1);
    assert_int_equal(probe.replies, 0);
    engine_run(f.engine, due_ps);
    assert_int_equal(probe.replies, 1);
    fixture_close(&f);
}

static void a_request_between_clocks_starts_at_the_next(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    engine_advance(f.engine, 501);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0, 32);
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe.replied_ps, 1000 + (RCD + CL + BURST + FIXED_CLOCKS) * CLOCK_PS);
    fixture_close(&f);
}

static void a_request_sent_ahead_starts_when_it_arrives(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    struct probe ahead, direct;
    probe_init(&ahead, f.engine, MEM_READ, 0, 32);
    probe_init(&direct, f.engine, MEM_READ, ROW, 32);
    ahead.request.arrive_ps = 40 * CLOCK_PS;
    assert_true(probe_send(&ahead, f.port));
    assert_true(probe_send(&direct, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    uint64_t clocks = RCD + CL + BURST + FIXED_CLOCKS;
    assert_int_equal(direct.replied_ps, clocks * CLOCK_PS);
    assert_int_equal(ahead.replied_ps, (40 + clocks) * CLOCK_PS);
    fixture_close(&f);
}

/* Pieces of 64 bytes lie in the banks in turn: of these 128 in two banks, which activate RRD apart.
 */
static void a_request_in_two_banks_is_answered_when_both_parts_are_there(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.bank_interleave_bytes = 64;
    fixture_start(&f);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0, 128);
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe.replies, 1); /* four bursts, one behind the other on the bus */
    assert_int_equal(probe.replied_ps, (RCD + CL + 4 * BURST + FIXED_CLOCKS) * CLOCK_PS);
    const struct mem_dram_stats *stats = mem_dram_stats(f.dram);
    assert_int_equal(stats->reads, 1);
    assert_int_equal(stats->read_bytes, 128);
    assert_int_equal(stats->row_misses, 2);
    fixture_close(&f);
}

/* The part that is through first does not answer, whichever it is: the other one's bank is busy
 * with another row. */
static void the_later_part_answers_whichever_it_is(void **state)
{
    (void)state;
    for (uint64_t busy = 0; busy <= 64; busy += 64) {
        struct fixture f;
        fixture_open(&f);
        f.spec.bank_interleave_bytes = 64;
        fixture_start(&f);
        struct probe before, probe;
        probe_init(&before, f.engine, MEM_READ, busy + ROWS, 32);
        probe_init(&probe, f.engine, MEM_READ, 0, 128);
        assert_true(probe_send(&before, f.port));
        assert_true(probe_send(&probe, f.port));
        engine_run(f.engine, ENGINE_NEVER);
        assert_int_equal(before.replied_ps, (RCD + CL + BURST + FIXED_CLOCKS) * CLOCK_PS);
        assert_int_equal(probe.replies, 1);
        assert_int_equal(probe.replied_ps, (RC + RCD + CL + 2 * BURST + FIXED_CLOCKS) * CLOCK_PS);
        fixture_close(&f);
    }
}

/* Of a queue of three places one is left: too few for two parts, which are told of each that is
 * free and go when both are. */
static void a_request_takes_a_place_for_each_part(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.bank_interleave_bytes = 64;
    f.spec.queue_entries = 3;
    fixture_start(&f);
    struct probe first, second, single, wake;
    probe_init(&first, f.engine, MEM_READ, 0, 128);
    probe_init(&second, f.engine, MEM_READ, 0, 128);
    probe_init(&single, f.engine, MEM_READ, ROWS, 32);
    probe_init(&wake, f.engine, MEM_READ, 0, 32);
    assert_true(probe_send(&first, f.port));
    assert_false(probe_send(&second, f.port));
    assert_true(probe_send(&single, f.port));
    assert_false(probe_send(&second, f.port));
    f.port.when_space(f.port.self, probe_on_reply, &wake, 0);
    engine_run(f.engine, (RCD + BURST) * CLOCK_PS); /* the first part's second burst is asked for */
    assert_int_equal(wake.replies, 1);
    assert_int_equal(wake.replied_ps, (RCD + BURST) * CLOCK_PS);
    assert_false(probe_send(&second, f.port));
    f.port.when_space(f.port.self, probe_on_reply, &wake, 0);
    engine_run(f.engine, (RCD + 4 * BURST) * CLOCK_PS); /* the other part's, too */
    assert_int_equal(wake.replies, 2);
    assert_true(probe_send(&second, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(first.replies, 1);
    assert_int_equal(single.replies, 1);
    assert_int_equal(second.replies, 1);
    fixture_close(&f);
}

/* More parts than places: the queue takes what it has places for, and the rest with the last. */
static void a_queue_shorter_than_a_request_has_parts_takes_it(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.bank_interleave_bytes = 64;
    f.spec.queue_entries = 1;
    fixture_start(&f);
    struct probe probe;
    probe_init(&probe, f.engine, MEM_READ, 0, 256);
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe.replied_ps, (RCD + CL + 8 * BURST + FIXED_CLOCKS) * CLOCK_PS);
    fixture_close(&f);
}

struct activates {
    uint32_t count;
    struct mem_dram_command of[8];
};

static void note_activate(void *ctx, const struct mem_dram_command *command)
{
    struct activates *seen = ctx;
    if (command->kind == MEM_DRAM_ACTIVATE) {
        assert_in_range(seen->count, 0, 7);
        seen->of[seen->count++] = *command;
    }
}

/* Two banks take pieces in turn until their rows are full, 2 KiB; then the other two do, and then
 * the first two's next rows. */
static void few_banks_take_pieces_in_turn_until_their_rows_are_full(void **state)
{
    (void)state;
    static const struct {
        uint64_t address;
        uint32_t bank;
        uint64_t row;
    } places[] = {{0, 0, 0},       {64, 1, 0},           {128, 0, 0},          {2 * ROW - 64, 1, 0},
                  {2 * ROW, 2, 0}, {2 * ROW + 64, 3, 0}, {4 * ROW + 128, 0, 1}};
    struct fixture f;
    struct activates seen = {0};
    fixture_open(&f);
    f.spec.bank_interleave_bytes = 64;
    f.spec.banks_abreast = 2;
    f.spec.closed_page = true;
    fixture_start(&f);
    mem_dram_watch(f.dram, note_activate, &seen);
    for (uint32_t i = 0; i < sizeof places / sizeof *places; i++) {
        read_one(&f, places[i].address);
        assert_int_equal(seen.count, i + 1);
        assert_int_equal(seen.of[i].bank, places[i].bank);
        assert_int_equal(seen.of[i].row, places[i].row);
    }
    fixture_close(&f);
}

static void activates_of_two_banks_are_rrd_apart(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    const uint64_t address[3] = {0, ROW, 2 * ROW};
    uint64_t clocks[3];
    read_all(&f, 3, address, clocks);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(clocks[i], i * RRD + RCD + CL + BURST);
    }
    fixture_close(&f);
}

static void rows_of_one_bank_are_rc_apart_or_ras_and_rp(void **state)
{
    (void)state;
    for (uint32_t rc = 40; rc <= 50; rc += 10) {
        struct fixture f;
        fixture_open(&f);
        f.spec.t_rc = rc;
        fixture_start(&f);
        const uint64_t address[2] = {0, ROWS};
        uint64_t clocks[2];
        read_all(&f, 2, address, clocks);
        uint64_t apart = rc > RAS + RP ? rc : RAS + RP;
        assert_int_equal(clocks[1] - clocks[0], apart);
        fixture_close(&f);
    }
}

static void a_precharge_waits_for_the_data_of_the_row(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.t_ras = f.spec.t_rc = 0;
    fixture_start(&f);
    const uint64_t address[2] = {0, ROWS};
    uint64_t clocks[2];
    read_all(&f, 2, address, clocks);
    assert_int_equal(clocks[1] - clocks[0], BURST + RP + RCD);
    fixture_close(&f);
}

static void row_hits_follow_each_other_on_the_bus(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    const uint64_t address[4] = {0, 32, 64, 96};
    uint64_t clocks[4];
    read_all(&f, 4, address, clocks);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(clocks[i], RCD + CL + (i + 1) * BURST);
    }
    fixture_close(&f);
}

static void row_hits_of_two_banks_share_the_bus(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    read_one(&f, 0);
    read_one(&f, ROW);
    wait_clocks(&f, 100);
    const uint64_t address[4] = {32, ROW + 32, 64, ROW + 64};
    uint64_t clocks[4];
    read_all(&f, 4, address, clocks);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(clocks[i], CL + (i + 1) * BURST);
    }
    fixture_close(&f);
}

static void a_request_of_part_of_a_burst_takes_the_whole(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    uint64_t lead_ps = (FIXED_CLOCKS + RCD + CL) * CLOCK_PS;
    const uint32_t bytes[4] = {4, 32, 33, 128};
    const uint64_t clocks[4] = {4, 4, 8, 16};
    for (uint32_t i = 0; i < 4; i++) {
        struct probe probe;
        probe_init(&probe, f.engine, MEM_WRITE, i * ROW, bytes[i]);
        uint64_t start_ps = engine_now_ps(f.engine);
        assert_true(probe_send(&probe, f.port));
        engine_run(f.engine, ENGINE_NEVER);
        assert_int_equal(probe.replied_ps - start_ps, lead_ps + clocks[i] * CLOCK_PS);
        wait_clocks(&f, 100);
    }
    assert_int_equal(mem_dram_stats(f.dram)->writes, 4);
    fixture_close(&f);
}

/* The clocks of a lone write to a closed bank, and of what comes of it on the bus. */
static uint64_t write_one(const struct dram_spec *spec, uint64_t address, uint32_t bytes)
{
    struct fixture f;
    struct probe probe;
    fixture_open(&f);
    f.spec = *spec;
    fixture_start(&f);
    probe_init(&probe, f.engine, MEM_WRITE, address, bytes);
    assert_true(probe_send(&probe, f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe.replies, 1);
    assert_int_equal(mem_dram_stats(f.dram)->writes, 1);
    assert_int_equal(mem_dram_stats(f.dram)->reads, 0);
    uint64_t clocks = probe.replied_ps / CLOCK_PS - FIXED_CLOCKS;
    assert_int_equal(mem_dram_stats(f.dram)->busy_ps % (BURST * CLOCK_PS), 0);
    assert_in_range(mem_dram_stats(f.dram)->busy_ps, BURST * CLOCK_PS, clocks * CLOCK_PS);
    fixture_close(&f);
    return clocks;
}

static void a_write_of_part_of_a_burst_reads_it_first_where_the_model_says_so(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    struct dram_spec spec = f.spec;
    enum { OPEN = RCD + CL };
    assert_int_equal(write_one(&spec, 4, 4), OPEN + BURST);
    spec.parts_read_first = true;
    assert_int_equal(write_one(&spec, 0, 32), OPEN + BURST);
    assert_int_equal(write_one(&spec, 32, 96), OPEN + 3 * BURST);
    assert_int_equal(write_one(&spec, 0, 4), OPEN + 2 * BURST);
    assert_int_equal(write_one(&spec, 28, 4), OPEN + 2 * BURST);
    assert_int_equal(write_one(&spec, 0, 40), OPEN + 3 * BURST);  /* reads one, writes two */
    assert_int_equal(write_one(&spec, 24, 80), OPEN + 6 * BURST); /* four, of which two in part */
    spec.t_rtw = 3;
    assert_int_equal(write_one(&spec, 0, 4), OPEN + 2 * BURST + 3);
    f.spec.parts_read_first = true;
    fixture_start(&f);
    assert_int_equal(read_one(&f, 4), OPEN + 2 * BURST); /* a read takes what it touches */
    fixture_close(&f);
}

static void closed_pages_cost_a_lone_access_the_same_every_time(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.closed_page = true;
    fixture_start(&f);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(read_one(&f, i < 2 ? 32 * i : ROWS * i), RCD + CL + BURST);
        wait_clocks(&f, 100);
    }
    /* but another row not before the precharge is over, and the same row while it is open */
    const uint64_t address[3] = {0, 32, ROWS};
    uint64_t clocks[3];
    read_all(&f, 3, address, clocks);
    assert_int_equal(clocks[1] - clocks[0], BURST);
    assert_int_equal(clocks[2] - clocks[0], RC);
    fixture_close(&f);
}

/* 0 opens a row; of what waits then, the last one goes to the open row. */
static void read_in_two_rows(enum dram_sched_kind sched, uint64_t *clocks)
{
    struct fixture f;
    fixture_open(&f);
    f.spec.sched = sched;
    fixture_start(&f);
    const uint64_t address[3] = {0, ROWS, 64};
    read_all(&f, 3, address, clocks);
    fixture_close(&f);
}

static void fr_fcfs_prefers_the_open_row_and_fifo_does_not(void **state)
{
    (void)state;
    uint64_t clocks[3];
    read_in_two_rows(DRAM_SCHED_FR_FCFS, clocks);
    assert_int_equal(clocks[0], RCD + CL + BURST);
    assert_int_equal(clocks[2], RCD + CL + 2 * BURST);
    assert_int_equal(clocks[1], RC + RCD + CL + BURST);
    read_in_two_rows(DRAM_SCHED_FIFO, clocks);
    assert_int_equal(clocks[1], RC + RCD + CL + BURST);
    assert_int_equal(clocks[2], 2 * RC + RCD + CL + BURST);
}

static void fr_fcfs_takes_the_bank_that_is_ready_first(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    const uint64_t address[3] = {0, ROWS, ROW}; /* bank 0, bank 0 again, bank 1 */
    uint64_t clocks[3];
    read_all(&f, 3, address, clocks);
    assert_int_equal(clocks[2], RRD + RCD + CL + BURST);
    assert_int_equal(clocks[1], RC + RCD + CL + BURST);
    fixture_close(&f);
}

static void interleaving_takes_the_other_channels_shares_out_of_the_row(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.channels = 6;
    f.spec.interleave_bytes = 256;
    fixture_start(&f);
    /* four pieces of 256 bytes, 6 * 256 apart, fill one row */
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t expected = (i % 4 ? 0 : RCD) + CL + BURST;
        assert_int_equal(read_one(&f, i * 6 * 256 + 32), expected);
        wait_clocks(&f, 100);
    }
    fixture_close(&f);
}

static void a_full_queue_refuses_until_a_request_has_its_column_command(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.queue_entries = 2;
    fixture_start(&f);
    struct probe probe[4], wake;
    for (uint32_t i = 0; i < 3; i++) {
        probe_init(&probe[i], f.engine, MEM_READ, 32 * i, 32);
        assert_int_equal(probe_send(&probe[i], f.port), i < 2);
    }
    probe_init(&wake, f.engine, MEM_READ, 0, 4);
    f.port.when_space(f.port.self, probe_on_reply, &wake, 0);
    engine_run(f.engine, (RCD - 1) * CLOCK_PS);
    assert_int_equal(wake.replies, 0);
    engine_run(f.engine, RCD * CLOCK_PS);
    assert_int_equal(wake.replies, 1);
    assert_true(probe_send(&probe[2], f.port));
    engine_run(f.engine, ENGINE_NEVER);
    assert_int_equal(probe[2].replies, 1);
    fixture_close(&f);
}

static void the_bus_saturates_at_its_width(void **state)
{
    (void)state;
    const uint32_t widths[] = {4, 8, 12, 16, 32};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct fixture f;
        fixture_open(&f);
        f.spec.bytes_per_cycle = widths[i];
        fixture_start(&f);
        double clocks = (32 + widths[i] - 1) / widths[i];
        double per_core_cycle = 32 / clocks * PERIOD_PS / CLOCK_PS;
        double measured = rig_bandwidth(f.engine, f.port, MEM_READ, 20000, 32, 0);
        assert_within_2_percent(measured, per_core_cycle);
        fixture_close(&f);
    }
}

static void sequential_reads_hide_the_rows_behind_the_bus(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    double measured = rig_bandwidth(f.engine, f.port, MEM_READ, 20000, 32, 32);
    assert_within_2_percent(measured, 16);
    fixture_close(&f);
}

/* Both ways: a write may hold up the next longer than a read does, or not as long. */
static void writes_are_as_far_apart_as_they_are_asked_to_be(void **state)
{
    (void)state;
    static const struct {
        uint32_t read, write;
    } cases[] = {{0, 5}, {0, 9}, {9, 4}, {9, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int writes = 0; writes < 2; writes++) {
            struct fixture f;
            fixture_open(&f);
            f.spec.queue_entries = 128;
            f.spec.t_ccd_s = cases[i].read;
            f.spec.t_ccd_wr = cases[i].write;
            fixture_start(&f);
            uint32_t reads = cases[i].read ? cases[i].read : BURST;
            uint32_t apart = writes ? cases[i].write : reads;
            double measured =
                rig_bandwidth(f.engine, f.port, writes ? MEM_WRITE : MEM_READ, 20000, 32, 32);
            assert_within_2_percent(measured, 32.0 * 1000 / CLOCK_PS / apart);
            fixture_close(&f);
        }
    }
}

static void one_bank_saturates_at_its_row_cycle(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    double measured = rig_bandwidth(f.engine, f.port, MEM_READ, 2000, 32, ROWS);
    assert_within_2_percent(measured, 32.0 / RC * PERIOD_PS / CLOCK_PS);
    fixture_close(&f);
}

static void four_banks_saturate_at_four_row_cycles(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    fixture_start(&f);
    double measured = rig_bandwidth(f.engine, f.port, MEM_READ, 4000, 32, ROWS + ROW);
    assert_within_2_percent(measured, 4 * 32.0 / RC * PERIOD_PS / CLOCK_PS);
    fixture_close(&f);
}

static void channels_of_nothing_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f);
    f.spec.banks = 0;
    int rc = mem_dram_create(&f.dram, &f.spec, f.engine, &rig_clock, 1);
    assert_int_equal(rc, SONDE_EINPUT);
    f.spec.banks = 1;
    f.spec.sched = DRAM_SCHED_KIND_COUNT;
    rc = mem_dram_create(&f.dram, &f.spec, f.engine, &rig_clock, 1);
    assert_int_equal(rc, SONDE_EINPUT);
    assert_string_equal(error_text(), "DRAM: unknown scheduler 2");
    engine_destroy(f.engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_bank_an_open_row_and_another_row_take_their_commands),
        cmocka_unit_test(a_reply_is_not_a_clock_early),
        cmocka_unit_test(a_request_between_clocks_starts_at_the_next),
        cmocka_unit_test(a_request_sent_ahead_starts_when_it_arrives),
        cmocka_unit_test(a_request_in_two_banks_is_answered_when_both_parts_are_there),
        cmocka_unit_test(the_later_part_answers_whichever_it_is),
        cmocka_unit_test(a_request_takes_a_place_for_each_part),
        cmocka_unit_test(a_queue_shorter_than_a_request_has_parts_takes_it),
        cmocka_unit_test(few_banks_take_pieces_in_turn_until_their_rows_are_full),
        cmocka_unit_test(activates_of_two_banks_are_rrd_apart),
        cmocka_unit_test(rows_of_one_bank_are_rc_apart_or_ras_and_rp),
        cmocka_unit_test(a_precharge_waits_for_the_data_of_the_row),
        cmocka_unit_test(row_hits_follow_each_other_on_the_bus),
        cmocka_unit_test(row_hits_of_two_banks_share_the_bus),
        cmocka_unit_test(a_request_of_part_of_a_burst_takes_the_whole),
        cmocka_unit_test(a_write_of_part_of_a_burst_reads_it_first_where_the_model_says_so),
        cmocka_unit_test(closed_pages_cost_a_lone_access_the_same_every_time),
        cmocka_unit_test(fr_fcfs_prefers_the_open_row_and_fifo_does_not),
        cmocka_unit_test(fr_fcfs_takes_the_bank_that_is_ready_first),
        cmocka_unit_test(interleaving_takes_the_other_channels_shares_out_of_the_row),
        cmocka_unit_test(a_full_queue_refuses_until_a_request_has_its_column_command),
        cmocka_unit_test(the_bus_saturates_at_its_width),
        cmocka_unit_test(sequential_reads_hide_the_rows_behind_the_bus),
        cmocka_unit_test(writes_are_as_far_apart_as_they_are_asked_to_be),
        cmocka_unit_test(one_bank_saturates_at_its_row_cycle),
        cmocka_unit_test(four_banks_saturate_at_four_row_cycles),
        cmocka_unit_test(channels_of_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

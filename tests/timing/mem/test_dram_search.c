/*
 * The search for a channel's next command, done in two ways: subchannels know what comes first of
 * their own, and each bank is asked where a request may not be overtaken any more. A request for a
 * bank of its own that was sent first and comes long after all others keeps a channel at the second
 * way, though nothing waits for its sake: the same random traffic must then be served by the same
 * commands at the same clocks, but for those of that bank.
 */
#include "mem/dram/channel.h"
#include "support/memory_rig.h"

enum { REQUESTS = 3000, LOG = 1 << 14, CLOCK_PS = 500, SENDER_SOURCE = 4000, SEEDS = 60 };
/* More than any of the traffic is overtaken by, few beside all that is sent. */
enum { MANY = 250 };

static const uint64_t LATE_PS = UINT64_C(1) << 40;

/* One run of the traffic. */
struct run {
    struct dram_spec spec;
    struct engine *engine;
    struct mem_dram *dram;
    struct mem_port port;
    struct rng rng;
    struct probe probe[REQUESTS], late;
    bool ahead;                    /* some are sent before they come */
    uint32_t sent, not_come, anew; /* commands while something had not come; by asking each bank */
    struct mem_dram_command log[LOG];
    uint32_t logged;
};

static struct run lists, banks; /* without and with the late request */

static bool is_late(const struct run *run, const struct mem_dram_command *command)
{
    return command->subchannel == 0 && command->bank == run->spec.banks - 1;
}

static void note(void *ctx, const struct mem_dram_command *command)
{
    struct run *run = ctx;
    if (!is_late(run, command)) {
        assert_true(run->logged < LOG);
        run->log[run->logged++] = *command;
        run->not_come += run->dram->arrived > run->dram->now;
        uint64_t sent_between = run->dram->newest->order - run->dram->oldest->order;
        run->anew += run->spec.overtakes > 0 && sent_between > run->spec.overtakes;
    }
}

/* Of a bank that is not the late one. */
static uint64_t draw_address(struct run *run)
{
    const struct dram_spec *spec = &run->spec;
    uint64_t row = rng_below(&run->rng, 3), bank = rng_below(&run->rng, spec->banks - 1);
    uint64_t unit = (row * spec->banks + bank) * spec->subchannels;
    return (unit + rng_below(&run->rng, spec->subchannels)) * spec->row_bytes +
           rng_below(&run->rng, spec->row_bytes / 32) * 32;
}

static void send_some(void *ctx, uint64_t arg)
{
    struct run *run = ctx;
    (void)arg;
    for (uint32_t burst = (uint32_t)rng_below(&run->rng, 12); run->sent < REQUESTS; burst--) {
        struct probe *probe = &run->probe[run->sent];
        probe->request.arrive_ps = 0;
        if (run->ahead && run->sent % 2) {
            probe->request.arrive_ps =
                engine_now_ps(run->engine) + (run->sent % 7 + 1) * 20 * CLOCK_PS;
        }
        if (burst == 0) {
            uint64_t pause_ps = (1 + rng_below(&run->rng, 60)) * CLOCK_PS;
            engine_at(run->engine, engine_now_ps(run->engine) + pause_ps, SENDER_SOURCE, send_some,
                      run, 0);
            return;
        }
        if (!probe_send(probe, run->port)) {
            run->port.when_space(run->port.self, send_some, run, 0);
            return;
        }
        run->sent++;
    }
}

static void draw_spec(struct dram_spec *spec, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    *spec = (struct dram_spec){.channels = 1,
                               .sched = DRAM_SCHED_FR_FCFS,
                               .period_ps = CLOCK_PS,
                               .burst_bytes = 32,
                               .row_bytes = 1024};
    spec->bus = (enum dram_bus_kind)rng_below(&rng, DRAM_BUS_KIND_COUNT);
    spec->subchannels = 1 + (uint32_t)rng_below(&rng, 3);
    spec->bank_groups = 1 + (uint32_t)rng_below(&rng, 3);
    spec->banks = spec->bank_groups * (2 + (uint32_t)rng_below(&rng, 4));
    spec->closed_page = rng_below(&rng, 2) != 0;
    spec->bytes_per_cycle = 8 << rng_below(&rng, 3);
    spec->queue_entries = 1 + (uint32_t)rng_below(&rng, 40);
    const uint32_t overtakes[] = {0, 1 + (uint32_t)rng_below(&rng, 20), MANY};
    spec->overtakes = overtakes[rng_below(&rng, sizeof overtakes / sizeof *overtakes)];
    uint32_t *const times[] = {&spec->t_cl,  &spec->t_rcd, &spec->t_rp,  &spec->t_ras,
                               &spec->t_rc,  &spec->t_rrd, &spec->t_faw, &spec->t_wl,
                               &spec->t_rtp, &spec->t_wr,  &spec->t_wtr, &spec->t_rtw};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        *times[i] = (uint32_t)rng_below(&rng, 24);
    }
}

/* With a late request the queue has a place more, which that one has all the time. */
static void run_traffic(struct run *run, uint64_t seed, bool late)
{
    memset(run, 0, sizeof *run);
    draw_spec(&run->spec, seed);
    run->spec.queue_entries += late;
    /* Where one that has not come may not be overtaken, the order of asking counts. */
    run->ahead = seed % 2 && (run->spec.overtakes == 0 || run->spec.overtakes == MANY);
    rng_seed(&run->rng, seed);
    assert_int_equal(engine_create(&run->engine), 0);
    assert_int_equal(mem_dram_create(&run->dram, &run->spec, run->engine, &rig_clock, 1), 0);
    mem_dram_watch(run->dram, note, run);
    run->port = mem_dram_port(run->dram);
    if (late) {
        uint64_t unit = (uint64_t)(run->spec.banks - 1) * run->spec.subchannels;
        probe_init(&run->late, run->engine, MEM_READ, unit * run->spec.row_bytes, 32);
        run->late.request.arrive_ps = LATE_PS;
        assert_true(probe_send(&run->late, run->port));
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        enum mem_kind kind = rng_below(&run->rng, 3) ? MEM_READ : MEM_WRITE;
        probe_init(&run->probe[i], run->engine, kind, draw_address(run), 32);
    }
    engine_at(run->engine, 0, SENDER_SOURCE, send_some, run, 0);
    engine_run(run->engine, ENGINE_NEVER);
    assert_int_equal(run->sent, REQUESTS);
    assert_int_equal(run->late.replies, late);
    mem_dram_destroy(run->dram);
    engine_destroy(run->engine);
}

static void expect_the_same(uint64_t seed)
{
    for (uint32_t i = 0; i < lists.logged && i < banks.logged; i++) {
        const struct mem_dram_command *a = &lists.log[i], *b = &banks.log[i];
        if (a->kind != b->kind || a->subchannel != b->subchannel || a->bank != b->bank ||
            a->row != b->row || a->clock != b->clock) {
            fail_msg("seed %u: command %u is %d of bank %u at %llu, and %d of bank %u at %llu",
                     (unsigned)seed, i, (int)a->kind, a->bank, (unsigned long long)a->clock,
                     (int)b->kind, b->bank, (unsigned long long)b->clock);
        }
    }
    assert_int_equal(lists.logged, banks.logged);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        assert_int_equal(lists.probe[i].replies, 1);
        assert_int_equal(lists.probe[i].replied_ps, banks.probe[i].replied_ps);
    }
}

static void subchannels_give_the_commands_that_asking_each_bank_gives(void **state)
{
    (void)state;
    uint32_t both_ways = 0, waited = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run_traffic(&lists, seed, false);
        run_traffic(&banks, seed, true);
        assert_true(lists.logged >= REQUESTS);
        assert_true(lists.ahead || lists.not_come == 0);
        waited += lists.not_come > 0;
        assert_int_equal(banks.not_come, banks.logged);
        both_ways += lists.anew == 0 && banks.anew > REQUESTS / 2;
        expect_the_same(seed);
    }
    assert_true(both_ways > SEEDS / 6 && waited > SEEDS / 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subchannels_give_the_commands_that_asking_each_bank_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

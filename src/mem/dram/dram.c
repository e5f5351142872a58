/*
 * One DRAM channel: a queue of requests, a scheduler that says which of them gets its next command
 * and when, banks that take it. A request is located when it comes; it needs its row open
 * (precharge and activate, where another or none is) and then a column command for each burst of
 * its bytes:
 *
 *      row open:      column                        data after tCL
 *      bank closed:   activate, tRCD, column
 *      other row:     precharge, tRP, activate ...
 *
 * The reply comes at the end of the last data, plus the controller's fixed time; the place in the
 * queue is free with the last column command. A request that lies in several units, which banks
 * take in turn (`bank_interleave`), has an entry for each: halves of a line may lie in two
 * subchannels. What follows each command at the earliest stands in timing.c. Between commands the
 * channel sleeps: the next one is known as soon as the one before is given, and thought over when a
 * request comes.
 *
 * With closed_page a row is precharged, by its last column command, when no request in the queue
 * wants it: a lone access finds its bank closed, a stream finds its row open. (Requests that the
 * cache has sent ahead of their arrival count as being there.)
 *
 * With parts_read_first a write reads those of its bursts of which it covers a part, at most the
 * first and the last, before it writes all.
 */
#include <stdlib.h>
#include <string.h>

#include "mem/dram/channel.h"
#include "util/error.h"

static const struct dram_sched_ops *const scheds[DRAM_SCHED_KIND_COUNT] = {
#define DRAM_SCHED(id, text, doc) [DRAM_SCHED_##id] = &dram_sched_##id,
#include "mem/dram/sched/sched.def"
#undef DRAM_SCHED
};

int mem_dram_check(const struct dram_spec *spec)
{
    if ((unsigned)spec->sched >= DRAM_SCHED_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "DRAM: unknown scheduler %d", (int)spec->sched);
    }
    if ((unsigned)spec->bus >= DRAM_BUS_KIND_COUNT) {
        return error_set(SONDE_EINPUT, "DRAM: unknown kind of command bus %d", (int)spec->bus);
    }
    if (spec->channels == 0 || spec->banks == 0 || spec->row_bytes == 0 || spec->burst_bytes == 0 ||
        spec->period_ps == 0 || spec->queue_entries == 0) {
        return error_set(SONDE_EINPUT, "DRAM: channels, banks, row, burst, period and queue "
                                       "entries must be at least 1");
    }
    if ((uint64_t)spec->banks * spec->subchannels > DRAM_MAX_BANKS) {
        return error_set(SONDE_EINPUT,
                         "DRAM: %u subchannels of %u banks; %u banks a channel are "
                         "the most that are simulated",
                         spec->subchannels, spec->banks, DRAM_MAX_BANKS);
    }
    if (spec->bank_groups && spec->banks % spec->bank_groups) {
        return error_set(SONDE_EINPUT, "DRAM: %u banks cannot be shared out over %u groups",
                         spec->banks, spec->bank_groups);
    }
    if (spec->banks_abreast && spec->banks % spec->banks_abreast) {
        return error_set(SONDE_EINPUT, "DRAM: %u banks are not made of rows of %u", spec->banks,
                         spec->banks_abreast);
    }
    if (spec->bank_interleave_bytes && spec->row_bytes % spec->bank_interleave_bytes) {
        return error_set(SONDE_EINPUT, "DRAM: a row of %u B is not made of pieces of %u B",
                         spec->row_bytes, spec->bank_interleave_bytes);
    }
    uint64_t access = (uint64_t)spec->t_rc + spec->t_ras + spec->t_rp + spec->t_rcd + spec->t_cl +
                      spec->t_wl + spec->t_wr + spec->t_wtr;
    if (spec->t_refi && spec->t_refi < 2 * (spec->t_rfc + access)) {
        return error_set(SONDE_EINPUT,
                         "DRAM: a refresh of %u cycles every %u leaves no time for accesses",
                         spec->t_rfc, spec->t_refi);
    }
    if (spec->refresh_by_bank && spec->t_refi && spec->t_refi < spec->banks) {
        return error_set(SONDE_EINPUT,
                         "DRAM: %u banks are not refreshed one by one within %u cycles",
                         spec->banks, spec->t_refi);
    }
    return 0;
}

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static struct dram_timing timing_of(const struct dram_spec *spec)
{
    uint64_t on_bus = (uint64_t)spec->burst_bytes + spec->bytes_per_cycle - 1;
    uint32_t burst = spec->bytes_per_cycle ? (uint32_t)(on_bus / spec->bytes_per_cycle) : 0;
    uint32_t ccd_s = or_else(spec->t_ccd_s, burst);
    return (struct dram_timing){.subchannels = or_else(spec->subchannels, 1),
                                .groups = or_else(spec->bank_groups, 1),
                                .burst = burst,
                                .cl = spec->t_cl,
                                .wl = or_else(spec->t_wl, spec->t_cl),
                                .rcd = spec->t_rcd,
                                .rp = spec->t_rp,
                                .ras = spec->t_ras,
                                .rc = spec->t_rc,
                                .rrd = spec->t_rrd,
                                .rrd_l = or_else(spec->t_rrd_l, spec->t_rrd),
                                .faw = spec->t_faw,
                                .ccd_s = ccd_s,
                                .ccd_l = or_else(spec->t_ccd_l, ccd_s),
                                .ccd_wr = spec->t_ccd_wr,
                                .rtp = or_else(spec->t_rtp, burst),
                                .wr = spec->t_wr,
                                .wtr = spec->t_wtr,
                                .rtw = spec->t_rtw,
                                .refi = spec->t_refi / (spec->refresh_by_bank ? spec->banks : 1),
                                .rfc = spec->t_rfc};
}

/* The queue: entries of a bank in their order, and all entries in theirs. */

static int queue_create(struct mem_dram *dram)
{
    uint32_t entries = dram->spec->queue_entries;
    dram->entries = calloc(entries, sizeof *dram->entries);
    dram->busy = calloc(entries, sizeof *dram->busy);
    if (!dram->entries || !dram->busy) {
        return error_memory();
    }
    for (uint32_t i = entries; i-- > 0;) {
        dram->entries[i].next = dram->free;
        dram->free = &dram->entries[i];
    }
    return 0;
}

static void queue_append(struct mem_dram *dram, struct dram_entry *entry)
{
    struct dram_bank *bank = entry->at;
    if (!bank->first) {
        bank->place = dram->busy_count++;
        dram->busy[bank->place] = &bank->busy;
    }
    *(bank->first ? &bank->last->next : &bank->first) = entry;
    bank->last = entry;
    bank->hits += bank->row == entry->row;
    *(dram->newest ? &dram->newest->newer : &dram->oldest) = entry;
    entry->older = dram->newest;
    dram->newest = entry;
    entry->order = dram->sent++;
    dram->count++;
}

static void queue_remove(struct mem_dram *dram, struct dram_entry *entry)
{
    struct dram_bank *bank = entry->at;
    struct dram_entry *before = NULL, *e = bank->first;
    for (; e != entry; e = e->next) {
        before = e;
    }
    *(before ? &before->next : &bank->first) = entry->next;
    bank->last = bank->last == entry ? before : bank->last;
    if (!bank->first) {
        struct dram_busy *moved = dram->busy[--dram->busy_count];
        moved->bank->place = bank->place;
        dram->busy[bank->place] = moved;
        dram_rest(bank);
    }
    *(entry->older ? &entry->older->newer : &dram->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &dram->newest) = entry->older;
    entry->next = dram->free;
    dram->free = entry;
    dram->count--;
}

int mem_dram_create(struct mem_dram **out, const struct dram_spec *spec, struct engine *engine,
                    const struct engine_clock *core_clock, uint32_t source)
{
    *out = NULL;
    int rc = mem_dram_check(spec);
    if (rc < 0) {
        return rc;
    }
    struct mem_dram *dram = calloc(1, sizeof *dram);
    if (!dram) {
        return error_memory();
    }
    *dram = (struct mem_dram){.spec = spec,
                              .timing = timing_of(spec),
                              .engine = engine,
                              .core_clock = core_clock,
                              .clock = {.period_ps = spec->period_ps},
                              .source = source,
                              .sched = scheds[spec->sched],
                              .refresh = spec->t_refi ? timing_of(spec).refi : UINT64_MAX,
                              .event_ps = ENGINE_NEVER,
                              .old_event_ps = ENGINE_NEVER};
    waiters_init(&dram->space, engine, source);
    rc = queue_create(dram);
    if (rc == 0) {
        rc = dram_banks_create(dram);
    }
    if (rc < 0) {
        mem_dram_destroy(dram);
        return rc;
    }
    *out = dram;
    return 0;
}

void mem_dram_set_channel(struct mem_dram *dram, uint32_t channel)
{
    const struct dram_spec *spec = dram->spec;
    if (spec->refresh_in_turn && spec->t_refi) {
        dram->refresh += (uint64_t)spec->t_refi * channel / spec->channels;
    }
}

void mem_dram_destroy(struct mem_dram *dram)
{
    if (dram) {
        waiters_free(&dram->space);
        dram_banks_destroy(dram);
        free(dram->entries);
        free(dram->busy);
        free(dram);
    }
}

const struct mem_dram_stats *mem_dram_stats(const struct mem_dram *dram)
{
    return &dram->stats;
}

void mem_dram_watch(struct mem_dram *dram,
                    void (*note)(void *ctx, const struct mem_dram_command *command), void *ctx)
{
    dram->note = note;
    dram->note_ctx = ctx;
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* From when the oldest came, or what was counted already, to the end of these data. */
static void count_pending(struct mem_dram *dram, const struct dram_entry *entry, uint64_t end_ps)
{
    uint64_t oldest_ps = dram->oldest->request->arrive_ps;
    uint64_t came_ps = entry->request->arrive_ps;
    uint64_t from_ps = came_ps < oldest_ps ? came_ps : oldest_ps;
    from_ps = latest(from_ps, dram->pending_until_ps);
    if (end_ps > from_ps) {
        dram->stats.pending_ps += end_ps - from_ps;
        dram->pending_until_ps = end_ps;
    }
}

/* A burst that ends then. Those of other subchannels may pass at the same time. */
static void count_data(struct mem_dram *dram, uint64_t end)
{
    uint64_t from = latest(end - dram->timing.burst, dram->sent_until);
    dram->stats.busy_ps +=
        clock_cycles_to_ps(&dram->clock, dram->timing.burst) / dram->timing.subchannels;
    if (end > from) {
        dram->stats.sending_ps += clock_cycles_to_ps(&dram->clock, end - from);
        dram->sent_until = end;
    }
}

static void reply(struct mem_dram *dram, struct mem_request *request, uint64_t end)
{
    uint64_t fixed_ps = clock_cycles_to_ps(dram->core_clock, dram->spec->fixed_cycles);
    uint64_t at_ps = clock_cycles_to_ps(&dram->clock, end) + fixed_ps;
    request->served_at = MEM_AT_DRAM;
    if (request->outlet) {
        request->outlet->reply(request->outlet->self, request, at_ps);
    } else {
        engine_at(dram->engine, at_ps, dram->source, request->reply, request->ctx,
                  (uintptr_t)request);
    }
}

/* Takes it out of its request's ring. Returns whether something is left there, which knows of its
 * end from now on. */
static bool leaves_ring(struct dram_entry *entry)
{
    struct dram_entry *before = entry->beside;
    if (!before) {
        return false;
    }
    while (before->beside != entry) {
        before = before->beside;
    }
    before->beside = entry->beside == before ? NULL : entry->beside;
    before->end = latest(before->end, entry->end);
    return true;
}

/* The last of the entry's data are on their way: reply, if all of the request's are, and make
 * place. */
static void finish(struct mem_dram *dram, struct dram_entry *entry, uint64_t end)
{
    struct mem_request *request = entry->request;
    *(entry->activated ? &dram->stats.row_misses : &dram->stats.row_hits) += 1;
    count_pending(dram, entry, clock_cycles_to_ps(&dram->clock, end));
    entry->end = latest(entry->end, end);
    if (!leaves_ring(entry)) {
        *(entry->write ? &dram->stats.writes : &dram->stats.reads) += 1;
        *(entry->write ? &dram->stats.written_bytes : &dram->stats.read_bytes) += request->bytes;
        reply(dram, request, entry->end);
    }
    queue_remove(dram, entry);
    if (dram->refused) {
        dram->refused = false;
        waiters_wake(&dram->space);
    }
}

static void give_refresh(struct mem_dram *dram)
{
    dram_refresh(dram, dram->next.clock);
    dram_unsettle_all(dram);
    for (uint32_t i = 0; i < dram->busy_count; i++) {
        dram_look(dram, dram->busy[i]->bank);
    }
}

static void give_next(struct mem_dram *dram)
{
    struct dram_choice next = dram->next;
    dram->now = next.clock;
    if (next.kind == MEM_DRAM_REFRESH) {
        give_refresh(dram);
        return;
    }
    struct dram_entry *entry = next.entry;
    struct dram_bank *bank = entry->at;
    bank->busy.sub->settled = false;
    uint64_t end = dram_give(dram, entry, next.kind, next.clock);
    entry->activated = entry->activated || next.kind == MEM_DRAM_ACTIVATE;
    if (dram_is_column(next.kind)) {
        count_data(dram, end);
        entry->bursts--;
        entry->reads -= entry->reads > 0;
        bank->hits -= entry->bursts == 0;
        if (dram->spec->closed_page && bank->hits == 0) {
            dram_close_page(dram, entry);
        }
        if (entry->bursts == 0) {
            finish(dram, entry, end);
        }
    }
    if (bank->first) {
        dram_look(dram, bank);
    }
}

static void on_command(void *ctx, uint64_t arg);

/* Choose the next command; a refresh that is due before it comes first. */
static void think(struct mem_dram *dram)
{
    dram->next = dram_choose(dram);
    if (dram->next.clock == UINT64_MAX) {
        dram->event_ps = ENGINE_NEVER;
        return;
    }
    if (dram->next.clock >= dram->refresh) {
        dram->next = (struct dram_choice){.kind = MEM_DRAM_REFRESH,
                                          .clock = latest(dram->refresh, dram->now)};
    }
    uint64_t time_ps = clock_cycles_to_ps(&dram->clock, dram->next.clock);
    if (time_ps == dram->event_ps) {
        return;
    }
    if (time_ps != dram->old_event_ps) {
        engine_at(dram->engine, time_ps, dram->source, on_command, dram, time_ps);
        if (dram->event_ps != ENGINE_NEVER) {
            dram->old_event_ps = dram->event_ps; /* it comes, and may be of use again */
        }
    }
    dram->event_ps = time_ps;
}

static void on_command(void *ctx, uint64_t planned_ps)
{
    struct mem_dram *dram = ctx;
    if (planned_ps == dram->old_event_ps) {
        dram->old_event_ps = ENGINE_NEVER;
    }
    if (planned_ps != dram->event_ps) {
        return; /* it was thought over since */
    }
    dram->event_ps = ENGINE_NEVER;
    give_next(dram);
    think(dram);
}

/* While nothing was asked for, refreshes went on: their effect is that of the last one, or of the
 * last of each bank. */
static void refresh_idle(struct mem_dram *dram)
{
    if (dram->count > 0 || dram->refresh >= dram->now) {
        return;
    }
    uint64_t missed = (dram->now - dram->refresh) / dram->timing.refi;
    uint64_t last = dram->spec->refresh_by_bank ? dram->spec->banks : 1;
    uint64_t skipped = missed < last ? 0 : missed - last + 1;
    dram->refresh += skipped * dram->timing.refi;
    dram->refresh_bank = (uint32_t)((dram->refresh_bank + skipped) % dram->spec->banks);
    while (dram->refresh < dram->now) {
        dram_refresh(dram, dram->refresh);
    }
}

/* The address within the channel. */
static uint64_t channel_address(const struct dram_spec *spec, uint64_t address)
{
    uint64_t stripe = (uint64_t)spec->interleave_bytes * spec->channels;
    return stripe ? address / stripe * spec->interleave_bytes + address % spec->interleave_bytes
                  : address;
}

static uint32_t unit_bytes(const struct dram_spec *spec)
{
    return or_else(spec->bank_interleave_bytes, spec->row_bytes);
}

/* Of so many bytes from an address of the channel on: those of its unit. */
static uint64_t in_unit(const struct dram_spec *spec, uint64_t address, uint64_t bytes)
{
    uint64_t left = unit_bytes(spec) - address % unit_bytes(spec);
    return bytes < left ? bytes : left;
}

static uint64_t units_of(const struct dram_spec *spec, uint64_t address, uint64_t bytes)
{
    return (address + bytes - 1) / unit_bytes(spec) - address / unit_bytes(spec) + 1;
}

/* What begins there and is so many bytes long, of one unit (or, where a queue is shorter than a
 * request has units, of more, which count for the first). */
static void locate(struct dram_entry *entry, const struct mem_dram *dram, uint64_t address,
                   uint64_t bytes)
{
    const struct dram_spec *spec = dram->spec;
    uint64_t unit = address / unit_bytes(spec);
    uint32_t abreast = or_else(spec->banks_abreast, spec->banks);
    entry->subchannel = (uint16_t)(unit % dram->timing.subchannels);
    unit /= dram->timing.subchannels;
    uint64_t bank = unit % abreast, row = unit / abreast / (spec->row_bytes / unit_bytes(spec));
    bank += row % (spec->banks / abreast) * abreast;
    entry->row = row / (spec->banks / abreast);
    entry->bank = (uint16_t)((bank + (spec->bank_hash ? entry->row : 0)) % spec->banks);
    entry->at = &dram->subchannels[entry->subchannel].banks[entry->bank];
    uint64_t first = address % spec->burst_bytes, end = first + bytes;
    uint64_t bursts = (end - 1) / spec->burst_bytes + 1;
    if (entry->write && spec->parts_read_first) {
        bool head = first != 0, tail = end % spec->burst_bytes != 0;
        entry->reads = (uint16_t)(bursts == 1 ? head || tail : head + tail);
    }
    entry->bursts = (uint16_t)(bursts + entry->reads);
}

static struct dram_entry *queue_part(struct mem_dram *dram, struct mem_request *request,
                                     uint64_t address, uint64_t bytes)
{
    uint64_t period_ps = dram->clock.period_ps;
    struct dram_entry *entry = dram->free;
    dram->free = entry->next;
    *entry = (struct dram_entry){.request = request, .write = request->kind == MEM_WRITE};
    entry->arrive = (request->arrive_ps + period_ps - 1) / period_ps;
    locate(entry, dram, address, bytes);
    queue_append(dram, entry);
    return entry;
}

/* An entry for each unit; the first. */
static struct dram_entry *queue_request(struct mem_dram *dram, struct mem_request *request,
                                        uint64_t address, uint64_t units)
{
    struct dram_entry *first = NULL, *last = NULL;
    uint64_t end = address + request->bytes;
    for (uint64_t left = units; left > 0; left--) {
        uint64_t bytes = left == 1 ? end - address : in_unit(dram->spec, address, end - address);
        struct dram_entry *entry = queue_part(dram, request, address, bytes);
        first = first ? first : entry;
        if (last) {
            last->beside = entry;
            entry->beside = first;
        }
        last = entry;
        address += bytes;
    }
    return first;
}

static bool dram_send(void *self, struct mem_request *request)
{
    struct mem_dram *dram = self;
    uint32_t places = dram->spec->queue_entries;
    uint64_t address = channel_address(dram->spec, request->paddr);
    uint64_t units = units_of(dram->spec, address, request->bytes);
    units = units < places ? units : places;
    if (dram->count + units > places) {
        dram->refused = true;
        return false;
    }
    uint64_t now_ps = engine_now_ps(dram->engine), period_ps = dram->clock.period_ps;
    dram->now = latest(dram->now, (now_ps + period_ps - 1) / period_ps);
    refresh_idle(dram);
    request->arrive_ps = latest(request->arrive_ps, now_ps);
    struct dram_entry *first = queue_request(dram, request, address, units);
    bool changes = false;
    for (struct dram_entry *e = first; e; e = e->beside == first ? NULL : e->beside) {
        if (dram_look(dram, e->at)) {
            dram_offer(dram, &e->at->busy);
        }
        changes = changes || !dram_changes_nothing(dram, e->at);
    }
    if (changes) {
        think(dram);
    }
    return true;
}

static void dram_when_space(void *self, engine_handler *handler, void *ctx, uint64_t arg)
{
    struct mem_dram *dram = self;
    waiters_add(&dram->space, handler, ctx, arg);
    if (!dram->refused) {
        waiters_wake(&dram->space);
    }
}

struct mem_port mem_dram_port(struct mem_dram *dram)
{
    return (struct mem_port){.send = dram_send, .when_space = dram_when_space, .self = dram};
}

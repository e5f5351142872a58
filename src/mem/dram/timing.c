/*
 * The constraints between DRAM commands, as data sheets of GDDR3, GDDR5 and HBM name them (JESD212,
 * JESD235). Each command given moves forward the earliest clock of those that it holds up:
 *
 *      activate   the bank's column commands (tRCD), precharge (tRAS), activate (tRC); activates of
 *                 the group (tRRD_L) and of all banks (tRRD); the fifth from here (tFAW)
 *      precharge  the bank's activate (tRP)
 *      read       column commands of the group (tCCD_L) and of all (tCCD_S); the bank's precharge
 *                 (tRTP); writes, whose data come tRTW after its own
 *      write      the same, or column commands tCCD_WR after it; its precharge (tWR) and reads
 *                 (tWTR) count from the end of its data
 *      refresh    everything, for tRFC; before it all banks are precharged
 *
 *      read   ----- tCL ----|=data=|          write  -- tWL --|=data=|-- tWTR -- read
 *                                  |- tRTW -|=data= of a write       |---- tWR ---- precharge
 *
 * Left out: clock-domain crossings, power-down, temperature, refresh of single banks, and the
 * narrow cases in which a sheet counts a cycle more or less.
 */
#include <stdlib.h>

#include "mem/dram/channel.h"
#include "util/error.h"

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int subchannel_create(struct mem_dram *dram, struct dram_subchannel *sub)
{
    sub->banks = calloc(dram->spec->banks, sizeof *sub->banks);
    sub->groups = calloc(dram->timing.groups, sizeof *sub->groups);
    if (!sub->banks || !sub->groups) {
        return error_memory();
    }
    for (uint32_t i = 0; i < dram->spec->banks; i++) {
        sub->banks[i].row = DRAM_NO_ROW;
        sub->banks[i].subchannel = (uint32_t)(sub - dram->subchannels);
        sub->banks[i].group = i % dram->timing.groups;
        sub->banks[i].busy = (struct dram_busy){
            .bank = &sub->banks[i], .sub = sub, .group = &sub->groups[sub->banks[i].group]};
    }
    bool split = dram->spec->bus == DRAM_BUS_SPLIT;
    sub->row_bus = split ? &dram->row_bus : &sub->bus;
    sub->column_bus = split ? &dram->column_bus : &sub->bus;
    return 0;
}

int dram_banks_create(struct mem_dram *dram)
{
    dram->subchannels = calloc(dram->timing.subchannels, sizeof *dram->subchannels);
    if (!dram->subchannels) {
        return error_memory();
    }
    dram->coming =
        calloc((size_t)dram->timing.subchannels * dram->spec->banks, sizeof(struct dram_busy *));
    int rc = dram->coming ? 0 : error_memory();
    for (uint32_t i = 0; rc == 0 && i < dram->timing.subchannels; i++) {
        rc = subchannel_create(dram, &dram->subchannels[i]);
    }
    return rc;
}

void dram_banks_destroy(struct mem_dram *dram)
{
    for (uint32_t i = 0; dram->subchannels && i < dram->timing.subchannels; i++) {
        free(dram->subchannels[i].banks);
        free(dram->subchannels[i].groups);
    }
    free(dram->subchannels);
    free(dram->coming);
}

static void list_remove(struct dram_busy *busy)
{
    struct dram_subchannel *sub = busy->sub;
    *(busy->before ? &busy->before->after : &sub->first[busy->kind]) = busy->after;
    *(busy->after ? &busy->after->before : &sub->last[busy->kind]) = busy->before;
}

/* Most come with the newest request, or close to it. */
static void list_insert(struct dram_busy *busy)
{
    struct dram_subchannel *sub = busy->sub;
    struct dram_busy *before = sub->last[busy->kind], *after = NULL;
    for (; before && before->order > busy->order; before = before->before) {
        after = before;
    }
    busy->before = before;
    busy->after = after;
    *(before ? &before->after : &sub->first[busy->kind]) = busy;
    *(after ? &after->before : &sub->last[busy->kind]) = busy;
}

void dram_rest(struct dram_bank *bank)
{
    list_remove(&bank->busy);
    bank->busy.next = NULL;
}

bool dram_look(struct mem_dram *dram, struct dram_bank *bank)
{
    struct dram_busy *busy = &bank->busy;
    struct dram_entry *next = dram->sched->next(dram, bank);
    enum mem_dram_command_kind kind = MEM_DRAM_PRECHARGE;
    uint64_t own = bank->precharge;
    if (bank->row == next->row) {
        kind = dram_writes_next(next) ? MEM_DRAM_WRITE : MEM_DRAM_READ;
        own = bank->column;
    } else if (bank->row == DRAM_NO_ROW) {
        kind = MEM_DRAM_ACTIVATE;
        own = bank->activate;
    }
    own = later(own, next->arrive);
    bool waits_alike = busy->own == own;
    busy->arrive = next->arrive;
    busy->own = own;
    dram_hold(&dram->arrived, next->arrive);
    if (next->arrive > dram->now && !busy->coming) {
        busy->coming = true;
        dram->coming[dram->coming_count++] = busy;
    }
    if (busy->next && busy->kind == kind && busy->order == next->order) {
        return !waits_alike; /* its place is the same; so is `next` */
    }
    if (busy->next) {
        list_remove(busy);
    }
    busy->next = next;
    busy->kind = kind;
    busy->order = next->order;
    list_insert(busy);
    return true;
}

static void note(const struct mem_dram *dram, enum mem_dram_command_kind kind, uint64_t clock,
                 const struct dram_entry *entry, uint64_t row, bool automatic)
{
    if (dram->note) {
        struct mem_dram_command command = {.kind = kind,
                                           .automatic = automatic,
                                           .subchannel = entry ? entry->subchannel : 0,
                                           .bank = entry ? entry->bank : 0,
                                           .row = row,
                                           .clock = clock};
        dram->note(dram->note_ctx, &command);
    }
}

static uint32_t count_hits(const struct dram_bank *bank)
{
    uint32_t hits = 0;
    for (const struct dram_entry *e = bank->first; e; e = e->next) {
        hits += e->row == bank->row;
    }
    return hits;
}

static void give_activate(struct mem_dram *dram, struct dram_subchannel *sub,
                          const struct dram_entry *entry, uint64_t clock)
{
    const struct dram_timing *t = &dram->timing;
    struct dram_bank *bank = entry->at;
    bank->row = entry->row;
    bank->hits = count_hits(bank);
    dram_hold(&bank->column, clock + t->rcd);
    dram_hold(&bank->precharge, clock + t->ras);
    dram_hold(&bank->activate, clock + t->rc);
    dram_hold(&sub->activate, clock + t->rrd);
    dram_hold(&sub->groups[bank->group].earliest[MEM_DRAM_ACTIVATE], clock + t->rrd_l);
    sub->window[sub->oldest] = clock + t->faw;
    sub->oldest = (sub->oldest + 1) % DRAM_FAW_ACTIVATES;
    *sub->row_bus = clock + 1;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Returns the end of the data, which those of other column commands must not meet on the bus. */
static uint64_t give_column(struct mem_dram *dram, struct dram_subchannel *sub,
                            const struct dram_entry *entry, uint64_t clock)
{
    const struct dram_timing *t = &dram->timing;
    struct dram_bank *bank = entry->at;
    bool write = dram_writes_next(entry);
    uint64_t end = clock + (write ? t->wl : t->cl) + t->burst;
    bool turns = write && t->wtr > 0;
    dram_hold(&sub->read, turns ? end + t->wtr : minus(end, t->cl));
    dram_hold(&sub->write, minus(write ? end : end + t->rtw, t->wl));
    dram_hold(&bank->precharge, write ? end + t->wr : clock + t->rtp);
    bool apart = write && t->ccd_wr > 0;
    dram_hold(&sub->column, clock + (apart ? t->ccd_wr : t->ccd_s));
    struct dram_group *group = &sub->groups[bank->group];
    dram_hold(&group->earliest[MEM_DRAM_READ], clock + (apart ? t->ccd_wr : t->ccd_l));
    group->earliest[MEM_DRAM_WRITE] = group->earliest[MEM_DRAM_READ];
    *sub->column_bus = clock + 1;
    return end;
}

static void close_bank(const struct mem_dram *dram, struct dram_bank *bank, uint64_t clock)
{
    bank->row = DRAM_NO_ROW;
    bank->hits = 0;
    dram_hold(&bank->activate, clock + dram->timing.rp);
}

uint64_t dram_give(struct mem_dram *dram, const struct dram_entry *entry,
                   enum mem_dram_command_kind kind, uint64_t clock)
{
    struct dram_subchannel *sub = &dram->subchannels[entry->subchannel];
    struct dram_bank *bank = entry->at;
    if (kind == MEM_DRAM_PRECHARGE) {
        note(dram, kind, clock, entry, bank->row, false);
        *sub->row_bus = clock + 1;
        close_bank(dram, bank, clock);
        return 0;
    }
    note(dram, kind, clock, entry, entry->row, false);
    if (kind == MEM_DRAM_ACTIVATE) {
        give_activate(dram, sub, entry, clock);
        return 0;
    }
    return give_column(dram, sub, entry, clock);
}

void dram_close_page(struct mem_dram *dram, const struct dram_entry *entry)
{
    struct dram_bank *bank = entry->at;
    note(dram, MEM_DRAM_PRECHARGE, bank->precharge, entry, bank->row, true);
    close_bank(dram, bank, bank->precharge);
}

/* It closes what is open by itself, and begins when the last bank could be activated again. */
void dram_refresh(struct mem_dram *dram, uint64_t clock)
{
    const struct dram_timing *t = &dram->timing;
    uint64_t start = clock;
    uint32_t first = dram->spec->refresh_by_bank ? dram->refresh_bank : 0;
    uint32_t banks = dram->spec->refresh_by_bank ? 1 : dram->spec->banks;
    for (uint32_t i = 0; i < t->subchannels * banks; i++) {
        struct dram_entry place = {.subchannel = (uint16_t)(i / banks),
                                   .bank = (uint16_t)(first + i % banks)};
        struct dram_bank *bank = &dram->subchannels[place.subchannel].banks[place.bank];
        if (bank->row != DRAM_NO_ROW) {
            uint64_t precharge = later(clock, bank->precharge);
            note(dram, MEM_DRAM_PRECHARGE, precharge, &place, bank->row, true);
            close_bank(dram, bank, precharge);
        }
        dram_hold(&start, bank->activate);
    }
    struct dram_entry refreshed = {.bank = (uint16_t)first};
    note(dram, MEM_DRAM_REFRESH, start, &refreshed, 0, false);
    for (uint32_t i = 0; i < t->subchannels * banks; i++) {
        dram_hold(&dram->subchannels[i / banks].banks[first + i % banks].activate, start + t->rfc);
    }
    dram->refresh_bank = (first + banks) % dram->spec->banks;
    dram->refresh += t->refi;
}

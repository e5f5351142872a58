/*
 * A limit on single requests, from their leaving the load/store unit to their answer. Where they
 * are held for the instruction, as in a store of data that is written back as a whole, the places
 * of all of them are taken before the first leaves and given back with the last answer. An
 * instruction of more requests than there are places then takes all: it waits until it is alone.
 */
#include "core/pending/pending.h"

static uint32_t of_instruction(const struct pending *table, uint32_t requests)
{
    return requests < table->spec->entries ? requests : table->spec->entries;
}

static bool limit_begin(struct pending *table, uint32_t requests)
{
    if (!table->spec->hold_instruction) {
        return true;
    }
    uint32_t places = of_instruction(table, requests);
    if (table->used + places > table->spec->entries) {
        return false;
    }
    table->used += places;
    return true;
}

static bool limit_leave(struct pending *table)
{
    if (table->spec->hold_instruction) {
        return true;
    }
    if (table->used >= table->spec->entries) {
        return false;
    }
    table->used++;
    return true;
}

static void limit_answered(struct pending *table)
{
    if (!table->spec->hold_instruction) {
        table->used--;
    }
}

static void limit_end(struct pending *table, uint32_t requests)
{
    if (table->spec->hold_instruction) {
        table->used -= of_instruction(table, requests);
    }
}

const struct pending_ops pending_REQUEST_LIMIT = {
    .begin = limit_begin, .leave = limit_leave, .answered = limit_answered, .end = limit_end};

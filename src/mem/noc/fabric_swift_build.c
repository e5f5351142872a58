/* A network for fabric_swift.c: which can be, its tables, and its end. */
#include <stdlib.h>

#include "mem/noc/fabric_swift.h"
#include "util/error.h"

bool fabric_swift_can(const struct fabric *fabric)
{
    const struct noc_flits_spec *spec = fabric->spec;
    return fabric->alone_known && fabric->slot_each && spec->iterations == 1 &&
           fabric->switch_allocator.masks && fabric->vcs < WORD_BITS && fabric->channels <= 32 &&
           spec->buffer_flits <= MAX_DEPTH && fabric->nodes <= UINT16_MAX &&
           (uint64_t)fabric->routers * fabric->vcs * spec->buffer_flits < MAX_FLITS &&
           fabric->routers * fabric->ports + fabric->nodes < MAX_PORTS;
}

/* More cycles than anything may be put down for, less one. */
static uint32_t turn_mask_of(const struct noc_flits_spec *spec)
{
    uint32_t most = spec->switch_cycles + 2 * spec->link_cycles + spec->routing_cycles + 1;
    uint32_t mask = 1;
    while (mask <= most || mask <= spec->vc_cycles) {
        mask = 2 * mask + 1;
    }
    return mask;
}

/* The power of 2 that is not less. */
static uint32_t shift_for(uint32_t count)
{
    uint32_t shift = 0;
    while (1U << shift < count) {
        shift++;
    }
    return shift;
}

static uint32_t words_for(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

static bool turns_create(struct turns *turns, uint32_t lists, uint32_t most)
{
    turns->shift = shift_for(most + 1);
    turns->list = calloc((size_t)lists << turns->shift, sizeof *turns->list);
    return turns->list;
}

static bool arrays_create(struct swift *swift, const struct fabric *fabric)
{
    uint32_t ends = swift->ports + fabric->nodes, inputs = swift->ports * swift->channels;
    /* Each inside has a flit in a buffer, or one that is to leave its node. */
    size_t places = (size_t)inputs * fabric->spec->buffer_flits + fabric->nodes;
    swift->input = calloc(inputs, sizeof *swift->input);
    swift->flit = calloc((size_t)inputs * (swift->ring_mask + 1), sizeof *swift->flit);
    swift->output = calloc((size_t)ends << swift->channel_shift, sizeof *swift->output);
    swift->port = calloc(ends, sizeof *swift->port);
    swift->way = calloc((size_t)fabric->routers * fabric->nodes, sizeof *swift->way);
    swift->asked = calloc(swift->port_words, sizeof(uint64_t));
    swift->open = calloc(swift->port_words, sizeof(uint64_t));
    swift->ready = calloc(swift->words, sizeof(uint64_t));
    swift->credited = calloc(swift->words, sizeof(uint64_t));
    swift->later = calloc((size_t)(swift->turn_mask + 1) * swift->words, sizeof(uint64_t));
    swift->starved = calloc(fabric->nodes / WORD_BITS + 1, sizeof(uint64_t));
    swift->starved_since = calloc(fabric->nodes, sizeof(uint64_t));
    swift->wanted = calloc(swift->words, sizeof(uint64_t));
    swift->move = calloc(swift->ports, sizeof *swift->move);
    swift->list = calloc(swift->ports + AT_ONCE, sizeof *swift->list);
    swift->onward = calloc(swift->ports, sizeof *swift->onward);
    swift->delivered = calloc(swift->ports, sizeof *swift->delivered);
    swift->going_on = calloc(swift->ports, sizeof *swift->going_on);
    swift->packet = calloc(places, sizeof(struct fabric_packet *));
    swift->to = calloc(places, sizeof *swift->to);
    swift->free = calloc(places, sizeof *swift->free);
    swift->leaving = calloc(fabric->nodes, sizeof *swift->leaving);
    swift->passed = calloc((size_t)fabric->nodes * fabric->nodes, sizeof *swift->passed);
    for (size_t i = 0; swift->free && i < places; i++) {
        swift->free[swift->free_count++] = (uint32_t)(places - 1 - i);
    }
    return swift->input && swift->flit && swift->output && swift->port && swift->way &&
           swift->asked && swift->open && swift->ready && swift->credited && swift->later &&
           swift->starved && swift->starved_since && swift->wanted && swift->move && swift->list &&
           swift->onward && swift->delivered && swift->going_on && swift->packet && swift->to &&
           swift->free && swift->leaving && swift->passed &&
           turns_create(&swift->asks, swift->turn_mask + 1, inputs) &&
           turns_create(&swift->credits, swift->turn_mask + 1, 2 * ends);
}

/* All of what the fabric's own tables say. */
static void fill_ports(struct swift *swift, const struct fabric *fabric)
{
    uint32_t channels = swift->channels, ends = swift->ports + fabric->nodes;
    for (uint32_t at = 0; at < ends; at++) {
        struct swift_port *port = &swift->port[at];
        const struct output *first = &fabric->output[at * channels];
        uint32_t router = at / fabric->ports;
        *port = (struct swift_port){.untaken = swift->groups[2],
                                    .first = router * fabric->vcs,
                                    .ways = router * fabric->nodes,
                                    .behind = first->to,
                                    .behind_ways = first->to_router * fabric->nodes,
                                    .node = first->node,
                                    .behind_local = (uint8_t)first->to_local};
        set_bit(swift->open, at);
        for (uint32_t i = 0; i < channels; i++) {
            uint32_t output = (at << swift->channel_shift) + i;
            swift->output[output].credits = (uint16_t)first[i].credits;
            swift->credited[output / WORD_BITS] |= (uint64_t)(first[i].credits != 0)
                                                   << output % WORD_BITS;
        }
    }
}

static void fill_tables(struct swift *swift, const struct fabric *fabric)
{
    for (uint32_t i = 0; i < swift->ports * swift->channels; i++) {
        uint32_t sender = fabric->input[i].credit_to, at = sender / swift->channels;
        swift->input[i].credit_to = (at << swift->channel_shift) + sender % swift->channels;
        swift->input[i].front = i * (swift->ring_mask + 1);
    }
    for (uint32_t i = 0; i < fabric->routers * fabric->nodes; i++) {
        const struct way *way = &fabric->way[i];
        uint32_t at = i / fabric->nodes * fabric->ports + way->port;
        uint32_t first = way->first - way->port * swift->channels;
        uint32_t group = way->count == swift->channels ? 2 : first / way->count;
        swift->way[i] = at << PORT_SHIFT | group;
    }
}

/* Whether two nodes hang on one router. */
static bool nodes_share(const struct fabric *fabric)
{
    bool share = false;
    for (uint32_t i = 0; i < fabric->nodes; i++) {
        uint32_t router = fabric->output[fabric->node[i].first_ejection].router;
        for (uint32_t j = 0; j < i && !share; j++) {
            share = fabric->output[fabric->node[j].first_ejection].router == router;
        }
    }
    return share;
}

int fabric_swift_create(struct fabric *fabric)
{
    const struct noc_flits_spec *spec = fabric->spec;
    struct swift *swift = calloc(1, sizeof *swift);
    if (!swift) {
        return error_memory();
    }
    fabric->swift = swift;
    uint32_t all = UINT32_MAX >> (32 - fabric->channels), half = fabric->channels / 2;
    *swift = (struct swift){.channels = fabric->channels,
                            .channel_shift = shift_for(fabric->channels),
                            .ring_mask = (1U << shift_for(spec->buffer_flits)) - 1,
                            .ports = fabric->routers * fabric->ports,
                            .turn_mask = turn_mask_of(spec),
                            .groups = {all >> (fabric->channels - half), all, all},
                            .routing_cycles = spec->routing_cycles,
                            .vc_cycles = spec->vc_cycles,
                            .hop_cycles = fabric->hop_cycles,
                            .credit_cycles = fabric->credit_cycles,
                            .nodes_share = nodes_share(fabric)};
    swift->groups[1] = all & ~swift->groups[0];
    swift->node_outputs = swift->ports << swift->channel_shift;
    swift->port_words = words_for(swift->ports + fabric->nodes);
    swift->words = words_for((swift->ports + fabric->nodes) << swift->channel_shift);
    if (!arrays_create(swift, fabric)) {
        return error_memory();
    }
    fill_ports(swift, fabric);
    fill_tables(swift, fabric);
    return 0;
}

void fabric_swift_destroy(struct swift *swift)
{
    if (!swift) {
        return;
    }
    void *const arrays[] = {
        swift->input,        swift->flit,      swift->output,       swift->port,
        swift->way,          swift->asked,     swift->open,         swift->ready,
        swift->credited,     swift->later,     swift->move,         swift->list,
        swift->onward,       swift->delivered, swift->going_on,     swift->wanted,
        swift->packet,       swift->to,        swift->free,         swift->leaving,
        swift->passed,       swift->asks.list, swift->credits.list, swift->starved,
        swift->starved_since};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free(swift);
}

/* A fabric's check, construction and end: the topology's answers are kept in tables. */
#include <stdlib.h>
#include <string.h>

#include "mem/noc/fabric_state.h"
#include "util/error.h"

static int check_shape(const struct noc_flits_spec *spec, uint32_t nodes)
{
    uint64_t places = spec->width;
    const struct topology_ops *ops = topology_ops_of(spec->topology);
    if (!ops) {
        return error_set(SONDE_EINPUT, "network: unknown topology %d", (int)spec->topology);
    }
    if (spec->width == 0 || spec->height == 0 || spec->width > 1024 || spec->height > 1024) {
        return error_set(SONDE_EINPUT, "network: width and height must be from 1 to 1024");
    }
    if (spec->topology == NOC_TOPOLOGY_BUTTERFLY) {
        for (uint32_t i = 1; i < spec->height && places <= MAX_PORT_CHANNELS; i++) {
            places *= spec->width;
        }
        if (spec->width < 2 || places > MAX_PORT_CHANNELS) {
            return error_set(SONDE_EINPUT,
                             "network: a butterfly of %u stages of radix %u has fewer than 2 or "
                             "more than %d places",
                             spec->height, spec->width, MAX_PORT_CHANNELS);
        }
    }
    struct topology_shape shape;
    ops->shape(&shape, spec, nodes);
    if (shape.places < nodes) {
        return error_set(SONDE_EINPUT,
                         "network: the topology has %u places for %u nodes (SMs and L2 slices)",
                         shape.places, nodes);
    }
    if (shape.places > MAX_PLACES) {
        return error_set(SONDE_EINPUT, "network: the topology has %u places, over %d", shape.places,
                         MAX_PLACES);
    }
    if (spec->virtual_channels % shape.classes) {
        return error_set(SONDE_EINPUT,
                         "network: this topology needs an even number of virtual channels, to be "
                         "free of deadlock; it has %u",
                         spec->virtual_channels);
    }
    if ((uint64_t)shape.ports * spec->virtual_channels > MAX_PORT_CHANNELS) {
        return error_set(SONDE_EINPUT, "network: over %d virtual channels at a router",
                         MAX_PORT_CHANNELS);
    }
    uint64_t buffers = ((uint64_t)shape.routers * shape.ports + nodes) * spec->virtual_channels;
    if (buffers * spec->buffer_flits > INT32_MAX) {
        return error_set(SONDE_EINPUT, "network: over %d flits in its buffers", INT32_MAX);
    }
    return 0;
}

int fabric_check(const struct noc_flits_spec *spec, uint32_t nodes)
{
    if (spec->virtual_channels == 0 || spec->buffer_flits == 0 || spec->flit_bytes == 0 ||
        spec->iterations == 0 || spec->switch_cycles == 0 || spec->input_speedup == 0) {
        return error_set(
            SONDE_EINPUT,
            "network: virtual channels, their buffers, the flit, the allocators' "
            "iterations, the switch's cycles and the input speedup must be at least 1");
    }
    if (spec->input_speedup > spec->virtual_channels) {
        return error_set(SONDE_EINPUT,
                         "network: an input speedup of %u needs as many virtual channels; there "
                         "are %u",
                         spec->input_speedup, spec->virtual_channels);
    }
    if ((unsigned)spec->vc_allocator >= NOC_ALLOCATOR_COUNT ||
        (unsigned)spec->switch_allocator >= NOC_ALLOCATOR_COUNT) {
        return error_set(SONDE_EINPUT, "network: unknown allocator");
    }
    return check_shape(spec, nodes);
}

uint32_t fabric_places(const struct noc_flits_spec *spec, uint32_t nodes)
{
    struct topology_shape shape;
    topology_ops_of(spec->topology)->shape(&shape, spec, nodes);
    return shape.places;
}

static int credit_line_init(struct credit_line *line, uint32_t capacity)
{
    uint32_t room = 1;
    while (room < capacity) {
        room *= 2; /* fabric_check(): there are at most INT32_MAX */
    }
    *line = (struct credit_line){.mask = room - 1};
    line->ring = calloc(room, sizeof *line->ring);
    return line->ring ? 0 : error_memory();
}

/* A network of nodes at places: which node a place is, NOBODY for empty ones. */
static int nodes_by_place(uint32_t **out, const struct fabric *fabric, const uint16_t *place)
{
    uint32_t places = fabric_places(fabric->spec, fabric->nodes);
    uint32_t *node_at = malloc(places * sizeof *node_at);
    if (!node_at) {
        return error_memory();
    }
    for (uint32_t i = 0; i < places; i++) {
        node_at[i] = NOBODY;
    }
    for (uint32_t i = 0; i < fabric->nodes; i++) {
        node_at[place[i]] = i;
    }
    *out = node_at;
    return 0;
}

/* The inputs behind an output know whom to give their credits to. */
static void join(struct fabric *fabric, uint32_t output, uint32_t first_input)
{
    for (uint32_t i = 0; i < fabric->channels; i++) {
        struct input *in = &fabric->input[first_input + i];
        struct output *out = &fabric->output[output + i];
        in->credit_to = output + i;
        out->credits = fabric->spec->buffer_flits;
        out->to = first_input + i;
        out->to_router = first_input / fabric->vcs;
        out->to_local = first_input % fabric->vcs + i;
    }
}

static void wire_port(struct fabric *fabric, const struct topology_ops *ops,
                      const uint32_t *node_at, uint32_t router, uint32_t port)
{
    struct topology_end end = ops->output(fabric->spec, router, port);
    uint32_t output = output_index(fabric, router, port);
    if (end.kind == END_ROUTER) {
        join(fabric, output, output_index(fabric, end.index, end.port));
    } else if (end.kind == END_NODE && node_at[end.index] != NOBODY) {
        uint32_t node = node_at[end.index];
        fabric->node[node].first_ejection = output;
        for (uint32_t i = 0; i < fabric->channels; i++) {
            fabric->output[output + i].credits = fabric->spec->buffer_flits;
            fabric->output[output + i].node = node;
        }
    }
}

static void number(struct fabric *fabric)
{
    uint32_t inputs = fabric->routers * fabric->ports * fabric->channels;
    uint32_t speedup = fabric->spec->input_speedup;
    for (uint32_t i = 0; i < inputs + fabric->nodes * fabric->channels; i++) {
        fabric->output[i].node = NOBODY;
        fabric->output[i].to = NOBODY;
    }
    for (uint32_t i = 0; i < inputs; i++) {
        uint32_t channel = i % fabric->channels, port = i / fabric->channels % fabric->ports;
        fabric->output[i].router = i / fabric->vcs;
        fabric->input[i].ways = &fabric->way[(size_t)(i / fabric->vcs) * fabric->nodes];
        fabric->input[i].ring = &fabric->flit[(size_t)i * fabric->spec->buffer_flits];
        fabric->input[i].channel = (uint16_t)channel;
        fabric->input[i].local = (uint16_t)(i % fabric->vcs);
        fabric->input[i].slot = (uint16_t)(port * speedup + channel % speedup);
    }
}

/* Towards a node all virtual channels may be taken, else those of the class. */
static struct way way_of(const struct fabric *fabric, uint32_t router, struct topology_way way)
{
    bool to_node = fabric->output[output_index(fabric, router, way.port)].node != NOBODY;
    uint32_t count = to_node ? fabric->channels : fabric->channels / fabric->classes;
    uint32_t first = way.port * fabric->channels + (to_node ? 0 : way.class * count);
    return (struct way){.port = way.port, .first = (uint16_t)first, .count = (uint16_t)count};
}

static void wire(struct fabric *fabric, const struct topology_ops *ops, const uint16_t *place,
                 const uint32_t *node_at)
{
    for (uint32_t router = 0; router < fabric->routers; router++) {
        for (uint32_t port = 0; port < fabric->ports; port++) {
            wire_port(fabric, ops, node_at, router, port);
        }
        for (uint32_t i = 0; i < fabric->nodes; i++) {
            fabric->way[router * fabric->nodes + i] =
                way_of(fabric, router, ops->route(fabric->spec, router, place[i]));
        }
    }
    for (uint32_t i = 0; i < fabric->nodes; i++) {
        struct node *node = &fabric->node[i];
        node->entry = ops->entry(fabric->spec, place[i]);
        node->owed = &fabric->owed_room[i * fabric->channels];
        join(fabric, node_output(fabric, i),
             output_index(fabric, node->entry.index, node->entry.port));
    }
}

static void point_allocators(struct fabric *fabric)
{
    uint32_t vcs = fabric->vcs, inputs = crossbar_inputs(fabric);
    uint16_t *room = fabric->pointer_room;
    for (uint32_t i = 0; i < fabric->routers; i++) {
        fabric->vc_pointers[i] = (struct allocator_pointers){.grant = room, .accept = room + vcs};
        room += 2 * (size_t)vcs;
        fabric->switch_pointers[i] =
            (struct allocator_pointers){.grant = room, .accept = room + fabric->ports};
        room += fabric->ports + inputs;
    }
}

static bool arrays_create(struct fabric *fabric)
{
    uint32_t ports = fabric->routers * fabric->ports;
    uint32_t vcs = fabric->vcs, inputs = crossbar_inputs(fabric);
    size_t pointers = 2 * (size_t)vcs + fabric->ports + inputs;
    fabric->words = (vcs + WORD_BITS - 1) / WORD_BITS;
    fabric->node = calloc(fabric->nodes, sizeof *fabric->node);
    fabric->owed_room = calloc((size_t)fabric->nodes * fabric->channels, sizeof(uint32_t));
    fabric->input = calloc((size_t)ports * fabric->channels, sizeof *fabric->input);
    fabric->flit =
        calloc((size_t)ports * fabric->channels * fabric->spec->buffer_flits, sizeof *fabric->flit);
    fabric->output =
        calloc((size_t)(ports + fabric->nodes) * fabric->channels, sizeof *fabric->output);
    fabric->way = calloc((size_t)fabric->routers * fabric->nodes, sizeof *fabric->way);
    fabric->eager = calloc((size_t)fabric->routers * fabric->words, sizeof(uint64_t));
    fabric->later = calloc((size_t)AHEAD * fabric->routers * fabric->words, sizeof(uint64_t));
    fabric->waiting = calloc((size_t)ports * fabric->words, sizeof(uint64_t));
    fabric->untaken = malloc((size_t)fabric->routers * fabric->words * sizeof(uint64_t));
    fabric->router_words = fabric->routers / WORD_BITS + 1;
    fabric->due_routers = calloc((size_t)AHEAD * fabric->router_words, sizeof(uint64_t));
    fabric->busy_routers = calloc(fabric->router_words, sizeof(uint64_t));
    fabric->busy_nodes = calloc(fabric->nodes / WORD_BITS + 1, sizeof(uint64_t));
    fabric->begun_nodes = calloc(fabric->nodes / WORD_BITS + 1, sizeof(uint64_t));
    fabric->vc_pointers = calloc(fabric->routers, sizeof *fabric->vc_pointers);
    fabric->switch_pointers = calloc(fabric->routers, sizeof *fabric->switch_pointers);
    fabric->pointer_room = calloc(fabric->routers * pointers, sizeof(uint16_t));
    fabric->turn = calloc((size_t)fabric->routers * inputs, sizeof(uint16_t));
    fabric->chosen = malloc((size_t)inputs * fabric->ports * sizeof(uint16_t));
    fabric->asked = calloc((size_t)inputs * fabric->ports, sizeof *fabric->asked);
    return fabric->node && fabric->owed_room && fabric->input && fabric->flit && fabric->output &&
           fabric->way && fabric->eager && fabric->later && fabric->waiting && fabric->untaken &&
           fabric->due_routers && fabric->busy_routers && fabric->busy_nodes &&
           fabric->begun_nodes && fabric->vc_pointers && fabric->switch_pointers &&
           fabric->pointer_room && fabric->turn && fabric->chosen && fabric->asked;
}

static int parts_create(struct fabric *fabric)
{
    const struct noc_flits_spec *spec = fabric->spec;
    uint32_t vcs = fabric->vcs;
    uint32_t buffers = (fabric->routers * fabric->ports + fabric->nodes) * fabric->channels;
    int rc = arrays_create(fabric) ? 0 : error_memory();
    bool rising = spec->vc_cycles > 0 && (spec->input_speedup == 1 || fabric->slot_each);
    if (rc == 0) {
        memset(fabric->untaken, 0xff,
               (size_t)fabric->routers * fabric->words * sizeof *fabric->untaken);
        memset(fabric->chosen, 0xff,
               (size_t)crossbar_inputs(fabric) * fabric->ports * sizeof *fabric->chosen);
        rc = allocator_init(&fabric->vc_allocator, spec->vc_allocator, vcs, vcs, spec->iterations,
                            true);
        fabric->alone_known = fabric->vc_allocator.masks && spec->vc_cycles > 0;
    }
    if (rc == 0) {
        rc = allocator_init(&fabric->switch_allocator, spec->switch_allocator,
                            crossbar_inputs(fabric), fabric->ports, spec->iterations, rising);
    }
    if (rc == 0) {
        rc = credit_line_init(&fabric->hop_credits, buffers * spec->buffer_flits);
    }
    if (rc == 0) {
        rc = credit_line_init(&fabric->node_credits, buffers * spec->buffer_flits);
    }
    return rc;
}

int fabric_create(struct fabric **out, const struct noc_flits_spec *spec, const uint16_t *place,
                  uint32_t nodes, fabric_arrived *arrived, void *ctx)
{
    const struct topology_ops *ops = topology_ops_of(spec->topology);
    struct topology_shape shape;
    ops->shape(&shape, spec, nodes);
    struct fabric *fabric = calloc(1, sizeof *fabric);
    if (!fabric) {
        return error_memory();
    }
    *fabric = (struct fabric){.spec = spec,
                              .nodes = nodes,
                              .routers = shape.routers,
                              .ports = shape.ports,
                              .channels = spec->virtual_channels,
                              .vcs = shape.ports * spec->virtual_channels,
                              .classes = shape.classes,
                              .hop_cycles = spec->switch_cycles + spec->link_cycles,
                              .credit_cycles = spec->link_cycles + 1,
                              .slot_each = spec->input_speedup == spec->virtual_channels,
                              .arrived = arrived,
                              .ctx = ctx};
    uint32_t *node_at = NULL;
    int rc = parts_create(fabric);
    if (rc == 0) {
        rc = nodes_by_place(&node_at, fabric, place);
    }
    if (rc == 0 && node_at) {
        number(fabric);
        wire(fabric, ops, place, node_at);
        point_allocators(fabric);
        rc = fabric_swift_can(fabric) ? fabric_swift_create(fabric) : 0;
    }
    if (rc == 0) {
        *out = fabric;
    } else {
        fabric_destroy(fabric);
    }
    free(node_at);
    return rc;
}

void fabric_destroy(struct fabric *fabric)
{
    if (!fabric) {
        return;
    }
    void *const arrays[] = {fabric->node,
                            fabric->owed_room,
                            fabric->input,
                            fabric->flit,
                            fabric->output,
                            fabric->way,
                            fabric->eager,
                            fabric->later,
                            fabric->waiting,
                            fabric->untaken,
                            fabric->due_routers,
                            fabric->busy_routers,
                            fabric->busy_nodes,
                            fabric->begun_nodes,
                            fabric->vc_pointers,
                            fabric->switch_pointers,
                            fabric->pointer_room,
                            fabric->turn,
                            fabric->chosen,
                            fabric->asked,
                            fabric->hop_credits.ring,
                            fabric->node_credits.ring};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    fabric_swift_destroy(fabric->swift);
    allocator_free(&fabric->vc_allocator);
    allocator_free(&fabric->switch_allocator);
    free(fabric);
}

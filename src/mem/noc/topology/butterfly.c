/*
 * A k-ary n-fly (k: width, n: height): n stages of k^(n-1) routers, k^n places whose packets enter
 * at the first stage and leave at the last, so that every packet passes n routers. Stage s chooses
 * its output by digit n-1-s, to base k, of the destination (destination-tag routing; Dally and
 * Towles 2004, 4.1 and 8.4.1). Digits of a channel before stage s: those above n-1-s already are
 * the destination's; a router's number in its stage is the channel's without digit n-1-s.
 */
#include "mem/noc/topology/topology.h"

static uint32_t power(uint32_t base, uint32_t exponent)
{
    uint32_t value = 1;
    while (exponent--) {
        value *= base;
    }
    return value;
}

static void butterfly_shape(struct topology_shape *out, const struct noc_flits_spec *spec,
                            uint32_t nodes)
{
    (void)nodes;
    uint32_t places = power(spec->width, spec->height);
    *out = (struct topology_shape){.routers = spec->height * (places / spec->width),
                                   .ports = spec->width,
                                   .places = places,
                                   .classes = 1};
}

/* The router of `stage` whose inputs hold channel `channel`, and which of them. */
static struct topology_end stage_input(const struct noc_flits_spec *spec, uint32_t stage,
                                       uint32_t channel)
{
    uint32_t weight = power(spec->width, spec->height - 1 - stage);
    uint32_t digit = channel / weight % spec->width;
    uint32_t above = channel / weight / spec->width;
    uint32_t in_stage = above * weight + channel % weight;
    uint32_t routers_of_stage = power(spec->width, spec->height - 1);
    return (struct topology_end){
        .kind = END_ROUTER, .index = stage * routers_of_stage + in_stage, .port = digit};
}

static struct topology_end butterfly_output(const struct noc_flits_spec *spec, uint32_t router,
                                            uint32_t port)
{
    uint32_t routers_of_stage = power(spec->width, spec->height - 1);
    uint32_t stage = router / routers_of_stage, in_stage = router % routers_of_stage;
    uint32_t weight = power(spec->width, spec->height - 1 - stage);
    uint32_t channel = (in_stage / weight * spec->width + port) * weight + in_stage % weight;
    if (stage + 1 == spec->height) {
        return (struct topology_end){.kind = END_NODE, .index = channel};
    }
    return stage_input(spec, stage + 1, channel);
}

static struct topology_end butterfly_entry(const struct noc_flits_spec *spec, uint32_t place)
{
    return stage_input(spec, 0, place);
}

static struct topology_way butterfly_route(const struct noc_flits_spec *spec, uint32_t router,
                                           uint32_t place)
{
    uint32_t stage = router / power(spec->width, spec->height - 1);
    uint32_t weight = power(spec->width, spec->height - 1 - stage);
    return (struct topology_way){.port = (uint16_t)(place / weight % spec->width)};
}

const struct topology_ops topology_BUTTERFLY = {.shape = butterfly_shape,
                                                .output = butterfly_output,
                                                .entry = butterfly_entry,
                                                .route = butterfly_route};

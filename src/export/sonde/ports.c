/*
 * What the ports of SMs move in all, by the base's widths: a message has a header and data and
 * takes a whole number of cycles, so that a rate that a port makes is one over such a number.
 */
#include <math.h>

#include "export/sonde/model_text.h"
#include "util/bits.h"
#include "util/glue/json_glue.h"

static const struct {
    double exact;
    uint32_t longest_line;
} limits = {
    .exact = 0.01,        /* of a message's cycles: chosen, as bandwidth.c's */
    .longest_line = 1024, /* bytes; requests are no longer */
};

bool ports_are_whole(double cycles, double whole)
{
    return fabs(cycles - whole) <= limits.exact * whole;
}

double ports_measured(const json_t *root, const char *key)
{
    struct saved_value value;
    return saved_value(&value, json_object_get(root, "memory"), key) ? value.value : 0;
}

double ports_alone(const json_t *root)
{
    /* The shapes of infer/device/memory.c begin with those of one SM. */
    static const double requests[] = {1, 32, 256};
    const json_t *points = json_object_get(root, "loaded_latency");
    double most = 0;
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        const json_t *point = json_array_get(points, i);
        if (json_number_of(point, "requests") == requests[i]) {
            most = fmax(most, json_number_of(point, "bytes_per_cycle"));
        }
    }
    return most;
}

double ports_clock_hz(const struct model *base, const json_t *root)
{
    const json_t *device = json_object_get(root, "device");
    return (double)saved_plain_u64(device, "clock_hz", 1000000000000 / base->core_period_ps);
}

double ports_sms(const struct model *base, const json_t *root)
{
    return (double)saved_plain_u64(json_object_get(root, "device"), "sms", base->sms);
}

double ports_rate(const struct model *base, const json_t *root, uint32_t bytes, double cycles)
{
    return cycles > 0 ? ports_sms(base, root) * ports_clock_hz(base, root) * bytes / cycles
                      : INFINITY;
}

double ports_message_cycles(const struct model *base, uint32_t bytes, uint32_t width)
{
    return width > 0 ? ceil(((double)base->noc.header_bytes + bytes) / width) : 0;
}

/* A whole number of cycles for each message is the measured rate. */
static bool is_of_port(double rate, const struct model *base, const json_t *root, uint32_t bytes,
                       uint32_t width)
{
    double passes = ports_rate(base, root, bytes, ports_message_cycles(base, bytes, width));
    return rate > 0 && width > 0 && ports_are_whole(rate / passes, 1);
}

bool ports_move_lines(uint32_t *line, const json_t *root, const struct model *base,
                      uint32_t fetched)
{
    const struct noc_spec *noc = &base->noc;
    double read = ports_measured(root, "read_bandwidth"),
           write = ports_measured(root, "write_bandwidth");
    uint64_t whole = base->l2.line_bytes;
    saved_u64(&whole, saved_cache(root, "l2"), "line");
    *line = whole <= limits.longest_line ? (uint32_t)whole : 0;
    bool is_sent = is_of_port(write, base, root, *line, noc->request_bytes_per_cycle) &&
                   !is_of_port(write, base, root, fetched, noc->request_bytes_per_cycle);
    bool is_got = is_of_port(read, base, root, *line, noc->reply_bytes_per_cycle) &&
                  !is_of_port(read, base, root, fetched, noc->reply_bytes_per_cycle);
    return *line > fetched && *line % fetched == 0 && is_power_of_two(*line) && (is_sent || is_got);
}

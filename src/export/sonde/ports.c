/*
 * What the ports of SMs move in all, by the base's widths: a message has a header and data and
 * takes a whole number of cycles, so that a rate that a port makes is one over such a number.
 */
#include <math.h>

#include "export/sonde/model_text.h"
#include "util/bits.h"
#include "util/glue/json_glue.h"

static const struct {
    double exact, rounded, slower, hit_at;
    uint32_t longest_line, least_width, most_cycles, several;
} limits = {
    .exact = 0.01,        /* of a message's cycles: chosen, as bandwidth.c's */
    .longest_line = 1024, /* bytes; requests are no longer */
    .rounded = 0.07,      /* of a request's cycles: what surrounds 30 of them. Chosen */
    .slower = 1.1,        /* of what a load was seen to take: the base's is another. Chosen */
    .least_width = 16,    /* bytes a cycle: as bandwidth.c's */
    .most_cycles = 64,
    .several = 8,   /* loads under way */
    .hit_at = 0.55, /* of a round trip: when a hit comes behind loads (infer/outstanding) */
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

/* Bytes a cycle of the shape of infer/device/memory.c that has so many loads under way; 0: none. */
static double with_so_many(const json_t *root, double requests)
{
    size_t i;
    json_t *point;
    json_array_foreach(json_object_get(root, "loaded_latency"), i, point)
    {
        if (json_number_of(point, "requests") == requests) {
            return json_number_of(point, "bytes_per_cycle");
        }
    }
    return 0;
}

#define ALONE 256.0 /* the most loads of one SM by itself */

double ports_alone(const json_t *root)
{
    return fmax(fmax(with_so_many(root, 1), with_so_many(root, 32)), with_so_many(root, ALONE));
}

double ports_together(const struct model *base, const json_t *root)
{
    double one = with_so_many(root, ALONE);
    double all = with_so_many(root, ALONE * ports_sms(base, root));
    return one > 0 && all > 0 ? all / (one * ports_sms(base, root)) : 1;
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

double ports_cycles_at(double rate, const struct model *base, const json_t *root, uint32_t bytes)
{
    return rate > 0 ? ports_rate(base, root, bytes, 1) / rate : 0;
}

/* Cycles of a message of a header and `bytes`; 0: the width is without a limit. */
static double message_cycles(const struct model *base, uint32_t bytes, uint32_t width)
{
    return width > 0 ? ceil(((double)base->noc.header_bytes + bytes) / width) : 0;
}

uint32_t ports_written(const struct model *base, uint32_t bytes)
{
    return (base->noc.folds_header ? 0 : base->noc.header_bytes) + bytes;
}

double ports_write_cycles(const struct model *base, uint32_t bytes)
{
    uint32_t width = base->noc.request_bytes_per_cycle;
    return width > 0 ? ceil((double)ports_written(base, bytes) / width) : 0;
}

double ports_read_cycles(const struct model *base, uint32_t bytes)
{
    return message_cycles(base, bytes, base->noc.reply_bytes_per_cycle);
}

/* A message for each such number of cycles is the measured rate. */
static bool is_of_port(double rate, const struct model *base, const json_t *root, uint32_t bytes,
                       double cycles)
{
    double passes = ports_rate(base, root, bytes, cycles);
    return rate > 0 && cycles > 0 && ports_are_whole(rate / passes, 1);
}

/* With a header or without: which of them is not told, and the base's may be the other. */
static bool is_sent_by_port(double rate, const struct model *base, const json_t *root,
                            uint32_t bytes)
{
    uint32_t width = base->noc.request_bytes_per_cycle;
    return is_of_port(rate, base, root, bytes, ports_write_cycles(base, bytes)) ||
           is_of_port(rate, base, root, bytes, message_cycles(base, bytes, width));
}

bool ports_move_lines(uint32_t *line, const json_t *root, const struct model *base,
                      uint32_t fetched)
{
    double read = ports_measured(root, "read_bandwidth"),
           write = ports_measured(root, "write_bandwidth");
    uint64_t whole = base->l2.line_bytes;
    saved_u64(&whole, saved_cache(root, "l2"), "line");
    *line = whole <= limits.longest_line ? (uint32_t)whole : 0;
    bool is_sent =
        is_sent_by_port(write, base, root, *line) && !is_sent_by_port(write, base, root, fetched);
    bool is_got = is_of_port(read, base, root, *line, ports_read_cycles(base, *line)) &&
                  !is_of_port(read, base, root, fetched, ports_read_cycles(base, fetched));
    return *line > fetched && *line % fetched == 0 && is_power_of_two(*line) && (is_sent || is_got);
}

bool ports_write_words(const json_t *root, const struct model *base, uint32_t least, uint32_t words)
{
    double write = ports_measured(root, "write_bandwidth");
    double few = ports_cycles_at(write, base, root, least);
    double many = ports_cycles_at(write, base, root, words);
    return least < words && few >= 1 && !ports_are_whole(few, round(few)) &&
           ports_are_whole(many, round(many));
}

/* ---- how fast a warp's requests leave and come back ---- */

#define TIMED 30.0 /* requests of a warp of 32, from the second on: infer/outstanding/ray.c */

/* Cycles from one request of a full warp to the next; 0: no whole number of them was told. */
static uint32_t request_cycles(const json_t *root)
{
    double told = json_number_of(json_object_get(root, "outstanding"), "request_cycles");
    double exact = told * 32 / TIMED, whole = round(exact);
    bool is_whole =
        whole >= 1 && whole <= limits.most_cycles && fabs(exact - whole) <= limits.rounded * whole;
    return is_whole ? (uint32_t)whole : 0;
}

/* The width of a port that a message of so many bytes passes in so many cycles: a power of two, if
 * there is one, else the least. */
static uint32_t width_of_pace(uint32_t message, uint32_t cycles)
{
    uint32_t least = (message + cycles - 1) / cycles, width = 1;
    while (width < least) {
        width *= 2;
    }
    return cycles > 1 && width <= (message - 1) / (cycles - 1) ? width : least;
}

/* Whether a port so wide passes what was read, of all SMs and of one alone, in messages of so many
 * bytes. */
static bool passes_reads(const struct model *base, const json_t *root, uint32_t bytes,
                         uint32_t width)
{
    double cycles = message_cycles(base, bytes, width);
    double most = (1 + limits.exact) * ports_rate(base, root, bytes, cycles);
    return ports_measured(root, "read_bandwidth") <= most && ports_alone(root) * cycles <= bytes;
}

uint32_t ports_width_by_pace(const struct model *base, const json_t *root, uint32_t bytes,
                             uint32_t most_bytes)
{
    uint32_t cycles = request_cycles(root), width = base->noc.reply_bytes_per_cycle;
    uint32_t message = base->noc.header_bytes + bytes;
    double own = width > 0 ? message_cycles(base, bytes, width) : 1;
    if (cycles == 0 || cycles == own) {
        return 0;
    }
    uint32_t needed =
        cycles > own ? width_of_pace(message, cycles) : (message + cycles - 1) / cycles;
    /* Slower than the port may be the unit: rates that were measured say more, and of messages that
     * are as long nothing else does. */
    bool has_rate = ports_measured(root, "read_bandwidth") > 0 || ports_alone(root) > 0;
    bool is_refuted = cycles > own && has_rate &&
                      (bytes >= most_bytes || !passes_reads(base, root, most_bytes, needed));
    return needed >= limits.least_width && !is_refuted ? needed : 0;
}

/* What stands around a load in the time of one: two operations, a branch, a barrier; 0: not told.
 */
static double around_a_load(const json_t *outstanding)
{
    const json_t *all = json_object_get(outstanding, "around_loads");
    const json_t *logic = json_object_get(all, "logic");
    logic = logic ? logic : json_object_get(all, "iadd");
    return 2 * json_number_of(logic, "cycles") +
           json_number_of(json_object_get(all, "branch"), "cycles") +
           json_number_of(json_object_get(all, "barrier"), "cycles");
}

/*
 * Cycles from one load of a single lane to the next, at most, where as many as fit were under way:
 * what they take more than one, or, where a hit came behind them, the time until it did. 0: not
 * told.
 */
static double instruction_cycles(const json_t *root)
{
    const json_t *outstanding = json_object_get(root, "outstanding");
    double one = json_number_of(outstanding, "one_load_cycles"), least = 0;
    size_t i;
    json_t *spike;
    json_array_foreach(json_object_get(outstanding, "spikes"), i, spike)
    {
        double count = json_number_of(spike, "instructions");
        double taken = json_number_of(spike, "before_cycles");
        bool is_single = json_number_of(spike, "lanes") == 1 && json_number_of(spike, "share") == 1;
        if (is_single && count >= limits.several) {
            double each = taken > one ? (taken - one) / (count - 1)
                                      : limits.hit_at * (one - around_a_load(outstanding)) / count;
            least = least == 0 ? each : fmin(least, each);
        }
    }
    return least;
}

bool ports_take_pace(struct lanes_spec *lanes, const json_t *root)
{
    double told = instruction_cycles(root);
    uint32_t requests = request_cycles(root), parallel = lanes->parallel ? lanes->parallel : 1;
    struct lanes_spec before = *lanes;
    if (requests && lanes->request_cycles > requests) {
        lanes->request_cycles = requests;
    }
    if (told > 0 && lanes->instruction_cycles > limits.slower * told * parallel) {
        lanes->instruction_cycles = (uint32_t)fmax(1, floor(told * parallel));
    }
    return lanes->request_cycles != before.request_cycles ||
           lanes->instruction_cycles != before.instruction_cycles;
}

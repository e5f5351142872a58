/*
 * What a lone read takes behind its cache, by the base's widths and the geometry that was measured:
 * the way through L2, or to memory where there is none. A read of more bytes than a load's takes
 * longer: L2 looks up line by line and its data port passes them one after the other, the reply has
 * more bytes, memory sends more bursts.
 */
#include <math.h>
#include <string.h>

#include "export/sonde/model_text.h"
#include "util/bits.h"
#include "util/divisor.h"
#include "util/glue/json_glue.h"

/* Chosen; lines of 128 bytes through a port of 16 would come to 0.89 of the same rate, at most. */
static const struct {
    double bytes, usual_port, least, most, whole;
    uint32_t words;
} parts = {
    .words = 128,     /* bytes that a warp's words are */
    .bytes = 32,      /* what a warp asks for at once, at least */
    .usual_port = 32, /* bytes a cycle */
    .least = 0.895,   /* of what a port passes, that one SM gets */
    .whole = 0.6,     /* of what reads move, that writes do which are read in part at most */
    .most = 0.96,     /* the same: 256 loads under way begin and end */
};

struct halves way_halves(uint32_t sum, uint32_t base_first, uint32_t base_second)
{
    bool is_base = sum == (uint64_t)base_first + base_second;
    uint32_t second = is_base ? base_second : sum / 2;
    return (struct halves){.first = sum - second, .second = second};
}

/* Cycles that a message of `bytes` takes beyond its first on links of a width (0: no limit). */
static double beyond_first(uint32_t bytes, uint32_t width)
{
    return width && bytes > width ? ceil((double)bytes / width) - 1 : 0;
}

uint32_t way_load_bytes(const struct model *base)
{
    return base->sm.coalesce.sector_bytes;
}

bool way_is_by_line(const json_t *root, const struct model *base)
{
    const json_t *l1 = saved_cache(root, "l1_data");
    uint64_t segment = 0, line = 0;
    return saved_u64(&segment, l1, "fetch_granularity") && saved_u64(&line, l1, "line") &&
           segment < line && base->sm.coalesce.segment_bytes == line;
}

/*
 * Past L1 a warp may ask for less than a line at once, of which L2 fetches a line all the same. One
 * SM alone shows it: a port of a width that is usual passes such small messages at the rate that it
 * gets, and lines would need a port of an odd width.
 */
static bool asks_for_parts(const json_t *root, const struct model *base)
{
    double messages = ceil((base->noc.header_bytes + parts.bytes) / parts.usual_port);
    double most = parts.bytes / messages, alone = ports_alone(root);
    return !saved_cache(root, "l1_data") && alone >= parts.least * most &&
           alone <= parts.most * most;
}

/* Of what is written in part L2 reads the rest: then more than half of what reads move is no
 * bandwidth of writes. 0: not told; else what is written at once, at least. */
static uint32_t writes_whole(const json_t *root, const struct model *base)
{
    double read = ports_measured(root, "read_bandwidth"),
           write = ports_measured(root, "write_bandwidth");
    uint64_t fetched = 0;
    bool is_told = saved_u64(&fetched, saved_cache(root, "l2"), "fetch_granularity") && read > 0 &&
                   write > parts.whole * read;
    uint32_t most = base->sm.coalesce.segment_bytes;
    most = most < parts.words ? parts.words : most;
    return is_told && is_power_of_two(fetched) ? (fetched < most ? (uint32_t)fetched : most) : 0;
}

uint32_t way_segment(const json_t *root, const struct model *base)
{
    const json_t *l1 = saved_cache(root, "l1_data");
    uint64_t segment = 0;
    bool is_told = saved_u64(&segment, l1 ? l1 : saved_cache(root, "l2"), "fetch_granularity") &&
                   segment >= 32 && is_power_of_two(segment);
    if (way_is_by_line(root, base) || !is_told) {
        return base->sm.coalesce.segment_bytes;
    }
    if (segment > parts.bytes && asks_for_parts(root, base)) {
        return (uint32_t)parts.bytes;
    }
    uint32_t line, whole = writes_whole(root, base);
    if (segment < whole) {
        uint64_t reach = 0; /* no message is of several lines of L2 */
        bool is_wide = saved_u64(&reach, saved_cache(root, "l2"), "line") && reach >= parts.words;
        return is_wide && ports_write_words(root, base, whole, parts.words) ? parts.words : whole;
    }
    return ports_move_lines(&line, root, base, (uint32_t)segment) ? line : (uint32_t)segment;
}

double way_network_extra(const struct model *base, uint32_t data_bytes)
{
    const struct noc_spec *noc = &base->noc;
    return beyond_first(noc->header_bytes, noc->request_bytes_per_cycle) +
           beyond_first(noc->header_bytes + data_bytes, noc->reply_bytes_per_cycle);
}

bool way_has_l2(const struct model_text *t)
{
    return saved_cache(t->root, "l2") || (!saved_is_absent(t->root, "l2") && t->base->l2.enabled);
}

double way_l2_port(const json_t *root, const struct model *base, uint32_t bytes)
{
    uint64_t line = base->l2.line_bytes;
    uint32_t width = base->l2.data_bytes_per_cycle;
    saved_u64(&line, saved_cache(root, "l2"), "line");
    uint32_t piece = line && line < bytes ? (uint32_t)line : bytes;
    double pieces = ceil((double)bytes / piece);
    if (width && base->l2.read_passes) { /* to parts of a cycle */
        double data = (double)piece / width;
        double pass = fmax(data, 16.0 / base->l2.read_passes);
        return (pieces - 1) * pass + fmax(data - 1, 0);
    }
    return width ? pieces * (1 + beyond_first(piece, width)) - 1 : 0;
}

double way_more(const struct model_text *t, uint32_t bytes, bool by_port)
{
    uint32_t load = way_load_bytes(t->base);
    double network = by_port ? way_network_extra(t->base, bytes) : way_network_extra(t->base, 0);
    network -= way_network_extra(t->base, load);
    if (!way_has_l2(t)) {
        return network + way_dram(t, bytes) - way_dram(t, load);
    }
    return network + way_l2_port(t->root, t->base, bytes) - way_l2_port(t->root, t->base, load);
}

static uint64_t core_period_ps(const struct model_text *t)
{
    uint64_t hz = saved_plain_u64(json_object_get(t->root, "device"), "clock_hz", 0);
    return hz ? (uint64_t)round(1e12 / (double)hz) : t->base->core_period_ps;
}

/*
 * Activate (where rows stay open, a miss's neighbours have opened its own), read and the transfer
 * of all bursts, in core cycles, and what the two clocks' edges cost: in the mean of all phases
 * half of each period, less half of the step in which phases come.
 */
double way_dram(const struct model_text *t, uint32_t bytes)
{
    const struct dram_spec *dram = &t->base->dram;
    uint64_t core_ps = core_period_ps(t), own_ps = dram->period_ps;
    double burst = 1 + beyond_first(dram->burst_bytes, dram->bytes_per_cycle);
    double apart = fmax(burst, fmax(dram->t_ccd_s, dram->t_ccd_l));
    double activate = dram->closed_page ? dram->t_rcd : 0;
    double clocks = activate + dram->t_cl + beyond_first(bytes, dram->burst_bytes) * apart +
                    (dram->bytes_per_cycle ? burst : 0);
    double edges_ps = (double)(own_ps + core_ps) / 2 - (double)common_divisor(own_ps, core_ps);
    return (clocks * (double)own_ps + edges_ps) / (double)core_ps;
}

/*
 * The probe `peers`: whether SMs find what another one walked, within one launch
 * (kernels/peers.ptx), for a launch may begin with empty caches. An SM, the owner, walks as many
 * parts as there are SMs that look, and one more; then each looks at its own part, so that none
 * finds what another one fetched a moment before.
 *
 *     | owner's part | from | from + 1 | .. |   aside: two elements for each, for the preroll
 *
 * A launch asks for some blocks on each SM, of which one works.
 */
#include <stdlib.h>
#include <string.h>

#include "probe/live.h"
#include "util/error.h"

enum { BLOCKS_AN_SM = 3, MOST_BLOCKS = 4096, PREROLL = 2, PATIENCE = 20000, PATIENCE_A_LOAD = 16 };

struct peers {
    const char *op;
    struct walk walk; /* the parts, and what lies aside */
    uint64_t owner, from, count, again;
    uint64_t elements, texture;
    bool is_texture;
};

static uint64_t places(const struct peers *peers)
{
    return 1 + peers->count;
}

/* Words of a part's record in the kernel's output. */
static uint64_t part_words(const struct peers *peers)
{
    return 1 + 3 * peers->again;
}

static int peers_read(struct peers *peers, const struct trace_request *request)
{
    *peers = (struct peers){.op = trace_request_text(request, "op"),
                            .owner = request_number(request, "owner", 0),
                            .from = request_number(request, "from", 0),
                            .count = request_number(request, "count", 1),
                            .again = request_number(request, "again", 4)};
    uint64_t stride = request_number(request, "stride", 128);
    uint64_t base = request_number(request, "base", 0);
    peers->is_texture = strcmp(peers->op, "tex") == 0;
    peers->walk = (struct walk){.width = 4,
                                .base = base,
                                .stride = stride,
                                .scale = 1,
                                .count = places(peers) * (peers->again + PREROLL),
                                .ground = GROUND_PLAIN};
    if (stride % 4 != 0 || base % 4 != 0) {
        return error_set(SONDE_EUSAGE, "probe peers: stride and base must be multiples of 4");
    }
    if (strcmp(peers->op, "const") == 0 && walk_extent(&peers->walk) > CONSTANT_BYTES) {
        return error_set(SONDE_EUSAGE, "probe peers: op=const goes only with %d bytes in all",
                         CONSTANT_BYTES);
    }
    return SONDE_OK;
}

/* Puts the elements where the path finds them. */
static int lay_out(struct probe_live *live, struct peers *peers)
{
    peers->elements = peers->walk.base;
    if (strcmp(peers->op, "const") == 0) {
        return walk_fill_constants(live, &peers->walk, "peers", peers->op);
    }
    int rc = walk_build(live, &peers->walk, true);
    if (rc < 0) {
        return rc;
    }
    uint64_t address = walk_address(live, &peers->walk);
    peers->elements = peers->walk.base / (peers->is_texture ? 4 : 1);
    peers->elements += peers->is_texture ? 0 : address;
    return peers->is_texture ? device_texture_create(live->device, &peers->texture, address,
                                                     walk_extent(&peers->walk))
                             : SONDE_OK;
}

static int launch(struct probe_live *live, struct device_kernel *kernel, const struct peers *peers)
{
    uint64_t blocks = (uint64_t)live->device->info.sms * BLOCKS_AN_SM;
    uint64_t records = peers->again < PREROLL ? PREROLL : peers->again;
    uint32_t stride = (uint32_t)peers->walk.stride, parts = (uint32_t)places(peers);
    struct call call = call_begin((uint32_t)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 32,
                                  (uint32_t)records * RECORD_BYTES);
    call_u64(&call, peers->elements);
    call_u64(&call, live->out.address);
    call_u32(&call, (uint32_t)peers->owner);
    call_u32(&call, (uint32_t)peers->from);
    call_u32(&call, (uint32_t)peers->count);
    call_u32(&call, (uint32_t)peers->again);
    call_u32(&call, (uint32_t)peers->again * stride);
    call_u32(&call, parts * (uint32_t)peers->again * stride);
    call_u32(&call, PREROLL * stride);
    call_u32(&call, parts * (uint32_t)peers->again);
    call_u32(&call, (uint32_t)peers->walk.scale);
    call_u32(&call, PATIENCE + PATIENCE_A_LOAD * parts * (uint32_t)peers->again);
    if (peers->is_texture) {
        call_u64(&call, peers->texture);
    }
    return call_run(live, kernel, &call);
}

/* The records of all parts, held against what was laid out. */
static int take_records(uint32_t *latency, uint32_t *there, const struct peers *peers,
                        const uint32_t *words)
{
    if (words[2] != 0) {
        return error_set(SONDE_EDEVICE, "no block ran on SM %llu, or it never ended its walk",
                         (unsigned long long)peers->owner);
    }
    for (uint64_t k = 0; k < places(peers); k++) {
        const uint32_t *part = words + RECORD_OUT_WORDS + k * part_words(peers);
        uint64_t sm = k == 0 ? peers->owner : peers->from + k - 1;
        there[k] = part[0] == sm + 1;
        for (uint64_t i = 0; there[k] && i < peers->again; i++) {
            const uint32_t *record = part + 1 + 3 * i;
            uint64_t expected = walk_offset(&peers->walk, k * peers->again + i + 1);
            latency[k * peers->again + i] = record[1] - record[0];
            if (record[2] != expected) {
                return error_set(SONDE_EDEVICE,
                                 "SM %llu, record %llu: offset %u came back where %llu was stored",
                                 (unsigned long long)sm, (unsigned long long)i, record[2],
                                 (unsigned long long)expected);
            }
        }
    }
    return there[0] ? SONDE_OK
                    : error_set(SONDE_EDEVICE, "no block ran on SM %llu",
                                (unsigned long long)peers->owner);
}

/* The kernel's output, which it takes zeroed. */
static int run(struct probe_live *live, struct device_kernel *kernel, const struct peers *peers,
               uint32_t *words, uint64_t bytes)
{
    int rc = buffer_reserve(live, &live->out, bytes, 65536);
    rc = rc < 0 ? rc : device_copy_to(live->device, live->out.address, words, bytes);
    rc = rc < 0 ? rc : launch(live, kernel, peers);
    return rc < 0 ? rc : device_copy_from(live->device, words, live->out.address, bytes);
}

static int measure(struct probe_live *live, struct device_kernel *kernel, const struct peers *peers,
                   struct trace *trace)
{
    uint64_t count = RECORD_OUT_WORDS + places(peers) * part_words(peers);
    uint64_t records = places(peers) * peers->again;
    uint32_t *words = calloc(count + records + places(peers), sizeof(*words));
    if (!words) {
        return error_memory();
    }
    uint32_t *latency = words + count, *there = latency + records;
    int rc = run(live, kernel, peers, words, count * 4);
    rc = rc < 0 ? rc : take_records(latency, there, peers, words);
    rc = rc < 0 ? rc : trace_add_column(trace, "latency", TRACE_U32, latency, records);
    rc = rc < 0 ? rc : trace_add_column(trace, "there", TRACE_U32, there, places(peers));
    rc = rc < 0 ? rc : trace_add_column(trace, "sms", TRACE_U32, &words[1], 1);
    free(words);
    return rc;
}

int peers_run(struct probe_live *live, struct trace *trace, const struct trace_request *request)
{
    struct peers peers;
    struct device_kernel *kernel;
    int rc = peers_read(&peers, request);
    rc = rc < 0 ? rc : walk_check_path(live, peers.op);
    rc = rc < 0 ? rc : kernel_find(live, &kernel, "peers", "peers", peers.op);
    rc = rc < 0 ? rc : walk_carveout(live, kernel, request, peers.again * RECORD_BYTES);
    rc = rc < 0 ? rc : lay_out(live, &peers);
    rc = rc < 0 ? rc : measure(live, kernel, &peers, trace);
    if (peers.texture) {
        int destroyed = device_texture_destroy(live->device, peers.texture);
        rc = rc < 0 ? rc : destroyed;
    }
    return rc;
}

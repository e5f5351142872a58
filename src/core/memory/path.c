/*
 * Which way an access takes through the SM, and which requests it becomes there.
 *
 *     global, generic     L1 where it serves global data, else straight to the network; one request
 *                         for each aligned segment
 *     local               L1; each thread's bytes are interleaved by words (local_layout)
 *     texture fetches     the texture unit's cache, as ld.global.nc where the model says so; one
 *                         request for each 32 bytes
 *     constant            the constant cache; one request for each different address: lanes that
 *                         agree share it (broadcast), others are served one after the other
 *
 * The loads and stores that a matrix fragment is become requests one after the other.
 *
 * Kernel parameters, and spaces for which the model has no cache, take a fixed time and never come
 * here. Source: CUDA C Programming Guide 6.0, section 5.3.2 and appendix G. Leaves out: constant
 * memory reached by a generic address goes as global memory does; lanes of a generic access with
 * mixed spaces that reach local memory take no part in the requests.
 */
#include "core/memory/banks.h"
#include "core/memory/tag_banks.h"
#include "core/state.h"

#define LOCAL_WORD_BYTES 4

static bool by_texture(const struct sm *sm, const struct exec_access *access)
{
    return access->non_coherent && access->kind == ACCESS_LOAD &&
           sm->spec->readonly == READONLY_TEXTURE && sm->has_texture;
}

bool path_choose(const struct sm *sm, const struct exec_access *access, enum pipe *pipe)
{
    *pipe = PIPE_LSU;
    switch (access->space) {
    case SPACE_LOCAL:
        return sm->local_words > 0;
    case SPACE_CONST:
        *pipe = PIPE_CONSTANT;
        return sm->has_constant;
    case SPACE_PARAM:
        return false;
    default:
        if (access->kind == ACCESS_TEXTURE || by_texture(sm, access)) {
            *pipe = PIPE_TEXTURE;
        }
        return true;
    }
}

/*
 * Which accesses L1 serves: loads and stores of the default and the .ca operators, of local memory
 * and, where the model caches global data in L1 at all, of global memory. Others pass it: .cg and
 * .cv, volatile accesses and those that synchronise beyond the CTA, and atomics, which L2
 * performs. PTX ISA 9.0, 9.7.9.1.
 */
static bool l1_serves(const struct sm *sm, const struct exec_access *access)
{
    return access->space == SPACE_LOCAL || sm->spec->l1_caches_global ||
           (access->non_coherent && sm->spec->readonly == READONLY_L1);
}

/* It finds nothing there, and leaves nothing. */
static bool passes_l1(const struct exec_access *access)
{
    return access->cache_op == MOD_COP_cg || access->cache_op == MOD_COP_cv || access->is_volatile;
}

static void choose_l1(struct sm *sm, struct lsu_access *access)
{
    const struct exec_access *a = &access->detail->access;
    access->port = sm->has_l1 && l1_serves(sm, a) ? &sm->l1 : &sm->network;
    access->bypass = passes_l1(a) || is_atomic(access);
}

bool path_store_waits(const struct sm *sm, enum pipe pipe, const struct exec_access *access)
{
    bool stores = access->kind == ACCESS_STORE || access->kind == ACCESS_FRAGMENT_STORE;
    return stores && pipe == PIPE_LSU && l1_serves(sm, access) && !passes_l1(access);
}

/*
 * The lanes whose bytes lie in device memory: a generic access may mix spaces, and a prefetch may
 * name any address.
 */
static uint32_t global_lanes(struct sm *sm, const struct exec_access *access)
{
    uint32_t lanes = access->mask;
    for (uint32_t m = access->kind == ACCESS_PREFETCH ? lanes : 0; m; m &= m - 1) {
        uint64_t paddr;
        if (!translate(sm, access->address[__builtin_ctz(m)], &paddr)) {
            lanes &= ~(m & -m);
        }
    }
    for (uint32_t lane = 0; access->space == SPACE_NONE && lane < WARP_LANES; lane++) {
        if (access->lane_space[lane] != SPACE_GLOBAL && access->lane_space[lane] != SPACE_CONST) {
            lanes &= ~(1u << lane);
        }
    }
    return lanes;
}

/*
 * Local memory in the device's: word w of the 32 lanes of a warp slot lies in 128 consecutive
 * bytes, so that lanes at one offset share a line. A call deeper than the launch was sized for
 * (recursion) wraps around, as does a slot beyond those that the launch needs by itself.
 *
 *     | warp slot | word of the thread, < local_words | lane | byte of the word |
 *
 * With local_contiguous lane and word change places: a thread's bytes lie one after the other.
 */
static uint64_t local_layout(const struct sm *sm, uint32_t slot, uint32_t lane, uint64_t offset)
{
    uint64_t word = offset / LOCAL_WORD_BYTES % sm->local_words;
    slot %= sm->local_slots;
    uint64_t place = sm->spec->local_contiguous
                         ? ((uint64_t)slot * WARP_LANES + lane) * sm->local_words + word
                         : (slot * sm->local_words + word) * WARP_LANES + lane;
    return sm->local_address + place * LOCAL_WORD_BYTES + offset % LOCAL_WORD_BYTES;
}

/* Elements of 8 and 16 bytes lie in two and four words, which are coalesced one after the other;
 * in one piece where each thread's memory is. */
static uint32_t local_transactions(struct sm *sm, struct lsu_access *access)
{
    const struct exec_access *a = &access->detail->access;
    uint32_t lane_bytes = (uint32_t)a->bytes * a->vec, count = 0;
    struct exec_access words = {.kind = a->kind, .mask = a->mask, .vec = 1};
    uint32_t piece = sm->spec->local_contiguous ? lane_bytes : LOCAL_WORD_BYTES;
    for (uint32_t at = 0; at < lane_bytes; at += piece) {
        uint32_t left = lane_bytes - at;
        words.bytes = (uint8_t)(left < piece ? left : piece);
        for (uint32_t m = a->mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            words.address[lane] = local_layout(sm, access->warp->slot, lane, a->address[lane] + at);
        }
        const struct coalesce_spec *rule = &sm->spec->coalesce;
        count += coalesce(access->detail->transaction + count, &words, rule->segment_bytes,
                          rule->sector_bytes, rule->lanes_per_pass);
    }
    return count;
}

static uint32_t constant_transactions(struct lsu_access *access)
{
    const struct exec_access *a = &access->detail->access;
    uint32_t count = 0;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint64_t address = a->address[__builtin_ctz(m)];
        uint32_t i = 0;
        while (i < count && access->detail->transaction[i].address != address) {
            i++;
        }
        if (i == count) {
            access->detail->transaction[count++] = (struct transaction){
                .address = address, .bytes = (uint32_t)a->bytes * a->vec, .lanes = 1};
        }
    }
    return count;
}

/* Of an access or a piece of one; `alone`: of an atomic one lane does it for all. `halving` is how
 * the first generations did it. */
static uint32_t segments(struct transaction *list, const struct exec_access *access,
                         const struct coalesce_spec *spec, bool alone)
{
    uint32_t segment =
        spec->halving ? coalesce_segment(access, spec->segment_bytes) : spec->segment_bytes;
    uint32_t sector = spec->halving ? COALESCE_SECTOR_BYTES : spec->sector_bytes;
    uint32_t count = coalesce(list, access, segment, sector, spec->lanes_per_pass);
    if (access->kind == ACCESS_ATOMIC || access->kind == ACCESS_REDUCTION) {
        coalesce_passes(list, count, access, alone);
    }
    if (spec->halving && access->kind != ACCESS_STORE) {
        coalesce_halve(list, count);
    }
    return count;
}

/* One after the other of the accesses that a fragment is. */
static uint32_t fragment_segments(struct access_detail *detail, uint32_t lanes,
                                  const struct coalesce_spec *spec)
{
    struct exec_access piece;
    uint32_t count = 0;
    for (uint32_t k = 0; k < detail->access.pieces; k++) {
        exec_access_piece(&piece, &detail->access, k);
        piece.mask = lanes;
        count += segments(detail->transaction + count, &piece, spec, false);
    }
    return count;
}

static uint32_t global_transactions(struct sm *sm, struct lsu_access *access)
{
    struct access_detail *detail = access->detail;
    const struct exec_uop_info *info = access->info;
    const struct coalesce_spec *rule = &sm->spec->coalesce;
    if (detail->access.kind == ACCESS_LOAD && detail->access.space == SPACE_GLOBAL &&
        !rule->halving &&
        coalesce_lone(detail->transaction, &detail->access, rule->segment_bytes,
                      rule->sector_bytes)) {
        return 1;
    }
    uint32_t mask = detail->access.mask, lanes = global_lanes(sm, &detail->access);
    if (is_fragment(&detail->access)) {
        return fragment_segments(detail, lanes, &sm->spec->coalesce);
    }
    detail->access.mask = lanes;
    uint32_t count = segments(detail->transaction, &detail->access, &sm->spec->coalesce,
                              info->is_lowered && info->lowered.aggregated);
    detail->access.mask = mask;
    return count;
}

/* A load of device memory takes as long as the banks of L1's data do, and its lines their turns in
 * those of its tags. */
static void take_banks(struct sm *sm, struct lsu_access *access)
{
    struct access_detail *detail = access->detail;
    const struct sm_spec *spec = sm->spec;
    bool is_device = detail->access.space == SPACE_GLOBAL || detail->access.space == SPACE_NONE;
    access->banked = spec->lsu_tag_banks > 0 && sm->lsu.simple && access->port == &sm->l1 &&
                     access->kind == ACCESS_LOAD && is_device;
    if (!access->banked) {
        return;
    }
    sm->lsu.queue[PIPE_LSU].free_cycle = sm->cycle + banks_passes(&spec->shared, &detail->access);
    tag_banks_order(detail->transaction, access->count, spec->coalesce.segment_bytes,
                    spec->lsu_tag_banks);
}

void path_prepare(struct sm *sm, struct lsu_access *access)
{
    static const struct coalesce_spec by_sectors = {.segment_bytes = COALESCE_SECTOR_BYTES,
                                                    .sector_bytes = COALESCE_SECTOR_BYTES,
                                                    .lanes_per_pass = WARP_LANES};
    struct access_detail *detail = access->detail;
    access->bypass = false;
    switch (access->pipe) {
    case PIPE_TEXTURE:
        access->port = sm->has_texture ? &sm->texture_port : &sm->network;
        access->count = access->kind == ACCESS_TEXTURE
                            ? texture_transactions(access, sm->spec->texture.blocks_linear)
                            : segments(detail->transaction, &detail->access, &by_sectors, false);
        break;
    case PIPE_CONSTANT:
        access->port = &sm->constant_port;
        access->count = constant_transactions(access);
        break;
    default:
        choose_l1(sm, access);
        access->count = detail->access.space == SPACE_LOCAL ? local_transactions(sm, access)
                                                            : global_transactions(sm, access);
        take_banks(sm, access);
        break;
    }
}

/*
 * What an observer is told of a load or store of device memory (direct_reach_fn) is what its lanes
 * ask for, on any processor, with AVX2 and with AVX-512: for every width and vector, for lanes in
 * rows, at one place, in pieces of these and anywhere, under any mask; and nothing where one lane
 * may not.
 */
#include "support/exec_device.h"

#include "exec/memory/direct.h"
#include "exec/ops.h"
#include "util/rng.h"

#define DATA_BYTES 4096u
#define CASES 20000

static const char text[] = PTX_HEAD
    ".visible .entry k(.param .u64 data) {\n.reg .b32 %r<5>;\n.reg .b64 %d<4>;\n"
    ".shared .align 16 .b8 s[4096];\nld.param.u64 %d0, [data];\nmov.u32 %r0, s;\n"
    "ld.global.u32 %r1, [%d0];\nld.global.v2.u32 {%r1, %r2}, [%d0];\n"
    "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+16];\nld.global.u64 %d1, [%d0];\n"
    "ld.global.v2.u64 {%d1, %d2}, [%d0+32];\nst.global.u32 [%d0+8], %r1;\n"
    "ld.u32 %r1, [%d0];\nld.shared.u32 %r1, [%r0+4];\nld.shared.u64 %d1, [%r0];\nret;\n}\n";

/* Where lanes of a group go. */
enum shape { ROW, ONE, GOES_ON, AGAIN, ANYWHERE, NEAR, SHAPES };

struct reached {
    uint64_t address[WARP_LANES], low;
    uint32_t mask, total;
};

static void draw_group(struct reached *r, uint32_t from, enum shape shape, struct rng *rng)
{
    const uint64_t places = DATA_BYTES / r->total, start = rng_below(rng, places - 8);
    for (uint32_t i = from; i < from + DIRECT_SPAN_LANES; i++) {
        uint64_t any = r->low + rng_below(rng, places) * r->total,
                 row = r->low + (start + i - from) * r->total;
        switch (shape) {
        case GOES_ON:
            r->address[i] = from ? r->address[i - 1] + r->total : row;
            break;
        case AGAIN:
            r->address[i] = from ? r->address[i - DIRECT_SPAN_LANES] : row;
            break;
        case ANYWHERE:
            r->address[i] = any;
            break;
        case NEAR:
            r->address[i] = r->low + (start + rng_below(rng, 8)) * r->total;
            break;
        default:
            r->address[i] = shape == ONE ? r->low + start * r->total : row;
        }
    }
}

/* One lane in some cases may not: its address is odd, or in front of the memory or behind it. */
static void draw(struct reached *r, struct rng *rng)
{
    enum shape all = (enum shape)rng_below(rng, SHAPES);
    for (uint32_t from = 0; from < WARP_LANES; from += DIRECT_SPAN_LANES)
        draw_group(r, from, rng_below(rng, 3) ? all : (enum shape)rng_below(rng, SHAPES), rng);
    uint32_t bits = (uint32_t)rng_below(rng, UINT64_C(1) << 32);
    const uint32_t masks[] = {UINT32_MAX,
                              bits,
                              bits & bits >> 3 & bits >> 7,
                              bits | bits >> 1 | bits >> 3,
                              UINT32_MAX >> bits % 32,
                              1u << bits % 32,
                              0x55555555};
    r->mask = masks[rng_below(rng, sizeof masks / sizeof *masks)];
    uint64_t *one = &r->address[rng_below(rng, WARP_LANES)];
    const uint64_t bad[] = {*one + r->total / 2, r->low - r->total, r->low + DATA_BYTES, 0};
    if (rng_below(rng, 8) == 0)
        *one = bad[rng_below(rng, sizeof bad / sizeof *bad)];
}

static bool may_all(const struct reached *r)
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (r->mask >> i & 1 &&
            (r->address[i] < r->low || r->address[i] > r->low + DATA_BYTES - r->total ||
             r->address[i] % r->total))
            return false;
    return true;
}

/* Of the group's lanes of the mask; false: they have no order. */
static bool span_of(struct direct_span *span, const struct reached *r, uint32_t from)
{
    uint32_t count = 0, last = 0;
    bool one = true, row = true, adjoin = true;
    for (uint32_t i = from; i < from + DIRECT_SPAN_LANES; i++) {
        if (!(r->mask >> i & 1))
            continue;
        span->first = count ? span->first : r->address[i];
        adjoin = adjoin && (!count || last + 1 == i);
        one = one && r->address[i] == span->first;
        row = row && r->address[i] == span->first + (uint64_t)count * r->total;
        last = i;
        count++;
    }
    span->bytes = one && count ? r->total : (uint64_t)count * r->total;
    return adjoin && (one || row);
}

static void expect(struct direct_reach *reach, const struct reached *r)
{
    memset(reach, 0, sizeof *reach);
    for (uint32_t from = 0; from < WARP_LANES; from += DIRECT_SPAN_LANES) {
        struct direct_span next, *last = reach->spans ? &reach->span[reach->spans - 1] : NULL;
        if (!span_of(&next, r, from)) {
            reach->spans = 0;
            break;
        }
        if (next.bytes == 0 || (last && memcmp(last, &next, sizeof next) == 0))
            continue;
        if (last && last->first + last->bytes == next.first)
            last->bytes += next.bytes;
        else
            reach->span[reach->spans++] = next;
    }
    uint64_t before = UINT64_MAX;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        if (!(r->mask >> i & 1))
            continue;
        reach->sectors += r->address[i] / DIRECT_SECTOR_BYTES != before / DIRECT_SECTOR_BYTES;
        if (r->address[i] / DIRECT_LINE_BYTES != before / DIRECT_LINE_BYTES)
            reach->line[reach->lines++] = r->address[i] / DIRECT_LINE_BYTES;
        before = r->address[i];
    }
}

static void put(const struct exec_state *state, const struct uop_memory *memory,
                const struct reached *r)
{
    void *base = lanes_at(state, memory->base);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        if (memory->base_is_64)
            ((lane_dword *)base)[i] = r->address[i] - memory->offset;
        else
            ((lane_word *)base)[i] = (uint32_t)(r->address[i] - memory->offset);
}

static uint32_t look(direct_reach_fn *direct, struct exec_warp *warp,
                     const struct uop_memory *memory, struct rng *rng, uint64_t low)
{
    static struct direct_reach told, expected;
    struct reached r = {.low = low, .total = (uint32_t)memory->bytes * memory->vec};
    draw(&r, rng);
    put(warp->state, memory, &r);
    bool may = may_all(&r);
    assert_true(r.mask == 0 || direct(&told, warp, memory, r.mask) == may);
    if (!may || r.mask == 0)
        return 0;
    expect(&expected, &r);
    assert_int_equal(told.spans, expected.spans);
    assert_memory_equal(told.span, expected.span, told.spans * sizeof *told.span);
    if (told.spans)
        return 1;
    assert_int_equal(told.sectors, expected.sectors);
    assert_int_equal(told.lines, expected.lines);
    assert_memory_equal(told.line, expected.line, told.lines * sizeof *told.line);
    return 2;
}

static void look_at_all(direct_reach_fn *direct)
{
    struct device dev;
    struct rng rng;
    static _Alignas(16) uint8_t shared[DATA_BYTES];
    struct exec_env env = {0};
    uint32_t seen[3] = {0};
    rng_seed(&rng, 1);
    device_open(&dev, text, "k");
    uint64_t data = device_alloc(&dev, DATA_BYTES);
    device_arg_u64(&dev, data);
    struct exec_cta cta = {.shared = shared, .shared_bytes = DATA_BYTES, .launch = &dev.launch};
    struct exec_warp warp = {0};
    assert_int_equal(exec_warp_init(&warp, &cta, 0, &env), 0);
    for (uint32_t i = 0; i < CASES; i++) {
        warp.pc = (uint32_t)rng_below(&rng, exec_program_length(dev.program));
        const struct uop *uop = &warp.state->uops[warp.pc];
        if (uop->run != run_memory || !uop->memory->has_base)
            continue;
        bool is_shared = uop->memory->space == SPACE_SHARED;
        seen[look(direct, &warp, uop->memory, &rng, is_shared ? 0 : data)]++;
    }
    exec_warp_free(&warp);
    device_close(&dev);
    assert_true(seen[0] > CASES / 20 && seen[1] > CASES / 5 && seen[2] > CASES / 5);
}

static void look_where(bool host_can, direct_reach_fn *direct)
{
    if (host_can && direct)
        look_at_all(direct);
    else
        skip();
}

static void what_is_told_is_what_lanes_ask_for(void **state)
{
    (void)state;
    look_at_all(direct_reach_portable);
}

static void so_it_is_with_avx2(void **state)
{
    (void)state;
    look_where(lanes_have_avx2(), direct_reach_avx2);
}

static void so_it_is_with_avx512(void **state)
{
    (void)state;
    look_where(lanes_have_avx512(), direct_reach_avx512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_what_lanes_ask_for),
        cmocka_unit_test(so_it_is_with_avx2),
        cmocka_unit_test(so_it_is_with_avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

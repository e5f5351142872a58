"""A third set of kernels of our own in Triton, unlike those of kernels.py and wide.py: late.py DIR [PART/ALL [NAME...]]

Other types, reductions and scans of tuples, orders of whole tensors, locks, boxes of three dimensions, products of narrow numbers. Writes what
wide.py writes.
"""
import sys

import kernels
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def reduce_kinds(x, out, R: tl.constexpr, C: tl.constexpr):
    r = tl.arange(0, R)
    c = tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    top, where = tl.max(v, 1, return_indices=True)
    low, there = tl.min(v, 0, return_indices=True)
    tl.store(out + r, top)
    tl.store(out + R + r, where)
    tl.store(out + 2 * R + c, low)
    tl.store(out + 2 * R + C + c, there)
    tl.store(out + 2 * R + 2 * C + r, tl.xor_sum(v, 1))
    tl.store(out + 3 * R + 2 * C + c, tl.sum(v, 0))


@triton.jit
def segment(fa, va, fb, vb):
    return fa | fb, tl.where(fb != 0, vb, va + vb)


@triton.jit
def segmented(x, flags, out, BLOCK: tl.constexpr, BACK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    f = (tl.load(flags + at) & 7) == 0
    _, s = tl.associative_scan((f.to(tl.int32), tl.load(x + at)), 0, segment, reverse=BACK)
    tl.store(out + at, s)


@triton.jit
def orders_rows(x, out, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), dim=1, descending=True))


@triton.jit
def gather_rows(x, index, out, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    i = tl.load(index + at) & (R - 1)
    tl.store(out + at, tl.gather(tl.load(x + at), i, 0))


@triton.jit
def counts_masked(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0).to(tl.int32) & (BINS - 1)
    tl.atomic_add(bins + tl.arange(0, BINS), tl.histogram(v, BINS, mask=inside), sem="relaxed", scope="gpu")


@triton.jit
def product_kinds(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr, IMPRECISE: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step))
        y = tl.load(b + columns[None, :] * k + (depth[:, None] + step))
        total = tl.dot(x, y, total, input_precision=HOW, max_num_imprecise_acc=IMPRECISE)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def product_batched(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)[:, None, None]
    x = tl.load(a + i * M * K + tl.arange(0, M)[None, :, None] * K + tl.arange(0, K)[None, None, :])
    y = tl.load(b + i * K * N + tl.arange(0, K)[None, :, None] * N + tl.arange(0, N)[None, None, :])
    tl.store(c + i * M * N + tl.arange(0, M)[None, :, None] * N + tl.arange(0, N)[None, None, :], tl.dot(x, y))


@triton.jit
def atomics_wide(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    cell = at % 32
    tl.atomic_max(out + cell, v)
    tl.atomic_min(out + 32 + cell, v)
    tl.atomic_add(out + 64 + cell, v)
    tl.atomic_xor(out + 96 + cell, v)
    tl.atomic_and(out + 128 + cell, v, sem="release")
    tl.atomic_or(out + 160 + cell, v, sem="acquire")


@triton.jit
def draws(out, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out + at, a ^ b)
    tl.store(out + n + at, c + d)
    tl.store(out + 2 * n + at, (tl.rand(seed + 1, at) * 1000).to(tl.int32))


@triton.jit
def whole_numbers(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    tl.store(out + at, a // (b | 1))
    tl.store(out + n + at, a % (b | 1))
    tl.store(out + 2 * n + at, tl.umulhi(a.to(tl.uint64), b.to(tl.uint64)).to(tl.int64))
    tl.store(out + 3 * n + at, (a >> (b & 63)) + (a.to(tl.uint64) >> 5).to(tl.int64))
    tl.store(out + 4 * n + at, libdevice.popc(a.to(tl.int32)) + libdevice.clz(b.to(tl.int32)) + libdevice.ffs(a.to(tl.int32)) +
             libdevice.brev(b.to(tl.int32)))
    tl.store(out + 5 * n + at, a.to(tl.float64).to(tl.int64) + b.to(tl.float32).to(tl.int64))


@triton.jit
def softmax_narrow(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"), cache_modifier=".cg")
    e = tl.exp((v - tl.max(v, 0)).to(tl.float32)).to(tl.bfloat16)
    tl.store(out + row * columns + at, (e / tl.sum(e.to(tl.float32), 0)).to(tl.bfloat16), mask=at < columns, cache_modifier=".wt")


@triton.jit
def shapes(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(x + N + at)
    c = tl.interleave(a, b)
    d = tl.reshape(tl.permute(tl.reshape(tl.cat(a, b, can_reorder=True), (2, N // 8, 8)), (2, 0, 1)), (2 * N,))
    e = tl.reshape(tl.broadcast_to(tl.sum(tl.reshape(c, (N // 4, 8)), 1)[:, None], (N // 4, 8)), (2 * N,))
    tl.store(out + tl.arange(0, 2 * N), c + e)
    tl.store(out + 2 * N + tl.arange(0, 2 * N), tl.sort(d))


@triton.jit
def boxes3(x, out, Z: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[4 * Z, Y + 3, X], strides=[(Y + 3) * X, X, 1], block_shape=[Z, Y, X])
    dout = tl.make_tensor_descriptor(out, shape=[4 * Z, X], strides=[X, 1], block_shape=[Z, X])
    pid = tl.program_id(0)
    v = dx.load([pid * Z, 3, 0]) + dx.load([pid * Z, 5, 0])
    dout.store([pid * Z, 0], tl.sum(v, 1))


@triton.jit
def box_atomics(x, out, R: tl.constexpr, C: tl.constexpr):
    dout = tl.make_tensor_descriptor(out, shape=[4 * R, C], strides=[C, 1], block_shape=[R, C])
    at = (tl.program_id(0) * R + tl.arange(0, R))[:, None] * C + tl.arange(0, C)[None, :]
    v = tl.load(x + at)
    dout.atomic_max([0, 0], v)
    dout.atomic_min([R, 0], v)
    dout.atomic_xor([2 * R, 0], v)
    dout.atomic_or([3 * R, 0], v & 0xffff)


@triton.jit
def attend_window(q, k, v, out, n, scale, window, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, SHARE: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, D)
    q += head * n * D
    k += head // SHARE * n * D
    v += head // SHARE * n * D
    x = tl.load(q + rows[:, None] * D + depth[None, :])
    slope = tl.exp2(-8.0 * (head + 1) / tl.num_programs(1))
    high = tl.full((BM,), -1.0e30, dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    result = tl.zeros((BM, D), dtype=tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * BM, BN):
        far = rows[:, None] - (first + columns)[None, :]
        s = tl.dot(x, tl.load(k + (first + columns)[None, :] * D + depth[:, None])) * scale - slope * far
        s = tl.where((far >= 0) & (far < window), s, -1.0e30)
        higher = tl.maximum(high, tl.max(s, 1))
        p = tl.where((far >= 0) & (far < window), tl.exp(s - higher[:, None]), 0.0)
        shrink = tl.exp(high - higher)
        total = total * shrink + tl.sum(p, 1)
        result = result * shrink[:, None] + tl.dot(p.to(tl.bfloat16), tl.load(v + (first + columns)[:, None] * D + depth[None, :]))
        high = higher
    tl.store(out + head * n * D + rows[:, None] * D + depth[None, :], (result / total[:, None]).to(tl.bfloat16))


@triton.jit
def decode_split(q, k, v, part, sums, done, out, n, D: tl.constexpr, BN: tl.constexpr, PARTS: tl.constexpr):
    which = tl.program_id(0)
    depth = tl.arange(0, D)
    x = tl.load(q + depth)
    share = n // PARTS
    high = -1.0e30
    total = 0.0
    result = tl.zeros((D,), dtype=tl.float32)
    for first in range(which * share, (which + 1) * share, BN):
        at = first + tl.arange(0, BN)
        s = tl.sum(tl.load(k + at[:, None] * D + depth[None, :]).to(tl.float32) * x.to(tl.float32)[None, :], 1) * 0.125
        higher = tl.maximum(high, tl.max(s, 0))
        p = tl.exp(s - higher)
        shrink = tl.exp(high - higher)
        total = total * shrink + tl.sum(p, 0)
        result = result * shrink + tl.sum(p[:, None] * tl.load(v + at[:, None] * D + depth[None, :]).to(tl.float32), 0)
        high = higher
    tl.store(part + which * D + depth, result)
    tl.store(sums + which, high)
    tl.store(sums + PARTS + which, total)
    tl.debug_barrier()
    if tl.atomic_add(done, 1, sem="acq_rel") == PARTS - 1:
        at = tl.arange(0, PARTS)
        h = tl.load(sums + at, volatile=True)
        w = tl.exp(h - tl.max(h, 0))
        all_of = tl.sum(w * tl.load(sums + PARTS + at, volatile=True), 0)
        r = tl.sum(w[:, None] * tl.load(part + at[:, None] * D + depth[None, :], volatile=True), 0)
        tl.store(out + depth, r / all_of)


@triton.jit
def stream_k(a, b, c, locks, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SHARE: tl.constexpr):
    along_k = k // BK
    along_n = n // BN
    at = tl.program_id(0) * SHARE
    end = at + SHARE
    while at < end:
        tile = at // along_k
        first = at % along_k
        last = tl.minimum(along_k, first + end - at)
        rows = tile // along_n * BM + tl.arange(0, BM)
        columns = tile % along_n * BN + tl.arange(0, BN)
        depth = tl.arange(0, BK)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(first, last):
            x = tl.load(a + rows[:, None] * k + (depth[None, :] + step * BK))
            y = tl.load(b + (depth[:, None] + step * BK) * n + columns[None, :])
            total = tl.dot(x, y, total)
        to = c + rows[:, None] * n + columns[None, :]
        if first != 0:
            while tl.atomic_cas(locks + tile, first, first) != first:
                pass
            total += tl.load(to, volatile=True)
        tl.store(to, total)
        tl.debug_barrier()
        tl.atomic_xchg(locks + tile, last)
        at += last - first


@triton.jit
def quantise(x, out, scales, columns, BLOCK: tl.constexpr, NARROW: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32) - 0.5
    s = tl.maximum(tl.max(tl.abs(v), 0), 1.0e-12)
    if NARROW:
        tl.store(out + row * columns + at, (v * (448.0 / s)).to(tl.float8e4nv), mask=at < columns)
    else:
        tl.store(out + row * columns + at, libdevice.rint(v * (127.0 / s)).to(tl.int8), mask=at < columns)
    tl.store(scales + row, s)


@triton.jit
def recurrence(aa, va, ab, vb):
    return aa * ab, ab * va + vb


@triton.jit
def selective(x, decay, out, n, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = r[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    _, h = tl.associative_scan((tl.load(decay + at), tl.load(x + at).to(tl.float32)), 1, recurrence)
    tl.store(out + at, h * tl.sigmoid(h))


@triton.jit
def sums64(x, out, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    for i in range(0, n, BLOCK):
        at = i + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < n, other=0.0)
        total += tl.sqrt(v) * v
    tl.store(out, tl.sum(total, 0))
    tl.store(out + 1, tl.max(total, 0))


@triton.jit
def adam(p, g, m, v, out, n, rate, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    grad = tl.load(g + at, mask=inside).to(tl.float32)
    mm = 0.9 * tl.load(m + at, mask=inside) + 0.1 * grad
    vv = 0.999 * tl.load(v + at, mask=inside) + 0.001 * grad * grad
    w = tl.load(p + at, mask=inside).to(tl.float32)
    w = w * (1 - 0.01 * rate) - rate * mm / (tl.sqrt_rn(vv) + 1e-8)
    tl.store(out + at, w.to(tl.bfloat16), mask=inside)


@triton.jit
def product_fours(a, sa, b, sb, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.arange(0, BM)
    s = tl.arange(0, BN)
    x = tl.load(a + r[:, None] * (BK // 2) + tl.arange(0, BK // 2)[None, :])
    y = tl.load(b + tl.arange(0, BK // 2)[:, None] * BN + s[None, :])
    ta = tl.load(sa + r[:, None] * (BK // 32) + tl.arange(0, BK // 32)[None, :])
    tb = tl.load(sb + s[:, None] * (BK // 32) + tl.arange(0, BK // 32)[None, :])
    tl.store(c + r[:, None] * BN + s[None, :], tl.dot_scaled(x, ta, "e2m1", y, tb, "e2m1"))


@triton.jit
def product_ahead(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[k, n], strides=[n, 1], block_shape=[BK, BN])
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, k, BK, num_stages=4, loop_unroll_factor=2):
        total = tl.dot(da.load([row, step]), db.load([step, column]), total)
    r = row + tl.arange(0, BM)
    s = column + tl.arange(0, BN)
    tl.store(c + r[:, None] * n + s[None, :], libdevice.fast_tanhf(total) if False else tl.maximum(total, total * 0.125))


@triton.jit
def depthwise(x, w, out, n, C: tl.constexpr, BT: tl.constexpr, W: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    c = tl.arange(0, C)
    total = tl.zeros((BT, C), dtype=tl.float32)
    for j in tl.static_range(W):
        past = t - (W - 1 - j)
        v = tl.load(x + past[:, None] * C + c[None, :], mask=(past >= 0)[:, None], other=0.0).to(tl.float32)
        total += v * tl.load(w + c * W + j).to(tl.float32)[None, :]
    tl.store(out + t[:, None] * C + c[None, :], (total * tl.sigmoid(total)).to(tl.float16))


P = "i32 i32 i32"
CASES = [
    (reduce_kinds, "*i32 *i32", {"R": 32, "C": 64}, (1, 1), 4, 3, "random:s32:2048:201 out:@:1152"),
    (segmented, "*fp32 *i32 *fp32", {"BLOCK": 512, "BACK": False}, (2, 1), 4, 3, "random:f32:1024:202 random:s32:1024:203 out:@:4096"),
    (segmented, "*fp32 *i32 *fp32", {"BLOCK": 1024, "BACK": True}, (1, 1), 2, 3, "random:f32:1024:202 random:s32:1024:203 out:@:4096"),
    (orders_rows, "*fp16 *fp16", {"R": 16, "C": 64}, (1, 1), 4, 3, "random:f16:1024:204 out:@:2048"),
    (orders_rows, "*i64 *i64", {"R": 4, "C": 128}, (1, 1), 2, 3, "random:s64:512:205 out:@:4096"),
    (gather_rows, "*i16 *i32 *i16", {"R": 64, "C": 32}, (1, 1), 4, 3, "random:u16:2048:206 random:s32:2048:207 out:@:4096"),
    (counts_masked, "*u8 *i32 i32", {"BLOCK": 512, "BINS": 256}, (3, 1), 4, 3, "random:u8:1400:208 out:@:1024 s32:1400"),
    (product_kinds, "*fp32 *fp32 *fp32 " + P, {"BM": 32, "BN": 32, "BK": 32, "HOW": "tf32x3", "IMPRECISE": None}, (2, 1), 4, 3,
     "random:f32:4096:209 random:f32:2048:210 out:@:8192 s32:64 s32:32 s32:64"),
    (product_kinds, "*fp32 *fp32 *fp32 " + P, {"BM": 16, "BN": 32, "BK": 16, "HOW": "ieee", "IMPRECISE": None}, (2, 1), 4, 3,
     "random:f32:2048:211 random:f32:2048:212 out:@:4096 s32:32 s32:32 s32:64"),
    (product_kinds, "*fp8e4nv *fp8e4nv *fp32 " + P, {"BM": 64, "BN": 64, "BK": 128, "HOW": "tf32", "IMPRECISE": 32}, (1, 1), 4, 3,
     "random:e4m3:16384:213 random:e4m3:16384:214 out:@:16384 s32:64 s32:64 s32:256"),
    (product_batched, "*fp16 *fp16 *fp32", {"B": 2, "M": 32, "N": 32, "K": 32}, (1, 1), 4, 3, "random:f16:2048:215 random:f16:2048:216 out:@:8192"),
    (atomics_wide, "*i64 *i64", {"BLOCK": 256}, (3, 1), 4, 3, "random:s64:768:217 out:@:1536"),
    (draws, "*i32 i32 i32", {"BLOCK": 256}, (2, 1), 2, 3, "out:@:6144 s32:512 s32:99"),
    (whole_numbers, "*i64 *i64 *i64 i32", {"BLOCK": 256}, (2, 1), 4, 3, "random:s64:512:218 random:s64:512:219 out:@:24576 s32:512"),
    (softmax_narrow, "*bf16 *bf16 i32", {"BLOCK": 1024}, (4, 1), 8, 3, "random:bf16:4000:220 out:@:8000 s32:1000"),
    (shapes, "*fp32 *fp32", {"N": 256}, (1, 1), 4, 3, "random:f32:512:221 out:@:4096"),
    (boxes3, "*fp32 *fp32", {"Z": 4, "Y": 8, "X": 32}, (4, 1), 4, 3, "random:f32:5632:222 out:@:2048"),
    (box_atomics, "*i32 *i32", {"R": 8, "C": 32}, (3, 1), 4, 3, "random:s32:768:223 out:@:4096"),
    (attend_window, "*bf16 *bf16 *bf16 *bf16 i32 fp32 i32", {"BM": 64, "BN": 32, "D": 64, "SHARE": 2}, (2, 4), 4, 3,
     "random:bf16:32768:224 random:bf16:16384:225 random:bf16:16384:226 out:@:65536 s32:128 f32:0.125 s32:48"),
    (decode_split, "*fp16 *fp16 *fp16 *fp32 *fp32 *i32 *fp32 i32", {"D": 64, "BN": 32, "PARTS": 4}, (4, 1), 4, 3,
     "random:f16:64:227 random:f16:16384:228 random:f16:16384:229 zero:1024 zero:64 zero:16 out:@:256 s32:256"),
    (stream_k, "*fp16 *fp16 *fp32 *i32 i32 i32", {"BM": 32, "BN": 32, "BK": 32, "SHARE": 6}, (4, 1), 4, 3,
     "random:f16:12288:230 random:f16:12288:231 out:@:16384 zero:64 s32:64 s32:192"),
    (quantise, "*bf16 *fp8e4nv *fp32 i32", {"BLOCK": 512, "NARROW": True}, (3, 1), 4, 3, "random:bf16:1500:232 out:@:1500 zero:16 s32:500"),
    (quantise, "*fp32 *i8 *fp32 i32", {"BLOCK": 512, "NARROW": False}, (3, 1), 4, 3, "random:f32:1500:233 out:@:1500 zero:16 s32:500"),
    (selective, "*fp16 *fp32 *fp32 i32", {"BLOCK": 128, "ROWS": 8}, (2, 1), 4, 3, "random:f16:2048:234 random:f32:2048:235 out:@:8192 s32:2048"),
    (sums64, "*fp64 *fp64 i32", {"BLOCK": 256}, (1, 1), 4, 3, "random:f64:900:236 out:@:16 s32:900"),
    (adam, "*bf16 *bf16 *fp32 *fp32 *bf16 i32 fp32", {"BLOCK": 512}, (3, 1), 4, 3,
     "random:bf16:1300:237 random:bf16:1300:238 random:f32:1300:239 random:f32:1300:240 out:@:2600 s32:1300 f32:0.001"),
    (product_fours, "*u8 *u8 *u8 *u8 *fp32", {"BM": 64, "BN": 64, "BK": 64}, (1, 1), 4, 1,
     "random:u8:2048:241 fill:u8:128:127 random:u8:2048:242 fill:u8:128:126 out:@:16384"),
    (product_ahead, "*fp16 *fp16 *fp32 " + P, {"BM": 128, "BN": 128, "BK": 32}, (2, 1), 8, 4,
     "random:f16:65536:243 random:f16:32768:244 out:@:131072 s32:256 s32:128 s32:256"),
    (depthwise, "*fp16 *fp16 *fp16 i32", {"C": 64, "BT": 32, "W": 4}, (4, 1), 4, 3, "random:f16:8192:245 random:f16:256:246 out:@:16384 s32:128"),
]


def main(folder, share, names):
    part, every = (int(number) for number in share.split("/"))
    seen = {}
    with open(f"{folder}/cases.{part}.tsv", "w", encoding="utf-8") as table:
        for at, case in enumerate(CASES):
            name = case[0].__name__
            seen[name] = seen.get(name, 0) + 1
            if at % every != part or (names and name not in names):
                continue
            try:
                kernels.write_case(folder, case, table, f"{name}_{seen[name]}")
            except Exception as error:  # the others are wanted all the same
                print(name, seen[name], "failed:", str(error)[:2000])
            table.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "0/1", sys.argv[3:])

"""A fourth set of kernels of our own in Triton, unlike those of kernels.py, wide.py and late.py: fresh.py DIR [PART/ALL [NAME...]]

Sums along both ways of a box, gated layers, embeddings, running states of linear attention, sorting by keys, sums over groups, narrow
products with scales a block, boxes that are gathered, loops over locks. Writes what wide.py writes.
"""
import sys

import kernels
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gated(x, gate, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + at, mask=at < n, other=0.0).to(tl.float32)
    v = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(out + at, (v * g / (1 + tl.exp(-g))).to(tl.bfloat16), mask=at < n)


@triton.jit
def root_mean(x, w, out, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    inside = (c < columns)[None, :]
    v = tl.load(x + r[:, None] * columns + c[None, :], mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 1) / columns + eps)
    tl.store(out + r[:, None] * columns + c[None, :], (v * scale[:, None] * tl.load(w + c, mask=c < columns, other=0.0)[None, :]).to(tl.float16), mask=inside)


@triton.jit
def embed(table, index, out, D: tl.constexpr, T: tl.constexpr):
    t = tl.program_id(0) * T + tl.arange(0, T)
    i = tl.load(index + t) & 63
    d = tl.arange(0, D)
    tl.store(out + t[:, None] * D + d[None, :], tl.load(table + i[:, None] * D + d[None, :], eviction_policy="evict_last"), eviction_policy="evict_first")


@triton.jit
def embed_backward(grad, index, out, D: tl.constexpr, T: tl.constexpr):
    t = tl.program_id(0) * T + tl.arange(0, T)
    i = tl.load(index + t) & 15
    d = tl.arange(0, D)
    tl.atomic_add(out + i[:, None] * D + d[None, :], tl.load(grad + t[:, None] * D + d[None, :]) & 0xffff, sem="relaxed")


@triton.jit
def linear_attend(q, k, v, out, n, T: tl.constexpr, D: tl.constexpr):
    t = tl.arange(0, T)
    d = tl.arange(0, D)
    state = tl.zeros((D, D), dtype=tl.float32)
    for first in range(0, n, T):
        qs = tl.load(q + (first + t)[:, None] * D + d[None, :])
        ks = tl.load(k + (first + t)[None, :] * D + d[:, None])
        vs = tl.load(v + (first + t)[:, None] * D + d[None, :])
        s = tl.where(t[:, None] >= t[None, :], tl.dot(qs, ks), 0.0)
        o = tl.dot(s.to(tl.float16), vs) + tl.dot(qs, state.to(tl.float16))
        tl.store(out + (first + t)[:, None] * D + d[None, :], o)
        state += tl.dot(ks, vs)


@triton.jit
def group_norm(x, out, C: tl.constexpr, P: tl.constexpr):
    base = tl.program_id(0) * C * P
    at = tl.arange(0, C * P)
    v = tl.load(x + base + at)
    m = tl.sum(v, 0) / (C * P)
    s = tl.sum((v - m) * (v - m), 0) / (C * P)
    tl.store(out + base + at, tl.div_rn(v - m, tl.sqrt_rn(s + 1e-5)))


@triton.jit
def keyed(keys, out, N: tl.constexpr):
    at = tl.arange(0, N)
    k = tl.load(keys + at)
    packed = (k.to(tl.int64) << 32) | at.to(tl.int64)
    order = tl.sort(packed)
    tl.store(out + at, (order & 0xffffffff).to(tl.int32))
    tl.store(out + N + at, (order >> 32).to(tl.int32))


@triton.jit
def flips(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    a, b = tl.split(tl.reshape(v, (N // 2, 2)))
    c = tl.join(b, a)
    tl.store(out + at, tl.flip(tl.reshape(c, (N,))))
    tl.store(out + N + tl.arange(0, N // 2), tl.cumsum(a, 0))


@triton.jit
def pool(x, out, where, H: tl.constexpr, W: tl.constexpr):
    y = tl.arange(0, H // 2)
    c = tl.arange(0, W // 2)
    best = tl.full((H // 2, W // 2), float("-inf"), tl.float32)
    which = tl.zeros((H // 2, W // 2), tl.int32)
    base = tl.program_id(0) * H * W
    for i in tl.static_range(4):
        v = tl.load(x + base + (2 * y + i // 2)[:, None] * W + (2 * c + i % 2)[None, :])
        which = tl.where(v > best, i, which)
        best = tl.maximum(best, v)
    to = tl.program_id(0) * (H // 2) * (W // 2) + y[:, None] * (W // 2) + c[None, :]
    tl.store(out + to, best)
    tl.store(where + to, which.to(tl.int8))


@triton.jit
def product_bias(a, b, bias, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.load(bias + columns).to(tl.float32)[None, :] + tl.zeros((BM, BN), tl.float32)
    for step in tl.range(0, k, BK, num_stages=3):
        x = tl.load(a + (rows % m)[:, None] * k + (depth[None, :] + step), mask=(depth[None, :] + step) < k, other=0.0)
        y = tl.load(b + (columns % n)[None, :] * k + (depth[:, None] + step), mask=(depth[:, None] + step) < k, other=0.0)
        total = tl.dot(x, y, total)
    if KIND == 0:
        total = tl.where(total > 0, total, 0.01 * total)
    else:
        total = tl.minimum(tl.maximum(total, 0.0), 6.0)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.bfloat16), mask=(rows < m)[:, None] & (columns < n)[None, :])


@triton.jit
def product_blocks(a, b, sa, sb, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k // BK):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step * BK))
        y = tl.load(b + columns[None, :] * k + (depth[:, None] + step * BK))
        total += tl.dot(x, y) * tl.load(sa + rows * (k // BK) + step)[:, None] * tl.load(sb + step)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def product_int8(a, b, c, sa, sb, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.int32)
    for step in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step))
        y = tl.load(b + columns[None, :] * k + (depth[:, None] + step))
        total = tl.dot(x, y, total, out_dtype=tl.int32)
    v = total.to(tl.float32) * tl.load(sa + rows)[:, None] * tl.load(sb + columns)[None, :]
    tl.store(c + rows[:, None] * n + columns[None, :], v.to(tl.float16))


@triton.jit
def boxes_turned(x, out, Y: tl.constexpr, X: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[4 * Y, 2 * X], strides=[2 * X, 1], block_shape=[Y, X])
    dout = tl.make_tensor_descriptor(out, shape=[2 * X, 4 * Y], strides=[4 * Y, 1], block_shape=[X, Y])
    i = tl.program_id(0)
    j = tl.program_id(1)
    dout.store([j * X, i * Y], tl.trans(dx.load([i * Y, j * X])))


@triton.jit
def boxes_gather(x, index, out, R: tl.constexpr, C: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[64, C], strides=[C, 1], block_shape=[R, C])
    total = tl.zeros((R, C), tl.float32)
    for i in range(0, 5):
        total += dx.load([tl.load(index + i) & 63, 0]).to(tl.float32)
    dout = tl.make_tensor_descriptor(out, shape=[R - 3, C], strides=[C, 1], block_shape=[R, C])
    dout.store([0, 0], total.to(tl.float16))


@triton.jit
def stencil(x, out, n, BLOCK: tl.constexpr, TIMES: tl.constexpr):
    y = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = (at > 0) & (at < n - 1)
    v = tl.load(x + y * n + at, mask=at < n, other=0.0)
    up = tl.load(x + (y + 1) * n + at, mask=at < n, other=0.0)
    for _ in range(TIMES):
        left = tl.gather(v, tl.maximum(at - 1, 0), 0)
        right = tl.gather(v, tl.minimum(at + 1, BLOCK - 1), 0)
        v = tl.where(inside, 0.25 * (left + right) + 0.5 * up, v)
    tl.store(out + y * n + at, v, mask=at < n)


@triton.jit
def newton(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=1.0).to(tl.float64) + 0.5
    g = tl.full((BLOCK,), 1.0, tl.float64)
    i = 0
    while i < 12:
        g = 0.5 * (g + v / g)
        i += 1
    tl.store(out + at, g.to(tl.float32), mask=at < n)


@triton.jit
def ticket(x, out, turn, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + pid * BLOCK + at)
    while tl.atomic_add(turn, 0, sem="acquire") != pid:
        pass
    tl.store(out + at, tl.load(out + at, volatile=True) * 3 + v)
    tl.debug_barrier()
    tl.atomic_xchg(turn, pid + 1, sem="release")


@triton.jit
def packed(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    low = ((v & 15) << 28) >> 28
    high = (v << 24) >> 28
    tl.store(out + at, (low * 3 - high).to(tl.int16))
    tl.store(out + N + at, (v.to(tl.int16, bitcast=False) * v.to(tl.int16)).to(tl.int16))
    tl.store(out + 2 * N + at, (v.to(tl.float32, bitcast=True) * 0.5).to(tl.float16).to(tl.int16, bitcast=True))


P = "i32 i32 i32"
CASES = [
    (gated, "*bf16 *bf16 *bf16 i32", {"BLOCK": 512}, (3, 1), 4, 3, "random:bf16:1400:301 random:bf16:1400:302 out:@:2800 s32:1400"),
    (root_mean, "*fp16 *fp32 *fp16 i32 fp32", {"ROWS": 4, "BLOCK": 512}, (2, 1), 4, 3, "random:f16:4000:303 random:f32:500:304 out:@:8000 s32:500 f32:0.00001"),
    (embed, "*i16 *i32 *i16", {"D": 128, "T": 16}, (3, 1), 2, 3, "random:u16:8192:305 random:s32:48:306 out:@:12288"),
    (embed_backward, "*i32 *i32 *i32", {"D": 64, "T": 32}, (2, 1), 4, 3, "random:s32:4096:307 random:s32:64:308 out:@:4096"),
    (linear_attend, "*fp16 *fp16 *fp16 *fp32 i32", {"T": 64, "D": 64}, (1, 1), 4, 3, "random:f16:12288:309 random:f16:12288:310 random:f16:12288:311 out:@:49152 s32:192"),
    (group_norm, "*fp32 *fp32", {"C": 16, "P": 64}, (3, 1), 8, 3, "random:f32:3072:312 out:@:12288"),
    (keyed, "*i32 *i32", {"N": 512}, (1, 1), 4, 3, "random:s32:512:313 out:@:4096"),
    (flips, "*i32 *i32", {"N": 512}, (1, 1), 2, 3, "random:s32:512:314 out:@:3072"),
    (pool, "*fp32 *fp32 *i8", {"H": 16, "W": 64}, (2, 1), 4, 3, "random:f32:2048:315 out:@:2048 zero:512"),
    (pool, "*fp32 *fp32 *i8", {"H": 16, "W": 64}, (2, 1), 1, 3, "random:f32:2048:315 zero:2048 out:@:512"),
    (product_bias, "*bf16 *bf16 *bf16 *bf16 " + P, {"BM": 64, "BN": 32, "BK": 32, "KIND": 0}, (2, 3), 4, 3,
     "random:bf16:9000:316 random:bf16:7200:317 random:bf16:96:318 out:@:16000 s32:100 s32:80 s32:90"),
    (product_bias, "*fp16 *fp16 *fp16 *bf16 " + P, {"BM": 128, "BN": 64, "BK": 64, "KIND": 1}, (1, 2), 8, 3,
     "random:f16:12800:319 random:f16:12800:320 random:f16:128:321 out:@:20000 s32:100 s32:100 s32:128"),
    (product_blocks, "*fp8e4nv *fp8e4nv *fp32 *fp32 *fp32 i32 i32", {"BM": 64, "BN": 64, "BK": 128}, (2, 1), 4, 3,
     "random:e4m3:49152:322 random:e4m3:24576:323 random:f32:384:324 random:f32:3:325 out:@:32768 s32:64 s32:384"),
    (product_int8, "*i8 *i8 *fp16 *fp32 *fp32 i32 i32", {"BM": 64, "BN": 64, "BK": 64}, (2, 1), 4, 3,
     "random:u8:24576:326 random:u8:12288:327 out:@:16384 fill:f32:128:0.001 fill:f32:64:0.25 s32:64 s32:192"),
    (boxes_turned, "*fp16 *fp16", {"Y": 32, "X": 64}, (4, 2), 4, 3, "random:f16:16384:328 out:@:32768"),
    (boxes_gather, "*fp16 *i32 *fp16", {"R": 16, "C": 64}, (1, 1), 4, 3, "random:f16:4096:329 random:s32:8:330 out:@:1664"),
    (stencil, "*fp32 *fp32 i32", {"BLOCK": 256, "TIMES": 7}, (3, 1), 4, 3, "random:f32:800:331 out:@:2400 s32:200"),
    (newton, "*fp32 *fp32 i32", {"BLOCK": 256}, (2, 1), 4, 3, "random:f32:500:332 out:@:2000 s32:500"),
    (ticket, "*i32 *i32 *i32", {"BLOCK": 128}, (5, 1), 4, 3, "random:s32:640:333 out:@:512 zero:16"),
    (packed, "*i32 *i16", {"N": 256}, (1, 1), 4, 3, "random:s32:256:334 out:@:1536"),
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

"""More kernels of our own in Triton, in the manner of its tutorials and beyond: wide.py DIR [PART/ALL [NAME...]]

Writes what kernels.py writes (every ALLth case from PART on, of these kernels, into DIR/cases.PART.tsv), and uses its write_case(). One
kernel may be several cases.
"""
import sys

import kernels
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softmax_loop(out, x, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    first = tl.program_id(0)
    step = tl.num_programs(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    for row in tl.range(first, rows, step, num_stages=STAGES):
        v = tl.load(x + row * columns + at, mask=mask, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
           LEAKY: tl.constexpr, ACC: tl.constexpr):
    pid = tl.program_id(0)
    along_m = tl.cdiv(m, BM)
    along_n = tl.cdiv(n, BN)
    in_group = GROUP * along_n
    group = pid // in_group
    first_m = group * GROUP
    size_m = min(along_m - first_m, GROUP)
    pid_m = first_m + ((pid % in_group) % size_m)
    pid_n = (pid % in_group) // size_m
    rows = (pid_m * BM + tl.arange(0, BM)) % m
    columns = (pid_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    pa = a + rows[:, None] * k + depth[None, :]
    pb = b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), dtype=ACC)
    for step in range(0, tl.cdiv(k, BK)):
        x = tl.load(pa, mask=depth[None, :] < k - step * BK, other=0.0)
        y = tl.load(pb, mask=depth[:, None] < k - step * BK, other=0.0)
        total = tl.dot(x, y, total, out_dtype=ACC)
        pa += BK
        pb += BK * n
    if LEAKY:
        total = tl.where(total >= 0, total, 0.01 * total)
    to_m = pid_m * BM + tl.arange(0, BM)
    to_n = pid_n * BN + tl.arange(0, BN)
    tl.store(c + to_m[:, None] * n + to_n[None, :], total.to(c.dtype.element_ty),
             mask=(to_m[:, None] < m) & (to_n[None, :] < n))


@triton.jit
def matmul_persistent(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr,
                      SUB: tl.constexpr, WS: tl.constexpr):
    along_m = tl.cdiv(m, BM)
    along_n = tl.cdiv(n, BN)
    along_k = tl.cdiv(k, BK)
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN // 2 if SUB else BN])
    for tile in tl.range(tl.program_id(0), along_m * along_n, SMS, flatten=not WS, warp_specialize=WS):
        row = (tile % along_m) * BM
        column = (tile // along_m) * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(along_k):
            x = da.load([row, step * BK])
            y = db.load([column, step * BK])
            total = tl.dot(x, y.T, total)
        if SUB:
            halves = tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1))
            low, high = tl.split(halves)
            dc.store([row, column], low.to(tl.float16))
            dc.store([row, column + BN // 2], high.to(tl.float16))
        else:
            dc.store([row, column], total.to(tl.float16))


@triton.jit
def matmul_split(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    part = tl.program_id(2)
    depth = part * BK + tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK * SPLIT):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step))
        y = tl.load(b + (depth[:, None] + step) * n + columns[None, :])
        total += tl.dot(x, y)
    tl.atomic_add(c + rows[:, None] * n + columns[None, :], total, sem="relaxed")


@triton.jit
def matmul_int4(a, b, scale, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step))
        packed = tl.load(b + ((depth[:, None] + step) // 2) * n + columns[None, :])
        nibble = (packed >> ((depth[:, None] % 2) * 4)) & 15
        s = tl.load(scale + (step // BK) * n + columns)
        y = ((nibble.to(tl.int32) - 8).to(tl.float32) * s[None, :]).to(tl.float16)
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def matmul_scaled(a, sa, b, sb, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    groups = tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (depth[None, :] + step))
        y = tl.load(b + (depth[:, None] + step) * n + columns[None, :])
        ta = tl.load(sa + rows[:, None] * (k // 32) + (groups[None, :] + step // 32))
        tb = tl.load(sb + columns[:, None] * (k // 32) + (groups[None, :] + step // 32))
        total = tl.dot_scaled(x, ta, "e4m3", y, tb, "e4m3", total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def grouped(a, b, c, sizes, groups, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    row0 = 0
    for g in range(groups):
        m = tl.load(sizes + g)
        along_n = tl.cdiv(n, BN)
        tiles = tl.cdiv(m, BM) * along_n
        while tile >= before and tile < before + tiles:
            mine = tile - before
            rows = (mine // along_n) * BM + tl.arange(0, BM)
            columns = (mine % along_n) * BN + tl.arange(0, BN)
            depth = tl.arange(0, BK)
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for step in range(0, k, BK):
                x = tl.load(a + (row0 + rows)[:, None] * k + (depth[None, :] + step), mask=rows[:, None] < m, other=0)
                y = tl.load(b + g * n * k + (depth[:, None] + step) * n + columns[None, :])
                total = tl.dot(x, y, total)
            tl.store(c + (row0 + rows)[:, None] * n + columns[None, :], total.to(tl.float16), mask=rows[:, None] < m)
            tile += SMS
        before += tiles
        row0 += m


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    v = tl.load(x + at, mask=mask)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), mask=mask)


@triton.jit
def normals(out, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at), mask=at < n)


@triton.jit
def norm_backward(dx, dy, dw, db, x, w, mean, rstd, lock, stride, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    vx = tl.load(x + row * stride + at, mask=mask, other=0).to(tl.float32)
    vy = tl.load(dy + row * stride + at, mask=mask, other=0).to(tl.float32)
    vw = tl.load(w + at, mask=mask, other=0).to(tl.float32)
    r = tl.load(rstd + row)
    hat = tl.where(mask, (vx - tl.load(mean + row)) * r, 0.0)
    g = tl.where(mask, vw * vy, 0.0)
    c1 = tl.sum(hat * g, axis=0) / columns
    c2 = tl.sum(g, axis=0) / columns
    tl.store(dx + row * stride + at, (g - (hat * c1 + c2)) * r, mask=mask)
    which = row % GROUP
    while tl.atomic_cas(lock + which, 0, 1) == 1:
        pass
    count = tl.load(lock + GROUP + which)
    part_w = vy * hat
    part_b = vy
    if count == 0:
        tl.atomic_xchg(lock + GROUP + which, 1)
    else:
        part_w += tl.load(dw + which * columns + at, mask=mask)
        part_b += tl.load(db + which * columns + at, mask=mask)
    tl.store(dw + which * columns + at, part_w, mask=mask)
    tl.store(db + which * columns + at, part_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock + which, 0)


@triton.jit
def norm_sum(dw, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for i in range(0, m, BM):
        rows = i + tl.arange(0, BM)
        total += tl.load(dw + rows[:, None] * n + columns[None, :], mask=(rows[:, None] < m) & (columns[None, :] < n), other=0.0)
    tl.store(out + columns, tl.sum(total, axis=0), mask=columns < n)


@triton.jit
def attend_causal(q, k, v, out, lse, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
                  BOXES: tl.constexpr):
    start = tl.program_id(0)
    head = tl.program_id(1)
    q += head * n * D
    k += head * n * D
    v += head * n * D
    out += head * n * D
    rows = start * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, D)
    if BOXES:
        dk = tl.make_tensor_descriptor(k, shape=[n, D], strides=[D, 1], block_shape=[BN, D])
        dv = tl.make_tensor_descriptor(v, shape=[n, D], strides=[D, 1], block_shape=[BN, D])
    x = tl.load(q + rows[:, None] * D + depth[None, :])
    high = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.full((BM,), 1.0, dtype=tl.float32) * 0
    result = tl.zeros((BM, D), dtype=tl.float32)
    end = (start + 1) * BM if CAUSAL else n
    for first in range(0, end, BN):
        first = tl.multiple_of(first, BN)
        if BOXES:
            y = dk.load([first, 0]).T
        else:
            y = tl.load(k + (first + columns[None, :]) * D + depth[:, None])
        s = tl.dot(x, y) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= (first + columns[None, :]), s, -1.0e6)
        higher = tl.maximum(high, tl.max(s, axis=1))
        p = tl.math.exp2(s - higher[:, None])
        shrink = tl.math.exp2(high - higher)
        total = total * shrink + tl.sum(p, axis=1)
        if BOXES:
            z = dv.load([first, 0])
        else:
            z = tl.load(v + (first + columns[:, None]) * D + depth[None, :])
        result = tl.dot(p.to(tl.float16), z, result * shrink[:, None])
        high = higher
    tl.store(lse + head * n + rows, high + tl.math.log2(total))
    tl.store(out + rows[:, None] * D + depth[None, :], (result / total[:, None]).to(tl.float16))


@triton.jit
def attend_backward(q, k, v, do, lse, delta, dq, dk, dv, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    start = tl.program_id(0)
    columns = start * BN + tl.arange(0, BN)
    depth = tl.arange(0, D)
    kk = tl.load(k + columns[:, None] * D + depth[None, :])
    vv = tl.load(v + columns[:, None] * D + depth[None, :])
    sum_k = tl.zeros((BN, D), dtype=tl.float32)
    sum_v = tl.zeros((BN, D), dtype=tl.float32)
    for first in range(0, n, BM):
        rows = first + tl.arange(0, BM)
        qt = tl.load(q + rows[None, :] * D + depth[:, None])
        m = tl.load(lse + rows)
        pt = tl.math.exp2(tl.dot(kk, qt) * scale - m[None, :])
        pt = tl.where(rows[None, :] >= columns[:, None], pt, 0.0)
        dd = tl.load(do + rows[:, None] * D + depth[None, :])
        sum_v += tl.dot(pt.to(tl.float16), dd)
        di = tl.load(delta + rows)
        dpt = tl.dot(vv, tl.trans(dd)).to(tl.float32)
        ds = (pt * (dpt - di[None, :])).to(tl.float16)
        sum_k += tl.dot(ds, tl.trans(qt))
        part = tl.dot(tl.trans(ds), kk)
        tl.atomic_add(dq + rows[:, None] * D + depth[None, :], part)
    tl.store(dk + columns[:, None] * D + depth[None, :], sum_k * scale)
    tl.store(dv + columns[:, None] * D + depth[None, :], sum_v)


@triton.jit
def paged(q, kc, vc, table, lengths, out, scale, pages, PAGE: tl.constexpr, D: tl.constexpr, G: tl.constexpr):
    which = tl.program_id(0)
    heads = tl.arange(0, G)
    depth = tl.arange(0, D)
    slot = tl.arange(0, PAGE)
    x = tl.load(q + (which * G + heads[:, None]) * D + depth[None, :])
    length = tl.load(lengths + which) % (pages * PAGE) + 1
    high = tl.full((G,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((G,), dtype=tl.float32)
    result = tl.zeros((G, D), dtype=tl.float32)
    for i in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table + which * pages + i) & 15
        y = tl.load(kc + (page * PAGE + slot[None, :]) * D + depth[:, None])
        s = tl.dot(x, y) * scale
        s = tl.where(i * PAGE + slot[None, :] < length, s, -float("inf"))
        higher = tl.maximum(high, tl.max(s, 1))
        p = tl.exp(s - higher[:, None])
        shrink = tl.exp(high - higher)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(vc + (page * PAGE + slot[:, None]) * D + depth[None, :])
        result = result * shrink[:, None] + tl.dot(p.to(tl.bfloat16), z)
        high = higher
    tl.store(out + (which * G + heads[:, None]) * D + depth[None, :], (result / total[:, None]).to(tl.bfloat16))


@triton.jit
def rotate(x, cosine, sine, out, n, H: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, H)
    c = tl.load(cosine + row * H + at)
    s = tl.load(sine + row * H + at)
    a, b = tl.split(tl.reshape(tl.load(x + row * 2 * H + tl.arange(0, 2 * H)).to(tl.float32), (H, 2)))
    r = tl.join(a * c - b * s, a * s + b * c)
    tl.store(out + row * 2 * H + tl.arange(0, 2 * H), tl.reshape(r, (2 * H,)).to(tl.bfloat16))


@triton.jit
def combine(a, b):
    return a * 0.5 + b


@triton.jit
def scans(x, sums, products, tops, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * BLOCK + at)
    tl.store(sums + row * BLOCK + at, tl.cumsum(v, 0))
    tl.store(products + row * BLOCK + at, tl.cumprod(v, 0, reverse=True))
    tl.store(tops + row * BLOCK + at, tl.associative_scan(v, 0, combine))


@triton.jit
def orders(x, sorted_, top, where, n, BLOCK: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * BLOCK + at)
    tl.store(sorted_ + row * BLOCK + at, tl.sort(v))
    tl.store(top + row * K + tl.arange(0, K), tl.topk(v, K))
    tl.store(where + row * 2, tl.argmax(v, 0))
    tl.store(where + row * 2 + 1, tl.argmin(v, 0))


@triton.jit
def counts(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at) & (BINS - 1)
    h = tl.histogram(v, BINS)
    tl.atomic_add(bins + tl.arange(0, BINS), h)


@triton.jit
def atomics(x, y16, yb, hi, lo, ex, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    cell = at % 64
    tl.atomic_add(y16 + cell, tl.where(v < 0.5, 1.0, 2.0).to(tl.float16))
    tl.atomic_add(yb + cell, tl.where(v < 0.25, 1.0, 0.0).to(tl.bfloat16))
    tl.atomic_max(hi + cell, v)
    tl.atomic_min(lo + cell, v)
    bits = v.to(tl.int32, bitcast=True)
    tl.atomic_xor(ex + cell, bits)
    tl.atomic_or(ex + 64 + cell, bits & 0xff)
    tl.atomic_and(ex + 128 + cell, bits)


@triton.jit
def functions(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at) * 8 - 4
    tl.store(out + at, tl.sin(v))
    tl.store(out + n + at, tl.cos(v))
    tl.store(out + 2 * n + at, tl.math.erf(v))
    tl.store(out + 3 * n + at, libdevice.tanh(v))
    tl.store(out + 4 * n + at, tl.math.rsqrt(tl.abs(v) + 1))
    tl.store(out + 5 * n + at, libdevice.pow(tl.abs(v), 1.7))
    tl.store(out + 6 * n + at, tl.floor(v) + tl.ceil(v * 3))
    tl.store(out + 7 * n + at, libdevice.log1p(tl.abs(v)))
    tl.store(out + 8 * n + at, tl.sqrt_rn(tl.abs(v)))
    tl.store(out + 9 * n + at, tl.div_rn(v, tl.abs(v) + 1))
    tl.store(out + 10 * n + at, tl.fma(v, v, v))
    tl.store(out + 11 * n + at, libdevice.lgamma(tl.abs(v)))


@triton.jit
def conversions(x, e4, e5, b, h, i8, u8, back, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at) * 100 - 50
    q4 = v.to(tl.float8e4nv)
    q5 = v.to(tl.float8e5)
    tl.store(e4 + at, q4)
    tl.store(e5 + at, q5)
    tl.store(b + at, v.to(tl.bfloat16))
    tl.store(h + at, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(i8 + at, v.to(tl.int8))
    tl.store(u8 + at, tl.abs(v).to(tl.uint8))
    tl.store(back + at, q4.to(tl.float32) + q5.to(tl.float16).to(tl.float32) * 0.125)


@triton.jit
def gathers(x, index, out, n, R: tl.constexpr, C: tl.constexpr):
    rows = tl.arange(0, R)
    columns = tl.arange(0, C)
    v = tl.load(x + rows[:, None] * C + columns[None, :])
    i = tl.load(index + rows[:, None] * C + columns[None, :]) & (C - 1)
    g = tl.gather(v, i, 1)
    tl.store(out + rows[:, None] * C + columns[None, :], tl.flip(g, 1))


@triton.jit
def cross_entropy(x, label, loss, dx, columns, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y = tl.load(label + row) % columns
    high = -float("inf")
    total = 0.0
    for i in range(0, columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"), eviction_policy="evict_last")
        new = tl.maximum(high, tl.max(v, 0))
        total = total * tl.exp(high - new) + tl.sum(tl.exp(v - new), 0)
        high = new
    lse = high + tl.log(total)
    tl.store(loss + row, lse - tl.load(x + row * columns + y))
    for i in range(0, columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + at, mask=at < columns, other=0.0, eviction_policy="evict_first")
        g = tl.exp(v - lse) - smoothing / columns
        g = tl.where(at == y, g - (1 - smoothing), g)
        tl.store(dx + row * columns + at, g, mask=at < columns, cache_modifier=".cs")


@triton.jit
def merge(a_mean, a_m2, a_n, b_mean, b_m2, b_n):
    n = a_n + b_n
    d = b_mean - a_mean
    r = tl.where(n == 0, 0.0, b_n / n)
    return a_mean + d * r, a_m2 + b_m2 + d * d * a_n * r, n


@triton.jit
def welford(x, mean, var, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * columns + at, mask=mask, other=0.0)
    w = tl.where(mask, 1.0, 0.0)
    a, b, c = tl.reduce((v, tl.zeros_like(v), w), 0, merge)
    tl.store(mean + row, a)
    tl.store(var + row, b / c)


@triton.jit
def convolve(x, w, out, H, W, C: tl.constexpr, F: tl.constexpr, BM: tl.constexpr):
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    oy = at // (W - 2)
    ox = at % (W - 2)
    channels = tl.arange(0, C)
    filters = tl.arange(0, F)
    total = tl.zeros((BM, F), dtype=tl.float32)
    for dy in range(3):
        for dx in tl.static_range(3):
            inside = (oy < H - 2)[:, None]
            p = tl.load(x + ((oy + dy) * W + ox + dx)[:, None] * C + channels[None, :], mask=inside, other=0.0)
            q = tl.load(w + ((dy * 3 + dx) * C + channels[:, None]) * F + filters[None, :])
            total = tl.dot(p, q, total)
    tl.store(out + at[:, None] * F + filters[None, :], tl.maximum(total, 0).to(tl.float16), mask=(oy < H - 2)[:, None])


@triton.jit
def transposed(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    dout = tl.make_tensor_descriptor(out, shape=[n, m], strides=[m, 1], block_shape=[BN, BM])
    i = tl.program_id(0) * BM
    j = tl.program_id(1) * BN
    dout.store([j, i], tl.trans(dx.load([i, j])))


@triton.jit
def box_sums(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    dx = tl.make_tensor_descriptor(x, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    dout = tl.make_tensor_descriptor(out, shape=[BM, BN], strides=[BN, 1], block_shape=[BM, BN])
    dout.atomic_add([0, 0], tl.floor(dx.load([tl.program_id(0) * BM, 0]) * 16))


@triton.jit
def volatile_flags(x, flags, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(x + pid * BLOCK + at, (at + pid).to(tl.float32))
    tl.debug_barrier()
    tl.atomic_add(flags, 1, sem="release")
    while tl.atomic_add(flags, 0, sem="acquire") < tl.num_programs(0):
        pass
    other = (pid + 1) % tl.num_programs(0)
    tl.store(out + pid * BLOCK + at, tl.load(x + other * BLOCK + at, volatile=True))


@triton.jit
def inline(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    r = tl.inline_asm_elementwise("lop3.b32 $0, $1, $2, $3, 0x96; \n shf.l.wrap.b32 $0, $0, $0, 7;", "=r,r,r,r",
                                  [a, b, a ^ 5], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + at, r // (b | 1) + a % ((b >> 20) | 1) + tl.umulhi(a.to(tl.uint32), b.to(tl.uint32)).to(tl.int32))


M = "*fp16 *fp16 *fp16 i32 i32 i32"


def product_case(types, out_bytes, arguments, m, n, k, bm, bn, bk, warps, stages, group=4, leaky=False, acc=tl.float32):
    grid = ((m + bm - 1) // bm) * ((n + bn - 1) // bn)
    return (matmul, types + " i32 i32 i32",
            {"BM": bm, "BN": bn, "BK": bk, "GROUP": group, "LEAKY": leaky, "ACC": acc}, (grid, 1), warps, stages,
            f"{arguments} out:@:{m * n * out_bytes} s32:{m} s32:{n} s32:{k}")


def halves(kind, m, n, k):
    return f"random:{kind}:{m * k}:21 random:{kind}:{k * n}:22"


CASES = [
    (softmax_loop, "*fp32 *fp32 i32 i32", {"BLOCK": 512, "STAGES": 4}, (4, 1), 8, 3,
     "out:@:36000 random:f32:9000:31 s32:18 s32:500"),
    (softmax_loop, "*fp32 *fp32 i32 i32", {"BLOCK": 1024, "STAGES": 2}, (2, 1), 1, 3,
     "out:@:40960 random:f32:10240:32 s32:10 s32:1024"),
    product_case("*fp16 *fp16 *fp16", 2, halves("f16", 256, 256, 128), 256, 256, 128, 128, 256, 64, 8, 3),
    product_case("*fp16 *fp16 *fp16", 2, halves("f16", 200, 192, 144), 200, 192, 144, 64, 32, 32, 2, 5, 8, True),
    product_case("*bf16 *bf16 *bf16", 2, halves("bf16", 128, 128, 96), 128, 128, 96, 128, 64, 32, 4, 4),
    product_case("*bf16 *bf16 *fp32", 4, halves("bf16", 64, 64, 64), 64, 64, 64, 16, 16, 16, 1, 1),
    product_case("*fp8e5 *fp8e5 *fp16", 2, halves("e5m2", 128, 128, 256), 128, 128, 256, 128, 128, 128, 4, 3),
    product_case("*fp8e4nv *fp8e4nv *fp16", 2, halves("e4m3", 128, 64, 256), 128, 64, 256, 64, 64, 64, 4, 3),
    product_case("*fp32 *fp32 *fp32", 4, halves("f32", 128, 128, 64), 128, 128, 64, 64, 64, 32, 4, 3),
    product_case("*i8 *i8 *i32", 4, "random:s8:16384:21 random:s8:16384:22", 128, 128, 128, 64, 128, 64, 4, 3, 4, False, tl.int32),
    product_case("*fp16 *fp16 *fp16", 2, halves("f16", 64, 64, 128), 64, 64, 128, 64, 64, 32, 4, 2, 4, False, tl.float16),
    product_case("*fp64 *fp64 *fp64", 8, halves("f64", 32, 32, 32), 32, 32, 32, 16, 16, 16, 4, 2, 4, False, tl.float64),
    (matmul_persistent, M, {"BM": 128, "BN": 128, "BK": 64, "SMS": 3, "SUB": False, "WS": False}, (3, 1), 8, 3,
     "random:f16:49152:41 random:f16:32768:42 out:@:196608 s32:384 s32:256 s32:128"),
    (matmul_persistent, M, {"BM": 64, "BN": 128, "BK": 64, "SMS": 2, "SUB": True, "WS": False}, (2, 1), 4, 4,
     "random:f16:24576:41 random:f16:32768:42 out:@:98304 s32:192 s32:256 s32:128"),
    (matmul_persistent, M, {"BM": 128, "BN": 128, "BK": 64, "SMS": 2, "SUB": False, "WS": True}, (2, 1), 4, 3,
     "random:f16:49152:41 random:f16:32768:42 out:@:196608 s32:384 s32:256 s32:128"),
    (matmul_split, "*fp16 *fp16 *fp32 i32 i32 i32", {"BM": 32, "BN": 32, "BK": 32, "SPLIT": 4}, (2, 2, 4), 4, 3,
     "random:f16:16384:51 random:f16:16384:52 out:@:16384 s32:64 s32:64 s32:256"),
    (matmul_int4, "*fp16 *u8 *fp32 *fp32 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 64}, (1, 2), 4, 3,
     "random:f16:16384:61 random:u8:16384:62 random:f32:512:63 out:@:32768 s32:64 s32:128 s32:256"),
    (matmul_scaled, "*fp8e4nv *u8 *fp8e4nv *u8 *fp32 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 64}, (1, 1), 4, 1,
     "random:e4m3:8192:61 fill:u8:256:126 random:e4m3:8192:62 fill:u8:256:127 out:@:16384 s32:64 s32:64 s32:128"),
    (grouped, "*fp16 *fp16 *fp16 *i32 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 32, "SMS": 3}, (3, 1), 4, 3,
     "random:f16:19200:71 random:f16:24576:72 out:@:38400 data:s32:100,36,164 s32:3 s32:64 s32:64"),
    (dropout, "*fp32 *fp32 i32 fp32 i32", {"BLOCK": 512}, (3, 1), 4, 3, "random:f32:1300:81 out:@:5200 s32:1300 f32:0.3 s32:1234"),
    (normals, "*fp32 i32 i32", {"BLOCK": 512}, (2, 1), 4, 3, "out:@:4096 s32:1024 s32:77"),
    (norm_backward, "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *fp32 *i32 i32 i32", {"GROUP": 2, "BLOCK": 512}, (2, 1), 4, 3,
     "out:@:3200 random:f32:800:82 zero:3200 zero:3200 random:f32:800:83 random:f32:400:84 random:f32:2:85 random:f32:2:86 zero:64 "
     "s32:400 s32:400"),
    (norm_sum, "*fp32 *fp32 i32 i32", {"BM": 32, "BN": 128}, (3, 1), 4, 3, "random:f32:24000:87 out:@:1200 s32:80 s32:300"),
    (attend_causal, "*fp16 *fp16 *fp16 *fp16 *fp32 i32 fp32", {"BM": 64, "BN": 32, "D": 64, "CAUSAL": True, "BOXES": False}, (4, 2), 4, 3,
     "random:f16:32768:91 random:f16:32768:92 random:f16:32768:93 out:@:65536 zero:2048 s32:256 f32:0.18033688"),
    (attend_causal, "*fp16 *fp16 *fp16 *fp16 *fp32 i32 fp32", {"BM": 128, "BN": 64, "D": 128, "CAUSAL": False, "BOXES": True}, (2, 1), 8, 2,
     "random:f16:32768:91 random:f16:32768:92 random:f16:32768:93 out:@:65536 zero:2048 s32:256 f32:0.1275174"),
    (attend_causal, "*fp16 *fp16 *fp16 *fp16 *fp32 i32 fp32", {"BM": 128, "BN": 128, "D": 64, "CAUSAL": True, "BOXES": True}, (2, 2), 4, 2,
     "random:f16:32768:91 random:f16:32768:92 random:f16:32768:93 out:@:65536 zero:2048 s32:256 f32:0.18033688"),
    (attend_backward, "*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 *fp32 *fp32 *fp32 i32 fp32", {"BM": 32, "BN": 64, "D": 64}, (2, 1), 4, 2,
     "random:f16:8192:94 random:f16:8192:95 random:f16:8192:96 random:f16:8192:97 fill:f32:128:6 random:f32:128:98 zero:32768 "
     "out:@:32768 zero:32768 s32:128 f32:0.18033688"),
    (paged, "*bf16 *bf16 *bf16 *i32 *i32 *bf16 fp32 i32", {"PAGE": 32, "D": 64, "G": 16}, (4, 1), 4, 2,
     "random:bf16:4096:101 random:bf16:32768:102 random:bf16:32768:103 random:s32:32:104 random:u16:8:105 out:@:8192 f32:0.125 s32:8"),
    (rotate, "*bf16 *fp32 *fp32 *bf16 i32", {"H": 64}, (8, 1), 2, 3,
     "random:bf16:1024:111 random:f32:512:112 random:f32:512:113 out:@:2048 s32:8"),
    (scans, "*fp32 *fp32 *fp32 *fp32 i32", {"BLOCK": 512}, (2, 1), 4, 3, "random:f32:1024:114 out:@:4096 zero:4096 zero:4096 s32:1024"),
    (scans, "*fp32 *fp32 *fp32 *fp32 i32", {"BLOCK": 2048}, (1, 1), 8, 3, "random:f32:2048:115 zero:8192 zero:8192 out:@:8192 s32:2048"),
    (orders, "*fp32 *fp32 *fp32 *i32 i32", {"BLOCK": 256, "K": 16}, (2, 1), 4, 3,
     "random:f32:512:116 out:@:2048 zero:128 zero:16 s32:512"),
    (orders, "*i32 *i32 *i32 *i32 i32", {"BLOCK": 512, "K": 32}, (1, 1), 2, 3,
     "random:s32:512:117 zero:2048 out:@:128 zero:16 s32:512"),
    (counts, "*i32 *i32 i32", {"BLOCK": 1024, "BINS": 128}, (3, 1), 4, 3, "random:s32:3072:118 out:@:512 s32:3072"),
    (atomics, "*fp32 *fp16 *bf16 *fp32 *fp32 *i32 i32", {"BLOCK": 256}, (2, 1), 4, 3,
     "random:f32:512:119 zero:128 zero:128 zero:256 fill:f32:64:2 out:@:768 s32:512"),
    (atomics, "*fp32 *fp16 *bf16 *fp32 *fp32 *i32 i32", {"BLOCK": 512}, (1, 1), 4, 3,
     "random:f32:512:119 out:@:128 zero:128 zero:256 fill:f32:64:2 zero:768 s32:512"),
    (functions, "*fp32 *fp32 i32", {"BLOCK": 512}, (2, 1), 4, 3, "random:f32:1024:121 out:@:49152 s32:1024"),
    (conversions, "*fp32 *fp8e4nv *fp8e5 *bf16 *fp16 *i8 *u8 *fp32 i32", {"BLOCK": 512}, (2, 1), 4, 3,
     "random:f32:1024:122 zero:1024 zero:1024 zero:2048 zero:2048 zero:1024 zero:1024 out:@:4096 s32:1024"),
    (conversions, "*fp32 *fp8e4nv *fp8e5 *bf16 *fp16 *i8 *u8 *fp32 i32", {"BLOCK": 512}, (2, 1), 2, 3,
     "random:f32:1024:122 zero:1024 out:@:1024 zero:2048 zero:2048 zero:1024 zero:1024 zero:4096 s32:1024"),
    (gathers, "*fp32 *i32 *fp32 i32", {"R": 16, "C": 128}, (1, 1), 4, 3, "random:f32:2048:123 random:s32:2048:124 out:@:8192 s32:0"),
    (cross_entropy, "*fp32 *i32 *fp32 *fp32 i32 fp32", {"BLOCK": 512}, (4, 1), 4, 3,
     "random:f32:5000:125 data:s32:3,700,1249,12 zero:16 out:@:20000 s32:1250 f32:0.1"),
    (welford, "*fp32 *fp32 *fp32 i32", {"BLOCK": 1024}, (4, 1), 4, 3, "random:f32:3600:127 zero:16 out:@:16 s32:900"),
    (convolve, "*fp16 *fp16 *fp16 i32 i32", {"C": 32, "F": 64, "BM": 64}, (4, 1), 4, 3,
     "random:f16:10368:128 random:f16:18432:129 out:@:32768 s32:18 s32:18"),
    (transposed, "*fp32 *fp32 i32 i32", {"BM": 64, "BN": 32}, (2, 3), 4, 3, "random:f32:12288:131 out:@:49152 s32:128 s32:96"),
    (transposed, "*i8 *i8 i32 i32", {"BM": 64, "BN": 64}, (2, 1), 4, 3, "random:u8:8192:132 out:@:8192 s32:128 s32:64"),
    (box_sums, "*fp32 *fp32 i32 i32", {"BM": 32, "BN": 32}, (4, 1), 4, 3, "random:f32:4096:133 out:@:4096 s32:128 s32:32"),
    (volatile_flags, "*fp32 *i32 *fp32 i32", {"BLOCK": 256}, (6, 1), 4, 3, "zero:6144 zero:16 out:@:6144 s32:1536"),
    (inline, "*i32 *i32 *i32 i32", {"BLOCK": 512}, (2, 1), 4, 3, "random:s32:1024:134 random:s32:1024:135 out:@:4096 s32:1024"),
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

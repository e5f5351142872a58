"""Kernels of our own in Triton, and their PTX: kernels.py DIR [CHECK]

Writes DIR/NAME.ptx of each kernel for sm_90a and DIR/cases.tsv: kernel, grid, threads, shared bytes
and the arguments of `sonde exec`. With CHECK each is launched beside torch on the GPU that is there.
Needs triton 3.6; the files beside this one were made by it.
"""
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax_rows(out, x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * columns + at, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm_rows(out, x, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * columns + at, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / columns
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    w = tl.load(weight + at, mask=mask)
    b = tl.load(bias + at, mask=mask)
    tl.store(out + row * columns + at, d * scale * w + b, mask=mask)


@triton.jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    pa = a + rows[:, None] * k + depth[None, :]
    pb = b + depth[:, None] * n + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK):
        x = tl.load(pa, mask=depth[None, :] + step < k, other=0.0)
        y = tl.load(pb, mask=depth[:, None] + step < k, other=0.0)
        total = tl.dot(x, y, total)
        pa += BK
        pb += BK * n
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16),
             mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def product_boxes(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[n, k], strides=[k, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[m, n], strides=[n, 1], block_shape=[BM, BN])
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, k, BK):
        total = tl.dot(da.load([row, step]), db.load([column, step]).T, total)
    dc.store([row, column], total.to(tl.float16))


@triton.jit
def attend(q, k, v, out, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, D)
    x = tl.load(q + rows[:, None] * D + depth[None, :])
    high = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    result = tl.zeros((BM, D), dtype=tl.float32)
    for first in range(0, n, BN):
        y = tl.load(k + (first + columns[None, :]) * D + depth[:, None])
        s = tl.dot(x, y) * scale
        higher = tl.maximum(high, tl.max(s, axis=1))
        p = tl.exp2(s - higher[:, None])
        shrink = tl.exp2(high - higher)
        total = total * shrink + tl.sum(p, axis=1)
        z = tl.load(v + (first + columns[:, None]) * D + depth[None, :])
        result = tl.dot(p.to(tl.float16), z, result * shrink[:, None])
        high = higher
    tl.store(out + rows[:, None] * D + depth[None, :], result / total[:, None])


# kernel, signature, constants, grid, warps, stages, arguments of sonde exec
CASES = [
    (vector_add, "*fp32 *fp32 *fp32 i32", {"BLOCK": 256}, (4, 1), 4, 3,
     "random:f32:1000:1 random:f32:1000:2 out:@:4000 s32:1000"),
    (softmax_rows, "*fp32 *fp32 i32", {"BLOCK": 1024}, (6, 1), 4, 3,
     "out:@:18744 random:f32:4686:3 s32:781"),
    (layer_norm_rows, "*fp32 *fp32 *fp32 *fp32 i32 fp32", {"BLOCK": 1024}, (6, 1), 4, 3,
     "out:@:18744 random:f32:4686:4 random:f32:781:5 random:f32:781:6 s32:781 f32:0.00001"),
    (product, "*fp16 *fp16 *fp16 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 32}, (2, 2), 4, 3,
     "random:f16:20480:7 random:f16:20480:8 out:@:32768 s32:128 s32:128 s32:160"),
    (product_boxes, "*fp16 *fp16 *fp16 i32 i32 i32", {"BM": 64, "BN": 64, "BK": 64}, (2, 2), 4, 2,
     "random:f16:24576:9 random:f16:24576:10 out:@:32768 s32:128 s32:128 s32:192"),
    (attend, "*fp16 *fp16 *fp16 *fp32 i32 fp32", {"BM": 64, "BN": 64, "D": 64}, (2, 1), 4, 2,
     "random:f16:8192:11 random:f16:8192:12 random:f16:8192:13 out:@:32768 s32:128 f32:0.18033688"),
]


def compile_case(case):
    fn, types, constants, _, warps, stages, arguments = case
    names = fn.arg_names
    types = types.split()
    signature = {n: types[i] if i < len(types) else "constexpr" for i, n in enumerate(names)}
    values = {(names.index(n),): v for n, v in constants.items()}
    attributes = {}
    for i, (t, a) in enumerate(zip(types, arguments.split())):
        if t[0] == "*" or (t == "i32" and int(a.split(":")[1]) % 16 == 0):
            attributes[(i,)] = [["tt.divisibility", 16]]
    source = ASTSource(fn=fn, signature=signature, constexprs=values, attrs=attributes)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32),
                          options={"num_warps": warps, "num_stages": stages})


def write_case(folder, case, table, name=None):
    fn, _, _, grid, _, _, arguments = case
    compiled = compile_case(case)
    ptx = re.sub(r"(?m)^\s*\.(loc|file)\b.*\n", "", compiled.asm["ptx"])
    ptx = re.sub(r"(?s)\n\t?\.section.*", "\n", ptx)
    name = name or fn.__name__
    open(f"{folder}/{name}.ptx", "w").write(ptx)
    meta = compiled.metadata
    entry = re.search(r"\.entry (\w+)\((.*?)\)", ptx, re.S)
    missing = entry.group(2).count(".param") - len(arguments.split())
    grid = tuple(grid) + (1,) * (3 - len(grid))
    scratch = getattr(meta, "global_scratch_size", 0) * grid[0] * grid[1] * grid[2]
    threads = int(re.search(r"\.(?:reqntid|maxntid) (\d+)", ptx).group(1))  # more than `warps` where some are specialised
    for i in range(missing):
        arguments += f" zero:{scratch}" if i == 0 and scratch else " u64:0"
    table.write(f"{name}\t{entry.group(1)}\t{','.join(map(str, grid))}\t{threads}\t{meta.shared}\t{arguments}\n")


def check_vectors():
    import torch
    x = torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    vector_add[(4,)](x, x, out, 1000, BLOCK=256)
    print("vector_add", torch.equal(out, x + x))
    a = torch.rand(128, 160, device="cuda", dtype=torch.float16)
    b = torch.rand(160, 128, device="cuda", dtype=torch.float16)
    c = torch.empty(128, 128, device="cuda", dtype=torch.float16)
    product[(2, 2)](a, b, c, 128, 128, 160, BM=64, BN=64, BK=32)
    print("product", torch.allclose(c, a @ b, rtol=1e-2))
    s = torch.rand(6, 781, device="cuda")
    o = torch.empty_like(s)
    softmax_rows[(6,)](o, s, 781, BLOCK=1024)
    print("softmax_rows", torch.allclose(o, torch.softmax(s, 1), atol=1e-6))
    w, d = torch.rand(781, device="cuda"), torch.rand(781, device="cuda")
    layer_norm_rows[(6,)](o, s, w, d, 781, 1e-5, BLOCK=1024)
    print("layer_norm_rows",
          torch.allclose(o, torch.nn.functional.layer_norm(s, (781,), w, d, 1e-5), atol=1e-4))
    q, k, v = (torch.rand(128, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    r = torch.empty(128, 64, device="cuda")
    attend[(2,)](q, k, v, r, 128, 0.18033688, BM=64, BN=64, D=64)
    wanted = torch.softmax(q.float() @ k.float().T / 8, 1) @ v.float()
    print("attend", torch.allclose(r, wanted, atol=5e-3))


if __name__ == "__main__":
    with open(f"{sys.argv[1]}/cases.tsv", "w") as table:
        for case in CASES:
            try:
                write_case(sys.argv[1], case, table)
            except Exception as error:  # the others are wanted all the same
                print(case[0].__name__, "failed:", error)
    if len(sys.argv) > 2:
        check_vectors()

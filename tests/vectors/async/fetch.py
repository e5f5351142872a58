#!/usr/bin/env python3
"""Straight code of 1 KiB to 1 MiB, timed by %clock on a GPU: what fetching instructions costs.

Multiply-adds of 16 bytes, eight sums in turn. A kernel runs them PASSES times, its first launch and its second, by one warp, four
or sixteen of one block, and by four of 132 blocks. A row has each pass's cycles: of block 0's first thread, and the
mean of all warps. h200_fetch.tsv is what an H200 (driver 580) printed. By hand; needs the driver alone.
"""
import ctypes

PASSES = 4
SIZES = (1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128, 144, 160, 192, 256, 384, 512, 768, 1024)

cuda = ctypes.CDLL("libcuda.so.1")


def ok(result, what):
    if result:
        raise SystemExit(f"{what}: {result}")


def text(count):
    """count multiply-adds in a row."""
    return "\n".join(
        [".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry k(.param .u64 out)", "{"]
        + [".reg .f32 %f<9>;", ".reg .b32 %r<20>;", ".reg .b64 %o<4>;", ".reg .pred %p;"]
        + ["ld.param.u64 %o0, [out];", "mov.u32 %r1, %tid.x;", "cvt.rn.f32.u32 %f0, %r1;"]
        + [f"mov.f32 %f{i}, %f0;" for i in range(1, 9)]
        + ["mov.u32 %r8, %ctaid.x;", "mov.u32 %r9, %ntid.x;", "mad.lo.u32 %r8, %r8, %r9, %r1;"]
        + [f"mul.wide.u32 %o1, %r8, {PASSES * 4};", "add.u64 %o1, %o0, %o1;", "mov.u32 %r2, 0;"]
        + ["L:", "bar.sync 0;", "mov.u32 %r3, %clock;"]
        + [f"fma.rn.f32 %f{i % 8}, %f{i % 8}, %f{i % 8}, %f8;" for i in range(count)]
        + ["mov.u32 %r4, %clock;", "sub.u32 %r5, %r4, %r3;", "st.global.u32 [%o1], %r5;"]
        + ["add.u64 %o1, %o1, 4;", "add.u32 %r2, %r2, 1;", f"setp.lt.u32 %p, %r2, {PASSES};", "@%p bra L;"]
        + [f"add.f32 %f8, %f8, %f{i};" for i in range(8)]
        + ["setp.eq.f32 %p, %f8, 0f7f000000;", "@%p st.global.f32 [%o0], %f8;", "ret;", "}"]
    ).encode() + b"\0"


def launch(kernel, warps, blocks):
    """The cycles of each thread's passes."""
    count = warps * 32 * blocks * PASSES
    there = ctypes.c_uint64()
    ok(cuda.cuMemAlloc_v2(ctypes.byref(there), ctypes.c_size_t(count * 4)), "cuMemAlloc")
    args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(there), ctypes.c_void_p))
    ok(cuda.cuLaunchKernel(kernel, blocks, 1, 1, warps * 32, 1, 1, 0, None, args, None), "cuLaunchKernel")
    ok(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
    cycles = (ctypes.c_uint32 * count)()
    ok(cuda.cuMemcpyDtoH_v2(cycles, there, ctypes.c_size_t(count * 4)), "cuMemcpyDtoH")
    ok(cuda.cuMemFree_v2(there), "cuMemFree")
    return [cycles[i : i + PASSES] for i in range(0, count, PASSES * 32)]


def main():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    ok(cuda.cuInit(0), "cuInit")
    ok(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    ok(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    numbers = range(1, PASSES + 1)
    print("kib", "warps", "blocks", "launch", *(f"first_{i}" for i in numbers), *(f"mean_{i}" for i in numbers), sep="\t")
    for kib in SIZES:
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        ok(cuda.cuModuleLoadData(ctypes.byref(module), text(kib * 64)), "cuModuleLoadData")
        ok(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"k"), "cuModuleGetFunction")
        for warps, blocks in ((1, 1), (4, 1), (16, 1), (4, 132)):
            for turn in range(2):
                cycles = launch(kernel, warps, blocks)
                means = (round(sum(warp[i] for warp in cycles) / len(cycles)) for i in range(PASSES))
                print(kib, warps, blocks, turn, *cycles[0], *means, sep="\t")
        ok(cuda.cuModuleUnload(module), "cuModuleUnload")


if __name__ == "__main__":
    main()

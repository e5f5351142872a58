"""The driver by its C interface alone, as Python's own bindings use it: PTX from a text, a launch."""
import ctypes
import os
import tempfile

PTX = b"""
.version 6.0
.target sm_30
.address_size 64
.visible .entry square(.param .u64 p) {
    .reg .u64 %a, %o; .reg .u32 %t, %v;
    ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    mul.lo.u32 %v, %t, %t; st.global.u32 [%a], %v; ret;
}
"""


def check(code):
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise SystemExit("%s" % text.value)


cuda = ctypes.CDLL("libcuda.so.1")
context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
pointer = ctypes.c_uint64()
count = ctypes.c_int()
out = (ctypes.c_uint32 * 64)()
check(cuda.cuInit(0))
check(cuda.cuDeviceGetCount(ctypes.byref(count)))
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"square"))
check(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.sizeof(out)))
args = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(pointer), ctypes.c_void_p))
check(cuda.cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, None, args, None))
check(cuda.cuMemcpyDtoH_v2(out, pointer, ctypes.sizeof(out)))
assert count.value == 1 and list(out) == [i * i for i in range(64)], list(out)
assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 50)) == 2
assert cuda.cuCtxDestroy_v2(context) == 0


# Who asks for the tables that only the vendor's driver has is named: here the library that calls for Python.
with tempfile.TemporaryFile() as said:
    before = os.dup(2)
    os.dup2(said.fileno(), 2)
    assert cuda.cuGetExportTable(ctypes.byref(context), None) == 801 and not context.value
    os.dup2(before, 2)
    said.seek(0)
    text = said.read().decode()
assert text.startswith("sonde: lib") and ".so" in text.split()[1] and "private tables" in text, text

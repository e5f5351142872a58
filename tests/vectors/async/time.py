#!/usr/bin/env python3
"""Writes time.ptx and time_cases.inc: kernels that time asynchronous instructions by %clock.

Every kernel does what it measures three times, and a thread stores the cycles of each time. `in` is a buffer that the
first time has brought into L2; `map` is a tensor map where the case names one (time.c).
"""

TIMES = 3
HEAD = """.version 8.6
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 dyn[];
"""
ENTRY = """.visible .entry %s(.param .u64 p_in, .param .u64 p_out, .param .align 64 .b8 map[128])
{
    .reg .b32 %%r<64>, %%t, %%bar, %%s, %%w, %%phase, %%i, %%c0, %%c1, %%x<300>;
    .reg .f32 %%f<300>;
    .reg .f64 %%g<16>;
    .reg .b64 %%in, %%out, %%a, %%map, %%st, %%d<16>;
    .reg .pred %%p, %%q, %%p0, %%last;
    .shared .align 8 .b64 bars[8];
    ld.param.u64 %%in, [p_in];
    ld.param.u64 %%out, [p_out];
    mov.u64 %%map, map;
    cvta.param.u64 %%map, %%map;
    mov.u32 %%t, %%tid.x;
    mov.u32 %%bar, bars;
    mov.u32 %%s, dyn;
    shr.u32 %%w, %%t, 5;
    setp.eq.u32 %%p0, %%t, 0;
    mov.u32 %%phase, 0;
    mov.u32 %%i, 0;
"""
lines = []
cases = []


def emit(text):
    lines.append(text)


def case(name, body, threads=32, before="", count=None, shared=65536, cluster=1, grid=0, tensor="", who="%p0"):
    """`count`: arrivals of barrier 0. `who`: the predicate of the thread that stores."""
    emit(ENTRY % name)
    for k in range(8):
        emit(f"    @%p0 mbarrier.init.shared.b64 [%bar+{8 * k}], {count if count and k == 0 else 1};")
    emit("    fence.mbarrier_init.release.cluster;")
    emit("    fence.proxy.async;")
    emit("    bar.sync 0;")
    emit(before)
    if cluster > 1:
        emit("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;")
    emit("AGAIN:")
    emit("    bar.sync 0;" if cluster == 1 else "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;")
    emit(body.rstrip("\n"))
    emit("    sub.u32 %c1, %c1, %c0;")
    emit("    mul.wide.u32 %st, %i, 4;\n    add.u64 %st, %st, %out;")
    emit(f"    @{who} st.global.u32 [%st], %c1;")
    emit("    xor.b32 %phase, %phase, 1;")
    emit("    add.u32 %i, %i, 1;")
    emit(f"    setp.lt.u32 %last, %i, {TIMES};\n    @%last bra AGAIN;")
    if cluster > 1:
        emit("    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;")
    emit("    ret;\n}")
    cases.append((name, threads, shared, cluster, grid or cluster, tensor))


CLOCK0 = "    mov.u32 %c0, %clock;\n"
CLOCK1 = "    mov.u32 %c1, %clock;\n"


def use(*registers):
    """Nothing after it issues before they are there: a store to shared memory that the next clock follows."""
    text = ""
    for register in registers:
        text += f"    st.volatile.shared.u32 [%bar+56], {register};\n"
    return text


def wait(bar="%bar", at=0, phase="%phase", label="W"):
    return (f"{label}:\n    mbarrier.try_wait.parity.shared.b64 %q, [{bar}+{at}], {phase};\n"
            f"    @!%q bra {label};\n")


# ---- cp.async ----
def copies():
    for cop, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        place = (f"    mul.wide.u32 %a, %t, {size};\n    add.u64 %a, %a, %in;\n"
                 f"    mad.lo.u32 %r0, %t, {size}, %s;\n")
        for n in (1, 4, 16):
            body = CLOCK0
            for k in range(n):
                body += f"    cp.async.{cop}.shared.global [%r0+{k * size * 32}], [%a+{k * size * 32}], {size};\n"
            body += "    cp.async.commit_group;\n    cp.async.wait_group 0;\n" + CLOCK1
            case(f"copy_{cop}_{size}_{n}", body, before=place)
    place = ("    mul.wide.u32 %a, %t, 16;\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, 16, %s;\n")
    for warps in (4, 8):
        for n in (1, 4):
            body = CLOCK0
            for k in range(n):
                step = k * 16 * 32 * warps
                body += f"    cp.async.cg.shared.global [%r0+{step}], [%a+{step}], 16;\n"
            body += "    cp.async.commit_group;\n    cp.async.wait_group 0;\n    bar.sync 0;\n" + CLOCK1
            case(f"copy_cg_16_{n}_warps_{warps}", body, before=place, threads=32 * warps)
    for cop in ("ca", "cg"):
        body = CLOCK0 + f"    ld.global.{cop}.v4.u32 {{%r1, %r2, %r3, %r4}}, [%a];\n" + use("%r4") + CLOCK1
        case(f"load_{cop}_16_1", body, before=place)
        body = CLOCK0 + f"    ld.global.{cop}.u32 %r1, [%a];\n" + use("%r1") + CLOCK1
        case(f"load_{cop}_4_1", body, before=place)
    case("load_shared_4", CLOCK0 + "    ld.volatile.shared.u32 %r1, [%r0];\n" + use("%r1") + CLOCK1, before=place)
    case("load_shared_16", CLOCK0 + "    ld.volatile.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];\n" + use("%r4") + CLOCK1,
         before=place)
    # each lane a line of its own
    body = (CLOCK0 + "    cp.async.cg.shared.global [%r0], [%a], 16;\n    cp.async.commit_group;\n"
            "    cp.async.wait_group 0;\n" + CLOCK1)
    case("copy_cg_16_lines", body, before="    mul.wide.u32 %a, %t, 128;\n    add.u64 %a, %a, %in;\n"
         "    mad.lo.u32 %r0, %t, 16, %s;\n")
    case("clock", CLOCK0 + CLOCK1)
    # an arrival of copies
    body = (CLOCK0 + "    cp.async.cg.shared.global [%r0], [%a], 16;\n"
            "    cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n" + wait() + CLOCK1)
    case("copy_arrive", body, before=place, count=32)


# ---- bulk ----
def bulk():
    copy = ("    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%s+{to}], [%in+{at}], {size}, [%bar];\n")
    for size, counts in ((16, (1, 2, 4, 8, 16, 32)), (64, (1, 8)), (256, (1, 2, 4, 8, 16)), (1024, (1, 2, 4, 8, 16)),
                         (2048, (1, 2, 8)), (4096, (1, 2, 4, 8)), (8192, (1, 2, 4)), (16384, (1, 2)), (32768, (1,))):
        for n in counts:
            body = CLOCK0 + f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size * n};\n"
            for k in range(n):
                body += copy.format(to=k * size, at=k * size, size=size)
            case(f"bulk_{size}_{n}", body + wait() + CLOCK1)
            if size in (16, 4096):
                case(f"bulk_issue_{size}_{n}", body + CLOCK1 + wait())
    for grid in (16, 66, 132):
        for size in (4096, 32768):
            body = CLOCK0 + f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size};\n"
            body += copy.format(to=0, at=0, size=size)
            case(f"bulk_{size}_1_ctas_{grid}", body + wait() + CLOCK1, grid=grid,
                 before=f"    mov.u32 %r0, %ctaid.x;\n    mul.wide.u32 %a, %r0, {size};\n    add.u64 %in, %in, %a;\n")
    # several threads, one copy each
    for n in (4, 32):
        body = (CLOCK0 + "    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], " + str(n * 256) + ";\n"
                "    bar.warp.sync -1;\n"
                "    @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%a], 256, [%bar];\n")
        case(f"bulk_256_lanes_{n}", body + wait() + CLOCK1,
             before=f"    setp.lt.u32 %p, %t, {n};\n    mul.wide.u32 %a, %t, 256;\n    add.u64 %a, %a, %in;\n"
             "    mad.lo.u32 %r0, %t, 256, %s;\n")
    out = ("    @%p0 cp.async.bulk.global.shared::cta.bulk_group [%in+{at}], [%s+{at}], {size};\n")
    for size in (16, 256, 1024, 4096, 16384):
        for how in (".read", ""):
            body = CLOCK0 + out.format(at=0, size=size) + "    cp.async.bulk.commit_group;\n"
            body += f"    cp.async.bulk.wait_group{how} 0;\n" + CLOCK1
            case(f"bulk_out_{size}{how.replace('.', '_')}", body)
    red = "    @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [%s], {size};\n"
    for size in (16, 1024, 4096):
        case(f"bulk_add_{size}", CLOCK0 + red.format(size=size) + "    cp.async.bulk.commit_group;\n"
             "    cp.async.bulk.wait_group 0;\n" + CLOCK1)


# ---- tensors ----
def tensors():
    boxes = {  # name: (rank, bytes)
        "r1_256": (1, 512), "r2_64x8": (2, 1024), "r2_64x64": (2, 8192), "r2_16x64_w32": (2, 2048),
        "r2_32x64_w64": (2, 4096), "r2_64x64_w128": (2, 8192), "r2_64x128_w128": (2, 16384),
        "r2_64x256_w128": (2, 32768), "r2_8x64": (2, 1024), "r2_32x32": (2, 2048), "r2_16x16": (2, 512),
        "r2_256x32": (2, 16384), "r3_16x16x16": (3, 8192), "r4_8x8x8x8": (4, 8192), "r5_8x4x4x4x4": (5, 4096)}
    for name, (rank, size) in boxes.items():
        at = ", ".join(["%r63"] * rank)
        for n in (1, 2) if size <= 16384 else (1,):
            body = CLOCK0 + f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size * n};\n"
            for k in range(n):
                body += (f"    @%p0 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile"
                         f".mbarrier::complete_tx::bytes [%s+{k * size}], [%map, {{{at}}}], [%bar];\n")
            case(f"tensor_{name}_{n}", body + wait() + CLOCK1, before="    mov.u32 %r63, 0;\n", tensor=name)
    for name in ("r2_64x64_w128", "r2_64x8"):
        for how in (".read", ""):
            body = (CLOCK0 + "    @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                    "[%map, {%r63, %r63}], [%s];\n    cp.async.bulk.commit_group;\n"
                    f"    cp.async.bulk.wait_group{how} 0;\n" + CLOCK1)
            case(f"tensor_out_{name}{how.replace('.', '_')}", body, before="    mov.u32 %r63, 0;\n", tensor=name)


# ---- barriers ----
def barriers():
    arrive = "    mbarrier.arrive.shared.b64 %st, [%bar];\n"
    case("barrier_1", CLOCK0 + "    @%p0 mbarrier.arrive.shared.b64 %st, [%bar];\n" + wait() + CLOCK1)
    for warps in (1, 2, 4, 8, 16):
        case(f"barrier_warps_{warps}", CLOCK0 + arrive + wait() + CLOCK1, threads=32 * warps, count=32 * warps)
        case(f"barrier_leaders_{warps}", CLOCK0 + "    @%p mbarrier.arrive.shared.b64 %st, [%bar];\n" + wait() + CLOCK1,
             threads=32 * warps, count=warps,
             before="    and.b32 %r0, %t, 31;\n    setp.eq.u32 %p, %r0, 0;\n")
        case(f"bar_sync_{warps}", CLOCK0 + "    bar.sync 0;\n" + CLOCK1, threads=32 * warps)
    over = "    @%p0 mbarrier.arrive.shared.b64 %st, [%bar];\n" + wait()
    case("try_over", over + "    bar.sync 0;\n" + CLOCK0 + wait(label="V") + CLOCK1)
    case("test_over", over + "    bar.sync 0;\n" + CLOCK0 + "    mbarrier.test_wait.parity.shared.b64 %q, [%bar], %phase;\n"
         "    selp.u32 %r1, 1, 0, %q;\n" + use("%r1") + CLOCK1)
    case("test_not_over", CLOCK0 + "    mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;\n"
         "    selp.u32 %r1, 1, 0, %q;\n" + use("%r1") + CLOCK1)
    case("try_limit", CLOCK0 + "    mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0;\n"
         "    selp.u32 %r1, 1, 0, %q;\n" + use("%r1") + CLOCK1)
    for limit in (1000, 100000):
        case(f"try_limit_{limit}", CLOCK0 + f"    mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0, {limit};\n"
             "    selp.u32 %r1, 1, 0, %q;\n" + use("%r1") + CLOCK1)
    case("arrive_state", CLOCK0 + "    @%p0 mbarrier.arrive.shared.b64 %st, [%bar];\n    cvt.u32.u64 %r1, %st;\n" +
         use("%r1") + CLOCK1)
    case("arrive_issue", CLOCK0 + arrive * 8 + CLOCK1, count=1 << 12)
    # Two warps: 0 arrives at barrier 0 and waits at 1, the other the other way round, 16 times.
    body = "    setp.ne.u32 %q, %w, 0;\n" + CLOCK0 + "    @%q bra OTHER;\n"
    for k in range(16):
        body += "    @%p0 mbarrier.arrive.shared.b64 %st, [%bar];\n" + wait(at=8, phase=str(k & 1), label=f"A{k}")
    body += "    bra DONE;\nOTHER:\n"
    for k in range(16):
        body += wait(at=0, phase=str(k & 1), label=f"B{k}") + "    @%p mbarrier.arrive.shared.b64 %st, [%bar+8];\n"
    body += "DONE:\n" + CLOCK1
    case("ping_pong", body, threads=64, before="    setp.eq.u32 %p, %t, 32;\n")
    # A warp sleeps in try_wait while another computes for a while: from the arrival's issue to the wake.
    body = ("    setp.ne.u32 %q, %w, 0;\n    @%q bra OTHER;\n" + "    nanosleep.u32 2000;\n" + CLOCK0 +
            "    @%p0 mbarrier.arrive.shared.b64 %st, [%bar];\n    @%p0 st.shared.u32 [%bar+48], %c0;\n    bra DONE;\n"
            "OTHER:\n" + wait() + CLOCK1 + "DONE:\n    bar.sync 0;\n    ld.shared.u32 %c0, [%bar+48];\n")
    case("wake", body, threads=64, who="%p", before="    setp.eq.u32 %p, %t, 32;\n")


# ---- matrices ----
MATRIX_ROW = "    and.b32 %r0, %t, 31;\n    mad.lo.u32 %r0, %r0, {stride}, %s;\n"


def braces(register, first, count):
    return "{" + ", ".join(f"{register}{first + k}" for k in range(count)) + "}"


def ldmatrix_chain(prefix, x, stride, n, warps, trans=""):
    """n loads of x matrices by each of so many warps, and the xor of all that they gave."""
    body = CLOCK0
    for k in range(n):
        body += f"    ldmatrix.sync.aligned.m8n8.x{x}{trans}.shared.b16 {braces('%x', k * x, x)}, [%r0+{k * 16}];\n"
    body += "".join(f"    xor.b32 %x0, %x0, %x{k}; \n" for k in range(1, n * x)) + use("%x0")
    case(f"{prefix}_x{x}{trans.replace('.', '_')}_{stride}_{n}_warps_{warps}", body + CLOCK1, threads=32 * warps,
         before=MATRIX_ROW.format(stride=stride))


def product(mnk, types, d, a, b):
    """mma with d also as the addend."""
    return f"    mma.sync.aligned.{mnk}.row.col.{types} {d}, {a}, {b}, {d};\n"


def matrices():
    for x in (1, 2, 4):
        for stride in (16, 128):
            load = f"    ldmatrix.sync.aligned.m8n8.x{x}.shared.b16 {braces('%r', 1, x)}, [%r0];\n"
            case(f"ldmatrix_x{x}_{stride}", CLOCK0 + load + use("%r1") + CLOCK1, before=MATRIX_ROW.format(stride=stride))
            for warps in (1, 4, 8):
                ldmatrix_chain("ldmatrix", x, stride, 16, warps)
        store = f"    stmatrix.sync.aligned.m8n8.x{x}.shared.b16 [%r0], {braces('%r', 1, x)};\n"
        load = "    ld.volatile.shared.u32 %r5, [%r0];\n"
        body = "".join(f"    mov.u32 %r{k}, %t;\n" for k in (1, 2, 3, 4))
        case(f"stmatrix_x{x}", body + CLOCK0 + store + load + use("%r5") + CLOCK1, before=MATRIX_ROW.format(stride=16))
        case(f"stmatrix_x{x}_16", body + CLOCK0 + store * 16 + load + use("%r5") + CLOCK1, before=MATRIX_ROW.format(stride=16))
    # ---- a chain of products in registers
    for name, mnk, types, d, a, b in (
            ("f16", "m16n8k16", "f32.f16.f16.f32", 4, 4, 2), ("f16k8", "m16n8k8", "f32.f16.f16.f32", 4, 2, 1),
            ("bf16", "m16n8k16", "f32.bf16.bf16.f32", 4, 4, 2), ("half", "m16n8k16", "f16.f16.f16.f16", 2, 4, 2),
            ("tf32", "m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2), ("tf32k4", "m16n8k4", "f32.tf32.tf32.f32", 4, 2, 1),
            ("s8", "m16n8k32", "s32.s8.s8.s32", 4, 4, 2)):
        bits = name in ("half", "s8")
        reg = "%x" if bits else "%f"
        mma = product(mnk, types, braces(reg, 0, d), braces("%r", 10, a), braces("%r", 20, b))
        zero = "".join(f"    mov.u32 %r{k}, 0;\n" for k in list(range(10, 14)) + [20, 21])
        zero += "".join(f"    mov.b32 {reg}{k}, %r10;\n" for k in range(64))
        last = "    xor.b32 %r1, %x0, %x4;\n" if bits else "    add.f32 %f0, %f0, %f4;\n    mov.b32 %r1, %f0;\n"
        case(f"mma_{name}_chain", CLOCK0 + mma * 16 + last + use("%r1") + CLOCK1, before=zero)


# ---- clusters ----
def clusters():
    rank = ("    mov.u32 %r0, %cluster_ctarank;\n    xor.b32 %r1, %r0, 1;\n    mapa.shared::cluster.u32 %r2, %bar, %r1;\n"
            "    mapa.shared::cluster.u32 %r3, %s, %r1;\n    mov.u32 %r7, 0;\n    mov.u64 %d0, 0;\n"
            "    setp.eq.u32 %p, %r0, 0;\n    and.pred %p, %p, %p0;\n")
    load = "    ld.shared::cluster.u32 %r4, [%r3];\n" + use("%r4")
    case("cluster_load", CLOCK0 + load + CLOCK1, before=rank, cluster=2, who="%p")
    send = {"st_4": ("    @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r7, [%r2];\n", 4),
            "st_8": ("    @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r3], %d0, [%r2];\n", 8),
            "st_16": ("    @%p0 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r3], {%r7, %r7, %r7, %r7}, "
                      "[%r2];\n", 16),
            "red_4": ("    @%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3], %r7, "
                      "[%r2];\n", 4),
            "bulk_16": ("    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%s], 16, "
                        "[%r2];\n", 16),
            "bulk_4096": ("    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%s], 4096, "
                          "[%r2];\n", 4096),
            "arrive": ("    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n", 0)}
    for name, (text, size) in send.items():
        # CTA 0 sends, CTA 1 answers: 8 round trips.
        body = "    setp.eq.u32 %q, %r0, 1;\n"
        expect = f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size};\n" if size else ""
        body += CLOCK0 + "    @%q bra OTHER;\n"
        for k in range(8):
            body += expect + text + wait(phase=str(k & 1), label=f"A{k}")
        body += "    bra DONE;\nOTHER:\n"
        for k in range(8):
            body += expect + wait(phase=str(k & 1), label=f"B{k}") + text
        body += "DONE:\n" + CLOCK1
        case(f"cluster_{name}", body, before=rank, cluster=2, who="%p")
    for lanes, kind in ((32, "u32"), (32, "v4")):
        text = ("    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5], %r7, [%r2];\n" if kind == "u32" else
                "    st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r5], {%r7, %r7, %r7, %r7}, [%r2];\n")
        size = 4 if kind == "u32" else 16
        expect = f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size * lanes};\n"
        body = "    setp.eq.u32 %q, %r0, 1;\n" + CLOCK0 + "    @%q bra OTHER;\n"
        for k in range(8):
            body += expect + text + wait(phase=str(k & 1), label=f"A{k}")
        body += "    bra DONE;\nOTHER:\n"
        for k in range(8):
            body += expect + wait(phase=str(k & 1), label=f"B{k}") + text
        body += "DONE:\n" + CLOCK1
        case(f"cluster_st_warp_{kind}", body, before=rank + f"    mad.lo.u32 %r5, %t, {size}, %r3;\n", cluster=2, who="%p")
    case("cluster_barrier", CLOCK0 + "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n" + CLOCK1,
         cluster=2)


# ---- fences, and what orders more than its own ----
ORDERS = {  # name: (text, whether it is of a cluster of two)
    "fence_cta": ("    fence.acq_rel.cta;\n", 1), "fence_cluster": ("    fence.acq_rel.cluster;\n", 1),
    "fence_gpu": ("    fence.acq_rel.gpu;\n", 1), "fence_sys": ("    fence.acq_rel.sys;\n", 1),
    "fence_proxy": ("    fence.proxy.async;\n", 1), "fence_proxy_shared": ("    fence.proxy.async.shared::cta;\n", 1),
    "fence_init": ("    fence.mbarrier_init.release.cluster;\n", 1),
    "release_there": ("    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n", 2),
    "relaxed_there": ("    @%p0 mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r2];\n", 2),
    "release_own": ("    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n", 2),
    "release_cta": ("    @%p0 mbarrier.arrive.release.cta.shared::cta.b64 %st, [%bar];\n", 2),
    "meet": ("    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n", 2),
    "meet_relaxed": ("    barrier.cluster.arrive.relaxed.aligned;\n    barrier.cluster.wait.aligned;\n", 2),
    "meet_arrive": ("    barrier.cluster.arrive.release.aligned;\n", 2),
    "red_release": ("    @%p0 red.release.gpu.global.add.u32 [%in+2048], %r7;\n", 1)}
BEFORE = {
    "": "", "after_store_shared": "    st.shared.u32 [%r8], %t;\n", "after_store": "    st.global.u32 [%a], %t;\n",
    "after_load": "    ld.global.cg.u32 %r9, [%a];\n" + use("%r9"),
    "after_store_there": "    st.shared::cluster.u32 [%r5], %t;\n",
    "after_bulk": "    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar+8], 4096;\n    @%p0 cp.async.bulk.shared::cluster.global"
                  ".mbarrier::complete_tx::bytes [%s], [%in], 4096, [%bar+8];\n" + wait(at=8, label="X")}


def orders():
    rank = ("    mov.u32 %r0, %cluster_ctarank;\n    xor.b32 %r1, %r0, {other};\n    mapa.shared::cluster.u32 %r2, %bar, %r1;\n"
            "    mapa.shared::cluster.u32 %r3, %s, %r1;\n    mapa.shared::cluster.u32 %r6, %bar, %r0;\n    mov.u32 %r7, 0;\n"
            "    setp.eq.u32 %p, %r0, 0;\n    and.pred %p, %p, %p0;\n    mad.lo.u32 %r5, %t, 4, %r3;\n    mad.lo.u32 %r8, %t, 4, %s;\n"
            "    mul.wide.u32 %a, %t, 4;\n    add.u64 %a, %a, %in;\n    mul.wide.u32 %d0, %r0, 65536;\n    add.u64 %a, %a, %d0;\n")
    meet = "    barrier.cluster.wait.aligned;\n"
    for name, (text, cluster) in ORDERS.items():
        for first, before in BEFORE.items():
            if "there" in first and cluster == 1:
                continue
            tail = meet if name == "meet_arrive" else ""
            case(f"order_{name}{'_' + first if first else ''}", before + CLOCK0 + text + CLOCK1 + tail, count=1 << 12,
                 before=rank.format(other=cluster - 1), cluster=cluster, who="%p")
    for name in ("release_there", "fence_gpu", "meet", "meet_relaxed"):
        text, cluster = ORDERS[name]
        for n in (2, 4, 8):
            case(f"order_{name}_times_{n}", CLOCK0 + text * n + CLOCK1, count=1 << 12, before=rank.format(other=cluster - 1),
                 cluster=cluster, who="%p")
        for warps in (4, 8):
            if "there" in name:
                text = text.replace("%p0", "%q")
            case(f"order_{name}_warps_{warps}", CLOCK0 + text + CLOCK1, count=1 << 12, threads=32 * warps, cluster=cluster,
                 before=rank.format(other=cluster - 1) + "    and.b32 %r1, %t, 31;\n    setp.eq.u32 %q, %r1, 0;\n", who="%p")
    # there and back, relaxed: 8 round trips
    for how in ("release", "relaxed"):
        text = f"    @%p0 mbarrier.arrive.{how}.cluster.shared::cluster.b64 _, [%r2];\n"
        for first in ("", "after_store_shared", "after_store"):
            body = "    setp.eq.u32 %q, %r0, 1;\n" + CLOCK0 + "    @%q bra OTHER;\n"
            for k in range(8):
                body += BEFORE[first] + text + wait(phase=str(k & 1), label=f"A{k}")
            body += "    bra DONE;\nOTHER:\n"
            for k in range(8):
                body += wait(phase=str(k & 1), label=f"B{k}") + BEFORE[first] + text
            case(f"order_trips_{how}{'_' + first if first else ''}", body + "DONE:\n" + CLOCK1, before=rank.format(other=1),
                 cluster=2, who="%p")
    # how far CTAs of a cluster are: eight loads, each of which needs the one before
    for size in (2, 4, 8):
        for other in range(1, size):
            body = CLOCK0 + "    ld.shared::cluster.u32 %r4, [%r3];\n    add.u32 %r3, %r3, %r4;\n" * 8 + use("%r3") + CLOCK1
            case(f"held_far_load_{size}_{other}", "    mov.u32 %r4, 0;\n    st.shared.u32 [%s], %r4;\n    barrier.cluster.arrive.aligned;\n"
                 "    barrier.cluster.wait.aligned;\n" + body, before=rank.format(other=other), cluster=size, who="%p")
    # a load's steps in the kernel's way: other lanes', several in a row, of both
    for n in (1, 2, 4, 16, 48):
        body = CLOCK0 + "".join(f"    ld.shared::cluster.f32 %f{k}, [%r5+{128 * (k % 32)}];\n" for k in range(n))
        body += "".join(f"    add.f32 %f0, %f0, %f{k};\n" for k in range(1, n)) + "    mov.b32 %r9, %f0;\n" + use("%r9")
        for warps in (1, 4):
            case(f"held_far_loads_{n}_warps_{warps}", body + CLOCK1, threads=32 * warps, before=rank.format(other=1), cluster=2, who="%p")
        case(f"held_far_loads_{n}_one", body.replace("%r5", "%r3") + CLOCK1, before=rank.format(other=1), cluster=2, who="%p")
        case(f"held_far_loads_{n}_own", body.replace("%r5", "%r6") + CLOCK1, before=rank.format(other=1), cluster=2, who="%p")


def clears():
    """A fence behind what the same warp or another one has done since the fence before."""
    what = {"nothing": "", "store_shared": "    @%q st.shared.u32 [%r8+256], %t;\n",
            "load": "    @%q ld.global.cg.u32 %r9, [%a];\n    @%q st.shared.u32 [%r8+256], %r9;\n",
            "load_hits": "    @%q ld.global.ca.u32 %r9, [%a];\n    @%q st.shared.u32 [%r8+256], %r9;\n",
            "store": "    @%q st.global.u32 [%a], %t;\n", "add": "    @%q red.global.add.u32 [%a], %t;\n",
            "copies": "    @%q cp.async.cg.shared.global [%r8+1024], [%a], 16;\n    cp.async.wait_all;\n"}
    what["loads_8"] = "".join(f"    @%q ld.global.cg.u32 %x{k}, [%a+{4096 * k}];\n" for k in range(8)) + \
        "".join(f"    @%q st.shared.u32 [%r8+256], %x{k};\n" for k in range(8))
    what["stores_8"] = "".join(f"    @%q st.global.u32 [%a+{4096 * k}], %t;\n" for k in range(8))
    for size in (16, 1024, 4096, 8192, 16384, 32768):
        what[f"bulk_{size}"] = (f"    @%p mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size};\n    @%p cp.async.bulk.shared::cluster.global"
                                f".mbarrier::complete_tx::bytes [%s], [%in], {size}, [%bar];\n" + wait())
    what["box"] = ("    @%p mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], 8192;\n    @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                   ".mbarrier::complete_tx::bytes [%s], [%map, {%r63, %r63}], [%bar];\n" + wait())
    what["out"] = ("    @%p cp.async.bulk.global.shared::cta.bulk_group [%in], [%s], 4096;\n    cp.async.bulk.commit_group;\n"
                   "    cp.async.bulk.wait_group 0;\n")
    for name, text in what.items():
        for warp in (0, 1):
            for late in (0, 1):
                if late and name not in ("load", "store", "bulk_4096"):
                    continue
                body = ("    fence.acq_rel.gpu;\n    setp.eq.u32 %q, %w, " + str(warp) + ";\n    bar.sync 0;\n" + text +
                        ("    nanosleep.u32 3000;\n" if late else "") + "    bar.sync 0;\n" + CLOCK0 + "    fence.acq_rel.gpu;\n" + CLOCK1)
                body = body.replace("mbarrier.try_wait.parity.shared.b64 %q,", "mbarrier.try_wait.parity.shared.b64 %last,").replace("@!%q bra", "@!%last bra")
                case(f"clear_{name}_{'other' if warp else 'same'}{'_late' if late else ''}", body, threads=64,
                     tensor="r2_64x64_w128" if name == "box" else "",
                     before=f"    mov.u32 %r63, 0;\n    setp.eq.u32 %p, %t, {32 * warp};\n    mad.lo.u32 %r8, %t, 16, %s;\n    mul.wide.u32 %a, %t, 16;\n"
                     "    add.u64 %a, %a, %in;\n")
    for grid in (16, 66, 132, 264):
        case(f"clear_ctas_{grid}", "    fence.acq_rel.gpu;\n    bar.sync 0;\n" + CLOCK0 + "    fence.acq_rel.gpu;\n" + CLOCK1, threads=128, grid=grid)
    # in the way of a product that shares its tiles: boxes come, four warps release them, 16 times
    for how in ("release", "relaxed"):
        body = CLOCK0 + "    setp.ge.u32 %q, %t, 128;\n    @%q bra FETCH;\n"
        for k in range(16):
            at = k % 2
            body += wait(at=8 * at, phase=str(k // 2 & 1), label=f"A{k}")
            body += f"    @%p mbarrier.arrive.{how}.cluster.shared::cluster.b64 _, [%r6+{32 + 8 * at}];\n"
            body += f"    @%p mbarrier.arrive.{how}.cluster.shared::cluster.b64 _, [%r2+{32 + 8 * at}];\n"
        body += "    bra DONE;\nFETCH:\n    setp.ne.u32 %q, %t, 128;\n    @%q bra DONE;\n"
        for k in range(16):
            at = k % 2
            if k >= 2:
                body += wait(at=32 + 8 * at, phase=str(k // 2 - 1 & 1), label=f"B{k}")
            body += f"    mbarrier.arrive.expect_tx.shared.b64 %st, [%bar+{8 * at}], 8192;\n"
            body += ("    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     f"[%s+{at * 8192}], [%map, {{%r63, %r63}}], [%bar+{8 * at}];\n")
        body += "DONE:\n" + CLOCK1
        case(f"clear_ring_{how}", "    @%p0 mbarrier.inval.shared.b64 [%bar];\n    @%p0 mbarrier.inval.shared.b64 [%bar+8];\n    @%p0 mbarrier.inval.shared.b64 [%bar+32];\n"
             "    @%p0 mbarrier.inval.shared.b64 [%bar+40];\n    @%p0 mbarrier.init.shared.b64 [%bar], 1;\n    @%p0 mbarrier.init.shared.b64 [%bar+8], 1;\n"
             "    @%p0 mbarrier.init.shared.b64 [%bar+32], 8;\n    @%p0 mbarrier.init.shared.b64 [%bar+40], 8;\n    fence.mbarrier_init.release.cluster;\n"
             "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n" + body, threads=160, cluster=2, tensor="r2_64x64_w128",
             before="    mov.u32 %r63, 0;\n    mov.u32 %r0, %cluster_ctarank;\n    xor.b32 %r1, %r0, 1;\n    mapa.shared::cluster.u32 %r2, %bar, %r1;\n"
             "    mapa.shared::cluster.u32 %r6, %bar, %r0;\n    and.b32 %r9, %t, 31;\n    setp.eq.u32 %p, %r9, 0;\n")


# ---- wgmma ----
def products():
    desc = ("    shr.u32 %r0, %s, 4;\n    and.b32 %r0, %r0, 16383;\n    cvt.u64.u32 %d0, %r0;\n"
            "    or.b64 %d0, %d0, 0x4000004000010000;\n")
    for n in (8, 16, 32, 64, 128, 192, 256):
        for types, k in (("f32.f16.f16", 16), ("f32.tf32.tf32", 8), ("f32.e4m3.e4m3", 32)):
            for count in (1, 4, 16):
                if types != "f32.f16.f16" and (count == 4 or n not in (8, 64, 256)):
                    continue
                names = braces("%f", 0, n // 2)
                tail = ", 1, 1, 0, 0" if "f16.f16" in types else ", 1, 1"
                one = (f"    wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {names}, %d0, %d0, %p{tail};\n")
                body = (CLOCK0 + "    wgmma.fence.sync.aligned;\n" + one * count +
                        "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n" + CLOCK1)
                zero = "".join(f"    mov.b32 %f{j}, 0f00000000;\n" for j in range(n // 2))
                keep = "".join(f"    add.f32 %f0, %f0, %f{j};\n" for j in range(1, n // 2))
                short = types.split(".")[1]
                case(f"wgmma_n{n}_{short}_{count}", body + keep + "    mov.b32 %r1, %f0;\n" + use("%r1"),
                     before=desc + zero + "    setp.ne.u32 %p, %s, 0;\n", threads=128)
                if count == 16 and n in (64, 256) and k == 16:
                    case(f"wgmma_n{n}_{short}_{count}_groups_2", body + keep + "    mov.b32 %r1, %f0;\n" + use("%r1"),
                         before=desc + zero + "    setp.ne.u32 %p, %s, 0;\n", threads=256)


# ---- held out: shapes, sizes and counts that no parameter of the model was set by; their names begin with held_ ----
def held_copies():
    for cop, size, n in (("ca", 4, 2), ("ca", 8, 8), ("ca", 16, 2), ("cg", 16, 2), ("cg", 16, 8), ("cg", 16, 12)):
        body = CLOCK0
        for k in range(n):
            body += f"    cp.async.{cop}.shared.global [%r0+{k * size * 32}], [%a+{k * size * 32}], {size};\n"
        case(f"held_copy_{cop}_{size}_{n}", body + "    cp.async.wait_all;\n" + CLOCK1,
             before=f"    mul.wide.u32 %a, %t, {size};\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, {size}, %s;\n")
    for warps, n in ((2, 2), (2, 8), (3, 4), (16, 1), (16, 2)):
        body = CLOCK0
        for k in range(n):
            step = k * 16 * 32 * warps
            body += f"    cp.async.cg.shared.global [%r0+{step}], [%a+{step}], 16;\n"
        body += "    cp.async.commit_group;\n    cp.async.wait_group 0;\n    bar.sync 0;\n" + CLOCK1
        case(f"held_copy_cg_16_{n}_warps_{warps}", body, threads=32 * warps,
             before="    mul.wide.u32 %a, %t, 16;\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, 16, %s;\n")
    # every lane its own row of a matrix of 1024 bytes a row, as tiles are fetched: 4 lanes a row
    for warps in (1, 4):
        body = CLOCK0 + "".join(f"    cp.async.cg.shared.global [%r0+{k * 512 * warps}], [%a+{k * 8192 * warps}], 16;\n"
                                for k in range(4))
        body += "    cp.async.commit_group;\n    cp.async.wait_group 0;\n    bar.sync 0;\n" + CLOCK1
        case(f"held_copy_tile_warps_{warps}", body, threads=32 * warps,
             before="    shr.u32 %r1, %t, 2;\n    mul.wide.u32 %a, %r1, 1024;\n    add.u64 %a, %a, %in;\n"
             "    and.b32 %r1, %t, 3;\n    mul.wide.u32 %d0, %r1, 16;\n    add.u64 %a, %a, %d0;\n"
             "    mad.lo.u32 %r0, %t, 16, %s;\n")
    # a ring of groups: one is fetched while the one before is waited for
    for stages in (2, 3, 4):
        body = CLOCK0
        for k in range(12):
            body += f"    cp.async.cg.shared.global [%r0+{k % stages * 2048}], [%a+{k * 2048}], 16;\n    cp.async.commit_group;\n"
            if k >= stages - 1:
                body += f"    cp.async.wait_group {stages - 1};\n    bar.sync 0;\n"
        body += "    cp.async.wait_group 0;\n    bar.sync 0;\n" + CLOCK1
        case(f"held_copy_ring_{stages}", body, threads=128,
             before="    mul.wide.u32 %a, %t, 16;\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, 16, %s;\n")
    for n in (1, 3):
        body = CLOCK0
        for k in range(n):
            body += f"    cp.async.cg.shared.global [%r0+{k * 512}], [%a+{k * 512}], 16;\n"
        body += "    cp.async.mbarrier.arrive.noinc.shared.b64 [%bar];\n" + wait() + CLOCK1
        case(f"held_copy_barrier_{n}", body, count=32,
             before="    mul.wide.u32 %a, %t, 16;\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, 16, %s;\n")
        body = body.replace(CLOCK0, "").replace("    cp.async.mbarrier", CLOCK0 + "    cp.async.mbarrier").replace(CLOCK1, "")
        case(f"held_copy_barrier_issue_{n}", body.replace("[%bar];\n", "[%bar];\n" + CLOCK1, 1), count=32,
             before="    mul.wide.u32 %a, %t, 16;\n    add.u64 %a, %a, %in;\n    mad.lo.u32 %r0, %t, 16, %s;\n")


def held_bulk():
    copy = ("    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%s+{to}], [%in+{at}], {size}, [%bar];\n")

    def body_of(size, n):
        text = CLOCK0 + f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size * n};\n"
        return text + "".join(copy.format(to=k * size, at=k * size, size=size) for k in range(n))
    for size, n in ((32, 3), (128, 4), (512, 1), (512, 3), (512, 6), (1536, 2), (3072, 1), (3072, 3), (6144, 1), (6144, 3),
                    (12288, 1), (12288, 2), (24576, 1), (24576, 2), (49152, 1)):
        case(f"held_bulk_{size}_{n}", body_of(size, n) + wait() + CLOCK1)
    case("held_bulk_issue_512_6", body_of(512, 6) + CLOCK1 + wait())
    for grid, size in ((33, 8192), (99, 8192), (99, 16384), (132, 2048), (132, 16384), (264, 8192)):
        case(f"held_bulk_{size}_1_ctas_{grid}", body_of(size, 1) + wait() + CLOCK1, grid=grid,
             before=f"    mov.u32 %r0, %ctaid.x;\n    mul.wide.u32 %a, %r0, {size};\n    add.u64 %in, %in, %a;\n")
    for n, size in ((8, 512), (16, 128), (32, 1024)):
        body = (CLOCK0 + "    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], " + str(n * size) + ";\n"
                "    bar.warp.sync -1;\n    @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                f"[%r0], [%a], {size}, [%bar];\n")
        case(f"held_bulk_{size}_lanes_{n}", body + wait() + CLOCK1,
             before=f"    setp.lt.u32 %p, %t, {n};\n    mul.wide.u32 %a, %t, {size};\n    add.u64 %a, %a, %in;\n"
             f"    mad.lo.u32 %r0, %t, {size}, %s;\n")
    for size in (64, 512, 2048, 8192, 32768):
        body = CLOCK0 + f"    @%p0 cp.async.bulk.global.shared::cta.bulk_group [%in], [%s], {size};\n"
        case(f"held_bulk_out_{size}", body + "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n" + CLOCK1)
    for kind, size in (("add.s32", 256), ("add.s32", 2048), ("add.noftz.f16", 1024), ("min.u64", 1024)):
        body = CLOCK0 + f"    @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.{kind} [%in], [%s], {size};\n"
        case(f"held_bulk_{kind.replace('.', '_')}_{size}",
             body + "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n" + CLOCK1)


def held_tensors():
    boxes = {"r1_128": (1, 256), "r2_32x64": (2, 4096), "r2_64x32_w128": (2, 4096), "r2_128x64": (2, 16384),
             "r2_16x32_w32": (2, 1024), "r2_32x128_w64": (2, 8192), "r2_8x16": (2, 256), "r3_32x8x8": (3, 4096),
             "r3_64x8x4_w128": (3, 4096), "r4_16x8x4x4": (4, 4096), "r5_16x4x2x2x2": (5, 1024)}
    for name, (rank, size) in boxes.items():
        at = ", ".join(["%r63"] * rank)
        for n in (1, 3):
            body = CLOCK0 + f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {size * n};\n"
            for k in range(n):
                body += (f"    @%p0 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile"
                         f".mbarrier::complete_tx::bytes [%s+{k * size}], [%map, {{{at}}}], [%bar];\n")
            case(f"held_tensor_{name}_{n}", body + wait() + CLOCK1, before="    mov.u32 %r63, 0;\n", tensor=name)
    for name in ("r2_32x64_w64", "r2_64x128_w128"):
        body = (CLOCK0 + "    @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%r63, %r63}], [%s];\n"
                "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n" + CLOCK1)
        case(f"held_tensor_out_{name}", body, before="    mov.u32 %r63, 0;\n", tensor=name)
    # all SMs fetch a box: the same one
    body = (CLOCK0 + "    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], 8192;\n"
            "    @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], "
            "[%map, {%r63, %r63}], [%bar];\n")
    case("held_tensor_r2_64x64_w128_ctas_132", body + wait() + CLOCK1, before="    mov.u32 %r63, 0;\n", grid=132,
         tensor="r2_64x64_w128")


def held_barriers():
    arrive = "    mbarrier.arrive.shared.b64 %st, [%bar];\n"
    for warps in (3, 6, 12):
        case(f"held_barrier_warps_{warps}", CLOCK0 + arrive + wait() + CLOCK1, threads=32 * warps, count=32 * warps)
        case(f"held_bar_sync_{warps}", CLOCK0 + "    bar.sync 0;\n" + CLOCK1, threads=32 * warps)
    case("held_bar_sync_4_twice", CLOCK0 + "    bar.sync 0;\n" * 8 + CLOCK1, threads=128)
    # a token goes round four warps, eight times
    body = "    setp.ne.u32 %q, %w, 0;\n" + CLOCK0 + "    @%q bra OTHER;\n"
    pass_on = "    @%p mbarrier.arrive.shared.b64 %st, [%r2];\n"
    for k in range(8):
        body += pass_on + wait(bar="%r1", phase=str(k & 1), label=f"A{k}")
    body += "    bra DONE;\nOTHER:\n"
    for k in range(8):
        body += wait(bar="%r1", phase=str(k & 1), label=f"B{k}") + pass_on
    case("held_token_4", body + "DONE:\n" + CLOCK1, threads=128,
         before="    and.b32 %r0, %t, 31;\n    setp.eq.u32 %p, %r0, 0;\n    mad.lo.u32 %r1, %w, 8, %bar;\n"
         "    add.u32 %r2, %w, 1;\n    and.b32 %r2, %r2, 3;\n    mad.lo.u32 %r2, %r2, 8, %bar;\n")


def held_matrices():
    for x, stride, n, warps, trans in ((1, 32, 4, 1, ""), (2, 144, 4, 2, ""), (4, 144, 8, 1, ""), (4, 144, 8, 4, ""),
                                       (4, 144, 4, 8, ".trans"), (4, 64, 4, 2, ""), (2, 32, 8, 3, ".trans")):
        ldmatrix_chain("held_ldmatrix", x, stride, n, warps, trans)
    for x, n, warps in ((2, 4, 1), (4, 4, 1), (4, 4, 4)):
        body = "".join(f"    mov.u32 %r{k}, %t;\n" for k in (1, 2, 3, 4)) + CLOCK0
        body += "".join(f"    stmatrix.sync.aligned.m8n8.x{x}.shared.b16 [%r0+{k * 16}], {braces('%r', 1, x)};\n" for k in range(n))
        case(f"held_stmatrix_x{x}_{n}_warps_{warps}", body + "    ld.volatile.shared.u32 %r5, [%r0];\n" + use("%r5") + CLOCK1,
             threads=32 * warps, before=MATRIX_ROW.format(stride=144))
    for name, mnk, types, d, a, b in (
            ("f16", "m16n8k16", "f32.f16.f16.f32", 4, 4, 2), ("f16k8", "m16n8k8", "f32.f16.f16.f32", 4, 2, 1),
            ("tf32", "m16n8k8", "f32.tf32.tf32.f32", 4, 4, 2), ("s8", "m16n8k32", "s32.s8.s8.s32", 4, 4, 2),
            ("e4m3", "m16n8k32", "f32.e4m3.e4m3.f32", 4, 4, 2), ("f64", "m8n8k4", "f64.f64.f64.f64", 2, 1, 1)):
        wide, bits = name == "f64", name == "s8"
        reg = "%g" if wide else "%x" if bits else "%f"
        zero = "".join(f"    mov.u32 %r{k}, 0;\n" for k in list(range(10, 14)) + [20, 21])
        zero += "".join(f"    mov.b64 %g{k}, 0d0000000000000000;\n" if wide else f"    mov.b32 {reg}{k}, %r10;\n"
                        for k in range(16))
        for chains, warps in ((1, 1), (2, 1), (4, 1), (4, 4), (4, 8)):
            body = CLOCK0
            for k in range(8):
                for c in range(chains):
                    body += product(mnk, types, braces(reg, c * d, d), braces("%g", 12, a) if wide else braces("%r", 10, a),
                                    braces("%g", 14, b) if wide else braces("%r", 20, b))
            for c in range(1, chains):
                body += (f"    add.f64 %g0, %g0, %g{c * d};\n" if wide else f"    xor.b32 %x0, %x0, %x{c * d};\n" if bits
                         else f"    add.f32 %f0, %f0, %f{c * d};\n")
            last = "    cvt.rzi.u32.f64 %r1, %g0;\n" if wide else "    mov.b32 %r1, %x0;\n" if bits else \
                "    mov.b32 %r1, %f0;\n"
            case(f"held_mma_{name}_chains_{chains}_warps_{warps}", body + last + use("%r1") + CLOCK1, before=zero,
                 threads=32 * warps)
    # fragments through memory
    for name, kind, ld in (("a.sync.aligned.row", "f16", 40), ("b.sync.aligned.row", "f16", 72), ("b.sync.aligned.col", "f16", 72),
                           ("c.sync.aligned.row", "f32", 68)):
        reg = "%f" if kind == "f32" else "%x"
        for space, at in (("shared", "%s"), ("global", "%in")):
            for n in (1, 4):
                body = CLOCK0
                for k in range(n):
                    names = braces(reg, k * 8, 8)
                    body += f"    wmma.load.{name}.m16n16k16.{space}.{kind} {names}, [{at}+{k * 2048}], {ld};\n"
                last = "    add.f32 %f0, %f0, %f{};\n" if kind == "f32" else "    xor.b32 %x0, %x0, %x{};\n"
                body += "".join(last.format(k) for k in range(1, n * 8))
                body += ("    mov.b32 %x0, %f0;\n" if kind == "f32" else "") + use("%x0")
                case(f"held_wmma_{name[0]}_{name[-3:]}_{space}_{n}", body + CLOCK1)
    for space, at in (("shared", "%s"), ("global", "%in")):
        names = braces("%f", 0, 8)
        body = "".join(f"    mov.f32 %f{j}, 0f00000000;\n" for j in range(8)) + CLOCK0
        for k in range(4):
            body += f"    wmma.store.d.sync.aligned.row.m16n16k16.{space}.f32 [{at}+{k * 1024}], {names}, 68;\n"
        body += f"    ld.volatile.{space}.u32 %r5, [{at}];\n" + use("%r5")
        case(f"held_wmma_store_{space}_4", body + CLOCK1)


def held_clusters():
    rank = ("    mov.u32 %r0, %cluster_ctarank;\n    xor.b32 %r1, %r0, {other};\n    mapa.shared::cluster.u32 %r2, %bar, %r1;\n"
            "    mapa.shared::cluster.u32 %r3, %s, %r1;\n    mov.u32 %r7, 0;\n    setp.eq.u32 %p, %r0, 0;\n"
            "    and.pred %p, %p, %p0;\n    mad.lo.u32 %r5, %t, 4, %r3;\n")
    for size, other in ((4, 3), (8, 7), (8, 1)):
        case(f"held_cluster_load_{size}_{other}", CLOCK0 + "    ld.shared::cluster.u32 %r4, [%r3];\n" + use("%r4") + CLOCK1,
             before=rank.format(other=other), cluster=size, who="%p")
    for n, vec in ((8, 1), (8, 4)):
        names = [", ".join(f"%x{k * vec + j}" for j in range(vec)) for k in range(n)]
        body = CLOCK0 + "".join(f"    ld.shared::cluster.{'v4.' if vec == 4 else ''}u32 {{{v}}}, [%r5+{k * 512}];\n" if vec == 4
                                else f"    ld.shared::cluster.u32 {v}, [%r5+{k * 128}];\n" for k, v in enumerate(names))
        body += "".join(f"    xor.b32 %x0, %x0, %x{k};\n" for k in range(1, n * vec)) + use("%x0")
        before = rank.format(other=1).replace("%t, 4, %r3", f"%t, {4 * vec}, %r3")
        case(f"held_cluster_loads_{n}_v{vec}", body + CLOCK1, before=before, cluster=2, who="%p")
        case(f"held_cluster_loads_{n}_v{vec}_warps_8", body + CLOCK1, before=before, cluster=2, who="%p", threads=256)
    for name, text in (("atom", "    atom.shared::cluster.add.u32 %r4, [%r5], %r7;\n"),
                       ("atom_one", "    atom.shared::cluster.add.u32 %r4, [%r3], %r7;\n")):
        case(f"held_cluster_{name}", CLOCK0 + text + use("%r4") + CLOCK1, before=rank.format(other=1), cluster=2, who="%p")
    for size in (4, 8):
        case(f"held_cluster_barrier_{size}", CLOCK0 + "    barrier.cluster.arrive.aligned;\n"
             "    barrier.cluster.wait.aligned;\n" + CLOCK1, cluster=size)
    case("held_cluster_barrier_2_warps_8", CLOCK0 + "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n" +
         CLOCK1, cluster=2, threads=256)
    for n in (1024, 16384):
        text = (f"    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%s], {n}, [%r2];\n")
        expect = f"    @%p0 mbarrier.arrive.expect_tx.shared.b64 %st, [%bar], {n};\n"
        body = "    setp.eq.u32 %q, %r0, 1;\n" + CLOCK0 + "    @%q bra OTHER;\n"
        for k in range(8):
            body += expect + text + wait(phase=str(k & 1), label=f"A{k}")
        body += "    bra DONE;\nOTHER:\n"
        for k in range(8):
            body += expect + wait(phase=str(k & 1), label=f"B{k}") + text
        case(f"held_cluster_bulk_{n}", body + "DONE:\n" + CLOCK1, before=rank.format(other=1), cluster=2, who="%p")


def held_products():
    desc = ("    shr.u32 %r0, %s, 4;\n    and.b32 %r0, %r0, 16383;\n    cvt.u64.u32 %d0, %r0;\n"
            "    or.b64 %d0, %d0, 0x4000004000010000;\n")
    for n, types, k, count, groups, where in (
            (24, "f32.f16.f16", 16, 2, 1, "s"), (48, "f32.f16.f16", 16, 8, 1, "s"), (96, "f32.f16.f16", 16, 8, 1, "s"),
            (160, "f32.f16.f16", 16, 3, 1, "s"), (224, "f32.f16.f16", 16, 8, 1, "s"), (64, "f32.f16.f16", 16, 8, 1, "r"),
            (128, "f32.f16.f16", 16, 4, 1, "r"), (256, "f32.f16.f16", 16, 2, 1, "r"), (128, "f32.bf16.bf16", 16, 8, 1, "s"),
            (128, "f32.e5m2.e5m2", 32, 8, 1, "s"), (128, "f32.tf32.tf32", 8, 8, 1, "s"), (32, "f32.f16.f16", 16, 8, 2, "s"),
            (128, "f32.f16.f16", 16, 8, 2, "s"), (64, "f32.f16.f16", 16, 8, 3, "s"), (96, "f32.f16.f16", 16, 4, 4, "s")):
        names = braces("%f", 0, n // 2)
        half = "f16" in types
        tail = (", 1, 1, 0, 0" if where == "s" else ", 1, 1, 0") if half else ", 1, 1"
        a = "%d0" if where == "s" else "{%r10, %r11, %r12, %r13}"
        one = f"    wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {names}, {a}, %d0, %p{tail};\n"
        body = (CLOCK0 + "    wgmma.fence.sync.aligned;\n" + one * count +
                "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n" + CLOCK1)
        zero = "".join(f"    mov.b32 %f{j}, 0f00000000;\n" for j in range(n // 2))
        zero += "".join(f"    mov.u32 %r{j}, 0;\n" for j in range(10, 14))
        keep = "".join(f"    add.f32 %f0, %f0, %f{j};\n" for j in range(1, n // 2)) + "    mov.b32 %r1, %f0;\n" + use("%r1")
        case(f"held_wgmma_n{n}_{types.split('.')[1]}_{count}_{where}_groups_{groups}", body + keep,
             before=desc + zero + "    setp.ne.u32 %p, %s, 0;\n", threads=128 * groups)


def held_rings():
    """A warp fetches boxes of 64 x 64, four multiply: as matrix products do."""
    for stages, n in ((2, 8), (3, 12)):
        body = CLOCK0 + "    setp.ge.u32 %q, %t, 128;\n    @%q bra FETCH;\n"
        for k in range(n):
            at = k % stages
            body += wait(at=8 * at, phase=str(k // stages & 1), label=f"A{k}")
            body += f"    add.u64 %d1, %d0, {at * 512};\n    wgmma.fence.sync.aligned;\n"
            names = braces("%f", 0, 32)
            body += 4 * (f"    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {names}, %d1, %d1, %p, 1, 1, 0, 0;\n")
            body += "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
            body += f"    @%p0 mbarrier.arrive.shared.b64 %st, [%bar+{32 + 8 * at}];\n"
        body += "    bra DONE;\nFETCH:\n    setp.ne.u32 %q, %t, 128;\n    @%q bra DONE;\n"
        for k in range(n):
            at = k % stages
            if k >= stages:
                body += wait(at=32 + 8 * at, phase=str(k // stages - 1 & 1), label=f"B{k}")
            body += f"    mbarrier.arrive.expect_tx.shared.b64 %st, [%bar+{8 * at}], 8192;\n"
            body += ("    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     f"[%s+{at * 8192}], [%map, {{%r63, %r63}}], [%bar+{8 * at}];\n")
        body += "DONE:\n    bar.sync 0;\n" + CLOCK1
        keep = "".join(f"    add.f32 %f0, %f0, %f{j};\n" for j in range(1, 32)) + "    mov.b32 %r1, %f0;\n" + use("%r1")
        case(f"held_ring_{stages}_{n}", body + keep, threads=160, tensor="r2_64x64_w128",
             before="    mov.u32 %r63, 0;\n    shr.u32 %r0, %s, 4;\n    and.b32 %r0, %r0, 16383;\n"
             "    cvt.u64.u32 %d0, %r0;\n    or.b64 %d0, %d0, 0x4000004000010000;\n" +
             "".join(f"    mov.b32 %f{j}, 0f00000000;\n" for j in range(32)) +
             "    setp.ne.u32 %p, %s, 0;\n")


copies()
bulk()
tensors()
barriers()
matrices()
clusters()
orders()
clears()
products()
held_copies()
held_bulk()
held_tensors()
held_barriers()
held_matrices()
held_clusters()
held_products()
held_rings()
with open("time.ptx", "w", encoding="ascii") as f:
    f.write(HEAD + "\n".join(line for line in lines if line) + "\n")
with open("time_cases.inc", "w", encoding="ascii") as f:
    f.write("/* time.py writes it: CASE(name, threads, shared, cluster, grid, tensor). */\n")
    for c in cases:
        f.write('CASE("%s", %d, %d, %d, %d, "%s")\n' % c)
print(len(cases), "cases")

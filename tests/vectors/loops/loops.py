#!/usr/bin/env python3
"""loops.py: writes loops.ptx, loops of a warp between two clocks, whose shape the vendor's assembler keeps.

Each goes round twice, so that its code has been fetched; the cycles of the second time are at the end of the buffer
`out`. `a` is 1, so that the chain of `%x` counts up; `turns` is how often a loop goes round.

    count    so many multiply-adds that wait for each other; a counter decides
    last     the same; a comparison of the last result decides
    guard    a comparison of the last result guards one more
    select   it selects
    jump     eight taken branches, each over so many instructions
    fall     eight branches that are not taken
"""
import os
import struct

HEAD = """// Written by loops.py: loops of a warp between two clocks.
.version 7.8
.target sm_50
.address_size 64
"""
ENTRY = """
.visible .entry {name}(.param .u64 out, .param .u32 turns, .param .f32 a, .param .u32 zero)
{{
    .reg .pred %p, %q, %yes, %no;
    .reg .b32 %turns, %left, %before, %after, %again, %zero;
    .reg .f32 %x, %a, %limit;
    .reg .b64 %out;
    .shared .b32 word;
    ld.param.u64 %out, [out];
    cvta.to.global.u64 %out, %out;
    ld.param.u32 %turns, [turns];
    ld.param.f32 %a, [a];
    ld.param.u32 %zero, [zero];
    setp.eq.u32 %yes, %zero, 0;
    setp.ne.u32 %no, %zero, 0;
    mov.u32 %again, 2;
AGAIN:
    mov.u32 %left, %turns;
    mov.f32 %x, %a;
    cvt.rn.f32.u32 %limit, %turns;
    mul.f32 %limit, %limit, {chain};
    mov.u32 %before, %clock;
LOOP:
    .pragma "nounroll";
{body}
    @%p bra LOOP;
    mov.u32 %after, %clock;
    sub.u32 %again, %again, 1;
    setp.ne.u32 %q, %again, 0;
    @%q bra AGAIN;
    sub.u32 %after, %after, %before;
    st.global.u32 [%out], %after;
    st.global.f32 [%out+4], %x;
    ret;
}}
"""
ADD = "    fma.rn.f32 %x, %a, %a, %x;\n"
TURN = "    sub.u32 %left, %left, 1;\n    setp.ne.u32 %p, %left, 0;"
STORE = "    st.volatile.shared.u32 [word], %zero;\n"


def branches(predicate, over):
    skipped = "    bar.warp.sync 0xffffffff;\n" + STORE * (over - 1)
    return "".join(f"    @{predicate} bra OVER{i};\n{skipped}OVER{i}:\n{ADD}" for i in range(8))


def bodies():
    for k in (4, 8, 16, 32):
        yield f"count_{k}", k, ADD * k + TURN
        yield f"last_{k}", k, ADD * k + "    sub.u32 %left, %left, 1;\n    setp.lt.f32 %p, %x, %limit;"
        yield f"guard_{k}", k, ADD * k + f"    setp.gt.f32 %q, %x, %a;\n    @%q{ADD}" + TURN
        yield f"select_{k}", k, ADD * k + "    setp.lt.f32 %q, %x, %a;\n    selp.f32 %x, %a, %x, %q;\n" + TURN
    for over in (1, 8, 64):
        yield f"jump_{over}", 8, branches("%yes", over) + TURN
    yield "fall", 8, branches("%no", 1) + TURN


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "loops.ptx"), "w", encoding="ascii") as out:
        out.write(HEAD)
        for name, chain, body in bodies():
            out.write(ENTRY.format(name=name, chain=f"0f{struct.pack('>f', chain).hex()}", body=body))


main()

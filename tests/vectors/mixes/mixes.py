#!/usr/bin/env python3
"""mixes.py: writes mixes.ptx, instructions of several kinds in turn, by 32 warps of one SM between two clocks.

A kernel's name says which kinds, in their order, until 48 are in a turn of its loop:

    a  add of f32           f  multiply-add of f32      l  logic, three inputs     s  funnel shift
    m  multiply-add of u32  w  wide product and logic   g  load of global memory   d  load of shared memory
    u  ex2                  c  count of bits

Each kind has six chains, so that a warp's next one of the kind does not wait. A load of global memory is one of the word whose
index the chain's load before gave; memory is all 0. The loop runs twice, so that its code has been fetched; the cycles of the second time are at
the end of the buffer `out`, which has a word a thread behind.
"""
import os

KINDS = ("a f s l m g d u c "
         "as al am lm sm af ga gga gl gm gs gd gu wa waa wl ws wm wg wga fs fl fm ud ad ld md ua aas lla gaas fgas").split()
TURN = 48
CHAINS = 6
CODE = {
    "a": "add.rn.f32 %f{k}, %f{k}, %fa;",
    "f": "fma.rn.f32 %f{k}, %f{k}, %fa, %fb;",
    "l": "lop3.b32 %u{k}, %u{k}, %ua, %ub, 0x96;",
    "s": "shf.l.wrap.b32 %u{k}, %u{k}, %ua, %ub;",
    "m": "mad.lo.u32 %m{k}, %m{k}, %ua, %ub;",
    "w": "mul.wide.u32 %x{i}, %w{k}, %ua; mov.b64 {{%v{i}, %h{i}}}, %x{i}; lop3.b32 %w{k}, %v{i}, %h{i}, %ub, 0x96;",
    "g": "mul.wide.s32 %x{i}, %g{k}, 4; add.s64 %y{i}, %x{i}, %near; ld.global.ca.u32 %g{k}, [%y{i}];",
    "d": "ld.shared.u32 %d{k}, [%d{k}];",
    "u": "ex2.approx.ftz.f32 %e{k}, %e{k};",
    "c": "popc.b32 %c{k}, %c{k};",
}
HEAD = """// Written by mixes.py: instructions of several kinds in turn.
.version 7.8
.target sm_50
.address_size 64
"""
ENTRY = """
.visible .entry {name}(.param .u64 out, .param .u32 turns)
{{
    .reg .pred %p;
    .reg .b32 %thread, %turns, %left, %before, %after, %again, %v, %h, %ua, %ub;
    .reg .b32 %u<6>, %m<6>, %w<6>, %g<6>, %d<6>, %c<6>;
    .reg .f32 %f<6>, %e<6>, %fa, %fb;
    .reg .b32 %v<48>, %h<48>;
    .reg .b64 %out, %near, %q, %x<48>, %y<48>;
    .shared .b32 words[6144];
    ld.param.u64 %near, [out];
    cvta.to.global.u64 %near, %near;
    ld.param.u32 %turns, [turns];
    mov.u32 %thread, %tid.x;
    mul.wide.u32 %q, %thread, 4;
    add.s64 %out, %near, %q;
    ld.global.u32 %ua, [%out];
    ld.global.u32 %ub, [%out+4];
    ld.global.f32 %fa, [%out+8];
    ld.global.f32 %fb, [%out+12];
    cvt.u64.u32 %q, %ua;
    add.s64 %near, %near, %q;
{begin}
    bar.sync 0;
    mov.u32 %again, 2;
AGAIN:
    mov.u32 %left, %turns;
    bar.sync 0;
    mov.u32 %before, %clock;
LOOP:
    .pragma "nounroll";
{body}
    sub.u32 %left, %left, 1;
    setp.ne.u32 %p, %left, 0;
    @%p bra LOOP;
    bar.sync 0;
    mov.u32 %after, %clock;
    sub.u32 %again, %again, 1;
    setp.ne.u32 %p, %again, 0;
    @%p bra AGAIN;
    sub.u32 %after, %after, %before;
{end}
    st.global.u32 [%out+4096], %v;
    setp.ne.u32 %p, %thread, 0;
    @%p ret;
    st.global.u32 [%near], %after;
    ret;
}}
"""


def begin():
    """What the chains begin with: numbers of the thread's own, places of words that hold themselves."""
    lines = []
    for k in range(CHAINS):
        lines += [f"add.u32 %{kind}{k}, %thread, {k};" for kind in "umwc"]
        lines += [f"cvt.rn.f32.u32 %{kind}{k}, %u{k};" for kind in "fe"]
        lines += [f"mov.u32 %g{k}, %thread;", "mov.u32 %v, words;", f"mad.lo.u32 %d{k}, %thread, 4, %v;",
                  f"add.u32 %d{k}, %d{k}, {k * 4096};", f"st.shared.u32 [%d{k}], %d{k};"]
    return lines


def end():
    """All that the chains end with, in one number."""
    lines = ["mov.u32 %v, 0;"]
    for k in range(CHAINS):
        lines += [f"xor.b32 %v, %v, %{kind}{k};" for kind in "umwcgd"]
        lines += [f"mov.b32 %h, %{kind}{k}; xor.b32 %v, %v, %h;" for kind in "fe"]
    return lines


def body(kinds):
    """A turn: so many of the kinds, each on its next chain."""
    count = dict.fromkeys(CODE, 0)
    lines = []
    for i in range(TURN - TURN % len(kinds)):
        kind = kinds[i % len(kinds)]
        lines.append(CODE[kind].format(k=count[kind] % CHAINS, i=i))
        count[kind] += 1
    return lines


def indented(lines):
    return "\n".join("    " + line for line in lines)


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mixes.ptx"), "w", encoding="ascii") as file:
        file.write(HEAD)
        for kinds in KINDS:
            file.write(ENTRY.format(name=f"mix_{kinds}", begin=indented(begin()), body=indented(body(kinds)),
                                    end=indented(end())))


main()

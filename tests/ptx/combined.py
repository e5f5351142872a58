#!/usr/bin/env python3
"""
combined.py JUDGE [--out FILE] [--jobs N]: of the instructions of the manual's sections on asynchronous copies, barriers in memory,
clusters, tensor maps, products of four warps, fences, cache policies and atomics of vectors, every combination of the
modifiers that the manual names for them, legal or not. Asks the vendor's assembler (ptxas on PATH) for sm_90a and the
program JUDGE (judge.c) about each, and prints what only one of them takes, by its first word, and the counts. FILE gets all
differences. What stays is in KNOWN, with its reason. Needs ptxas: run by hand, not by the test suite.
"""
import argparse
import collections
import concurrent.futures
import itertools
import re

import mutants

S32 = ", ".join("%%f32_%d" % i for i in range(4))
BAR, DST, SRC = "[shared_data]", "[shared_data]", "[global_data]"
SEM = "(|.release|.relaxed|.acquire|.acq_rel|.sc)"
SCOPE = "(|.cta|.cluster|.gpu|.sys)"
IN_SHARED = "(|.shared|.shared::cta|.shared::cluster)"
HINT = "(|.L2::cache_hint)"
FLOATS = "(|.noftz).(f16|bf16|f16x2|bf16x2|f32|f64|u32|s32|u64|s64|b32|b64)"
OPS = "(add|min|max|inc|dec|and|or|xor|exch)"

# opcode with alternatives in parentheses; operands, of which the first that ptxas takes counts
PATTERNS = [
    ("cp.async.(ca|cg)(.shared|.shared::cta|.shared::cluster).global" + HINT + "(|.L2::64B|.L2::128B|.L2::256B)",
     [f"{DST}, {SRC}, {n}{more}" for n in (4, 8, 16) for more in ("", ", %u32_1", ", %u64_1", ", %u32_1, %u64_1", ", %pred_1")]),
    ("cp.async.(commit_group|wait_all)", [""]), ("cp.async.wait_group", ["0", "7"]),
    ("cp.async.mbarrier.arrive(|.noinc)" + IN_SHARED + ".b64", [BAR]),
    ("cp.async.bulk(.shared::cluster|.shared::cta|.global).(global|shared::cta)(|.mbarrier::complete_tx::bytes|.bulk_group)"
     "(|.multicast::cluster)" + HINT,
     [f"{a}, {b}, %u32_1{more}" for a, b in ((DST, SRC), (SRC, DST), (DST, DST))
      for more in ("", f", {BAR}", f", {BAR}, %u16_1", f", {BAR}, %u64_1", ", %u64_1", f", {BAR}, %u16_1, %u64_1")]),
    ("cp.async.bulk.prefetch.L2(.global|.shared)" + HINT, [f"{SRC}, %u32_1", f"{SRC}, %u32_1, %u64_1"]),
    ("cp.async.bulk.(commit_group)", [""]), ("cp.async.bulk.wait_group(|.read)", ["0"]),
    ("cp.reduce.async.bulk(.shared::cluster|.global).shared::cta(.mbarrier::complete_tx::bytes|.bulk_group)" + HINT + "." + OPS + FLOATS,
     [f"{a}, {DST}, %u32_1{more}" for a in (DST, SRC) for more in ("", f", {BAR}", ", %u64_1")]),
    ("cp.async.bulk.tensor.(1|2|3|4|5|6)d(.shared::cluster|.shared::cta).global(|.tile|.im2col|.im2col_no_offs)"
     ".mbarrier::complete_tx::bytes(|.multicast::cluster)" + HINT,
     [f"{DST}, [%u64_1, {{{at}}}], {BAR}{off}{more}" for at in (", ".join(["%s32_1"] * n) for n in range(1, 6))
      for off in ("", ", {%u16_1}", ", {%u16_1, %u16_2}", ", {%u16_1, %u16_2, %u16_3}")
      for more in ("", ", %u16_3", ", %u64_2", ", %u16_3, %u64_2")]),
    ("cp.async.bulk.tensor.(1|2|3|4|5|6)d.global.shared::cta(|.tile|.im2col|.im2col_no_offs).bulk_group" + HINT,
     [f"[%u64_1, {{{at}}}], {DST}{more}" for at in (", ".join(["%s32_1"] * n) for n in range(1, 6)) for more in ("", ", %u64_2")]),
    ("cp.reduce.async.bulk.tensor.(1|2|3|4|5)d.global.shared::cta.(add|min|max|inc|dec|and|or|xor|exch)(|.tile|.im2col_no_offs)"
     ".bulk_group" + HINT,
     [f"[%u64_1, {{{at}}}], {DST}{more}" for at in (", ".join(["%s32_1"] * n) for n in range(1, 6)) for more in ("", ", %u64_2")]),
    ("cp.async.bulk.prefetch.tensor.(1|2|3|4|5)d.L2.global(|.tile|.im2col)" + HINT,
     [f"[%u64_1, {{{at}}}]{off}{more}" for at in (", ".join(["%s32_1"] * n) for n in range(1, 6))
      for off in ("", ", {%u16_1}", ", {%u16_1, %u16_2}", ", {%u16_1, %u16_2, %u16_3}") for more in ("", ", %u64_2")]),
    ("mbarrier.(init|inval)" + IN_SHARED + ".b64", [BAR, f"{BAR}, %u32_1"]),
    ("mbarrier.(expect_tx|complete_tx)" + SEM + SCOPE + IN_SHARED + ".b64", [f"{BAR}, %u32_1"]),
    ("mbarrier.(arrive|arrive_drop)(|.expect_tx)" + SEM + SCOPE + IN_SHARED + ".b64",
     [f"{d}, {BAR}{n}" for d in ("%u64_1", "_") for n in ("", ", %u32_1")]),
    ("mbarrier.(arrive|arrive_drop).noComplete" + SEM + SCOPE + IN_SHARED + ".b64", [f"{d}, {BAR}, %u32_1" for d in ("%u64_1", "_")]),
    ("mbarrier.(test_wait|try_wait)(|.parity)" + SEM + SCOPE + IN_SHARED + ".b64",
     [f"%pred_1, {BAR}, {s}{h}" for s in ("%u64_1", "%u32_1") for h in ("", ", %u32_2")]),
    ("mbarrier.pending_count.b64", ["%u32_1, %u64_1"]),
    ("barrier.cluster.(arrive|wait)(|.release|.relaxed|.acquire)(|.aligned)", [""]),
    ("(mapa|getctarank)(|.shared::cluster)(.u32|.u64)", ["%u32_1, %u32_2, %u32_3", "%u64_1, %u64_2, %u32_3", "%u32_1, %u32_2", "%u32_1, %u64_2"]),
    ("elect.sync", ["%u32_1|%pred_1, %u32_2", "_|%pred_1, 0xffffffff"]),
    ("setmaxnreg.(inc|dec).sync.aligned.u32", ["64", "24", "240"]), ("griddepcontrol.(launch_dependents|wait)", [""]),
    ("fence" + SEM + SCOPE, [""]), ("membar.(cta|gl|sys)", [""]), ("fence.mbarrier_init.release" + SCOPE, [""]),
    ("fence.proxy.(alias|async|async.global|async.shared::cta|async.shared::cluster)", [""]),
    ("fence.proxy.tensormap::generic.release" + SCOPE, [""]), ("fence.proxy.tensormap::generic.acquire" + SCOPE, ["[%u64_1], 128"]),
    ("fence.(acquire|release).sync_restrict::(shared::cta|shared::cluster)" + SCOPE, [""]),
    ("fence.proxy.async::generic.(acquire|release).sync_restrict::(shared::cta|shared::cluster)" + SCOPE, [""]),
    ("createpolicy.fractional.L2::(evict_last|evict_normal|evict_first|evict_unchanged)(|.L2::evict_unchanged|.L2::evict_first).b64",
     ["%u64_1", "%u64_1, 0.5"]),
    ("createpolicy.range(|.global).L2::(evict_last|evict_normal|evict_first|evict_unchanged)(|.L2::evict_unchanged|.L2::evict_first).b64",
     ["%u64_1, [global_data], %u32_1, %u32_2"]),
    ("createpolicy.cvt.L2.b64", ["%u64_1, %u64_2"]),
    ("st.async(|.weak)(|.cluster)" + "(|.shared::cluster).mbarrier::complete_tx::bytes(|.v2|.v4).(b32|b64|u32|u64|s32|s64|f32|f64|b8|b16)",
     [f"{DST}, {v}, {BAR}" for v in ("%b32_1", "%b64_1", "%f32_1", "%f64_1", "{%b32_1, %b32_2}", "{%b64_1, %b64_2}", "{%f32_1, %f32_2}", "{%f64_1, %f64_2}",
                                     "{%b32_1, %b32_2, %b32_3, %b32_4}", "{%f32_1, %f32_2, %f32_3, %f32_4}")]),
    ("red.async(|.relaxed)(|.cta|.cluster)" + "(|.shared::cluster).mbarrier::complete_tx::bytes." + OPS + ".(b32|u32|s32|u64|b64|s64|f32)",
     [f"{DST}, {v}, {BAR}" for v in ("%b32_1", "%b64_1", "%f32_1")]),
    ("(atom|red)(|.relaxed.gpu)(|.global|.shared)" + ".(add|min|max)(|.noftz)(.v2|.v4|.v8).(f16|bf16|f16x2|bf16x2|f32|f64)",
     [f"{d}[{a}_data], {{{v}}}{h}" for d in ("", "D") for a in ("global",) for h in ("",)
      for v in (", ".join(f"%{t}_{i}" for i in range(n)) for t in ("b16", "b32", "f32") for n in (2, 4, 8))]),
    ("(atom|red)(|.gpu)(|.global).(add|min|max)(|.noftz).(bf16|bf16x2|f16|f16x2)",
     [f"{d}[global_data], %{t}_1" for t in ("b16", "b32") for d in ("", f"%{t}_2, ")]),
    ("discard(|.global)(.L2|.L1)", ["[%u64_1], 128"]), ("applypriority(|.global).L2::(evict_normal|evict_last)", ["[%u64_1], 128"]),
    ("prefetch(|.global|.local|.shared).(L1|L2|L2::evict_last|L2::evict_normal|L2::evict_first)", ["[%u64_1]"]), ("prefetchu.(L1|L2)", ["[%u64_1]"]),
    ("prefetch(|.const|.param|.global).tensormap", ["[%u64_1]"]),
    ("tensormap.replace.(tile).(global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|interleave_layout|swizzle_mode|fill_mode|"
     "swizzle_atomicity)(|.global|.shared::cta|.shared).b1024.(b32|b64)",
     [f"{a}, {v}" for a in ("[%u64_1]", DST) for v in ("%b64_2", "%b32_2", "1", "1, %b32_2", "1, %b64_2")]),
    ("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.(release|acquire)" + SCOPE + ".sync.aligned", ["[%u64_1], [shared_data], 128"]),
    ("wgmma.(fence|commit_group)(.sync|)(.aligned|)", [""]), ("wgmma.wait_group(.sync|)(.aligned|)", ["0", "7", "8"]),
    ("ldmatrix.sync.aligned.(m8n8|m16n16|m8n16).(x1|x2|x4)(|.trans)(|.shared|.shared::cta).(b16|b8|b8x16.b6x16_p32|b8x16.b4x16_p64)",
     [f"{{{v}}}, {DST}" for v in (", ".join("%%b32_%d" % i for i in range(n)) for n in (1, 2, 4))]),
    ("stmatrix.sync.aligned.(m8n8|m16n8).(x1|x2|x4)(|.trans)(|.shared|.shared::cta).(b16|b8)",
     [f"{DST}, {{{v}}}" for v in (", ".join("%%b32_%d" % i for i in range(n)) for n in (1, 2, 4))]),
    ("movmatrix.sync.aligned.m8n8.trans.b16", ["%b32_1, %b32_2"]),
]


def wgmma():
    """All shapes and types, and which immediates follow: as the manual's tables have them, and their neighbours."""
    for d, a, b, k in (("f16", "f16", "f16", 16), ("f32", "f16", "f16", 16), ("f32", "bf16", "bf16", 16), ("f16", "bf16", "bf16", 16),
                       ("f32", "tf32", "tf32", 8), ("f32", "e4m3", "e5m2", 32), ("f16", "e5m2", "e4m3", 32), ("s32", "s8", "u8", 32),
                       ("s32", "u8", "u8", 32), ("s32.satfinite", "s8", "s8", 32), ("s32", "b1", "b1", 256), ("f32", "f16", "bf16", 16)):
        for n in (4, 8, 24, 40, 64, 80, 104, 224, 256, 264):
            for sparse in ("", ".sp"):
                words = n // 4 if d == "f16" else n // 2
                reg = "b32" if d == "f16" or "s32" in d else "f32"
                kk = k * 2 if sparse and a != "b1" else k
                sums = "{" + ", ".join(f"%w{reg}_{i}" for i in range(words)) + "}"
                op = ".and.popc" if a == "b1" else ""
                for first in ("%u64_1", "{%b32_1, %b32_2, %b32_3, %b32_4}"):
                    for tail in (["", ", 1, 1", ", 1, 1, 0, 1"]):
                        meta = ", %b32_5, 0" if sparse else ""
                        yield (f"wgmma.mma_async{sparse}.sync.aligned.m64n{n}k{kk}.{d}.{a}.{b}{op}",
                               f"{sums}, {first}, %u64_2{meta}, %pred_1{tail}")


# What stays: its class, what the line of the difference has, why.
KNOWN = [
    ("barriers that are no address", r"too little.*bulk\S*complete_tx\S*\t.*%u32_1, %u64_1\t", "an operand is missing, or a number is an address: not in the manual"),
    ("multicast without a mask", r"too little.*im2col\S*multicast", "an operand is missing: not in the manual"),
    ("vectors of st.async", r"too little.*st\.async", "a vector where the form has none, or none where it has: which bytes are meant is not said"),
    ("scopes of st.async", r"not implemented.*st\.async\.(weak\.)?cluster\.", "not in the manual for sm_90"),
    ("wgmma without .aligned", r"too little.*wgmma\.(fence|commit_group|wait_group)\.sync\t", "the manual demands .aligned"),
    ("red.async of s64", r"too little.*red\.async\S*add\.s64", "not in the manual"),
    ("priorities without .global", r"too little.*prefetch\.L2::evict", "not in the manual"),
]


def expand(pattern):
    parts = re.split(r"\(([^()]*)\)", pattern)
    for picks in itertools.product(*(part.split("|") if i % 2 else [part] for i, part in enumerate(parts))):
        yield re.sub(r"\.\.+", ".", "".join(picks))


def all_forms():
    for pattern, operands in PATTERNS:
        for opcode in expand(pattern):
            for text in operands:
                if opcode.startswith("atom") and text.startswith("D"):
                    text = re.sub(r"^D(.*\{)(.*)(\}.*)$", lambda m: "{" + re.sub(r"_(\d)", r"_1\1", m.group(2)) + "}, " + m.group(1) + m.group(2) + m.group(3), text)
                elif text.startswith("D"):
                    continue
                yield opcode, text
    yield from wgmma()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("judge")
    parser.add_argument("--out")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    registers = mutants.registers

    def more(text):
        return registers(text) + "".join(".reg .%s %%w%s_<132>; " % (t, t) for t in ("f32", "b32") if "%w" + t in text)

    mutants.registers = more
    forms = sorted({mutants.Mutant("9.0", "sm_90a", *form) for form in all_forms()})
    groups = [forms[i:i + 2000] for i in range(0, len(forms), 2000)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        theirs = [verdict for group, verdicts in zip(groups, pool.map(mutants.ask_ptxas, groups))
                  for verdict in (verdicts[i] for i in range(len(group)))]
    ours = mutants.ask_ours(options.judge, forms)
    counts, differ = collections.Counter(), []
    for i, form in enumerate(forms):
        taken, own = theirs[i] is None, ours[i]
        counts["taken by ptxas" if taken else "refused by ptxas"] += 1
        if taken != (own[0] == "ok"):
            kind = "takes too much" if not taken else "takes too little" if own[0] == "refused" else "not implemented"
            line = f"{kind}\t{form.opcode}\t{form.operands}\t{theirs[i] or own[1]}"
            reason = next((why for what, pattern, why in KNOWN if re.search(pattern, line)), None)
            counts[f"{kind}, known" if reason else kind] += 1
            if not reason:
                differ.append(line)
    classes = collections.Counter((line.split("\t")[0], ".".join(line.split("\t")[1].split(".")[:3])) for line in differ)
    for (kind, word), n in classes.most_common(60):
        print(f"{n:6} {kind}: {word}")
    print(len(forms), "forms;", "; ".join(f"{k}: {n}" for k, n in sorted(counts.items())))
    if options.out:
        with open(options.out, "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in differ)


if __name__ == "__main__":
    main()

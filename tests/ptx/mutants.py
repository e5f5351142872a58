#!/usr/bin/env python3
"""
mutants.py JUDGE [--count N] [--seed S] [--out DIR] [--jobs N]: changes the forms of forms.tsv,
tests/vectors/forms.txt and the kernels of accept/ in one place or two, asks the vendor's assembler
(ptxas on PATH) and the program JUDGE (judge.c) about each, and lists where they differ, by class:

    takes too much     ptxas refuses it, ours takes it
    takes too little   ptxas takes it, ours refuses it
    not implemented    ptxas takes it, ours says that it is not implemented

A mutant is one instruction in a kernel of its own. Many kernels of one version and target make a
module; ptxas names the line of each mistake, and what it does not name is asked again without the
others until nothing is left to name. Prints counts and the most frequent classes; DIR gets
all differences, a line each. What is known to differ, and stays, is counted apart (KNOWN). Needs ptxas: run by hand, not by the test suite.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["sm_20", "sm_30", "sm_35", "sm_50", "sm_53", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86",
           "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a"]
VERSIONS = ["3.1", "4.0", "4.2", "5.0", "6.0", "6.3", "6.4", "6.5", "7.0", "7.4", "7.8", "8.0", "8.1",
            "8.6", "9.0"]
TARGET_SINCE = {"sm_35": 3.1, "sm_50": 4.0, "sm_53": 4.2, "sm_60": 5.0, "sm_70": 6.0, "sm_75": 6.3,
                "sm_80": 7.0, "sm_86": 7.1, "sm_89": 7.8, "sm_90": 7.8, "sm_90a": 8.0, "sm_100": 8.6,
                "sm_100a": 8.6}
TYPES = ["b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16",
         "f16x2", "f32", "f64", "pred"]
SUFFIX_TYPES = TYPES + ["bf16", "bf16x2", "tf32", "u16x2", "s16x2", "e4m3x2", "e5m2x2", "f32x2", "b128"]
MODIFIERS = """rn rz rm rp rni rzi rmi rpi rna ftz sat satfinite relu approx full lo hi wide cc eq ne lt le
gt ge ls hs equ neu ltu leu gtu geu num nan and or xor weak relaxed acquire release acq_rel sc volatile
mmio cta cluster gpu sys ca cg cs lu cv wb wt nc L1::evict_last L1::no_allocate L2::evict_last
L2::evict_first L2::cache_hint L2::64B L2::128B L2::256B global shared shared::cta shared::cluster local const param
param::entry param::func v2 v4 v8 add min max inc dec cas exch sync aligned uni all any ballot up down bfly
idx NaN xorsign abs x1 x2 x4 trans m8n8 row col clamp wrap noftz popc red read to shiftamt l r b32 u32
s32 f32 u64 b64""".split()
OPERANDS = ["0", "1", "-1", "255", "65536", "1.0", "0f3F800000", "0d3FF0000000000000", "_", "%tid.x", "%clock64",
            "global_data", "shared_data", "local_data", "const_data", "kernel_param", "callee",
            "[global_data]", "[shared_data]", "[local_data]", "[const_data]", "[kernel_param]",
            "[shared_data+4]", "[global_data+8]", "[%u64_1]", "[%u32_1]", "[%u64_1+4]", "[0]", "[16]",
            "!%pred_1", "-%s32_1", "%pred_1|%pred_2", "{%b32_0, %b32_1}", "{%b16_0, %b16_1}",
            "{%b32_0, %b32_1, %b32_2, %b32_3}", "%v2_0", "%v4_0", "%v2_0.x", "%v4_0.w", "WARP_SZ", "1 + 2"]
DECLARATIONS = ["%s_%%d" % t for t in TYPES]

# What stays: its class, what the line of the difference has, why.
KNOWN = [
    ("tensor maps by less than 64 bits", r"bulk\.\S*tensor.*type \.([bus](8|16|32)|f32|f16x2), expected \.b64",
     "the upper word of the address that ptxas gives them is that of a register it never writes"),
    ("a function's name as a number", r"\bcallee\b.*expected a register or constant",
     "what the number is, and of which size, is not said; no compiler writes it"),
    ("operands more than the form has",
     r"got \d operands for '(atom|v[a-z]+)', expected fewer|a third operand, where the whole result is written",
     "a fourth operand without .cas or a second operation: what it does is not said"),
    ("st.async without its barrier", r"got 2 operands for '(st|red).async'", "nothing would wait for it"),
    ("vectors longer than what is read", r"(suld|sust).*got a vector of", "what the rest gets is not said"),
    ("a vector as one operand", r"(max|min|mul|add|sub|fma|set|ex2)\S*(x2|bf16) .*(\{|%v\d).*expected a register", "which element is meant is not said"),
    ("tests that are not named", r"got '\.f\d+' in 'testp\.f\d+'", "which test is meant is not said"),
    ("ptxas dies", r"\tdied\t", "a store to a kernel's parameters"),
    ("predicates in vectors of bits", r"%pred_.*got an operand of type .pred", "a predicate has no bits"),
    ("barriers of no threads", r"a barrier of 0 threads", "how many wait is not said"),
    ("offsets without braces", r"tld4.*expected a vector", "which of the two is meant is not said"),
    ("pairs of halves in wider registers", r"cvt\S*\.f16x2.*of type \.b64", "not in the manual; no compiler writes it"),
    ("scopes of bulk copies", r"cp\.async\.bulk\S*\.(cta|cluster|gpu|sys)\..*not implemented", "not in the manual"),
    ("halves as predicates", r"of type \.f16x2, expected \.pred", "a predicate has no bits"),
    ("numbers of floats as addresses", r"[\]}], (0[fd][0-9A-F]+|\d\.\d)[\t,].*expected an address in brackets",
     "which address is meant is not said"),
    ("constants of another kind in vectors", r"\{.*(a floating-point|an integer) constant, expected a value",
     "which bits are meant is not said"),
    ("what becomes bf16 without rounding", r"(cvt|set)\S*\.bf16\.b?f16 .*types that do not go together",
     "not in the manual; no compiler writes it"),
    ("uniform fetches", r"got '.uni' in 'tex\.", "not in the manual; no compiler writes it"),
    ("vectors of fragments", r"got '.v8' in 'wmma\.load\.[ab]\.", "not in the manual; the number of registers says it"),
    ("what ptxas says of another instruction", r"Illegal modifier .* for instruction 'mov'",
     "at -O0, of div in a module of many: alone it is taken"),
]

NARROW = re.compile(r"uses \d+-bit address on line '(\d+)'")

Mutant = collections.namedtuple("Mutant", "version target opcode operands")


def registers(text):
    lines = []
    for t in TYPES:
        if "%" + t + "_" in text:
            lines.append(".reg .%s %%%s_<16>;" % (t, t))
    if "%v2_" in text:
        lines.append(".reg .v2 .b32 %v2_<4>;")
    if "%v4_" in text:
        lines.append(".reg .v4 .f32 %v4_<4>;")
    return " ".join(lines)


def header(version, target):
    return (".version %s\n.target %s\n.address_size 64\n"
            ".global .align 16 .b8 global_data[256];\n.const .align 16 .b8 const_data[256];\n"
            ".func (.reg .u32 result) callee(.reg .u32 value)\n{ add.u32 result, value, 1; ret; }\n"
            % (version, target))


def kernel(number, m):
    text = m.opcode + " " + m.operands
    guard = ".reg .pred guard; " if "@guard" in text else ""
    lists = "TARGETS: .branchtargets DONE, DONE; " if m.opcode.startswith("brx.") else ""
    param = ".param .b64 call_param; " if "call_param" in text else ""
    return (".visible .entry k%d(.param .align 16 .b8 kernel_param[64]) { %s %s%s"
            ".shared .align 16 .b8 shared_data[256]; .local .align 16 .b8 local_data[256]; %s"
            "%s %s; DONE: ret; }\n" % (number, registers(text), guard, param, lists, m.opcode, m.operands))


def read_forms():
    forms = []
    with open(os.path.join(HERE, "forms.tsv")) as file:
        for line in file:
            line = line.rstrip("\n")
            if line and not line.startswith("#"):
                opcode, _, operands = line.partition("\t")
                forms.append((opcode, operands))
    return forms


def read_vectors():
    """Templates of tests/vectors/forms.txt whose operands are plain types: one form of each."""
    forms = []
    path = os.path.join(HERE, "..", "vectors", "forms.txt")
    for line in open(path):
        line = line.split(" ~")[0].strip()
        if not line or line.startswith("#") or ";" in line or "%" in line or "[" in line:
            continue
        for pick in range(3):
            chosen = []

            def choose(match):
                options = match.group(1).split("|")
                chosen.append(options[min(pick, len(options) - 1)])
                return chosen[-1]

            text = re.sub(r"\(([^()]*)\)", choose, line)
            for i, value in enumerate(chosen):
                text = text.replace("$%d" % (i + 1), value)
            opcode, _, operands = text.partition(" ")
            number = [0]

            def register(match):
                kind = match.group(1)
                number[0] += 1
                kind = kind if kind in TYPES else {"shift": "u32", "pos": "u32", "lane": "u32", "clamp": "u32",
                                                   "lowf": "f32", "bf16": "b16", "bf16x2": "b32"}.get(kind, "b32")
                return "%%%s_%d" % (kind, number[0])

            forms.append((opcode, re.sub(r"[<>]([a-z0-9]+)", register, operands)))
    return forms


def split_operands(text):
    parts, depth, at = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            parts.append(at.strip())
            at = ""
        else:
            at += c
    return parts + [at.strip()] if at.strip() else parts


def mutate_opcode(rng, parts):
    parts = list(parts)
    at = rng.randrange(1, len(parts)) if len(parts) > 1 else 0
    how = rng.randrange(7)
    if how == 0 and at:                                     # order
        to = rng.randrange(1, len(parts))
        parts[at], parts[to] = parts[to], parts[at]
    elif how == 1 and at:                                   # drop
        del parts[at]
    elif how == 2 and at:                                   # duplicate
        parts.insert(rng.randrange(1, len(parts) + 1), parts[at])
    elif how == 3:                                          # add
        parts.insert(rng.randrange(1, len(parts) + 1), rng.choice(MODIFIERS))
    elif how == 4 and at and parts[at] in SUFFIX_TYPES:     # another type
        parts[at] = rng.choice(SUFFIX_TYPES)
    elif how == 5 and at:                                   # another modifier
        parts[at] = rng.choice(MODIFIERS)
    elif at:                                                # move
        part = parts.pop(at)
        parts.insert(rng.randrange(1, len(parts) + 1), part)
    return parts


def mutate_operands(rng, operands):
    operands = list(operands)
    how = rng.randrange(6)
    if how == 0 and operands:
        del operands[rng.randrange(len(operands))]
    elif how == 1:
        operands.insert(rng.randrange(len(operands) + 1), rng.choice(OPERANDS))
    elif how == 2 and len(operands) > 1:
        a, b = rng.randrange(len(operands)), rng.randrange(len(operands))
        operands[a], operands[b] = operands[b], operands[a]
    elif how == 3 and operands:
        at = rng.randrange(len(operands))
        operands[at] = rng.choice(OPERANDS)
    elif operands:                                          # another register type
        at = rng.randrange(len(operands))
        found = re.findall(r"%([a-z0-9]+)_(\d+)", operands[at])
        if found:
            old = rng.choice(found)
            operands[at] = operands[at].replace("%%%s_%s" % old, "%%%s_%s" % (rng.choice(TYPES), old[1]))
    return operands


def mutate(rng, form, place):
    opcode, operands = form
    parts, list_ = opcode.split("."), split_operands(operands)
    version, target = "9.0", "sm_90"
    for _ in range(rng.choice([1, 1, 1, 2])):
        what = rng.random()
        if what < 0.55:
            parts = mutate_opcode(rng, parts)
        elif what < 0.85:
            list_ = mutate_operands(rng, list_)
    if rng.random() < 0.3:
        version, target = place
    return Mutant(version, target, ".".join(parts), ", ".join(list_))


def legal_place(rng):
    while True:
        version, target = rng.choice(VERSIONS), rng.choice(TARGETS)
        if float(version) >= TARGET_SINCE.get(target, 0) and not (target == "sm_20" and float(version) < 2):
            return version, target


def arch_of(target):
    return target if int(re.sub(r"\D", "", target)) >= 75 else "sm_75"


def ask_ptxas(group):
    """{index: None or the message} of mutants that share version and target."""
    verdicts, left = {}, list(range(len(group)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.ptx")
        while left:
            text = header(group[0].version, group[0].target)
            first = text.count("\n") + 1
            text += "".join(kernel(i, group[i]) for i in left)
            with open(path, "w") as file:
                file.write(text)
            run = subprocess.run(["ptxas", "-arch=" + arch_of(group[0].target), "-O0", "--compile-only", path, "-o",
                                  os.path.join(folder, "o")], capture_output=True, text=True)
            found = {}
            for line in (run.stderr + run.stdout).splitlines():
                match = re.search(r"line (\d+); (error|fatal)\s*: (.*)", line)
                if match and int(match.group(1)) >= first and int(match.group(1)) - first < len(left):
                    found.setdefault(left[int(match.group(1)) - first], match.group(3))
            if not found and run.returncode == 0:
                verdicts.update((i, None) for i in left)
                narrow = {left[int(n) - first] for n in NARROW.findall(run.stderr + run.stdout)
                          if 0 <= int(n) - first < len(left)} if len(left) > 1 else set()
                for i in narrow:                            # its verdict depends on its neighbours
                    verdicts[i] = ask_ptxas([group[i]])[0]
                break
            if not found:                                   # a message without a line: one by one
                if len(left) == 1:
                    message = (run.stderr + run.stdout).strip().splitlines()
                    verdicts[left[0]] = message[0] if message else "died"
                    break
                half = len(left) // 2
                for part in (left[:half], left[half:]):
                    inner = ask_ptxas([group[i] for i in part])
                    verdicts.update((part[i], v) for i, v in inner.items())
                break
            verdicts.update(found)
            left = [i for i in left if i not in found]
    return verdicts


def ask_ours(judge, mutants):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for i, m in enumerate(mutants):
            file.write("//// %d\n%s%s" % (i, header(m.version, m.target), kernel(i, m)))
        file.flush()
        run = subprocess.run([judge, file.name], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit("judge died with status %d after %d of %d" %
                 (run.returncode, len(run.stdout.splitlines()), len(mutants)))
    verdicts = {}
    for line in run.stdout.splitlines():
        name, verdict, why = (line.split("\t") + ["", ""])[:3]
        verdicts[int(name)] = (verdict, why)
    return verdicts


def class_of(kind, m, theirs, ours):
    reason = theirs if kind == "takes too much" else ours
    reason = re.sub(r"m:\d+:\d+: (error: )?", "", reason or "")
    reason = re.sub(r"'[^']*'", "'..'", reason)
    reason = re.sub(r"\d+", "N", reason) if kind != "takes too much" else reason
    return "%s: %s" % (m.opcode.split(".")[0], reason[:90])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("judge")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    parser.add_argument("--top", type=int, default=40)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    forms = read_forms() + read_vectors()
    places = [legal_place(rng) for _ in range(24)]
    mutants = set()
    while len(mutants) < args.count:
        mutants.add(mutate(rng, rng.choice(forms), rng.choice(places)))
    mutants = sorted(mutants)
    groups = collections.defaultdict(list)
    for m in mutants:
        groups[(m.version, m.target)].append(m)
    batches = [g[i:i + 100] for g in groups.values() for i in range(0, len(g), 100)]
    theirs = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for batch, verdicts in zip(batches, pool.map(ask_ptxas, batches)):
            theirs.update((batch[i], v) for i, v in verdicts.items())
    ours = ask_ours(args.judge, mutants)
    classes, kinds, both = collections.Counter(), collections.Counter(), collections.Counter()
    lines, known = [], collections.Counter()
    for i, m in enumerate(mutants):
        verdict, why = ours[i]
        accepted = theirs[m] is None
        both["ptxas takes" if accepted else "ptxas refuses"] += 1
        if accepted == (verdict == "ok"):
            continue
        kind = ("takes too much" if not accepted else
                "takes too little" if verdict == "refused" else "not implemented")
        line = "\t".join([kind, m.version, m.target, m.opcode + " " + m.operands, theirs[m] or "", why])
        lines.append(line)
        stays = [name for name, pattern, _ in KNOWN if re.search(pattern, line)]
        if stays:
            known[stays[0]] += 1
            continue
        kinds[kind] += 1
        classes[(kind, class_of(kind, m, theirs[m], why))] += 1
    print("%d mutants: %s" % (len(mutants), ", ".join("%s %d" % x for x in sorted(both.items()))))
    for kind in ("takes too much", "takes too little", "not implemented"):
        print("%6d %s" % (kinds[kind], kind))
    for name, count in known.most_common():
        print("%6d known: %s" % (count, name))
    for (kind, text), count in classes.most_common(args.top):
        print("%6d %-16s %s" % (count, kind, text))
    if args.out:
        os.makedirs(args.out, exist_ok=True)
        with open(os.path.join(args.out, "differences.tsv"), "w") as file:
            file.write("\n".join(sorted(lines)) + "\n")


if __name__ == "__main__":
    main()

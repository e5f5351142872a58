#!/bin/sh
# Where the time goes: the table, sums that hold exactly, the page, and what the option refuses.
cp "$DATA"/hot.ptx "$DATA"/double.ptx .
seq 1 12 | sed 's/^/line /' >hot.cu
cat >sums.py <<'PYTHON'
import json, sys
profile, statistics = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
warps = int(sys.argv[3])
kernel, = profile["kernels"]
total = kernel["warp_cycles"]
# A block's first cycle is the one after its placement, or that of its placement where it starts later than the grid; its last that of the
# last exit, or the one before a reply.
placed = sum((cta["end"] - cta["start"]) * warps for cta in statistics["ctas"])
said = {
    "over reasons": sum(kernel["warp_cycles_by_reason"].values()),
    "over lines": sum(line["warp_cycles"] for line in kernel["lines"]),
    "of residence": kernel["resident_warp_cycles"],
}
for name, cycles in said.items():
    print(name, "holds" if cycles == total > 0 else f"{cycles} is not {total}")
print("of placements", "holds" if abs(placed - total) <= len(statistics["ctas"]) * warps else f"{placed} is not {total}")
for line in kernel["lines"]:
    if sum(line["warp_cycles_by_reason"].values()) != line["warp_cycles"]:
        print("line", line["pc"], "does not hold")
results = sum(kernel["warp_cycles_by_reason"][reason] for reason in
              ["memory", "shared", "constant", "texture", "arithmetic", "sfu", "tensor"])
print("results", "hold" if kernel["waited_for"] == results else kernel["waited_for"])
print("instructions", "hold" if kernel["warp_instructions"] == statistics["warp_instructions"] else "differ")
sectors = statistics["network"]["requests"]["sectors"]
level = {level["level"]: level["bytes"] for level in kernel["roofline"]["levels"]}
print("bytes of L2", "hold" if 0 < 32 * sectors == level["l2"] == sum(line.get("l2_bytes", 0) for line in kernel["lines"]) else "differ")
print("bytes of DRAM", "hold" if statistics["dram"]["read_bytes"] + statistics["dram"]["written_bytes"] == level["dram"] else "differ")
print("requests", "hold" if kernel["requests"] == statistics["transactions"] + statistics["merged_requests"] else "differ")
PYTHON
for model in gtx780 gtx560ti h200; do
    for threads in 1 2; do
        echo "# $model, $threads"
        sonde exec hot.ptx -d sim:$model -q --grid 40 --block 256 --arg zero:40960 --arg u32:3 --any-target \
            --threads $threads \
            --profile=json:$model.$threads.json --stats stats.json
        python3 sums.py $model.$threads.json stats.json 8
    done
    cmp $model.1.json $model.2.json
done
echo "# a launch that is profiled takes no lone warp's loop, and is the same"
for model in gtx780 h200; do
    for grid in 1 3; do
        alone() {
            sonde exec hot.ptx -d sim:$model -q --grid $grid --block 32 --arg zero:40960 --arg u32:30 --any-target "$@"
        }
        alone --profile=json:alone.json --stats profiled.json
        alone --stats plain.json
        cmp profiled.json plain.json && echo "$model, $grid"
    done
done
echo "# where each wait stands"
python3 - <<'PYTHON'
import json
kernel, = json.load(open("gtx780.1.json"))["kernels"]
def first(line): # but for the cycle in which it issued
    reasons = line["warp_cycles_by_reason"]
    return max((reason for reason in reasons if reason != "issued"), key=reasons.get, default="-")
for line in kernel["lines"]:
    if line.get("text", "").split(" ")[0] in ("add.u32", "sqrt.rn.f32", "bar.sync", "red.global.add.u32"):
        print(line["line"], line["source_line"], line["source_text"], line["text"].split(" ")[0], first(line))
print(sum(line["warp_cycles"] for line in kernel["source_lines"]) == kernel["warp_cycles"])
PYTHON
echo "# eight warps read one line: L2 is asked for it once, or by each of them where no L1 serves them"
cp "$DATA/same_line.ptx" .
for model in h200 gtx560ti gtx780 bakhoda2009; do
    sonde exec same_line.ptx -q -d sim:$model --any-target --cold --block 256 --arg zero:128 --arg zero:1024 --profile=json:line.json
    python3 - $model <<'PYTHON'
import json, sys
kernel, = json.load(open("line.json"))["kernels"]
print(sys.argv[1], "roofline", {level["level"]: int(level["bytes"]) for level in kernel["roofline"]["levels"]}["l2"])
for line in kernel["lines"]:
    if "requests" in line:
        print(line["text"].split(" ")[0], *(line[name] for name in ("requests", "l1_hits", "l1_pending_hits", "bytes", "l2_bytes")))
PYTHON
done
sonde exec same_line.ptx -q -d sim:h200 --any-target --cold --block 256 --arg zero:128 --arg zero:1024 --profile=html:line.html
grep -o 'L1&#160;[0-9]*' line.html
echo "# with and without a profile the same"
sonde exec hot.ptx --grid 40 --block 256 --arg out:a:40960 --arg u32:3 >plain
sonde exec hot.ptx --grid 40 --block 256 --arg out:b:40960 --arg u32:3 --profile >profiled 2>table
cmp plain profiled && cmp a b
awk 'length($0) > 80 { print "too wide: " $0 } END { print (NR <= 20 ? "fits" : "too long: " NR) }' table
sed -n 3,5p table | cut -c 7-50
echo "# two launches"
run sonde exec double.ptx -q --block 64 --arg x=zero:1024 --arg u32:64 --then --block 64 --arg same:x --arg u32:64 --profile=json >out 2>json
sed -n 's/^ *"launches": \([0-9]*\),$/launches \1/p' json
echo "# launches of two sizes; one that faults, one that is stopped: up to there, and the sums hold"
sonde exec double.ptx -q --block 64 --arg x=zero:1024 --arg u32:64 --then --block 32 --arg same:x --arg u32:32 --profile >out 2>table
grep -o '^double.* sizes' table
cat >stopped.py <<'PYTHON'
import json, sys
kernel, = json.load(open(sys.argv[1]))["kernels"]
total = kernel["resident_warp_cycles"]
print("stopped", kernel["stopped"], "of", kernel["launches"], [s["block"][0] for s in kernel["sizes"]],
      total > 0 and sum(kernel["warp_cycles_by_reason"].values()) == total
      and sum(line["warp_cycles"] for line in kernel["lines"]) == total)
PYTHON
cat >stopped.ptx <<'PTX'
.version 3.0
.target sm_20
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 to)
{
    .reg .u64 %a, %to;
    .reg .u32 %v, %i, %t;
    .reg .pred %p;
    ld.param.u64 %a, [a];
    ld.param.u64 %to, [to];
    mov.u32 %t, %tid.x;
    setp.ge.u32 %p, %t, 32;
    @%p bra wait;
again:
    ld.global.u32 %v, [%a];
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 50;
    @%p bra again;
    st.global.u32 [%to], %v;
    ret;
wait:
    bar.sync 0;
    ret;
}
PTX
run sonde exec stopped.ptx -q --block 96 --arg zero:4 --arg u64:64 --profile=json:fault.json
python3 stopped.py fault.json
run sonde exec stopped.ptx -q --block 96 --arg zero:4 --arg zero:4 --max-cycles 5000 --profile=json:limit.json
python3 stopped.py limit.json
run sonde exec stopped.ptx -q --block 96 --arg zero:4 --arg u64:64 --profile
echo "# names that are too long: a place keeps its line, parameters go without their kernel, what is cut says so"
cat >of_a_program_with_a_long_name.ptx <<'PTX'
.version 3.0
.target sm_20
.address_size 64
.visible .entry a_kernel_with_a_long_name(
    .param .u64 a_kernel_with_a_long_name_param_0)
{
    .reg .u64 %a;
    .reg .f32 %a_register_with_a_long_name, %another_register;
    ld.param.u64 %a, [a_kernel_with_a_long_name_param_0];
    mov.f32 %another_register, 0f3F800000;
    fma.rn.f32 %a_register_with_a_long_name, %another_register, %another_register, %another_register;
    st.global.f32 [%a], %a_register_with_a_long_name;
    ret;
}
PTX
sed -e '/^.visible/i .file 1 "a_source_with_a_long_name.cu"' -e '/ld.param/i .loc 1 123 1' of_a_program_with_a_long_name.ptx >line.ptx
sonde exec of_a_program_with_a_long_name.ptx -q --arg zero:4 --profile 2>&1 | cut -c 27- | sed '1,/instruction/d' | LC_ALL=C sort
sonde exec line.ptx -q --arg zero:4 --profile 2>&1 | cut -c 27- | sed '1,/instruction/d' | LC_ALL=C sort
echo "# pages"
run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 --profile=html:page.html
run sonde report gtx780.1.json -o again.html
grep -c '<svg class="roofline"' page.html again.html
/usr/bin/python3 - page.html <<'PYTHON'
import re, sys # lines end within the picture
svg = re.search(r'<svg class="roofline".*?</svg>', open(sys.argv[1]).read(), re.S)[0]
width, height = re.search(r'viewBox="0 0 ([0-9]+) ([0-9]+)"', svg).groups()
lines = re.findall(r"<line [^>]*>", svg)
ends = [(most, float(end)) for names, most in (("x", width), ("y", height)) for line in lines
        for end in re.findall(' %s[12]="(-?[0-9.]+)"' % names, line)]
print(len(lines) > 10, len(ends) == 4 * len(lines), [end for end in ends if not 0 <= end[1] <= float(end[0])])
PYTHON
grep -o '<h3>[A-Za-z ]*</h3>' page.html
grep -c 'line 5</code>' page.html
# Points that lie on each other have one name.
sonde exec hot.ptx -d sim:gtx560ti --any-target -q --block 256 --arg zero:1024 --arg u32:1 --profile=html:near.html
grep -o '>l[12, l]*</text>' near.html
echo "# what it refuses"
refused() {
    run sonde exec hot.ptx -q --block 256 --arg zero:1024 --arg u32:1 "$@"
}
refused --profile=yaml
refused --profile=json:
refused --profile=json:missing/file
refused --profile --functional
refused --profile --check
refused --profile -d cuda:0 2>&1 | tail -2 | head -1

#!/usr/bin/env python3
"""attributes.py OUT...: of what closes.sh left in OUT, attribute by attribute: how many values the first dissections told, and how
many of these the second told alike, otherwise (differ) or not (lost), with the machines in which one did not come back.

Alike: latencies within a cycle, bandwidths within five percent, shares of victims within 0.03, all else exactly. Kinds of access are
counted as one attribute, those of each cache and TLB by their names. Behind the table: the same of numbers in cycles, of rates and of
all others, and in which machines it is how many values that did not come back.
"""
import collections
import glob
import json
import re
import sys

CYCLES = re.compile(r"latency|penalty|load_to_use|cycles")
RATES = re.compile(r"bandwidth|/cycle|per_cycle|per_second|loaded")


def attribute(path):
    path = re.sub(r"^latency_patterns\..*", "latency_patterns", path)
    return re.sub(r"\.\d+(#\d+)?\b", ".N", path)


def kind(name):
    return "rates" if RATES.search(name) else "cycles" if CYCLES.search(name) else "exact"


def line(name, counts, machines):
    told = sum(counts.values())
    share = counts["same"] / told if told else 0
    print(f"{name:40} {told:6} {counts['same']:6} {counts['differs']:6} {counts['only in A']:6} {share:6.3f}  {machines}")


def main():
    counts = collections.defaultdict(collections.Counter)
    lost = collections.defaultdict(collections.Counter)  # of attributes: machines
    machines = collections.Counter()
    for folder in sys.argv[1:]:
        for path in sorted(glob.glob(f"{folder}/*.rows.json")):
            machine = path.rsplit("/", 1)[-1][: -len(".rows.json")]
            machines[machine] += 0
            for row in json.load(open(path, encoding="utf-8"))["attributes"]:
                if row["verdict"] == "only in B":
                    continue
                name = attribute(row["attribute"])
                counts[name][row["verdict"]] += 1
                if row["verdict"] != "same":
                    lost[name][machine] += 1
                    machines[machine] += 1
    print(f"{'attribute':40} {'told':>6} {'same':>6} {'differ':>6} {'lost':>6}  share  machines")
    for name in sorted(counts, key=lambda one: (-sum(lost[one].values()), one)):
        line(name, counts[name], len(lost[name]))
    print()
    for group in ("exact", "cycles", "rates", ""):
        total = collections.Counter()
        of = set()
        for name, count in counts.items():
            if group in ("", kind(name)):
                total.update(count)
                of.update(lost[name])
        line(group or "all", total, len(of))
    whole = sum(1 for count in machines.values() if count == 0)
    print(f"\n{len(machines)} machines, {whole} whole; values that did not come back: machines")
    for count, number in sorted(collections.Counter(machines.values()).items()):
        print(f"{count:4}: {number}")


main()

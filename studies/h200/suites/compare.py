#!/usr/bin/env python3
"""compare.py FOLDER: what compare.sh has run, beside recorded.tsv. Status 1 when a case failed or left a wrong result.

FOLDER holds `cases` (a line a case) and, a file each, CASE.stats, CASE.log and CASE.status. What launching takes
is the empty kernel's: recorded cycles (../recorded.tsv) less simulated ones, added to each prediction.
"""
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def recorded(path):
    """Rows by kernel and size, each a dictionary of columns."""
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return {(row[0], row[1]): dict(zip(rows[0], row)) for row in rows[1:]}


def simulated(folder, case):
    """The launch's counts, or None where the run failed, which is told with the last lines of its log."""
    stem = os.path.join(folder, ".".join(case))
    try:
        with open(stem + ".status", encoding="utf-8") as text:
            status = text.read().strip()
        with open(stem + ".log", encoding="utf-8", errors="replace") as text:
            log = text.read()
        if status != "0" or "WRONG" in log or "NOT FINITE" in log:
            raise ValueError(f"status {status}: {log[-300:]}")
        with open(stem + ".stats", encoding="utf-8") as text:
            stats = json.load(text)
        if stats["launches"] != 1:
            raise ValueError(f"{stats['launches']} launches")
    except (OSError, ValueError, KeyError) as error:
        print(f"compare.py: {' '.join(case)}: failed: {error}", file=sys.stderr)
        return None
    return {
        "cycles": stats["cycles"],
        "insns": stats["machine_instructions"],
        "sectors": stats["network"]["requests"]["sectors"],
        "bytes": stats["dram"]["read_bytes"] + stats["dram"]["written_bytes"],
    }


def off(predicted, measured):
    """By how much of the measured value the prediction is off; nothing where nothing was measured."""
    return predicted / measured - 1 if measured else None


def percent(value):
    return "-" if value is None else f"{100 * value:+.1f}"


def median_off(rows, column):
    """The median distance, in percent, of the rows that have one."""
    return 100 * statistics.median([abs(row[column]) for row in rows if row[column] is not None])


def compare(folder, cases, card, launching):
    """A row a case, the worst cycles first: errors of cycles, instructions, sectors of L2 and bytes of DRAM."""
    rows = []
    for case in cases:
        counts = simulated(folder, case)
        if counts is None:
            continue
        measured = {name: float(value) for name, value in card[case].items() if name not in ("kernel", "size")}
        dram = measured["dram_read_bytes"] + measured["dram_write_bytes"]
        rows.append({
            "case": case,
            "card": measured["cycles"],
            "model": counts["cycles"] + launching,
            "cycles": off(counts["cycles"] + launching, measured["cycles"]),
            "insns": off(counts["insns"], measured["warp_insns"]),
            "sectors": off(counts["sectors"], measured["l2_sectors"]),
            "bytes": off(counts["bytes"], dram),
        })
    return sorted(rows, key=lambda row: -abs(row["cycles"]))


def log_correlation(rows):
    model, card = ([math.log(row[side]) for row in rows] for side in ("model", "card"))
    try:
        return statistics.correlation(model, card)
    except statistics.StatisticsError:  # of one case, or of cases that are alike
        return 1.0


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "cases"), encoding="utf-8") as lines:
        empty, *cases = [tuple(line.split()) for line in lines]
    nothing = simulated(folder, empty)
    if nothing is None:
        sys.exit(1)
    launching = float(recorded(os.path.join(HERE, "..", "recorded.tsv"))["empty", "1"]["cycles"]) - nothing["cycles"]
    rows = compare(folder, cases, recorded(os.path.join(HERE, "recorded.tsv")), launching)
    print(f"{'kernel':14} {'size':5} {'card':>9} {'model':>9} {'cycles':>8} {'insns':>8} {'sectors':>8} {'dram':>8}   (in %)")
    for row in rows:
        errors = " ".join(f"{percent(row[name]):>8}" for name in ("cycles", "insns", "sectors", "bytes"))
        print(f"{row['case'][0]:14} {row['case'][1]:5} {row['card']:9.0f} {row['model']:9.0f} {errors}")
    if rows:
        errors = [abs(row["cycles"]) for row in rows]
        print(f"cases: {len(rows)} of {len(cases)}; launching: {launching:.0f} cycles")
        print(f"cycles: mean absolute error {100 * statistics.fmean(errors):.1f} %, median {median_off(rows, 'cycles'):.1f} %,",
              f"most {100 * max(errors):.1f} %, correlation of logarithms {log_correlation(rows):.3f}")
        print(f"medians: instructions {median_off(rows, 'insns'):.1f} %, sectors of L2 {median_off(rows, 'sectors'):.1f} %,",
              f"bytes of DRAM {median_off(rows, 'bytes'):.1f} %")
    if len(rows) < len(cases):
        print(f"{len(cases) - len(rows)} cases failed")
        sys.exit(1)


main()

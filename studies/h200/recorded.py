#!/usr/bin/env python3
"""recorded.py FOLDER: what record.sh has written, as one table (recorded.tsv) on standard output.

A column a counter of Nsight Compute's, in the table's units: the metric's name stands in COLUMNS.
"""
import csv
import glob
import io
import os
import sys

COLUMNS = [
    ("cycles", "sm__cycles_elapsed.max"),
    ("cycles_active", "sm__cycles_active.avg"),
    ("ns", "gpu__time_duration.sum"),
    ("clock_hz", "sm__cycles_elapsed.avg.per_second"),
    ("warp_insns", "smsp__inst_executed.sum"),
    ("thread_insns", "smsp__thread_inst_executed.sum"),
    ("l1_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ("l1_load_hits", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"),
    ("l2_sectors", "lts__t_sectors_srcunit_tex.sum"),
    ("l2_hits", "lts__t_sectors_srcunit_tex_lookup_hit.sum"),
    ("l2_all_sectors", "lts__t_sectors.sum"),
    ("l2_all_hits", "lts__t_sectors_lookup_hit.sum"),
    ("dram_read_bytes", "dram__bytes_read.sum"),
    ("dram_write_bytes", "dram__bytes_write.sum"),
    ("bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
    ("warps_active", "sm__warps_active.avg.per_cycle_active"),
    ("registers", "launch__registers_per_thread"),
    ("pipe_alu", "sm__inst_executed_pipe_alu.sum"),
    ("pipe_fma", "sm__inst_executed_pipe_fma.sum"),
    ("pipe_fp64", "sm__inst_executed_pipe_fp64.sum"),
    ("pipe_lsu", "sm__inst_executed_pipe_lsu.sum"),
    ("pipe_xu", "sm__inst_executed_pipe_xu.sum"),
    ("pipe_uniform", "sm__inst_executed_pipe_uniform.sum"),
    ("pipe_cbu", "sm__inst_executed_pipe_cbu.sum"),
    ("pipe_adu", "sm__inst_executed_pipe_adu.sum"),
]


def read_tsv(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def read_counters(path):
    """The launches of one profile, in their order; the first record holds the units."""
    with open(path, encoding="utf-8") as lines:
        text = "".join(line for line in lines if line.startswith('"'))
    return list(csv.DictReader(io.StringIO(text)))[1:]


def number(text):
    value = float(text.replace(",", ""))
    return str(int(value)) if value == int(value) else f"{value:.6g}"


def workload(path):
    """All launches of a workload as one line: sums, but for rates and registers, which are the most. No times, no results."""
    _, name, size, _ = os.path.basename(path).split(".")
    launches = read_counters(path)
    line = ["workload_" + name, size]
    for column, metric in COLUMNS:
        values = [float(launch[metric].replace(",", "")) for launch in launches]
        most = column in ("clock_hz", "warps_active", "registers")
        line.append(number(str(max(values) if most else sum(values))))
    return line + ["-", "-", "0", "0"]


def main():
    folder = sys.argv[1]
    launches = read_tsv(os.path.join(folder, "check.tsv"))
    times = {tuple(row[:2]): row[2:] for row in read_tsv(os.path.join(folder, "time.tsv"))}
    names = list(dict.fromkeys(row[0] for row in launches))
    profiles = sorted(glob.glob(os.path.join(folder, "ncu.*.csv")))
    counters = {}
    for part, path in enumerate(profiles):
        mine = [row for row in launches if names.index(row[0]) % len(profiles) == part]
        profile = read_counters(path)
        if len(mine) != len(profile):
            sys.exit(f"{path}: {len(profile)} launches, not {len(mine)}")
        for row, counts in zip(mine, profile):
            counters[tuple(row[:2])] = counts
    device = [line[0] for line in read_tsv(os.path.join(folder, "device.txt"))]
    print(f"# {device[1]}; {device[0]}; Nsight Compute {device[2]}")
    print("# columns:", " ".join(f"{name}={metric}" for name, metric in COLUMNS))
    print("# cold_ns, warm_ns: between two events, without the profiler, L2 emptied before or warm")
    head = [name for name, _ in COLUMNS] + ["cold_ns", "warm_ns", "exact", "about"]
    print("\t".join(["kernel", "size"] + head))
    for row in launches:
        key = tuple(row[:2])
        values = [number(counters[key][metric]) for _, metric in COLUMNS]
        print("\t".join(list(key) + values + times[key] + row[2:]))
    for path in sorted(glob.glob(os.path.join(folder, "workload.*.csv"))):
        print("\t".join(workload(path)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""recorded.py FOLDER FEW: what record.sh has written, as one table (recorded.tsv) on standard output.

FOLDER holds the recording under all counters, FEW the one under few. Columns have the names of ../recorded.tsv;
cycles_few_passes are those of FEW. A case that failed or left a wrong result is an error.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from recorded import COLUMNS, number, read_counters, read_tsv  # noqa: E402


def read_cases(folder):
    """The counters of each case's launch, by its name and size."""
    rows = read_tsv(os.path.join(folder, "cases.tsv"))[1:]
    launches = {(name, size): read_counters(os.path.join(folder, f"{name}.{size}.csv"))
                for name, size, status in rows if status == "0"}
    failed = [f"{name} {size}" for name, size, _ in rows if len(launches.get((name, size), [])) != 1]
    if failed:
        sys.exit(f"{folder}: not recorded: {', '.join(failed)}")
    return {case: counters[0] for case, counters in launches.items()}


def main():
    cases, few = (read_cases(folder) for folder in sys.argv[1:3])
    for folder, what in zip(sys.argv[1:3], ("", "cycles_few_passes: ")):
        date, device, profiler = [line[0] for line in read_tsv(os.path.join(folder, "device.txt"))][:3]
        print(f"# {what}{device}; {date}; Nsight Compute {profiler}")
    print("# columns: those of ../recorded.tsv; cycles_few_passes=sm__cycles_elapsed.max under the counters of `record.sh OUT few`")
    print("\t".join(["kernel", "size"] + [name for name, _ in COLUMNS] + ["cycles_few_passes"]))
    for key, row in cases.items():
        values = [number(row[metric]) for _, metric in COLUMNS]
        print("\t".join(list(key) + values + [number(few[key]["sm__cycles_elapsed.max"])]))


main()

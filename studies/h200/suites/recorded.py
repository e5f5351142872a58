#!/usr/bin/env python3
"""recorded.py FOLDER FEW: what record.sh has written, as one table (recorded.tsv) on standard output.

FOLDER holds the recording under all counters, FEW the one under few. Columns have the names of ../recorded.tsv;
cycles_few_passes are those of FEW. A case that failed or left a wrong result is an error.
"""
import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from recorded import COLUMNS, number, read_tsv  # noqa: E402


def read_cases(folder):
    with open(os.path.join(folder, "cases.csv"), encoding="utf-8") as lines:
        cases = {(row["name"], row["size"]): row for row in csv.DictReader(lines)}
    failed = [" ".join(key) for key, row in cases.items() if row["status"] != "0"]
    if failed:
        sys.exit(f"{folder}: not recorded: {', '.join(failed)}")
    return cases


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

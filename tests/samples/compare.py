#!/usr/bin/env python3
"""compare.py SONDE PROGRAMS [options]: what `sonde run --sample` tells of programs, beside full simulations.

Each case is a program of programs.cu with a scale and a seed for its data. It runs fully and with samples; what it
prints must be the same. Told: cycles, the error of the estimate, the interval, whether the full simulation lies in it,
how many times less processor time the samples took, and how many times less execution without timing alone takes, which is
what samples cannot exceed. With --seeds each case's samples are drawn so many times.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def run(sonde, options, program, folder, tag):
    """The statistics, what was printed, and the seconds of processor time."""
    stats = os.path.join(folder, tag + ".json")
    command = [sonde, "run", "-q", "--stats", stats, *options, "--", *program]
    with open(os.path.join(folder, tag + ".out"), "w+") as out:
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"compare: {' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    with open(stats) as file:
        return json.load(file), text, usage.ru_utime + usage.ru_stime


def case(arguments, name, scale, data, folder):
    program = [arguments.programs, name, str(scale), str(data)]
    device = ["-d", arguments.device] if arguments.device else []
    tag = f"{name}.{scale}.{data}"
    full, text, full_seconds = run(arguments.sonde, device, program, folder, tag)
    _, _, executed = run(arguments.sonde, [*device, "--functional"], program, folder, tag + ".functional")
    rows = []
    for seed in range(1, arguments.seeds + 1):
        options = [*device, f"--sample={arguments.error}", "--seed", str(seed)]
        sampled, sampled_text, seconds = run(arguments.sonde, options, program, folder, f"{tag}.{seed}")
        if sampled_text != text:
            sys.exit(f"compare: {' '.join(program)}: other results with samples: {sampled_text!r}, not {text!r}")
        rows.append(row(name, scale, data, seed, full, sampled["sampling"], full_seconds, seconds))
        rows[-1] |= {"device": arguments.device or "", "functional_seconds": executed}
    return rows


def row(name, scale, data, seed, full, sampling, full_seconds, seconds):
    cycles, told = full["cycles"], sampling["cycles"]
    return {"program": name, "scale": scale, "data": data, "seed": seed, "cycles": cycles,
            "estimate": told["estimate"], "error": told["estimate"] / cycles - 1,
            "half": (told["high"] - told["low"]) / 2 / told["estimate"],
            "inside": told["low"] <= cycles <= told["high"],
            "simulated": sampling["simulated_launches"], "launches": sampling["launches"],
            "full_seconds": full_seconds, "seconds": seconds, "faster": full_seconds / seconds}


def tell(rows):
    print(f"{'program':12}{'scale':>6}{'data':>5}{'seed':>5}{'cycles':>12}{'error':>9}{'interval':>10} in"
          f"{'simulated':>14}{'seconds':>9}{'faster':>8}{'at most':>9}")
    for r in rows:
        print(f"{r['program']:12}{r['scale']:6}{r['data']:5}{r['seed']:5}{r['cycles']:12}{r['error']:9.2%}"
              f"{r['half']:10.2%} {'yes' if r['inside'] else 'NO '}"
              f"{r['simulated']:>7} of {r['launches']:<4}{r['full_seconds']:9.1f}{r['faster']:8.1f}"
              f"{r['full_seconds'] / r['functional_seconds']:9.1f}")
    inside = sum(r["inside"] for r in rows)
    print(f"inside the interval: {inside} of {len(rows)} ({inside / len(rows):.1%}); error: median "
          f"{statistics.median(abs(r['error']) for r in rows):.2%}, most {max(abs(r['error']) for r in rows):.2%}; "
          f"slowest {min(r['faster'] for r in rows):.2f}, median {statistics.median(r['faster'] for r in rows):.1f} "
          f"times as fast")
    return inside


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde")
    parser.add_argument("programs")
    parser.add_argument("--device")
    parser.add_argument("--error", default="3%")
    parser.add_argument("--only", help="programs, separated by commas")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--scales", default="", help="of some programs: NAME=SCALE,...")
    parser.add_argument("--data", default="1", help="seeds of the programs' data: FIRST-LAST or one")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, help="ends soon after so many: cases that have not begun are left out")
    parser.add_argument("-j", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--least-inside", type=float, help="share; status 1 below it")
    parser.add_argument("--most-error", type=float, help="status 1 where the median is larger")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else subprocess.run(
        [arguments.sonde, "run", "-q", "--functional", "--", arguments.programs], check=True, capture_output=True,
        text=True).stdout.split()
    first, _, last = arguments.data.partition("-")
    data = range(int(first), int(last or first) + 1)
    scales = dict(pair.split("=") for pair in arguments.scales.split(",") if pair)
    begin = time.monotonic()

    def one(key):
        late = arguments.seconds and time.monotonic() - begin > arguments.seconds
        return [] if late else case(arguments, key[1], int(scales.get(key[1], arguments.scale)), key[0], folder)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.j) as pool:
        rows = [r for part in pool.map(one, [(d, n) for d in data for n in names]) for r in part]
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)
    inside = tell(rows)
    failed = arguments.least_inside is not None and inside < arguments.least_inside * len(rows)
    median = statistics.median(abs(r["error"]) for r in rows)
    failed = failed or (arguments.most_error is not None and median > arguments.most_error)
    sys.exit(1 if failed else 0)


main()

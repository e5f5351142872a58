#!/usr/bin/env python3
"""count.py FILE.ptx: the machine instructions that ptxas makes of each kernel for sm_90, as a table.

Only whoever makes small.tsv again needs it, and ptxas. An instruction has 16 bytes; behind a kernel's
last one come a branch to itself and NOPs.
"""
import os
import struct
import subprocess
import sys
import tempfile

SELF_BRANCH, NOP = 0x947, 0x918


def sections(data):
    table, = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]
    text = headers[names][4]
    for h in headers:
        begin = text + h[0]
        yield data[begin : data.index(b"\0", begin)].decode(), data[h[4] : h[4] + h[5]]


def instructions(code):
    ops = [struct.unpack_from("<Q", code, at)[0] & 0xFFF for at in range(0, len(code), 16)]
    while ops and ops[-1] == NOP:
        ops.pop()
    if ops and ops[-1] == SELF_BRANCH:
        ops.pop()
    return len(ops)


def main():
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "out.cubin")
        ptxas = os.environ.get("PTXAS", "ptxas")
        with open(sys.argv[1], encoding="utf-8") as source:
            text = source.read().replace(".target sm_75", ".target sm_90")
        given = os.path.join(folder, "in.ptx")
        with open(given, "w", encoding="utf-8") as copy:
            copy.write(text)
        subprocess.run([ptxas, "-arch=sm_90", "-o", cubin, given], check=True)
        with open(cubin, "rb") as file:
            data = file.read()
    for name, code in sections(data):
        if name.startswith(".text."):
            print(f"{name[len('.text.'):]}\t{instructions(code)}")


main()

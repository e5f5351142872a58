#!/usr/bin/env python3
"""Draws small changes of src/ and asks the tests whether they notice.

A change (a mutant) is one of: a relation, a sign, a constant, a condition, a statement. Each is
built by itself in a copy of the tree. One that does not compile, or whose object file is the same
as before, is not counted. The others go through the tests in three steps, unit tests of the room
first; the first failing test ends the trial. What no test notices survives and is printed whole.

    tests/mutants/mutants.py --count 200 --seed 7 --work /tmp/mutants --report mutants.tsv

Takes hours of processor time, so it is no part of `make check`. A report that exists is continued.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<relation>(?<=\ )(?:<=|>=|==|!=|<|>)(?=\ ))
  | (?P<sign>(?<=\ )(?:\+=|-=|\+|-|&&|\|\||<<|>>|&|\|)(?=\ ))
  | (?P<constant>(?<![\w.])(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*(?![\w.]))
  | (?P<condition>\b(?:if|while)\ \()
""", re.X | re.S)
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
         "+": "-", "-": "+", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&",
         "<<": ">>", ">>": "<<", "&": "|", "|": "&"}
STATEMENT = re.compile(r"^ +(?!return\b|break;|continue;|goto\b|case\b|default\b|else\b|typedef\b)"
                       r"(?:[\w.>\[\]*()+-]|->)+(?: [-+*/|&^<>]?=+ [^;{}]*|\([^;{}]*\)|\+\+|--);$")
KINDS = ["relation", "sign", "constant", "condition", "statement"]


def bodies(text):
    """Places of function bodies: from a brace alone on its line to one in the first column."""
    for found in re.finditer(r"^\{\n.*?^\}", text, re.M | re.S):
        yield found.start(), found.end()


def closing(text, at):
    """The place of the parenthesis that closes the one at `at`; None: not in this line's reach."""
    depth = 0
    for i in range(at, min(len(text), at + 2000)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return None


def sites(path, text):
    """Every change of one file, as (kind, file, start, end, replacement)."""
    for begin, end in bodies(text):
        for found in TOKEN.finditer(text, begin, end):
            kind = found.lastgroup
            line = text[text.rfind("\n", 0, found.start()) + 1:found.start()]
            if kind == "skip" or line.lstrip().startswith(("#", "assert(", "static const")):
                continue
            word = found.group()
            if kind == "condition":
                close = closing(text, found.end() - 1)
                if close is not None:
                    inner = text[found.end():close]
                    yield kind, path, found.end(), close, "!(" + inner + ")"
            elif kind == "constant":
                yield kind, path, found.start(), found.end(), "(%s + 1)" % word
            else:
                yield kind, path, found.start(), found.end(), OTHER[word]
        at = begin
        for line in text[begin:end].split("\n"):
            if STATEMENT.match(line) and "assert(" not in line:
                yield "statement", path, at, at + len(line), line[:len(line) - len(line.lstrip())] + ";"
            at += len(line) + 1


def draw(root, seed, count, under):
    """`count` changes, kinds in turn, places at random."""
    by_kind = {kind: [] for kind in KINDS}
    for folder, _, names in sorted(os.walk(os.path.join(root, "src"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            if name.endswith((".c", ".inc")) and re.search(under, path):
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    for site in sites(path, file.read()):
                        by_kind[site[0]].append(site)
    rng = random.Random(seed)
    for kind in KINDS:
        rng.shuffle(by_kind[kind])
    return [by_kind[KINDS[i % len(KINDS)]].pop() for i in range(count)]


class Tree:
    """A copy of the tree, built with its tests."""

    def __init__(self, root, work, jobs):
        self.root, self.top, self.jobs = root, os.path.join(work, "tree"), jobs
        self.build = os.path.join(work, "build")
        os.makedirs(work, exist_ok=True)
        if not os.path.isdir(self.top):
            subprocess.run(["git", "-C", root, "worktree", "prune"], check=True)
            shutil.copytree(root, self.top, ignore=shutil.ignore_patterns("build", ".git"))
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
        self.run(["cmake", "-G", "Ninja", "-S", self.top, "-B", self.build, *linker,
                  "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1"], 600)
        if self.make() != 0:
            sys.exit("the tree does not build as it is")
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            self.objects = {os.path.relpath(c["file"], self.top):
                            os.path.join(c["directory"], re.search(r" -o (\S+)", c["command"])[1])
                            for c in json.load(file)}

    @staticmethod
    def run(command, seconds, log=os.devnull):
        """The status of a command; 124 when its time is up."""
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                       start_new_session=True)
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return 124

    def make(self):
        return self.run(["cmake", "--build", self.build, "-j", str(self.jobs)], 1800)

    def digest(self):
        total = hashlib.sha256()
        for path in sorted(set(self.objects.values())):
            if "/src/" in path and os.path.exists(path):
                with open(path, "rb") as file:
                    total.update(file.read())
        return total.digest()

    def ask(self, seconds, *choice):
        """The first test that fails; None: none does."""
        log = os.path.join(self.build, "ctest.log")
        rc = self.run(["ctest", "--test-dir", self.build, "-j", str(self.jobs), "--timeout", "120",
                       "--stop-on-failure", *choice], seconds, log)
        if rc == 0:
            return None
        with open(log, encoding="utf-8", errors="replace") as file:
            failed = re.findall(r"\d+: (\S+) \.+\**(?:Failed|Timeout|\S*Exception|Not Run|Subprocess)",
                                file.read())
        return failed[0] if failed else "timeout" if rc == 124 else None


def judge(tree, site, before, skip):
    """What became of one change, in a word or two."""
    kind, path, start, end, text = site
    full = os.path.join(tree.top, path)
    with open(full, encoding="utf-8") as file:
        original = file.read()
    try:
        with open(full, "w", encoding="utf-8") as file:
            file.write(original[:start] + text + original[end:])
        if tree.make() != 0:
            return "does not compile"
        if tree.digest() == before:
            return "same code"
        room = path.split("/")[1]
        for step in (["-R", r"^unit\.%s\." % room], ["-L", "unit"], ["-LE", "unit"]):
            failed = tree.ask(1800, *step, "-E", skip, "--no-tests=ignore")
            if failed:
                return "found by " + failed
        return "SURVIVED"
    finally:
        with open(full, "w", encoding="utf-8") as file:
            file.write(original)


def describe(root, site):
    kind, path, start, end, text = site
    with open(os.path.join(root, path), encoding="utf-8") as file:
        whole = file.read()
    line = whole.count("\n", 0, start) + 1
    first, last = whole.rfind("\n", 0, start) + 1, whole.find("\n", end)
    def flat(words):
        return " ".join(words.split())
    return ["%s:%d" % (path, line), kind, flat(whole[first:last]),
            flat(whole[first:start] + text + whole[end:last])]


def main():
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parse = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parse.add_argument("--count", type=int, default=200)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--work", required=True, help="a folder for the copy and its build")
    parse.add_argument("--report", required=True, help="where the verdicts go, a line each")
    parse.add_argument("--under", default="", help="only files that match this expression")
    parse.add_argument("--skip", default="^$", help="tests that match this are not asked")
    parse.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parse.parse_args()
    drawn = draw(here, options.seed, options.count, options.under)
    done = {}
    if os.path.exists(options.report):
        with open(options.report, encoding="utf-8") as file:
            done = {line.split("\t")[0]: line.rstrip("\n").split("\t")[1] for line in file}
    tree = Tree(here, options.work, options.jobs)
    before = tree.digest()
    failed = tree.ask(7200, "-E", options.skip)
    if failed:
        sys.exit("%s fails as it is: mend or --skip it first, it would find every change" % failed)
    with open(options.report, "a", encoding="utf-8") as report:
        for number, site in enumerate(drawn):
            if str(number) in done:
                continue
            verdict = judge(tree, site, before, options.skip)
            done[str(number)] = verdict
            report.write("\t".join([str(number), verdict] + describe(here, site)) + "\n")
            report.flush()
            print(number, verdict, describe(here, site)[0], flush=True)
    matter = [v for v in done.values() if v not in ("same code", "does not compile")]
    found = [v for v in matter if v != "SURVIVED"]
    print("%d changes compile and matter, %d found: %.1f %%"
          % (len(matter), len(found), 100.0 * len(found) / max(1, len(matter))))
    return 0 if len(found) >= 0.95 * len(matter) else 1


if __name__ == "__main__":
    sys.exit(main())

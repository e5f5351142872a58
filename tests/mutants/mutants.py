#!/usr/bin/env python3
"""Draws small changes of src/ and asks the tests whether they notice.

A change (a mutant) is one of: a relation, a sign, a constant, a condition, a statement. Each is made
by itself in a copy of the last commit (tree.py). One that does not compile, or whose code is the same
as before, is not counted. The others are shown to the tests that reach the changed block, those first
that found most for their time, the room's unit tests before any other; the first failing test ends the
trial. What no test notices survives and is printed whole.

    tests/mutants/mutants.py --count 200 --seed 7 --work /tmp/mutants --report mutants.tsv

README.md says what a sample of 200 showed. Takes an hour, so it is no part of `make check`. A report
that exists is continued, and with --again what survived is tried again, after the tests of the copy
(DIR/tree/tests) have changed.
"""
import argparse
import json
import os
import re
import sys

import sites
import tree as trees

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# They read the sources, need what is no part of the tree, or need a machine that is not busy.
SKIP = r"^layers$|^frame\.(?!embed)|ptxas|nvlink|^shim\.program|^cli\.interrupted"
MISSED = ("SURVIVED", "bounded", "not reached")
OUT = ("does not compile", "same code")


class History:
    """How often each test was asked and what it found; orders the tests of the next change."""

    def __init__(self, path):
        self.path, self.counts = path, {}
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                self.counts = json.load(file)

    def note(self, name, found):
        asked, hits = self.counts.get(name, (0, 0))
        self.counts[name] = (asked + 1, hits + found)
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.counts, file)

    def worth(self, name, room, test):
        """Findings a second, begun with a guess: half of the changes of a room by its unit tests."""
        asked, hits = self.counts.get(name, (0, 0))
        own = name.startswith("unit.%s." % room)
        guess = 0.5 if own else 0.1
        return (hits + 2 * guess) / (asked + 2) / (test["cpu"] + 0.05) * (4 if own else 1)


def judge(tree, history, site, options):
    """(verdict, processor seconds, tests asked) of one change."""
    asked, room = 0, sites.room_of(site.path)
    with trees.Change(tree, site) as change:
        if change.state != "runs":
            return change.state, change.seconds, asked
        seconds, names = change.seconds, tree.reaching(site)
        if names is not None and not names:
            return "not reached", seconds, asked
        names = [n for n in (tree.tests if names is None else names)
                 if tree.tests[n]["rc"] == 0]
        names.sort(key=lambda n: -history.worth(n, room, tree.tests[n]))
        done, bounded = set(), False
        for name in names:
            for each in [n for n in tree.tests[name]["needs"] + [name] if n not in done]:
                if seconds + tree.tests[each]["cpu"] > options.bound:
                    bounded = True
                    break
                verdict, used = tree.ask(each)
                done.add(each)
                seconds, asked = seconds + used, asked + 1
                if verdict == "fails":  # once more, lest it be a test that now and then fails
                    verdict, used = tree.ask(each)
                    seconds += used
                history.note(each, verdict != "passes")
                if verdict != "passes":
                    return ("found by " if verdict == "fails" else "hangs ") + each, seconds, asked
    return "bounded" if bounded else "SURVIVED", seconds, asked


def describe(text, site):
    line = text.count("\n", 0, site.start) + 1
    first, last = text.rfind("\n", 0, site.start) + 1, text.find("\n", site.end)

    def flat(words):
        return " ".join(words.split())
    return ["%s:%d" % (site.path, line), site.kind, flat(text[first:last]),
            flat(text[first:site.start] + site.text + text[site.end:last])]


def read_report(path):
    """The rows of a report by their number."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {int(row[0]): row for row in rows}


def write_report(path, head, rows):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("# %s\n# number, verdict, processor seconds, tests asked, place, kind, before, after\n" % head)
        file.writelines("\t".join(rows[n]) + "\n" for n in sorted(rows))
    os.replace(path + ".new", path)


def summary(rows):
    verdicts = [row[1] for row in rows.values()]
    matter = [v for v in verdicts if v not in OUT]
    hung = [v for v in matter if v.startswith("hangs")]
    missed = [row for row in rows.values() if row[1] in MISSED]
    lines = ["%d drawn, %d do not compile, %d the same code; of the other %d, %d found (%d of them by a "
             "test that hangs), %d not: %.1f %%"
             % (len(rows), verdicts.count(OUT[0]), verdicts.count(OUT[1]), len(matter),
                len(matter) - len(missed), len(hung), len(missed),
                100.0 * (len(matter) - len(missed)) / max(1, len(matter)))]
    for room in sorted({sites.room_of(row[4]) for row in rows.values()}):
        own = [row[1] for row in rows.values() if sites.room_of(row[4]) == room and row[1] not in OUT]
        lines.append("%-12s %3d of %3d" % (room, len([v for v in own if v not in MISSED]), len(own)))
    seconds = [float(row[2]) for row in rows.values() if row[1] not in OUT and row[1] not in MISSED]
    lines.append("processor seconds of a found one: %.1f" % (sum(seconds) / max(1, len(seconds))))
    return lines, missed, len(matter)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parse.add_argument("--count", type=int, default=200)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--work", required=True, help="a folder for the copy and its build")
    parse.add_argument("--report", required=True, help="where the verdicts go, a line each")
    parse.add_argument("--folders", default="src", help="of these folders, with commas between")
    parse.add_argument("--under", default="", help="only files that match this expression")
    parse.add_argument("--skip", default=SKIP, help="tests that match this are not asked")
    parse.add_argument("--bound", type=float, default=300, help="processor seconds for one change")
    parse.add_argument("--jobs", type=int, default=1, help="of the build of the copy")
    parse.add_argument("--again", action="store_true", help="try again what survived")
    parse.add_argument("--only", default="", help="numbers to try, with commas between")
    options = parse.parse_args()
    tree = trees.Tree(HERE, options.work, options.skip, options.jobs)
    for name, test in tree.tests.items():
        if test["rc"] not in (0, test["skip"]):
            print("%s fails as the tree is, and is not asked" % name)
    history = History(os.path.join(options.work, "history.json"))
    drawn = sites.draw(tree.plain, options.folders.split(","), options.seed, options.count, options.under)
    head = "commit %s, seed %d, %d of %s" % (tree.commit, options.seed, options.count, options.folders)
    rows = read_report(options.report)
    wanted = {int(n) for n in options.only.split(",") if n}
    for number, site in enumerate(drawn):
        if wanted and number not in wanted:
            continue
        if number in rows and not wanted and not (options.again and rows[number][1] in MISSED):
            continue
        verdict, seconds, asked = judge(tree, history, site, options)
        row = describe(tree.read_plain(site.path), site)
        rows[number] = [str(number), verdict, "%.1f" % seconds, str(asked)] + row
        write_report(options.report, head, rows)
        print(number, verdict, "%.1f s" % seconds, row[0], flush=True)
    lines, missed, matter = summary(rows)
    print("\n".join(lines))
    for row in missed:
        print("\n".join([row[1] + " " + row[4] + " " + row[5], "    " + row[6], "    " + row[7]]))
    return 0 if len(missed) <= 0.05 * matter else 1


if __name__ == "__main__":
    sys.exit(main())

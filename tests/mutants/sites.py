"""The small changes: where they are in the sources, and how a sample of them is drawn."""
import collections
import os
import random
import re

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
OPENS = re.compile(r"^( *)(?!.*\bswitch \().*(?:\)|else|do|case \w+:|default:) \{$")

Site = collections.namedtuple("Site", "kind path start end text")


def bodies(text):
    """Places of function bodies: from a brace alone on its line to one in the first column."""
    for found in re.finditer(r"^\{\n.*?^\}", text, re.M | re.S):
        yield found.start(), found.end()


def closing(text, at):
    """The place of the parenthesis that closes the one at `at`; None: it is too far away."""
    depth = 0
    for i in range(at, min(len(text), at + 2000)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return None


def sites(path, text):
    """Every change of one file."""
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
                    yield Site(kind, path, found.end(), close, "!(" + inner + ")")
            elif kind == "constant":
                yield Site(kind, path, found.start(), found.end(), "(%s + 1)" % word)
            else:
                yield Site(kind, path, found.start(), found.end(), OTHER[word])
        at = begin
        for line in text[begin:end].split("\n"):
            if STATEMENT.match(line) and "assert(" not in line:
                blank = line[:len(line) - len(line.lstrip())]
                yield Site("statement", path, at, at + len(line), blank + ";")
            at += len(line) + 1


def room_of(path):
    """`src/mem/cache/cache.c` is of `mem`, all of `shim/` of `shim`."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" else parts[0]


def sources(root, folders):
    """The paths of the sources in `folders`, in order."""
    for top in folders:
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".inc")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def shares(lines, count):
    """`count` handed out to the rooms in proportion to their lines, by largest remainder."""
    total = sum(lines.values())
    exact = {room: count * n / total for room, n in lines.items()}
    got = {room: int(x) for room, x in exact.items()}
    rest = sorted(exact, key=lambda room: (got[room] - exact[room], room))
    for room in rest[:count - sum(got.values())]:
        got[room] += 1
    return got


def draw(root, folders, seed, count, under):
    """`count` changes: rooms in proportion to their lines, kinds in turn, places at random."""
    lines, by_place = collections.Counter(), collections.defaultdict(list)
    for path in sources(root, folders):
        if not re.search(under, path):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        lines[room_of(path)] += text.count("\n")
        for site in sites(path, text):
            by_place[room_of(path), site.kind].append(site)
    rng = random.Random(seed)
    drawn = []
    for room, share in sorted(shares(lines, count).items()):
        for _ in range(share):
            kinds = KINDS[len(drawn) % len(KINDS):] + KINDS
            pool = next((by_place[room, k] for k in kinds if by_place[room, k]), None)
            if pool:
                drawn.append(pool.pop(rng.randrange(len(pool))))
    rng.shuffle(drawn)
    return drawn


def changed(text, site):
    return text[:site.start] + site.text + text[site.end:]


def marked(text, first):
    """The text with a mark SONDE_REACH(n); behind the opening brace of every block of a function,
    n from `first` on, and the lines that each block spans. Lines stay where they are."""
    spans = []
    lines = text.split("\n")
    for begin, end in bodies(text):
        top, last = text.count("\n", 0, begin), text.count("\n", 0, end)
        for i in range(top, last):
            found = OPENS.match(lines[i])
            if not found and i != top:
                continue
            indent = found.group(1) if found else ""
            close = next((j for j in range(i + 1, last + 1) if lines[j].startswith(indent + "}")), None)
            if close is None:
                continue
            spans.append((i + 1, close - 1))
            lines[i] += " SONDE_REACH(%d);" % (first + len(spans) - 1)
    return "\n".join(lines), spans


def block_of(spans, line):
    """The innermost block around a line (from 0); None: the line is in no block."""
    around = [i for i, (a, b) in enumerate(spans) if a <= line <= b]
    return max(around, key=lambda i: spans[i][0]) if around else None

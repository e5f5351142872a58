"""A copy of the tree in which one change costs one object and one link, and its tests.

The copy differs from the tree in three ways. Each room is a shared library of its own, so that a
change links one library and no program. Every block marks that it was reached (reach.c), so that a
change is shown only to tests that come there. There is no debug information.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import zlib

import sites

FLAGS = "-O1 -g0 -include %s"
LIMITS = {resource.RLIMIT_FSIZE: 1 << 30, resource.RLIMIT_CORE: 0}
RESIDENT = 3 << 30  # bytes; what is reserved only, as a device's memory is, does not count
PAGE = resource.getpagesize()


def resident(session):
    """The bytes of memory that a session's processes hold."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == session:
                with open("/proc/%s/statm" % pid, encoding="ascii") as file:
                    total += int(file.read().split()[1]) * PAGE
        except (OSError, ValueError, IndexError):
            pass
    return total


def wait(process, wall):
    """The status of a process; 124 when it takes too long or too much memory."""
    end = time.monotonic() + wall
    while time.monotonic() < end:
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            if resident(process.pid) > RESIDENT:
                break
    return 124


def run(command, cwd, cpu=600, wall=1800, env=None):
    """(status, processor seconds) of a command; status 124 when a process used up `cpu` seconds, the
    command was not over after `wall` seconds, or it took too much memory."""
    def limit():
        for what, most in LIMITS.items():
            resource.setrlimit(what, (most, most))
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit,
                               env=dict(os.environ, **(env or {})))
    rc = wait(process, wall)
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 124 if rc in (-signal.SIGXCPU, 128 + signal.SIGXCPU) else rc, used


class Tree:
    """The copy, its build, and what each test costs and reaches."""

    def __init__(self, root, work, skip, jobs):
        self.work, self.jobs = os.path.abspath(work), jobs
        self.plain = os.path.join(self.work, "plain")
        self.top = os.path.join(self.work, "tree")
        self.build = os.path.join(self.work, "build")
        self.outputs = {}
        if not os.path.isdir(self.top):
            self.copy(root)
        with open(os.path.join(self.work, "commit"), encoding="utf-8") as file:
            self.commit = file.read().strip()
        self.mark()
        self.configure()
        if subprocess.run(["ninja", "-C", self.build, "-j", str(jobs)], stdout=sys.stderr).returncode:
            sys.exit("the copy of the tree does not build")
        self.read_build()
        self.measure(skip)

    def copy(self, root):
        """Two copies of the commit: one as it is, one to mark and to change."""
        for place in (self.plain, self.top):
            shutil.rmtree(place, ignore_errors=True)
            os.makedirs(place)
            pack = subprocess.run(["git", "-C", root, "archive", "HEAD"], check=True, capture_output=True)
            subprocess.run(["tar", "-x", "-C", place], input=pack.stdout, check=True)
        commit = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], check=True,
                                capture_output=True, text=True).stdout
        for name, old, new in (("cmake/SondeRoom.cmake", "} STATIC $", "} SHARED $"),
                               ("cmake/SondeCompiler.cmake", "PRESET hidden", "PRESET default"),
                               ("shim/CMakeLists.txt", "$<LINK_LIBRARY:WHOLE_ARCHIVE,sonde_rt>", "sonde_rt"),
                               ("cmake/SondePackage.cmake", "sonde_static ALL", "sonde_static"),
                               ("shim/CMakeLists.txt", "LINKER:-z,defs", "")):
            path = os.path.join(self.top, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if old not in text:
                sys.exit("%s: there is no '%s' to replace" % (name, old))
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
        with open(os.path.join(self.work, "commit"), "w", encoding="utf-8") as file:
            file.write(commit)

    def mark(self):
        """Marks every block, and keeps which number is which block."""
        self.first, self.spans, self.blocks = {}, {}, 0
        for path in sites.sources(self.plain, ["src", "shim"]):
            text = self.read_plain(path)
            done, spans = sites.marked(text, self.blocks)
            self.first[path], self.spans[path] = self.blocks, spans
            self.blocks += len(spans)
            self.write(path, done)

    def read_plain(self, path):
        with open(os.path.join(self.plain, path), encoding="utf-8") as file:
            return file.read()

    def write(self, path, text):
        full = os.path.join(self.top, path)
        with open(full, encoding="utf-8") as file:
            if file.read() == text:
                return
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def configure(self):
        header, library = os.path.join(self.work, "reach.h"), os.path.join(self.work, "libreach.so")
        if os.path.isfile(os.path.join(self.build, "build.ninja")):
            return
        with open(header, "w", encoding="utf-8") as file:
            file.write("extern unsigned char *sonde_reached;\n"
                       "#define SONDE_REACH(n) "
                       "do { if (!sonde_reached[n]) sonde_reached[n] = 1; } while (0)\n")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-DSONDE_REACH_BLOCKS=%d" % self.blocks, "-o",
                        library, os.path.join(here, "reach.c")], check=True)
        linker = ["-DCMAKE_%s_LINKER_FLAGS=-fuse-ld=lld" % kind for kind in ("EXE", "SHARED")]
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.top, "-B", self.build,
                        *(linker if shutil.which("ld.lld") else []),
                        "-DCMAKE_C_STANDARD_LIBRARIES=" + library, "-DCMAKE_BUILD_TYPE=Mutants",
                        "-DCMAKE_C_FLAGS=" + FLAGS % header],
                       check=True, stdout=sys.stderr)

    def ninja(self, *words):
        return subprocess.run(["ninja", "-C", self.build, *words], check=True, capture_output=True,
                              text=True).stdout

    def read_build(self):
        """Which objects are made of a file, and how."""
        self.compile, self.objects = {}, {}
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            for row in json.load(file):
                made = re.search(r" -o (\S+)", row["command"])[1]
                self.compile[made] = row["command"]
                self.objects.setdefault(os.path.relpath(row["file"], self.top), set()).add(made)
        made = None
        for line in self.ninja("-t", "deps").splitlines():
            if line and not line.startswith(" "):
                made = line.split(":")[0]
            elif line.strip().startswith(self.top) and made in self.compile:
                self.objects.setdefault(os.path.relpath(line.strip(), self.top), set()).add(made)

    def links(self, made):
        """The files that an object is linked into, each with its command."""
        if made not in self.outputs:
            found, text = [], self.ninja("-t", "query", made)
            for name in re.findall(r"^    (\S+)$", text.split("outputs:")[1], re.M):
                last = self.ninja("-t", "commands", name).splitlines()[-1:]
                if last and " -o " + name in last[0]:
                    found.append((name, last[0]))
            self.outputs[made] = found
        return self.outputs[made]

    def tests_of_ctest(self):
        text = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], check=True,
                              capture_output=True, text=True).stdout
        tests, setups, needs = {}, {}, {}
        for row in json.loads(text)["tests"]:
            properties = {p["name"]: p["value"] for p in row["properties"]}
            tests[row["name"]] = {"command": row["command"], "cwd": properties["WORKING_DIRECTORY"],
                                  "skip": properties.get("SKIP_RETURN_CODE")}
            for fixture in properties.get("FIXTURES_SETUP", []):
                setups[fixture] = row["name"]
            needs[row["name"]] = properties.get("FIXTURES_REQUIRED", [])
        for name, test in tests.items():
            test["needs"] = [setups[fixture] for fixture in needs[name]]
        return tests

    @staticmethod
    def stamp(test):
        """A sum over the files that the test is made of."""
        files = [w for w in test["command"] if os.path.isfile(w)]
        files += [w[:-3] + ".expected" for w in files if w.endswith(".sh")]
        total = 0
        for path in filter(os.path.isfile, files):
            with open(path, "rb") as file:
                total = zlib.crc32(file.read(), total)
        return total

    def measure(self, skip):
        """Runs each test once, as the tree is: its cost, and the blocks that it reaches."""
        kept, path = {}, os.path.join(self.work, "baseline.json")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
        self.tests = {n: t for n, t in self.tests_of_ctest().items() if not re.search(skip, n)}
        reach = os.path.join(self.work, "reached")
        for name, test in self.tests.items():
            stamp = self.stamp(test)
            if kept.get(name, {}).get("stamp") != stamp:
                with open(reach, "wb") as file:
                    file.write(bytes(self.blocks))
                began = time.monotonic()
                rc, used = run(test["command"], test["cwd"], env={"SONDE_REACH_FILE": reach})
                with open(reach, "rb") as file:
                    blocks = [i for i, byte in enumerate(file.read()) if byte]
                kept[name] = {"stamp": stamp, "rc": rc, "cpu": used, "wall": time.monotonic() - began,
                              "blocks": blocks}
                print("%s: status %d, %.2f s" % (name, rc, used), file=sys.stderr, flush=True)
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(kept, file)
            test.update(kept[name], blocks=set(kept[name]["blocks"]),
                        needs=[n for n in test["needs"] if n in self.tests])

    def reaching(self, site):
        """The tests that come to the block of a change; None: the block is not known."""
        line = self.read_plain(site.path).count("\n", 0, site.start)
        block = sites.block_of(self.spans[site.path], line)
        if block is None:
            return None
        number = self.first[site.path] + block
        return [name for name, test in self.tests.items() if number in test["blocks"]]

    def ask(self, name):
        """(verdict, seconds): `passes`, `fails` or `hangs`: over ten times what it takes as it is."""
        test = self.tests[name]
        rc, used = run(test["command"], test["cwd"], 10 * test["cpu"] + 2, 30 * test["wall"] + 60)
        return "passes" if rc in (0, test["skip"]) else "hangs" if rc == 124 else "fails", used


class Change:
    """One change in the tree, from its compilation to its removal."""

    def __init__(self, tree, site):
        self.tree, self.site, self.kept = tree, site, {}

    def __enter__(self):
        """The state: `does not compile`, `same code` or `runs`."""
        tree, path = self.tree, self.site.path
        text = sites.changed(tree.read_plain(path), self.site)
        tree.write(path, sites.marked(text, tree.first[path])[0])
        objects = sorted(tree.objects.get(path, ()))
        self.seconds, self.state = 0.0, "same code"
        for made in objects:
            old = self.keep(made)
            if not self.do(tree.compile[made]):
                self.state = "does not compile"
                return self
            with open(os.path.join(tree.build, made), "rb") as file:
                if file.read() != old:
                    self.state = "runs"
        if self.state == "runs":
            for name, command in {link for made in objects for link in tree.links(made)}:
                self.keep(name)
                if not self.do(command):
                    self.state = "does not compile"
        return self

    def do(self, command):
        rc, used = run(["sh", "-c", command], self.tree.build)
        self.seconds += used
        return rc == 0

    def keep(self, name):
        full = os.path.join(self.tree.build, name)
        status = os.stat(full)
        with open(full, "rb") as file:
            old = file.read()
        self.kept[full] = (old, status)
        return old

    def __exit__(self, *_):
        tree, path = self.tree, self.site.path
        tree.write(path, sites.marked(tree.read_plain(path), tree.first[path])[0])
        for full, (old, status) in self.kept.items():
            with open(full + ".old", "wb") as file:
                file.write(old)
            os.chmod(full + ".old", status.st_mode)
            os.replace(full + ".old", full)
            os.utime(full, ns=(status.st_atime_ns, status.st_mtime_ns))
        now = os.path.join(tree.top, path)
        status = os.stat(os.path.join(tree.plain, path))
        os.utime(now, ns=(status.st_atime_ns, status.st_mtime_ns))

#!/usr/bin/python3
"""Runs the programs below programs/ with real PyTorch and writes down what their names held: programs/<topic>/facts.json.

    tests/traces/record.py --record [TOPIC…]   run the topics (all without one), write their facts
    tests/traces/record.py --record-new        run those whose programs are not what was run
    tests/traces/record.py --check [TOPIC…]    run them again and compare with what is recorded
    tests/traces/record.py --differences       what the two oracles (tests/oracles.py) saw differently

The facts are what the first oracle says; "1.13" of a topic is the merge patch that makes them the second's. `--torch 1.13`
before --check asks the second.

A topic is a folder with ok.py, often wrong.py (the same with one bug, which bugs.json names), sometimes modules that both
import, and drive.py where nothing in the program calls it: its `drive(program)` does, and the analysis never sees it.

A new topic: write ok.py, copy it to wrong.py with one bug, give bugs.json its line ("line": where PyTorch raises, or where
the message belongs if it stays "silent"; "also": other lines that the same mistake breaks), record it, judge.py --known.

A program runs with a call behind every assignment that notes the value: of locals, globals, parameters, loop and `with`
targets and attributes. A place is `line:name`; its facts are the distinct values seen there: a tensor as
"float32[8, 3]", an int as itself, a tuple or list of these as a list, anything else not at all. "..." stands for more.
"""

import argparse
import ast
import hashlib
import importlib.abc
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

PROGRAMS = HERE / "programs"
MANY = 24       # distinct values of a place that are kept
LONG = 16       # items of a tuple or list that are kept: what `stepzero shapes` shows
SECONDS = 60


class Instrument(ast.NodeTransformer):
    """Puts `__note__(line, name, value)` behind every statement that assigns."""

    def note(self, target, into):
        """The calls that note what `target` holds by now."""
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self.note(element, into)
        elif isinstance(target, ast.Starred):
            self.note(target.value, into)
        elif isinstance(target, (ast.Name, ast.Attribute)):
            value = ast.parse(ast.unparse(target), mode="eval").body
            into.append(self.call(target.lineno, ast.unparse(target), value, target))
        return into

    def call(self, line, name, value, where):
        call = ast.Call(ast.Name("__note__", ast.Load()), [ast.Constant(line), ast.Constant(name), value], [])
        statement = ast.Expr(call)
        for node in ast.walk(statement):
            ast.copy_location(node, where)
        return statement

    def behind(self, node, targets):
        self.generic_visit(node)
        calls = []
        for target in targets:
            self.note(target, calls)
        return [node, *calls]

    def visit_Assign(self, node):
        return self.behind(node, node.targets)

    def visit_AugAssign(self, node):
        return self.behind(node, [node.target])

    def visit_AnnAssign(self, node):
        return self.behind(node, [node.target] if node.value else [])

    def visit_For(self, node):
        self.generic_visit(node)
        node.body[:0] = self.note(node.target, [])
        return node

    def visit_With(self, node):
        self.generic_visit(node)
        node.body[:0] = [call for item in node.items if item.optional_vars for call in self.note(item.optional_vars, [])]
        return node

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        calls = []
        every = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        for arg in every:
            value = ast.Name(arg.arg, ast.Load())
            calls.append(self.call(arg.lineno, arg.arg, value, arg))
        at = 1 if ast.get_docstring(node) is not None else 0
        node.body[at:at] = calls
        return node


def plain(value, torch, depth=0):
    """The value as the facts say it, or None."""
    if isinstance(value, torch.Tensor):
        if value.is_sparse or value.is_nested:
            return None
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, (tuple, list)) and depth < 4 and value:
        items = [plain(item, torch, depth + 1) for item in value[:LONG]]
        return items if any(item is not None for item in items) else None
    return None


class Notes:
    def __init__(self, torch):
        self.torch = torch
        self.seen = {}  # file name -> place -> values in the order they were seen

    def of(self, file):
        places = self.seen.setdefault(file, {})

        def note(line, name, value):
            fact = plain(value, self.torch)
            if fact is None:
                return
            values = places.setdefault(f"{line}:{name}", [])
            if fact not in values and "..." not in values:
                values.append(fact if len(values) < MANY else "...")

        return note


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the modules of the topic's folder with notes in them."""

    def __init__(self, folder, notes):
        self.folder, self.notes = folder, notes

    def find_spec(self, name, path, target=None):
        base = self.folder.joinpath(*name.split("."))
        for file, package in ((base.with_suffix(".py"), False), (base / "__init__.py", True)):
            if file.exists():
                return importlib.util.spec_from_file_location(
                    name, file, loader=self, submodule_search_locations=[str(base)] if package else None)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self.execute(Path(module.__spec__.origin), module)

    def execute(self, file, module):
        tree = ast.fix_missing_locations(Instrument().visit(ast.parse(file.read_text())))
        module.__dict__["__note__"] = self.notes.of(file.relative_to(self.folder).as_posix())
        exec(compile(tree, str(file), "exec"), module.__dict__)


def run(folder, name):
    """{"places": {file: {place: [value…]}}, "raises": …} of one program, in this process."""
    import types

    import torch
    torch.manual_seed(0)
    torch.set_num_threads(1)
    notes = Notes(torch)
    loader = Loader(folder, notes)
    sys.meta_path.insert(0, loader)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder))
    script = folder / name
    sys.argv = [str(script)]
    driver = folder / "drive.py"
    raises = None
    try:
        module = types.ModuleType("program" if driver.exists() else "__main__")
        module.__file__ = str(script)
        sys.modules[module.__name__] = module
        loader.execute(script, module)
        if driver.exists():
            names = {}
            exec(compile(driver.read_text(), str(driver), "exec"), names)
            names["drive"](module)
    except Exception as error:
        raises = {"type": type(error).__name__, "message": (str(error).strip().splitlines() or [""])[0][:160]}
        at = error.__traceback__
        while at:
            file = Path(at.tb_frame.f_code.co_filename)
            if file.parent == folder and file != driver:
                raises.update(file=file.name, line=at.tb_lineno)
            at = at.tb_next
    return {"places": notes.seen, "raises": raises}


def in_a_child(folder, name):
    """The same in a process of its own: PyTorch is loaded once, and nothing that a program does stays."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                silent = os.open(os.devnull, os.O_RDWR)
                for number in (0, 1, 2):
                    os.dup2(silent, number)
                os.chdir(scratch)
                report = run(folder, name)
            except BaseException as error:
                report = {"places": {}, "raises": {"type": type(error).__name__, "message": str(error)[:160]}}
            with os.fdopen(write, "w") as pipe:
                json.dump(report, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"places": {}, "raises": {"type": "Died", "message": ""}}


def sources(folder):
    """What the analysis is given of a topic."""
    return sorted(file for file in folder.glob("**/*.py") if file.name != "drive.py")


def text_hash(folder):
    digest = hashlib.sha256()
    for file in sorted(folder.glob("**/*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def ask(folder):
    facts = {"hash": text_hash(folder), "raises": None, "places": {}}
    trouble = []
    for name in ("ok.py", "wrong.py"):
        if not (folder / name).exists():
            continue
        report = in_a_child(folder, name)
        if name == "ok.py" and report["raises"]:
            trouble.append(f"{folder.name}/ok.py raises {report['raises']}")
        if name == "wrong.py":
            facts["raises"] = report["raises"]
        for file, places in report["places"].items():
            into = facts["places"].setdefault(file, {})
            for place, values in places.items():
                kept = into.setdefault(place, [])
                kept += [value for value in values if value not in kept]
    return facts, trouble


def written(facts):
    """JSON with one line per place."""
    lines = [f'{{"hash": {json.dumps(facts["hash"])},', f' "raises": {json.dumps(facts["raises"])},', ' "places": {']
    files = []
    for file in sorted(facts["places"]):
        places = facts["places"][file]
        rows = [f"  {json.dumps(place)}: {json.dumps(places[place])}"
                for place in sorted(places, key=lambda place: (int(place.split(":")[0]), place))]
        files.append(f"  {json.dumps(file)}: {{\n" + ",\n".join(rows) + "}")
    second = f',\n "{oracles.SECOND}": {json.dumps(facts[oracles.SECOND], sort_keys=True)}' if facts.get(oracles.SECOND) else ""
    return "\n".join(lines) + "\n" + ",\n".join(files) + "}" + second + "}\n"


def of(version, facts):
    """The recorded facts as this oracle saw them."""
    facts = dict(facts)
    changes = facts.pop(oracles.SECOND, None)
    return facts if version == oracles.FIRST or not changes else oracles.patched(facts, changes)


def equal(facts, others):
    return oracles.patch(facts, others) is None


def agrees(bug, raises):
    """What is wrong with what bugs.json says of the exception, or None."""
    if bug is None:
        return "wrong.py without a line in bugs.json"
    if bug.get("silent"):
        return f"meant to be silent, and raises {raises}" if raises else None
    if not raises:
        return "wrong.py raises nothing"
    if (raises.get("file"), raises.get("line")) != (bug.get("file", "wrong.py"), bug.get("raised", bug["line"])):
        return f"bugs.json says line {bug['line']}, PyTorch raises {raises}"
    return None


def is_recorded(folder):
    record = folder / "facts.json"
    return record.exists() and json.loads(record.read_text())["hash"] == text_hash(folder)


def second(topics):
    """{topic: facts} of the second oracle, or None."""
    return oracles.answers(oracles.SECOND, "--answer", *topics)


def record(folders):
    """Runs the topics with both oracles and writes what they say; returns the complaints."""
    bugs = json.loads((HERE / "bugs.json").read_text())
    seconds = second([folder.name for folder in folders])
    troubles = []
    for folder in folders:
        facts, trouble = ask(folder)
        troubles += trouble + judged(folder, bugs, facts)
        record = folder / "facts.json"
        before = json.loads(record.read_text()) if record.exists() else {}
        if seconds:
            facts[oracles.SECOND] = oracles.patch(facts, seconds[folder.name])
        elif before.get("hash") == facts["hash"] and oracles.SECOND in before:
            facts[oracles.SECOND] = before[oracles.SECOND]
        record.write_text(written(facts))
    return troubles


def judged(folder, bugs, facts):
    said = agrees(bugs.get(folder.name), facts["raises"]) if (folder / "wrong.py").exists() else None
    return [f"{folder.name}: {said}"] if said else []


def check(folders, version):
    """Runs the topics again; returns the complaints."""
    bugs = json.loads((HERE / "bugs.json").read_text())
    troubles = []
    for folder in folders:
        facts, trouble = ask(folder)
        record = folder / "facts.json"
        if version == oracles.FIRST:
            troubles += trouble + judged(folder, bugs, facts)
        if not record.exists() or not equal(facts, of(version, json.loads(record.read_text()))):
            troubles.append(f"{folder.name}: not what is recorded")
    return troubles


def main():
    version = oracles.chosen()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--record-new", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--differences", action="store_true")
    what.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("topics", nargs="*")
    options = parser.parse_args()
    folders = [PROGRAMS / topic for topic in options.topics] or sorted(path.parent for path in PROGRAMS.glob("*/ok.py"))
    if options.differences:
        for folder in folders:
            changes = json.loads((folder / "facts.json").read_text()).get(oracles.SECOND)
            if changes:
                print(f"{folder.name}: {oracles.SECOND}: {json.dumps(changes)}")
        return 0
    if options.record_new:
        options.record, folders = True, [folder for folder in folders if not is_recorded(folder)]
        if not folders:
            return 0
    oracles.enter(oracles.FIRST if options.record else version)
    oracles.load()
    if options.answer:
        print(json.dumps({folder.name: ask(folder)[0] for folder in folders}))
        return 0
    troubles = record(folders) if options.record else check(folders, version)
    print(*troubles, f"{len(folders)} topics, {len(troubles)} complaints", sep="\n")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())

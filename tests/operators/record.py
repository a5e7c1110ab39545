#!/usr/bin/python3
"""Writes down what real PyTorch answers to calls of its operators and modules: facts/*.

    tests/operators/record.py --record            all of them: see below; nothing is asked where nothing has changed since (stamp.py)
    tests/operators/record.py --record written    only those of this file
    tests/operators/record.py --check             records again and compares with what is there

A fact is one line: a Python expression with literal sizes, a tab, and what came of evaluating it, as JSON:

    "float32[5, 3]"           a tensor
    [fact, fact]              a tuple, list or named tuple
    3, true, "float", null    a Python int, bool, float or None
    {"value": "…"}            anything else, by its type's name
    {"raises": "RuntimeError", "message": "…"}     the first line of the message

`# name` above them names the operator (in the operator database: name/variant).

    torch, functional, linalg, fft, special, masked .txt    calls of PyTorch's own operator database
    module_db.txt    its modules: constructor and call as one expression
    modules.txt      more calls of modules, drawn at random (modules.py)
    written.txt      calls by hand (../written.txt)
    aliases.tsv      other names of the database's operators: name, tab, its operator's name

The facts are those of the first oracle (tests/oracles.py). The second, which is asked behind it (alone with `--torch 1.13`), answers the same
expressions, and writes only what it answers otherwise:

    older.tsv        the same form; {"since": "newer"} where it does not know the name or the argument; {"until": "older"} where it
                     alone takes the call (what comes of that may be different each time: some such calls read what is not theirs)
    recorded.json    with which versions they were recorded, and by which text of the recorder

The database's samples are tensors in memory. Here every tensor becomes a call that makes one of its shape and dtype:
ones, or whatever else the operator takes without complaint; small integer tensors are written out, since they may be
indices. What the expression then does is what is recorded, not what the database says.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import types
import unittest
import warnings
from pathlib import Path

import stamp
from writing import Unprintable, Writer, plain

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

FACTS = HERE / "facts"
WRITTEN = HERE / "written.txt"
SAMPLES = 150   # of an operator, as a function; first those that differ in kind
LONGEST = 500   # characters of a call

# Not operators that programs call: built from source at run time, sparse layouts, and what begins with an underscore.
LEFT_OUT = ("jiterator_", "sparse.", "nn.functional._", "to_sparse", "torch.")

OPERATORS = {  # of the operator database: what Python writes
    "add": "+", "sub": "-", "mul": "*", "true_divide": "/", "div": "/", "floor_divide": "//", "remainder": "%", "pow": "**",
    "matmul": "@", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rmod__": "%", "__rpow__": "**",
             "__rmatmul__": "@", "__rand__": "&", "__ror__": "|", "__rxor__": "^"}


def load():
    """PyTorch. Its databases want a package for its own tests."""
    stand_in = types.ModuleType("expecttest")
    stand_in.ACCEPT = False
    stand_in.TestCase = unittest.TestCase
    sys.modules.setdefault("expecttest", stand_in)
    warnings.simplefilter("ignore")
    import torch
    torch.set_num_threads(1)
    return torch


class Recorder:
    def __init__(self, torch):
        self.torch = torch
        self.names = {"torch": torch, "F": torch.nn.functional}
        self.facts = {}  # operator -> text -> outcome
        self.dropped = 0

    def outcome(self, text):
        self.torch.manual_seed(0)
        try:
            return plain(self.torch, eval(text, dict(self.names)))
        except Exception as error:
            lines = str(error).strip().splitlines()
            return {"raises": type(error).__name__, "message": lines[0][:200] if lines else ""}

    def note(self, name, texts, may_fail=False):
        """Keeps the first of the texts that can be evaluated (of wrong calls, the first)."""
        texts = list(texts)
        if not texts:
            self.dropped += 1
            return
        found = None
        for text in texts:
            found = text, self.outcome(text)
            if may_fail or not (isinstance(found[1], dict) and "raises" in found[1]):
                self.facts.setdefault(name, {}).setdefault(*found)
                return
        self.dropped += 1


def resolves(torch, path):
    value = torch
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
    return callable(value)


def is_left_out(name):
    return name.startswith(LEFT_OUT) or name.startswith("_") and not name.startswith("__")


def spread(samples, count):
    """At most `count` of them, those first that differ in kind."""
    def kind(sample):
        def of(value):
            if hasattr(value, "shape"):
                return ("tensor", len(value.shape), 0 in value.shape, 1 in value.shape)
            if isinstance(value, (list, tuple)):
                return (type(value).__name__, len(value), *[of(item) for item in value[:3]])
            return str(value)[:30]
        return repr((of(sample.input), [of(value) for value in sample.args], {key: of(value) for key, value in sample.kwargs.items()}))
    seen, first, rest = set(), [], []
    for sample in samples:
        words = kind(sample)
        (rest if words in seen else first).append(sample)
        seen.add(words)
    if len(first) > count:
        step = len(first) / count
        return [first[int(i * step)] for i in range(count)]
    return first + rest[:count - len(first)]


@contextlib.contextmanager
def same_memory(torch):
    """What a sample leaves in memory as it finds it is the same each time."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def forms(torch, info):
    """(pattern, how many samples): {0} is the tensor, {1} the other arguments, {all} both."""
    base = info.name
    function = {"__getitem__": None, "H": None, "T": None, "mT": None, "mH": None}.get(base, f"torch.{base}")
    short = base.rsplit(".", 1)[-1]
    if base in REFLECTED:
        yield "reflected", REFLECTED[base], 12
        return
    if base == "__getitem__":
        yield "subscript", "", SAMPLES
        return
    if base in ("H", "T", "mT", "mH"):
        yield "property", base, 12
        return
    is_function = function and resolves(torch, function)
    if is_function:
        yield "function", function, SAMPLES
    is_method = info.method_variant is not None and hasattr(torch.Tensor, short)
    if is_method or (not is_function and hasattr(torch.Tensor, short)):
        yield "method", short, 10 if is_function else SAMPLES
    if info.inplace_variant is not None and hasattr(torch.Tensor, short + "_"):
        yield "method", short + "_", 6
    if info.operator_variant is not None and short in OPERATORS:
        yield "operator", OPERATORS[short], 8
    for alias in info.aliases:
        path = "torch." + alias.name.removeprefix("torch.")
        if resolves(torch, path):
            yield "function", path, 6
        if hasattr(torch.Tensor, alias.name):
            yield "method", alias.name, 3


def texts(torch, form, target, sample):
    """The call in one form, with its tensors made in several ways."""
    made = []
    for floats in ("ones", "rand", "eye", "half", "exact"):
        write = Writer(torch, floats)
        try:
            if form == "function":
                text = f"{target}({write.arguments([sample.input, *sample.args], sample.kwargs)})"
            elif form == "property":
                text = f"{write.value(sample.input)}.{target}"
            elif not isinstance(sample.input, torch.Tensor):
                continue
            elif form == "method":
                text = f"{write.value(sample.input)}.{target}({write.arguments(sample.args, sample.kwargs)})"
            elif form == "subscript":
                text = f"{write.value(sample.input)}[{write.index(*sample.args)}]"
            elif sample.kwargs or len(sample.args) != 1:
                continue
            elif form == "operator":
                text = f"{write.value(sample.input)} {target} {write.value(sample.args[0])}"
            else:
                text = f"{write.value(sample.args[0])} {target} {write.value(sample.input)}"
        except Unprintable:
            continue
        if len(text) <= LONGEST and text not in made:
            made.append(text)
    return made


def record_operator(recorder, info):
    torch = recorder.torch
    name = info.name + ("/" + info.variant_test_name if info.variant_test_name else "")
    every = list(forms(torch, info))

    def samples(dtype, count):
        try:
            with same_memory(torch):
                return spread(list(info.sample_inputs("cpu", dtype)), count)
        except Exception:
            return []

    for form, target, count in every:
        for sample in samples(torch.float32, count) if torch.float32 in info.dtypes else []:
            recorder.note(name, texts(torch, form, target, sample))
    for form, target, _ in every[:1]:
        for dtype, count in ((torch.int64, 5), (torch.bool, 3), (torch.int32, 2), (torch.float64, 2), (torch.bfloat16, 2), (torch.float16, 1), (torch.uint8, 1), (torch.complex64, 2)):
            for sample in samples(dtype, count) if dtype in info.dtypes else []:
                recorder.note(name, texts(torch, form, target, sample))
        if info.error_inputs_func:
            wrong = []
            try:
                with same_memory(torch):
                    for error in info.error_inputs(torch.device("cpu")):
                        wrong.append(error.sample_input)
            except Exception:
                pass
            for sample in wrong:
                recorder.note(name, texts(torch, form, target, sample)[:1], may_fail=True)


def file_of(name):
    for family in ("nn.functional", "linalg", "fft", "special", "masked"):
        if name.startswith(family + "."):
            return family.rsplit(".", 1)[-1]
    return "torch"


def lines_of(facts):
    lines = []
    for name, found in facts.items():
        lines += [f"# {name}", *(f"{text}\t{json.dumps(outcome)}" for text, outcome in found.items()), ""]
    return "\n".join(lines)


def print_dropped(what, recorder):
    print(f"{what}: {recorder.dropped} samples cannot be written as text, {sum(map(len, recorder.facts.values()))} facts", file=sys.stderr)


def facts_of_operators(torch, op_db):
    recorder = Recorder(torch)
    for info in sorted(op_db, key=lambda info: (info.name, info.variant_test_name)):
        if not is_left_out(info.name):
            record_operator(recorder, info)
    by_file = {}
    for name, found in recorder.facts.items():
        by_file.setdefault(file_of(name), {})[name] = found
    print_dropped("operators", recorder)
    return {f"{file}.txt": lines_of(facts) for file, facts in by_file.items()}


def facts_of_written(torch):
    recorder, name = Recorder(torch), "written"
    for line in WRITTEN.read_text().splitlines():
        if line.startswith("#"):
            name = line[1:].strip()
        elif line.strip():
            recorder.note(name, [line.strip()], may_fail=True)
    return lines_of(recorder.facts)


def aliases(torch, op_db):
    """torch.NAME and torch.Tensor.NAME of each operator of the database that has another name."""
    found = {}
    for info in op_db:
        for alias in info.aliases:
            name = alias.name.removeprefix("torch.")
            for home in ("torch.", "torch.Tensor."):
                if resolves(torch, home + name) and resolves(torch, home + info.name) and not is_left_out(info.name):
                    found[home + name] = home + info.name
    return "".join(f"{alias}\t{name}\n" for alias, name in sorted(found.items()))


def record(torch, only=()):
    """{file: its text}"""
    import modules
    files = {}
    asked = lambda *names: not only or any(name in only for name in names)
    if asked("torch", "functional", "linalg", "fft", "special", "masked", "aliases"):
        from torch.testing._internal.common_methods_invocations import op_db
        files = facts_of_operators(torch, op_db)
        files["aliases.tsv"] = aliases(torch, op_db)
    if asked("module_db"):
        files["module_db.txt"] = modules.facts_of_database(torch)
    if asked("modules"):
        files["modules.txt"] = modules.facts(torch)
    if asked("written"):
        files["written.txt"] = facts_of_written(torch)
    return files


UNKNOWN = ("has no attribute", "unexpected keyword argument", "got an unexpected keyword")


def older(torch):
    """What this PyTorch answers otherwise than the facts say."""
    recorder = Recorder(torch)
    for file in sorted(FACTS.glob("*.txt")):
        name = ""
        for line in file.read_text().splitlines():
            if line.startswith("# "):
                name = line[2:]
            elif line:
                text, outcome = line.split("\t")
                newer, here = json.loads(outcome), recorder.outcome(text)
                failed = isinstance(here, dict) and "raises" in here
                if here == newer or failed and isinstance(newer, dict) and "raises" in newer:
                    continue
                if failed and (here["raises"] == "AttributeError" or any(word in here["message"] for word in UNKNOWN)):
                    here = {"since": "newer"}
                elif not failed and isinstance(newer, dict) and "raises" in newer:
                    here = {"until": "older"}
                recorder.facts.setdefault(name, {})[text] = here
    return lines_of(recorder.facts)


def compare_or_write(files, check, version):
    """The exit status."""
    FACTS.mkdir(exist_ok=True)
    status = 0
    for name, text in files.items():
        file = FACTS / name
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"facts/{file.name} is not what PyTorch {version} says now")
            status = 1
    return status


def main():
    asked_alone = any(argument.startswith("--torch") for argument in sys.argv) or oracles.MARK in os.environ
    if any(argument in ("-h", "--help") for argument in sys.argv):
        print(__doc__)
        return 0
    arguments = sys.argv[1:]
    if not asked_alone and oracles.python(oracles.SECOND):  # behind the first, which writes the expressions
        first = subprocess.run([sys.executable, sys.argv[0], *arguments, "--torch", oracles.FIRST])
        if first.returncode:
            return first.returncode
        return subprocess.run([sys.executable, sys.argv[0], *arguments, "--torch", oracles.SECOND]).returncode
    os.environ["PYTHONHASHSEED"] = "0"  # some samples are drawn from sets
    version = oracles.enter()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", nargs="*", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.record is None and not options.check:
        parser.error("--record or --check")
    older_ones = version == oracles.SECOND
    if options.record == [] and stamp.unchanged(version, older_ones):
        print(f"what PyTorch {stamp.versions()['torch']} answers is recorded")
        return 0
    torch = load()
    files = record(torch, options.record or ()) if version == oracles.FIRST else {"older.tsv": older(torch)}
    status = compare_or_write(files, options.check, version)
    if options.record == []:
        stamp.write(version, older_ones)
    return status


if __name__ == "__main__":
    sys.exit(main())

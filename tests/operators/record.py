#!/usr/bin/python3
"""Writes down what real PyTorch answers to calls of its operators: facts/*.txt.

    tests/operators/record.py --record            all of them, from PyTorch's own operator database and written.txt
    tests/operators/record.py --record written    only those of written.txt
    tests/operators/record.py --check             records again and compares with what is there

A fact is one line: a Python expression with literal sizes, a tab, and what came of evaluating it, as JSON:

    "float32[5, 3]"           a tensor
    [fact, fact]              a tuple, list or named tuple
    3, true, "float", null    a Python int, bool, float or None
    {"value": "…"}            anything else, by its type's name
    {"raises": "RuntimeError", "message": "…"}     the first line of the message

`# name` above them names the operator (in the operator database: name/variant).

The database's samples are tensors in memory. Here every tensor becomes a call that makes one of its shape and dtype:
ones, or whatever else the operator takes without complaint; small integer tensors are written out, since they may be
indices. What the expression then does is what is recorded, not what the database says.
"""

import argparse
import json
import math
import sys
import types
import unittest
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts"
WRITTEN = HERE / "written.txt"
SAMPLES = 12    # of an operator, as a function
ERRORS = 10     # wrong calls of an operator
LONG = 30       # elements of an integer tensor that are written out

# Not operators that programs call: built from source at run time, prototypes, sparse layouts.
LEFT_OUT = ("jiterator_", "sparse.", "masked.", "nn.functional._", "to_sparse")

OPERATORS = {  # of the operator database: what Python writes
    "add": "+", "sub": "-", "mul": "*", "true_divide": "/", "div": "/", "floor_divide": "//", "remainder": "%", "pow": "**",
    "matmul": "@", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rdiv__": "/", "__rmod__": "%", "__rpow__": "**",
             "__rmatmul__": "@", "__rand__": "&", "__ror__": "|", "__rxor__": "^"}


def load():
    """PyTorch and its operator database, which wants a package for its own tests."""
    stand_in = types.ModuleType("expecttest")
    stand_in.ACCEPT = False
    stand_in.TestCase = unittest.TestCase
    sys.modules.setdefault("expecttest", stand_in)
    warnings.simplefilter("ignore")
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    torch.set_num_threads(1)
    return torch, op_db


class Unprintable(Exception):
    """A value that has no text of its own."""


class Writer:
    """Values as Python text; tensors as calls that make them."""

    def __init__(self, torch, floats):
        self.torch = torch
        self.floats = floats  # how tensors of floats are made: "ones", "rand", "eye", "half", "exact"

    def size(self, shape):
        if not shape:
            return "()"
        return "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"

    def tensor(self, value):
        torch = self.torch
        if value.is_sparse or value.is_nested or value.layout != torch.strided or value.device.type != "cpu":
            raise Unprintable
        if value.is_quantized or value.dtype in (torch.complex32,):
            raise Unprintable
        shape = list(value.shape)
        name = str(value.dtype)
        suffix = "" if value.dtype == torch.float32 else f", dtype={name}"
        size = self.size(shape)
        if not value.is_floating_point() and not value.is_complex():
            if 0 < value.numel() <= LONG and (value.dtype in (torch.int64, torch.bool) or value.numel() < 6):
                plain = "" if value.dtype in (torch.int64, torch.bool) else suffix
                return f"torch.tensor({value.tolist()}{plain})"
            maker = "zeros" if value.numel() and int(value.min()) <= 0 else "ones"
            return f"torch.{maker}({size}{suffix})"
        square = len(shape) >= 2 and shape[-1] == shape[-2] and value.numel()
        if self.floats == "eye" and square:
            eye = f"torch.eye({shape[-1]}{suffix})"
            return eye if len(shape) == 2 else f"{eye}.expand({', '.join(map(str, shape))})"
        if self.floats == "rand" and not value.is_complex():
            return f"torch.rand({size}{suffix})"
        if self.floats == "half":
            return f"torch.full({size}, 0.5{suffix})"
        if self.floats == "exact" and 0 < value.numel() <= 9 and not value.is_complex():
            return f"torch.tensor({json.loads(json.dumps(value.tolist()), parse_float=lambda x: round(float(x), 2))}{suffix})"
        return f"torch.ones({size}{suffix})"

    def value(self, value):
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if isinstance(value, complex):
            return repr(value)
        if value is Ellipsis:
            return "..."
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, tuple):
            return "(" + ", ".join(self.value(item) for item in value) + ("," if len(value) == 1 else "") + ")"
        if isinstance(value, list) or type(value).__name__ == "TensorList":
            return "[" + ", ".join(self.value(item) for item in value) + "]"
        raise Unprintable

    def arguments(self, positional, keywords):
        return ", ".join([self.value(value) for value in positional] + [f"{key}={self.value(value)}" for key, value in keywords.items()])

    def index(self, index):
        """Between the brackets of a subscript."""
        def part(item):
            if isinstance(item, slice):
                text = ":".join("" if bound is None else self.value(bound) for bound in (item.start, item.stop))
                return text if item.step is None else f"{text}:{self.value(item.step)}"
            return self.value(item)
        if isinstance(index, tuple):
            return ", ".join(part(item) for item in index) + ("," if len(index) == 1 else "") if index else "()"
        return part(index)


def plain(torch, value, depth=0):
    """The outcome, as a fact says it."""
    if isinstance(value, torch.Tensor):
        if value.is_sparse or value.is_nested or value.layout != torch.strided:
            return {"value": "sparse"}
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return "float"
    if isinstance(value, (tuple, list)) and depth < 3:
        return [plain(torch, item, depth + 1) for item in value]
    return {"value": type(value).__name__}


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


def forms(torch, info):
    """(pattern, how many samples): {0} is the tensor, {1} the other arguments, {all} both."""
    base = info.name
    function = {"__getitem__": None, "H": None, "T": None, "mT": None, "mH": None}.get(base, f"torch.{base}")
    short = base.rsplit(".", 1)[-1]
    if base in REFLECTED:
        yield "reflected", REFLECTED[base], 4
        return
    if base == "__getitem__":
        yield "subscript", "", SAMPLES
        return
    if base in ("H", "T", "mT", "mH"):
        yield "property", base, 6
        return
    is_function = function and resolves(torch, function)
    if is_function:
        yield "function", function, SAMPLES
    is_method = info.method_variant is not None and hasattr(torch.Tensor, short)
    if is_method or (not is_function and hasattr(torch.Tensor, short)):
        yield "method", short, 4 if is_function else SAMPLES
    if info.inplace_variant is not None and hasattr(torch.Tensor, short + "_"):
        yield "method", short + "_", 3
    if info.operator_variant is not None and short in OPERATORS:
        yield "operator", OPERATORS[short], 3
    for alias in info.aliases:
        path = "torch." + alias.name.removeprefix("torch.")
        if resolves(torch, path):
            yield "function", path, 2
        if hasattr(torch.Tensor, alias.name):
            yield "method", alias.name, 1


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
        if len(text) <= 400 and text not in made:
            made.append(text)
    return made


def record_operator(recorder, info):
    torch = recorder.torch
    name = info.name + ("/" + info.variant_test_name if info.variant_test_name else "")
    every = list(forms(torch, info))

    def samples(dtype, count):
        try:
            return spread(list(info.sample_inputs("cpu", dtype)), count)
        except Exception:
            return []

    for form, target, count in every:
        for sample in samples(torch.float32, count) if torch.float32 in info.dtypes else []:
            recorder.note(name, texts(torch, form, target, sample))
    for form, target, _ in every[:1]:
        for dtype, count in ((torch.int64, 3), (torch.bool, 2), (torch.int32, 1), (torch.float64, 1), (torch.bfloat16, 1), (torch.complex64, 1)):
            for sample in samples(dtype, count) if dtype in info.dtypes else []:
                recorder.note(name, texts(torch, form, target, sample))
        if info.error_inputs_func:
            wrong = []
            try:
                for error in info.error_inputs(torch.device("cpu")):
                    wrong.append(error.sample_input)
            except Exception:
                pass
            for sample in wrong[:ERRORS * 3]:
                made = texts(torch, form, target, sample)
                if made and len(recorder.facts.get(name, {})) < 60:
                    recorder.note(name, made[:1], may_fail=True)


def file_of(name):
    for family in ("nn.functional", "linalg", "fft", "special"):
        if name.startswith(family + "."):
            return family.rsplit(".", 1)[-1]
    return "torch"


def lines_of(facts):
    lines = []
    for name, found in facts.items():
        lines += [f"# {name}", *(f"{text}\t{json.dumps(outcome)}" for text, outcome in found.items()), ""]
    return "\n".join(lines)


def record(torch, op_db, only_written=False):
    """{file name: its text}"""
    files = {}
    if not only_written:
        recorder = Recorder(torch)
        for info in sorted(op_db, key=lambda info: (info.name, info.variant_test_name)):
            if not info.name.startswith(LEFT_OUT):
                record_operator(recorder, info)
        by_file = {}
        for name, found in recorder.facts.items():
            by_file.setdefault(file_of(name), {})[name] = found
        files = {f"{file}.txt": lines_of(facts) for file, facts in by_file.items()}
        print(f"{recorder.dropped} samples cannot be written as text", file=sys.stderr)
    recorder, name = Recorder(torch), "written"
    for line in WRITTEN.read_text().splitlines():
        if line.startswith("#"):
            name = line[1:].strip()
        elif line.strip():
            recorder.note(name, [line.strip()], may_fail=True)
    files["written.txt"] = lines_of(recorder.facts)
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", nargs="*", metavar="written")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.record is None and not options.check:
        parser.error("--record or --check")
    torch, op_db = load()
    files = record(torch, op_db, only_written=options.record == ["written"])
    FACTS.mkdir(exist_ok=True)
    status = 0
    for name, text in files.items():
        if options.check:
            if not (FACTS / name).exists() or (FACTS / name).read_text() != text:
                print(f"facts/{name} is not what PyTorch says now")
                status = 1
        else:
            (FACTS / name).write_text(text)
    return status


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""How much is known of the tensors in `forward`, in code of others that nobody annotated.

    tests/traces/forwards.py PATH…              a line for each path: known, partly known and unknown tensors
    tests/traces/forwards.py --unknown PATH…    besides, every place that is not wholly known, with its line

A place is a parameter or an assigned name of a `forward` or of a method that one reaches through `self`. It counts as a tensor
unless stepzero knows it to be something else or the text shows it: a literal, a size, a parameter with a number for default. What
nothing is known of counts as an unknown tensor. Known: every dimension has a number or a name. Partly: the rank, or some dimensions.
"""

import argparse
import ast
import collections
import json
import os
import subprocess
import sys
from pathlib import Path

STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(Path(__file__).resolve().parents[2] / "build" / "stepzero")))
OF_PYTHON = {"len", "int", "float", "bool", "str", "range", "isinstance", "hasattr", "callable", "tuple", "list", "dict", "set", "round", "divmod",
             "size", "dim", "numel", "ndimension", "item", "tolist", "type", "partial", "format", "is_cuda", "time"}
SIZES = {"shape", "dtype", "device", "ndim", "training", "is_cuda", "requires_grad"}
PLAIN = {"int", "float", "bool", "str", "tuple", "list", "dict", "Tuple", "List", "Dict", "Callable"}


def is_plain(value):
    """Whether the text shows that the expression gives no tensor."""
    match value:
        case ast.Constant() | ast.JoinedStr() | ast.Lambda() | ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.GeneratorExp():
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in OF_PYTHON
        case ast.Attribute(attr=name):
            return name in SIZES
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=[ast.Is() | ast.IsNot() | ast.In() | ast.NotIn()]):
            return True
        case ast.BinOp(left=left, right=right):
            return is_plain(left) and is_plain(right)
        case ast.IfExp(body=body, orelse=orelse):
            return is_plain(body) and is_plain(orelse)
        case ast.BoolOp(values=values):
            return all(map(is_plain, values))
    return False


def parameters(function):
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)
    pairs = list(zip(positional, defaults))[0 if static else 1:] + list(zip(arguments.kwonlyargs, arguments.kw_defaults))
    for argument, default in pairs:
        annotated = {each.id for each in ast.walk(argument.annotation) if isinstance(each, ast.Name)} if argument.annotation else set()
        by_default = isinstance(default, ast.Constant) and default.value is not None or isinstance(default, (ast.Tuple, ast.List))
        if not by_default and not annotated & PLAIN:
            yield argument.lineno, argument.arg


def targets(target):
    match target:
        case ast.Name():
            yield target.lineno, target.id
        case ast.Tuple() | ast.List():
            for each in target.elts:
                yield from targets(each)
        case ast.Starred():
            return


def own(function):
    """The nodes of the function, without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own(child)


def assigned(function):
    yield from parameters(function)
    for node in own(function):
        match node:
            case ast.Assign(value=value):
                if not is_plain(value):
                    for target in node.targets:
                        yield from targets(target)
            case ast.AnnAssign(value=value) | ast.AugAssign(value=value) | ast.NamedExpr(value=value):
                if value is not None and not is_plain(value):
                    yield from targets(node.target)
            case ast.For():
                match node.iter:
                    case ast.Call(func=ast.Name(id="range" | "count")):
                        continue
                    case ast.Call(func=ast.Name(id="enumerate")) if isinstance(node.target, ast.Tuple):
                        yield from targets(node.target.elts[1])
                    case _:
                        yield from targets(node.target)


def forwards(tree):
    """The functions called `forward`, and the methods that they reach through self."""
    for cls in ast.walk(tree):
        if not isinstance(cls, ast.ClassDef):
            continue
        methods = {each.name: each for each in cls.body if isinstance(each, ast.FunctionDef)}
        reached, waiting = set(), [name for name in methods if name == "forward"]
        while waiting:
            name = waiting.pop()
            if name in reached or name == "__init__":
                continue
            reached.add(name)
            for node in ast.walk(methods[name]):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=called)) if called in methods:
                        waiting.append(called)
        yield from (methods[name] for name in sorted(reached))


def state_of(value):
    """known, partly, unknown, or None for what is no tensor."""
    if value is None:
        return "unknown"
    if value["kind"] != "tensor":
        return None
    shape = value.get("shape")
    if shape is None:
        return "unknown"
    return "partly" if "..." in shape or "?" in shape else "known"


def judged(path):
    """(file, line, name, state, value) of every place below the path."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    done = subprocess.run([STEPZERO, "shapes", "--format", "json", *map(str, files)], capture_output=True, timeout=1200, check=True)
    for each in json.loads(done.stdout)["files"]:
        inferred = {(place["line"], place["name"]): place for place in each["shapes"]}
        try:
            tree = ast.parse(Path(each["path"]).read_text())
        except (SyntaxError, UnicodeDecodeError):
            continue
        places = {place for function in forwards(tree) for place in assigned(function)}
        for line, name in sorted(places):
            value = inferred.get((line, name))
            state = state_of(value)
            if state and name != "_":
                yield each["path"], line, name, state, value


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args()
    for path in options.paths:
        counts = collections.Counter()
        for file, line, name, state, value in judged(path):
            counts[state] += 1
            if options.unknown and state != "known":
                text = Path(file).read_text().splitlines()[line - 1].strip()
                print(f"{file}:{line} {name} {state} {json.dumps(value.get('shape')) if value else 'nothing'}    {text[:120]}")
        total = max(sum(counts.values()), 1)
        print(f"{path}: {counts['known']} of {total} tensors known ({100 * counts['known'] / total:.0f} %), "
              f"{counts['partly']} partly, {counts['unknown']} unknown")


if __name__ == "__main__":
    sys.exit(main())

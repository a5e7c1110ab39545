"""Bugs of sizes: layers that do not fit, more experts chosen than there are."""

import ast
import re

from source import Mutant, number

LAYERS = {"Linear": (0, 1, ("in_features", "out_features")), "Conv1d": (0, 1, ("in_channels", "out_channels")),
          "Conv2d": (0, 1, ("in_channels", "out_channels")), "Conv3d": (0, 1, ("in_channels", "out_channels")),
          "ConvTranspose1d": (0, 1, ("in_channels", "out_channels")), "ConvTranspose2d": (0, 1, ("in_channels", "out_channels")),
          "BatchNorm1d": (0, 0, ("num_features",) * 2), "BatchNorm2d": (0, 0, ("num_features",) * 2), "LayerNorm": (0, 0, ("normalized_shape",) * 2)}
SHAPES = ["shape/*", "attention/*", "moe/*", "parallel/*"]


def layer(source, call):
    """(node of the size that goes in, node of the size that comes out), if both are written."""
    row = LAYERS.get(source.called(call))
    if not row or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if isinstance(call.func, ast.Attribute) and not re.search(r"(^|\.)nn$", source.receiver(call)):
        return None
    found = []
    for at, name in zip(row[:2], row[2]):
        if at < len(call.args):
            found.append(call.args[at])
        else:
            found.append(next((k.value for k in call.keywords if k.arg == name), None))
    return tuple(found) if all(found) else None


def wider(source):
    """One of two layers in a row is twice as wide as the other takes."""
    def stated(function):
        return [c for c in source.calls if source.function(c) is function and layer(source, c)]
    # In the order of the text: that of a set is another in each run, and so would the sample be.
    for function in sorted({source.function(c) for c in source.calls if layer(source, c)}, key=lambda each: getattr(each, "lineno", 0)):
        row = sorted(stated(function), key=source.span)
        for first, second in zip(row, row[1:]):
            out, into = layer(source, first)[1], layer(source, second)[0]
            # In a row: both in one call (Sequential), one list, or on attributes of self set one after the other.
            if source.said(out) != source.said(into) or layer(source, second)[0] is layer(source, second)[1] and source.called(second) == "LayerNorm":
                continue
            if source.parents.get(first) is not source.parents.get(second) or isinstance(source.parents.get(first), ast.Assign):
                continue
            said = source.said(into)
            new = str(number(into) * 2) if number(into) is not None else f"{said} * 2" if isinstance(into, (ast.Name, ast.Attribute, ast.Constant)) else f"({said}) * 2"
            yield Mutant("neighbouring size", second.lineno, f"{source.said(second)[:60]} {said} → {new}", [source.replaced(into, new)], [first.lineno])


EXPERTS = re.compile(r"^(num_|n_)?(routed_|local_)?(num_|n_)?experts$|^num_(local_)?experts$|^n_experts$")
CHOSEN = re.compile(r"^(moe_)?top_?k$|^num_experts_per_(tok|token)$|^n_activated_experts$|^(num_)?experts_top_?k$|^k$|^n_experts_per_tok(en)?$")


def pairs(node):
    """(name, value) of a call's keywords, a signature's defaults, a dictionary, the fields of a class."""
    if isinstance(node, ast.Call):
        return [(k.arg, k.value) for k in node.keywords if k.arg]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names = node.args.posonlyargs + node.args.args
        found = list(zip([a.arg for a in names[len(names) - len(node.args.defaults):]], node.args.defaults))
        return found + [(a.arg, v) for a, v in zip(node.args.kwonlyargs, node.args.kw_defaults) if v]
    if isinstance(node, ast.Dict):
        return [(k.value, v) for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant) and isinstance(k.value, str)]
    if isinstance(node, ast.ClassDef):
        return [(n.target.id, n.value) for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.value]
    return []


def topk(source):
    for node in ast.walk(source.tree):
        said = pairs(node)
        experts = [(n, v) for n, v in said if EXPERTS.search(n) and number(v)]
        chosen = [(n, v) for n, v in said if CHOSEN.search(n) and number(v)]
        if len(experts) == 1 and len(chosen) == 1 and number(experts[0][1]) >= number(chosen[0][1]):
            value = chosen[0][1]
            yield Mutant("top-k raised", value.lineno, f"{chosen[0][0]}={number(value)} of {experts[0][0]}={number(experts[0][1])}",
                         [source.replaced(value, str(number(experts[0][1]) + 1))], [experts[0][1].lineno, node.lineno])


FAMILIES = {
    "neighbouring size": (wider, SHAPES, "nn"),
    "top-k raised": (topk, ["moe/*", "shape/*"], "experts"),
}

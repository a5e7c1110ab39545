#!/usr/bin/env python3
"""Writes analysis/rules/launch/megatron_options.inc: the options of Megatron-LM's parser and of its forks, read in their sources.

record_megatron.py CHECKOUT...: each a checkout whose folder `megatron` declares them.
"""

import ast
import pathlib
import re
import sys

TARGET = pathlib.Path(__file__).parents[2] / "analysis/rules/launch/megatron_options.inc"


def classes_of(root):
    found = {}
    for path in root.rglob("*.py"):
        try:
            tree = ast.parse(path.read_text(errors="ignore"))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, node)
    return found


def fields(name, classes):
    """The fields of a dataclass and of what it derives from, with annotation and default."""
    node, found = classes.get(name), {}
    if node is None:
        return found
    for base in node.bases:
        found.update(fields(getattr(base, "id", getattr(base, "attr", "")), classes))
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            found[each.target.id] = (ast.unparse(each.annotation), ast.unparse(each.value) if each.value else "")
    return found


def options(root):
    names, classes = set(), classes_of(root)
    for path in root.rglob("*.py"):
        text = path.read_text(errors="ignore")
        for call in re.finditer(r"add_argument\(", text):
            names |= set(re.findall(r"""["'](--[\w-]+)["']""", text[call.end() : call.end() + 120].split("=")[0]))
        for made in re.findall(r"ArgumentGroupFactory\((\w+)", text):
            for field, (annotation, default) in fields(made, classes).items():
                own = re.findall(r"arg_names['\"]:\s*\[([^\]]*)\]", default)
                plain = field.replace("_", "-")
                if own:
                    names |= set(re.findall(r"--[\w-]+", own[0]))
                elif annotation == "bool" and re.match(r"True|field\(default=True", default):
                    names |= {"--no-" + plain, "--disable-" + plain}
                else:
                    names.add("--" + plain)
    return names


def main():
    names = set()
    for root in sys.argv[1:]:
        names |= options(pathlib.Path(root, "megatron"))
    kept = sorted(name for name in names if re.fullmatch(r"--[a-z0-9][a-zA-Z0-9_-]+", name) or name == "--lr")
    head = "// Options that Megatron-LM (core 0.14 and later) and Megatron-DeepSpeed declare, written by tests/jobs/record_megatron.py.\n"
    TARGET.write_text(head + "".join(f'"{name}",\n' for name in kept))


if __name__ == "__main__":
    main()

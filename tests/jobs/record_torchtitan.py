#!/usr/bin/env python3
"""Writes analysis/rules/config/torchtitan_keys.inc: what a TOML file of torchtitan may hold.

Read in torchtitan/config/job_config.py of the releases that read TOML, newest last (0.3 reads none):
record_torchtitan.py 0.2.0=FILE 0.2.1=FILE 0.2.2=FILE
"""

import ast
import pathlib
import sys

TARGET = pathlib.Path(__file__).parents[2] / "analysis/rules/config/torchtitan_keys.inc"


def fields(path):
    """{class: [(name, annotation, default)]} of the dataclasses."""
    found = {}
    for node in ast.parse(pathlib.Path(path).read_text()).body:
        if not isinstance(node, ast.ClassDef):
            continue
        found[node.name] = [
            (each.target.id, each.annotation, each.value)
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]
    return found


def kind(annotation):
    """("integer", "") or ("text", "bfloat16|float32")."""
    written = ast.unparse(annotation)
    if isinstance(annotation, ast.Subscript) and written.startswith("Literal["):
        values = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return "text", "|".join(str(each.value) for each in values if isinstance(each, ast.Constant))
    return {"int": "integer", "float": "number", "bool": "truth", "str": "text"}.get(written, "unknown"), ""


def default(value):
    return str(value.value) if isinstance(value, ast.Constant) else ""


def main():
    rows, versions = {}, []
    for given in sys.argv[1:]:
        version, path = given.split("=", 1)
        versions.append(version)
        classes = fields(path)
        for section, annotation, _ in classes["JobConfig"]:
            for name, of, value in classes.get(ast.unparse(annotation), []):
                type_, choices = kind(of)
                rows[section, name] = (type_, choices, default(value).replace("\\", "\\\\").replace('"', '\\"'))
    text = f"// Made by tests/jobs/record_torchtitan.py of torchtitan {', '.join(versions)}: do not edit.\n"
    for (section, name), (type_, choices, value) in sorted(rows.items()):
        text += f'{{"{section}", "{name}", ValueType::{type_}, "{choices}", "{value}"}},\n'
    TARGET.write_text(text)


if __name__ == "__main__":
    main()

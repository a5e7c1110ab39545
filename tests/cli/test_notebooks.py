"""Notebooks on the command line: their cells are one program, their places are told by cell and line."""

import json

from conftest import needs


def code(*lines, **metadata):
    return {"cell_type": "code", "execution_count": None, "metadata": metadata, "outputs": [],
            "source": [line + "\n" for line in lines[:-1]] + list(lines[-1:])}


def notebook(*cells, language="python"):
    return json.dumps({"cells": list(cells), "metadata": {"language_info": {"name": language}}, "nbformat": 4,
                       "nbformat_minor": 5}, indent=1)


CELLS = [
    code("%matplotlib inline", "!pip install torch", "import torch", "from torch import nn"),
    {"cell_type": "markdown", "metadata": {}, "source": ["A layer."]},
    code("layer = nn.Linear(784, 10)"),
    code("%%time", "x = torch.zeros(32, 400)", "y = layer(x)"),
]


@needs("shape/matmul")
def test_a_finding_is_told_by_cell_and_line(stepzero, write):
    write("a.ipynb", notebook(*CELLS))
    outcome = stepzero("check", "--format", "json", "a.ipynb")
    assert outcome.status == 1
    [found] = outcome.json["diagnostics"]
    assert list(found) == ["path", "rule", "severity", "message", "cell", "range", "related", "fixes"]
    assert (found["path"], found["rule"], found["cell"]) == ("a.ipynb", "shape/matmul", 4)
    assert found["range"]["start"] == {"line": 3, "column": 5}
    [edit] = found["fixes"][0]["edits"]
    assert (edit["path"], edit["cell"], edit["range"]["start"]["line"]) == ("a.ipynb", 3, 1)
    assert all(related["cell"] in (3, 4) for related in found["related"])


@needs("shape/matmul")
def test_every_format_names_the_cell(stepzero, write):
    write("a.ipynb", notebook(*CELLS))
    text = stepzero("check", "a.ipynb").text
    assert text.startswith("a.ipynb:cell 4:3:5: error[shape/matmul]")
    assert "3 | y = layer(x)\n" in text
    assert "would fix" not in text
    assert "::error title=shape/matmul,file=a.ipynb::cell 4, line 3: " in stepzero("check", "--format", "github", "a.ipynb").text
    [result] = stepzero("check", "--format", "sarif", "a.ipynb").json["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["properties"]) == (3, {"cell": 4})


@needs("shape/matmul")
def test_notebooks_are_found_in_folders_and_read_from_standard_input(stepzero, write):
    write("src/a.ipynb", notebook(*CELLS))
    write("src/b.py")
    outcome = stepzero("check", "--format", "json", "src")
    assert outcome.json["files"] == 2
    assert [found["path"] for found in outcome.json["diagnostics"]] == ["src/a.ipynb"]
    piped = stepzero("check", "--format", "json", "--stdin-filename", "c.ipynb", "-", stdin=notebook(*CELLS).encode())
    assert [(found["path"], found["cell"]) for found in piped.json["diagnostics"]] == [("c.ipynb", 4)]


def test_shapes_are_told_by_cell(stepzero, write):
    write("a.ipynb", notebook(*CELLS))
    outcome = stepzero("shapes", "--format", "json", "a.ipynb")
    places = {(shape["name"], shape["cell"], shape["line"]) for shape in outcome.json["files"][0]["shapes"]}
    assert ("x", 4, 2) in places
    assert "a.ipynb:cell 4:2:1: x: float32[32, 400]" in stepzero("shapes", "a.ipynb").text


@needs("shape/matmul")
def test_a_comment_silences_a_rule_in_its_cell_or_in_the_notebook(stepzero, write):
    write("a.ipynb", notebook(*CELLS[:3], code("x = torch.zeros(32, 400)", "y = layer(x)  # stepzero: ignore[shape/matmul]")))
    assert stepzero("check", "a.ipynb").status == 0
    write("b.ipynb", notebook(code("# stepzero: ignore-file[shape]"), *CELLS))
    assert stepzero("check", "b.ipynb").status == 0


def test_notebooks_are_not_changed_here(stepzero, write):
    path = write("a.ipynb", notebook(*CELLS))
    before = path.read_bytes()
    outcome = stepzero("check", "--fix", "a.ipynb")
    assert "notebooks are fixed in an editor only" in outcome.said
    assert path.read_bytes() == before
    assert stepzero("check", "--diff", "a.ipynb").out == b""


def test_what_is_no_notebook_is_said(stepzero, write):
    write("a.ipynb", "{}")
    outcome = stepzero("check", "a.ipynb")
    assert outcome.status == 2
    assert "a.ipynb: not a notebook" in outcome.said
    piped = stepzero("check", "--stdin-filename", "c.ipynb", "-", stdin=b"[")
    assert piped.status == 2


def test_another_language_is_left_alone(stepzero, write):
    write("a.ipynb", notebook(*CELLS, language="R"))
    assert stepzero("check", "--format", "json", "a.ipynb").json["diagnostics"] == []


@needs("launch/unrecognized-argument")
def test_commands_of_cells_are_launches(stepzero, write):
    write("train.py", "import argparse\n\nimport torch.nn as nn\n\np = argparse.ArgumentParser()\np.add_argument('--width', type=int, default=64)\n"
                      "args = p.parse_args()\nlayer = nn.MultiheadAttention(args.width, 4)\n")
    write("run.ipynb", notebook(
        code("%env NCCL_DEBUGG=INFO", "width = 3", "!torchrun --nproc_per_node 2 \\", "  train.py --widht 64"),
        code("%%bash", "cd .", "python train.py --width 30", "python train.py --width wide"),
        code("# !python train.py --no-such", "text = '''", "!python train.py --neither", "'''", "!pip install -q torch"),
    ))
    found = {(each["path"], each.get("cell"), each["range"]["start"]["line"], each["range"]["start"]["column"], each["rule"])
             for each in stepzero("check", "--format", "json", ".").json["diagnostics"]}
    assert found == {
        ("run.ipynb", 1, 1, 6, "launch/environment"),
        ("run.ipynb", 1, 4, 12, "launch/unrecognized-argument"),
        ("run.ipynb", 2, 4, 25, "launch/unrecognized-argument"),
        ("train.py", None, 8, 9, "shape/invalid-argument"),
    }

"""`stepzero report`, and schedules as pictures: what is in them. How the page looks and moves is tests/report's."""

import json
import re
import xml.dom.minidom

import pytest

TRAINING = '''\
import torch
import torch.nn as nn
import torch.distributed as dist


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Net(nn.Module):
    def __init__(self, width=64, layers=3):
        super().__init__()
        self.emb = nn.Embedding(1000, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, t):
        x = self.emb(t)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


def main():
    dist.init_process_group("gloo")
    net = Net()
    note = "</script><b>"
    loss = net(torch.randint(0, 1000, (8, 32))).sum()
    dist.all_reduce(loss)
    if dist.get_rank() == 0:
        dist.broadcast(loss, src=0)
    if dist.get_rank() == 1:
        dist.send(loss, dst=0)
    dist.barrier()


if __name__ == "__main__":
    main()
'''


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


@pytest.fixture
def page(stepzero, write):
    write("train.py", TRAINING)
    outcome = stepzero("report", "train.py", "-o", "report.html")
    assert (outcome.status, outcome.out, outcome.said) == (0, b"", "")
    return (write("x.py").parent / "report.html").read_text()


def test_it_is_one_page_that_loads_nothing(page):
    assert re.findall(r'\b(?:src|href)="(?!#)', page) == []
    assert set(re.findall(r"https?://[^\s\"'`<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page
    assert page.count("</script>") == 2  # what the code says is not the page's
    assert not re.search(r"%[A-Z]+%", page)


def test_findings_carry_their_code_and_their_evidence(page):
    found = next(d for d in data_of(page)["diagnostics"] if d["rule"] == "deadlock/rank-guarded-collective")
    assert (found["path"], found["severity"]) == ("train.py", "error")
    line = found["range"]["start"]["line"]
    assert found["code"]["lines"][line - found["code"]["first"]].strip() == "dist.broadcast(loss, src=0)"
    assert [r["code"]["lines"][0].strip() for r in found["related"]][0] == "if dist.get_rank() == 0:"
    assert all("edits" not in fix for fix in found["fixes"])


def test_schedules_are_those_of_the_schedule_command(page, stepzero):
    told = stepzero("schedule", "--format", "json", "train.py").json["files"][0]
    drawn = dict(data_of(page)["schedules"][0])
    drawn.pop("file")
    assert drawn == told
    assert drawn["schedules"][0]["hangs"]


def test_models_have_their_layers_with_sizes_and_their_parts(page):
    block, net = data_of(page)["models"]
    assert [(l["name"], l["type"], l["arguments"]) for l in block["layers"]] == [("up", "Linear", "64, 256"), ("down", "Linear", "256, 64")]
    emb, blocks, head = net["layers"]
    assert (emb["type"], emb["arguments"]) == ("Embedding", "1000, 64")
    assert [(p["type"], p["repeated"], p["arguments"]) for p in blocks["parts"]] == [("Block", "3", "64")]
    assert [(p["type"], p["arguments"]) for p in head["parts"]] == [("LayerNorm", "64"), ("Linear", "64, 10")]


def test_parameters_are_counted_where_the_program_makes_the_model(page, stepzero, write):
    block, net = data_of(page)["models"]
    of_block = 64 * 256 + 256 + 256 * 64 + 64
    assert block["parameters"] == of_block
    assert [layer["parameters"] for layer in block["layers"]] == [64 * 256 + 256, 256 * 64 + 64]
    emb, blocks, head = net["layers"]
    assert (emb["parameters"], blocks["parameters"], head["parameters"]) == (64000, 3 * of_block, 128 + 650)
    assert blocks["parts"][0]["parameters"] == of_block
    assert [part["parameters"] for part in head["parts"]] == [128, 650]
    assert net["parameters"] == 64000 + 3 * of_block + 128 + 650

    # The class in one file, its objects in another, of two sizes; and one that nobody makes.
    write("nets/parts.py", """\
import torch.nn as nn

class Two(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.fc = nn.Linear(wide, 2)

    def forward(self, x):
        return self.fc(x)

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.relu = Two(3), nn.ReLU()
        self.b = Two(4)

    def forward(self, x):
        return self.b(self.relu(self.a(x)))

class Alone(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)
""")
    write("nets/train.py", "import torch\nfrom parts import Pair\nmodel = Pair()\n")
    two, pair, alone = data_of(stepzero("report", "nets").text)["models"]
    assert "parameters" not in two and "parameters" not in two["layers"][0]
    assert pair["parameters"] == 8 + 10
    assert next(layer for layer in pair["layers"] if layer["name"] == "b")["parameters"] == 10
    assert "parameters" not in alone


def test_values_go_through_a_model_with_the_shape_at_each_edge(page):
    block, net = data_of(page)["models"]
    flow = [(n["label"], n["kind"], n["shape"], n["from"]) for n in block["flow"]]
    assert flow == [
        ("x", "input", "float32[8, 32, 64]", []),
        ("up", "layer", "float32[8, 32, 256]", [0]),
        ("torch.relu", "operation", "float32[8, 32, 256]", [1]),
        ("down", "layer", "float32[8, 32, 64]", [2]),
        ("+", "operation", "float32[8, 32, 64]", [0, 3]),
        ("return", "output", "float32[8, 32, 64]", [4]),
    ]
    assert [(n["label"], n["loop"], n["from"]) for n in net["flow"]] == [
        ("t", "", []), ("emb", "", [0]), ("block", "for block in self.blocks", [1]), (".mean", "", [2]),
        ("head", "", [3]), ("return", "", [4])]


def test_branches_join_and_what_holds_no_tensor_does_not_flow(stepzero, write):
    write("m.py", """\
import torch
import torch.nn as nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x, fast=False):
        n = x.size(0)
        if fast:
            y = self.a(x)
        else:
            y = x.relu()
        y += self.scale
        q, k = y.chunk(2, dim=-1)
        return torch.cat([q, k], dim=-1).view(n, 4)


M()(torch.zeros(2, 4))
""")
    flow = data_of(stepzero("report", "m.py").text)["models"][0]["flow"]
    by_label = {node["label"]: [flow[i]["label"] for i in node["from"]] for node in flow}
    assert sorted(by_label["+="]) == sorted([".relu", "a", "scale"])
    assert by_label[".chunk"] == ["+="]
    assert by_label["torch.cat"] == [".chunk"]
    assert by_label[".view"] == ["torch.cat"]
    assert next(node for node in flow if node["label"] == "scale")["kind"] == "parameter"
    assert "n" not in by_label and ".size" not in by_label


def test_a_folder_standard_output_and_trouble(stepzero, write):
    write("pkg/a.py", TRAINING)
    write("pkg/b.py")
    write("pkg/c.py", "import torch\nx = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    outcome = stepzero("report", "pkg")
    assert outcome.status == 0  # findings are what it is for
    data = data_of(outcome.text)
    assert data["files"] == 3 and [d["path"] for d in data["schedules"]] == ["pkg/a.py"]
    assert [d["severity"] for d in data["diagnostics"]] == sorted((d["severity"] for d in data["diagnostics"]), key=["error", "warning", "information", "hint"].index)
    assert stepzero("report", "absent.py").status == 2
    assert stepzero("report", "pkg", "-o", "no/such/folder.html").status == 2
    assert "report ." in stepzero("report").usage_error()
    assert data_of(stepzero("report", "-", "--stdin-filename", "pkg/d.py", stdin=b"x = 1\n").text)["paths"] == ["pkg/d.py"]
    assert data_of(stepzero("report", "--world", "3", "pkg/a.py").text)["schedules"][0]["world"] == 3
    assert stepzero("report", "pkg").out == outcome.out  # the same each time


def test_a_notebook_and_bad_bytes(stepzero, write):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    write("n.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {**cell, "source": "import torch"}, {**cell, "source": "x = torch.zeros(2, 3)\ny = x @ torch.zeros(4, 5)"}]}))
    write("bad.py", b"import torch\nx = '\xff</script>'; y = torch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    page = stepzero("report", "n.ipynb", "bad.py").text
    assert page.count("</script>") == 2
    found = data_of(page)["diagnostics"]
    note = next(d for d in found if d["path"] == "n.ipynb")
    assert (note["cell"], note["code"]["first"], note["code"]["lines"]) == (2, 1, ["x = torch.zeros(2, 3)", "y = x @ torch.zeros(4, 5)"])


# ------------------------------------------------------------ schedules as pictures

def test_svg_is_a_document_of_its_own(stepzero, write):
    write("train.py", TRAINING.replace('"</script><b>"', '"a & b"'))
    document = xml.dom.minidom.parseString(stepzero("schedule", "--format", "svg", "train.py").text)
    root = document.documentElement
    assert root.tagName == "svg" and root.getAttribute("role") == "img"
    texts = [node.firstChild.data for node in root.getElementsByTagName("text")]
    assert {"rank 0", "rank 1", "hangs here"} <= set(texts)
    assert any(text.startswith("rank 0 waits in broadcast") for text in texts)
    titles = [node.firstChild.data for node in root.getElementsByTagName("title")]
    assert any(title.startswith("ranks 0 and 1: all_reduce float32[]") and "in main called at line" in title for title in titles)


def test_svg_of_what_does_not_communicate(stepzero, write):
    write("a.py")
    assert "no communication" in stepzero("schedule", "--format", "svg", "a.py").text


RING = """\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.zeros(4)
if rank == 0:
    dist.send(x, dst=1)
if rank == 1:
    dist.recv(x, src=0)
for epoch in range(3):
    dist.all_reduce(x)
"""


def test_mermaid(stepzero, write):
    write("ring.py", RING)
    assert stepzero("schedule", "--format", "mermaid", "ring.py").text == """\
sequenceDiagram
  %% ring.py, as it runs
  participant r0 as rank 0
  participant r1 as rank 1
  r0->>r1: send float32[4] (line 8)
  loop for epoch in range(3):  (3 iterations alike)
    Note over r0,r1: all_reduce float32[4] (line 12)
  end
"""


def test_mermaid_of_a_hang_and_of_nothing(stepzero, write):
    write("hang.py", RING.replace("dist.recv(x, src=0)", "dist.barrier()"))
    text = stepzero("schedule", "--format", "mermaid", "hang.py").text
    assert "rect rgba(220, 40, 40, 0.25)" in text and "HANGS: " in text
    assert text.count("\n  end\n") + text.count("\n    end\n") >= 1
    write("a.py")
    assert stepzero("schedule", "--format", "mermaid", "a.py").text.startswith("sequenceDiagram\n")

"""What editors ask of a server for training code, over the real program: pulls, commands, symbols, tags, progress, hints while
somebody types, and a change of branch."""

import copy
import json
import pathlib
import time

import pytest

import programs
from client import CAPABILITIES, SCALE, span

URI = "untitled:train.py"
WHOLE = span(0, 0, 1000, 0)


def capabilities(**text_document):
    made = copy.deepcopy(CAPABILITIES)
    made["textDocument"].update(text_document)
    return made


PULLING = capabilities(diagnostic={"dynamicRegistration": True})
PULLING["workspace"]["diagnostics"] = {"refreshSupport": True}


@pytest.mark.parametrize("when", ["after open", "after a change", "at rest", "before the settings"])
@pytest.mark.parametrize("says", [PULLING, capabilities(diagnostic={}), CAPABILITIES], ids=["pulls", "cannot be told", "pushed to"])
def test_three_pipelined_pulls_of_one_version_all_carry_the_findings(start, says, when):
    client = start()
    client.initialize(says, initialized=when != "before the settings")
    if when == "after a change":
        client.open(URI, "x = 1\n")
        client.idle()
        client.change(URI, 2, programs.DISTRIBUTED)
    else:
        client.open(URI, programs.DISTRIBUTED)
    if when == "at rest":
        client.idle()
    ids = [client.request("textDocument/diagnostic", {"textDocument": {"uri": URI}}) for _ in range(3)]
    if when == "before the settings":
        client.notify("initialized", {})
    found = [client.result(id)["items"] for id in ids]
    assert found[0]
    assert found[0] == found[1] == found[2]


def apply(text, edits):
    """The text behind edits of one line each, in ASCII."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
        begin, end = edit["range"]["start"], edit["range"]["end"]
        assert begin["line"] == end["line"]
        line = lines[begin["line"]]
        lines[begin["line"]] = line[:begin["character"]] + edit["newText"] + line[end["character"]:]
    return "\n".join(lines)


def test_a_client_without_literals_gets_commands_that_apply_the_fix(start):
    says = capabilities()
    del says["textDocument"]["codeAction"]["codeActionLiteralSupport"]
    applied = []
    client = start(answers={"workspace/applyEdit": lambda params: applied.append(params["edit"]) or {"applied": True}})
    client.initialize(says)
    client.open(URI, programs.DISTRIBUTED)
    found = next(d for d in client.diagnostics(URI) if d["code"] == "deadlock/rank-guarded-collective")
    offered = client.call("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": found["range"], "context": {"diagnostics": [found]}})
    assert offered and all(isinstance(each["command"], str) for each in offered)
    assert {each["command"] for each in offered} <= set(client.capabilities["executeCommandProvider"]["commands"])
    first = offered[0]
    assert client.call("workspace/executeCommand", {"command": first["command"], "arguments": first["arguments"]}) is None
    client.wait(lambda m: m.get("method") == "workspace/applyEdit", "workspace/applyEdit")
    text = programs.DISTRIBUTED
    for change in applied[0].get("documentChanges") or [{"edits": e} for e in applied[0]["changes"].values()]:
        assert text != apply(text, change["edits"]) if all(e["range"]["start"]["line"] == e["range"]["end"]["line"] for e in change["edits"]) else True
    assert len(applied) == 1


def test_names_that_moved_are_struck_through(lsp):
    lsp.open(URI, "import torch\nscaler = torch.cuda.amp.GradScaler()\n")
    found = next(d for d in lsp.diagnostics(URI) if d["code"] == "amp/deprecated-api")
    assert found["tags"] == [2]


def test_no_tag_for_a_client_that_knows_none(start):
    client = start()
    client.initialize(capabilities(publishDiagnostics={}))
    client.open(URI, "import torch\nscaler = torch.cuda.amp.GradScaler()\n")
    assert not any("tags" in d for d in client.diagnostics(URI))


def test_reading_the_workspace_and_its_first_check_show_progress(start, tmp_path):
    for i in range(60):
        (tmp_path / f"m{i}.py").write_text(programs.CLASSIFIER)
    client = start()
    client.initialize(PULLING, rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    client.idle()
    assert len(client.call("workspace/diagnostic", {"previousResultIds": []})["items"]) == 60
    client.call("workspace/diagnostic", {"previousResultIds": []})
    client.idle()
    kinds = {}
    for entry in client.record:
        if not entry.sent and entry.message.get("method") == "$/progress":
            kinds.setdefault(entry.message["params"]["token"], []).append(entry.message["params"]["value"])
    assert len(kinds) == 2  # the second check is quick
    for values in kinds.values():
        assert [v["kind"] for v in values[:1] + values[-1:]] == ["begin", "end"]
        shares = [v["percentage"] for v in values if v["kind"] == "report"]
        assert shares and shares == sorted(shares) and shares[-1] == 100


def hints(client, uri=URI):
    found = client.call("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    return {(h["position"]["line"], h["position"]["character"]): h["label"] for h in found}


TYPED = """\
import torch

a = torch.zeros(4, 8)

def model(x):
    b = x.relu()
    c = b @ torch.zeros(8, 3)
    return c

d = model(a)
e = d.sum(0)
"""


@pytest.mark.parametrize("line, column, old, typed", [
    (2, 4, "torch.zeros(4, 8)", "torch.randn(4, 8)"),
    (5, 8, "x.relu()", "torch.relu(x)"),
    (9, 4, "model(a)", "model(a.abs())"),
    (3, 0, "", "note = [1, {'k': (2"),
], ids=["a value", "in a function", "a call", "brackets that stay open"])
def test_hints_do_not_flicker_while_a_statement_is_typed(start, line, column, old, typed):
    """After each key the hints of the names that stood there before stand there."""
    client = start()
    client.initialize()
    client.open(URI, TYPED)
    before = hints(client)
    assert len(before) >= 5
    client.change(URI, 2, (span(line, column, line, column + len(old)), ""))
    assert set(before) <= set(hints(client))
    for i, key in enumerate(typed):
        client.change(URI, 3 + i, (span(line, column + i, line, column + i), key))
        assert set(before) <= set(hints(client)), typed[:i + 1]
    client.idle()  # a pause
    at_rest = hints(client)
    assert at_rest == before if old else (3, 0) not in at_rest


def test_hints_that_are_not_true_any_more_go_after_a_pause(start):
    client = start()
    client.initialize()
    client.open(URI, TYPED)
    before = hints(client)
    client.idle()
    refreshes = lambda: sum(e.message.get("method") == "workspace/inlayHint/refresh" for e in client.record if not e.sent)
    already = refreshes()
    client.change(URI, 2, (span(2, 4, 2, 21), "object()"))
    assert set(before) <= set(hints(client))
    deadline = time.monotonic() + 10 * SCALE
    while refreshes() == already and time.monotonic() < deadline:
        time.sleep(0.05)
    for _ in range(refreshes() - already):
        client.wait(lambda m: m.get("method") == "workspace/inlayHint/refresh", "a refresh")
    after = hints(client)
    assert (2, 1) not in after


def test_a_client_that_cannot_ask_again_keeps_no_hint_that_is_not_true(start):
    says = capabilities()
    del says["workspace"]["inlayHint"]
    client = start()
    client.initialize(says)
    client.open(URI, TYPED)
    hints(client)
    client.change(URI, 2, (span(2, 4, 2, 21), "object()"))
    assert (2, 1) not in hints(client)


def test_what_a_hint_has_to_say_besides_comes_when_it_is_asked_for(start):
    client = start()
    client.initialize(capabilities(inlayHint={"resolveSupport": {"properties": ["tooltip"]}}))
    assert client.capabilities["inlayHintProvider"]["resolveProvider"]
    client.open(URI, "import torch\n\n\ndef f(x):\n    B, T = x.shape\n    y = torch.zeros(B, T, 3)\n    return y\n")
    found = client.call("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": WHOLE})
    assert all("tooltip" not in hint for hint in found)
    late = next(hint for hint in found if "data" in hint)
    resolved = client.call("inlayHint/resolve", late)
    assert "[B, T, 3]" in resolved["tooltip"]["value"]
    assert {k: v for k, v in resolved.items() if k != "tooltip"} == late


FILES = 2000


def test_a_change_of_branch_is_answered_within_two_seconds_and_leaves_nothing_of_before(start, tmp_path):
    """2,000 files change at once under an editor that has some open which import them."""
    def write(size):
        for i in range(FILES):
            (tmp_path / f"part{i}.py").write_text(f"import torch\n\nSIZE = {size}\n\n\ndef make():\n    return torch.zeros(2, {size})\n")

    write(3)
    for i in range(20):
        (tmp_path / f"main{i}.py").write_text(
            f"import torch\nfrom part{i} import make\nimport part{i + 100}\n\nx = make() @ torch.zeros(3, part{i + 100}.SIZE)\n")
    uris = [(tmp_path / f"main{i}.py").as_uri() for i in range(20)]
    client = start()
    client.initialize(rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    for uri in uris:
        client.open(uri, (tmp_path / uri.rsplit("/", 1)[1]).read_text())
    for uri in uris:
        assert client.diagnostics(uri) == []
    write(4)  # and back, and there again: the last word counts
    everything = [{"uri": (tmp_path / f"part{i}.py").as_uri(), "type": 2} for i in range(FILES)]
    began = time.monotonic()
    client.notify("workspace/didChangeWatchedFiles", {"changes": everything})
    hover = client.request("textDocument/hover", {"textDocument": {"uri": uris[0]}, "position": {"line": 4, "character": 0}})
    client.reply(hover)
    assert time.monotonic() - began < 2 * SCALE
    client.idle()
    assert time.monotonic() - began < 2 * SCALE
    for uri in uris:
        assert [d["code"] for d in client.published(uri)[-1]["diagnostics"]] == [programs.MATMUL_RULE]
    write(3)
    for event in everything:  # some editors tell of each by itself
        client.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
    began = time.monotonic()
    client.idle()
    assert time.monotonic() - began < 2 * SCALE
    for uri in uris:
        assert client.published(uri)[-1]["diagnostics"] == []


def test_editors_are_told_what_their_tests_look_for(lsp):
    """The words that the tests of VS Code and Neovim wait for, without an editor: who changes a message sees it here."""
    source = pathlib.Path(__file__).parents[2]
    said = json.loads((source / "tests/vscode/said.json").read_text())
    job, model = said["train_ddp.py"], said["attention.py"]
    lsp.open(URI, (source / "examples/train_ddp.py").read_text())
    [found] = lsp.diagnostics(URI)
    assert found["code"] == job["rule"] and found["message"].startswith(job["message"])
    assert job["evidence"] in found["relatedInformation"][0]["message"]
    offered = lsp.call("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": found["range"], "context": {"diagnostics": [found], "only": ["quickfix"]}})
    assert offered[0]["title"] == job["fix"]
    assert [each["title"] for each in offered[-2:]] == job["ignores"]

    uri = "untitled:attention.py"
    text = (source / "examples/attention.py").read_text()
    lsp.open(uri, text)
    lsp.idle()
    hints = lsp.call("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    labels = [hint["label"] if isinstance(hint["label"], str) else "".join(part["value"] for part in hint["label"]) for hint in hints]
    assert model["hint"] in labels and model["first_hint"] in labels
    line = next(i for i, each in enumerate(text.split("\n")) if "y = (weights @ v)" in each)
    assert model["hover"] in lsp.call("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": 8}})["contents"]["value"]

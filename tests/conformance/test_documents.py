"""Documents, as the protocol checklist says: changes, encodings, what cannot be applied, closing, URIs, and 500 edits."""

import json
import subprocess
import time

import pytest

import programs
from client import CAPABILITIES, LIMIT, METHOD_NOT_FOUND, PROGRAM, position, span
from text import Text

URI = "untitled:train.py"
ENCODINGS = ["utf-8", "utf-16", "utf-32"]


def with_encodings(*encodings):
    return {**CAPABILITIES, "general": {"positionEncodings": list(encodings)}}


def codes(diagnostics):
    return [d["code"] for d in diagnostics]


def fresh(start, text, encoding="utf-16", uri=URI):
    """What a new server says of a text."""
    client = start()
    client.initialize(with_encodings(encoding))
    client.open(uri, text)
    return client.diagnostics(uri, 1)


# ------------------------------------------------------------ encodings

@pytest.mark.parametrize("offered, chosen", [
    (["utf-8"], "utf-8"), (["utf-16"], "utf-16"), (["utf-32"], "utf-32"), (["utf-8", "utf-16"], None), (["utf-32", "utf-8"], None),
    (["utf-7", "utf-16"], "utf-16"), ([], "utf-16")], ids=str)
def test_the_position_encoding_is_one_of_those_offered(start, offered, chosen):
    client = start()
    encoding = client.initialize(with_encodings(*offered))["capabilities"].get("positionEncoding", "utf-16")
    assert encoding == chosen if chosen else encoding in offered


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_ranges_are_in_the_negotiated_encoding(start, encoding):
    """Out: the place of a finding behind characters of one to four bytes. In: a change at that place."""
    client = start()
    client.initialize(with_encodings(encoding))
    client.open(URI, programs.ASTRAL)
    text = Text(programs.ASTRAL, encoding)
    found = client.diagnostics(URI, 1)
    assert codes(found) == [programs.MATMUL_RULE]
    assert "@" in text.slice(found[0]["range"]) or text.slice(found[0]["range"]) in ("a", "b"), text.slice(found[0]["range"])
    assert "🙂" not in text.slice(found[0]["range"])
    begin = text.text.index("@ b")
    client.change(URI, 2, text.replace(begin, begin + 3, "@ b.view(3, -1)[:, :5] # 🙂"))
    client.change(URI, 3, text.replace(text.text.index("c = a"), len(text.text), "c = a\n"))
    assert client.diagnostics(URI, 3) == []
    client.change(URI, 4, text.replace(text.text.index("c = a"), len(text.text), 'e = "𝒳"; c = a @ b\n'))
    assert client.diagnostics(URI, 4) == fresh(start, text.text, encoding)


def test_all_encodings_and_the_command_line_name_the_same_place(start, tmp_path):
    (tmp_path / "train.py").write_text(programs.ASTRAL, encoding="utf-8")
    run = subprocess.run([PROGRAM, "check", "--format", "json", "train.py"], cwd=tmp_path, capture_output=True, timeout=LIMIT)
    said = json.loads(run.stdout)["diagnostics"]
    assert [d["rule"] for d in said] == [programs.MATMUL_RULE]
    place = said[0]["range"]
    want = [(place[end]["line"] - 1, place[end]["column"] - 1) for end in ("start", "end")]
    for encoding in ENCODINGS:
        text = Text(programs.ASTRAL, encoding)
        found = fresh(start, programs.ASTRAL, encoding)[0]["range"]
        plain = Text(programs.ASTRAL, "utf-32")
        points = [plain.position(text.offset(found[end])) for end in ("start", "end")]
        assert [(p["line"], p["character"]) for p in points] == want


# ------------------------------------------------------------ changes

@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_line_ends_of_each_kind_count_as_one(start, line_end):
    text = Text(programs.MATMUL.replace("\n", line_end))
    client = start()
    client.initialize()
    client.open(URI, text.text)
    begin = text.text.index("(4, 5)")
    client.change(URI, 2, text.replace(begin, begin + 6, "(3, 5)"))
    # A lone CR ends a line in the protocol; Python's own reader agrees.
    assert client.diagnostics(URI, 2) == []
    client.change(URI, 3, text.replace(begin, begin + 6, "(9, 5)"))
    found = client.diagnostics(URI, 3)
    assert codes(found) == [programs.MATMUL_RULE]
    assert found[0]["range"]["start"]["line"] == 4


def test_a_position_past_the_end_of_a_line_is_its_end(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.change(URI, 2, (span(3, 15, 3, 999_999), "3, 5)"))  # "b = torch.zeros(" and what is put behind it
    lsp.change(URI, 3, (span(3, 0, 3, 2**31 - 1), "b = torch.zeros(3, 5)"))
    assert lsp.diagnostics(URI, 3) == []


def test_a_position_past_the_end_of_the_text_is_its_end(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.change(URI, 2, (span(3, 0, 2**31 - 1, 2**31 - 1), "b = torch.zeros(3, 5)\nc = a @ b\n"))
    assert lsp.diagnostics(URI, 2) == []
    lsp.change(URI, 3, (span(900, 7), "d = b @ b\n"))
    assert codes(lsp.diagnostics(URI, 3)) == [programs.MATMUL_RULE]


def test_a_change_to_the_line_behind_the_last_empties_the_text(lsp):
    """Neovim names the whole of a text this way."""
    lsp.open(URI, programs.MATMUL)
    lsp.change(URI, 2, (span(0, 0, 5, 0), programs.CLEAN))
    assert lsp.diagnostics(URI, 2) == []
    lsp.change(URI, 3, (span(0, 0, 6, 0), ""))
    assert lsp.diagnostics(URI, 3) == []
    lsp.change(URI, 4, (span(0, 0), programs.MATMUL))
    assert codes(lsp.diagnostics(URI, 4)) == [programs.MATMUL_RULE]


def test_several_changes_of_one_message_are_applied_in_order(lsp):
    """Each is meant for the text that the one before it left."""
    lsp.open(URI, "")
    text = Text("")
    changes = [text.replace(0, 0, "import torch\nb = torch.zeros(4, 5)\n")]
    changes.append(text.replace(13, 13, "a = torch.zeros(2, 3)\n# 🙂\n"))
    changes.append(text.replace(len(text.text), len(text.text), "c = a @ b\n"))
    begin = text.text.index("4, 5")
    changes.append(text.replace(begin, begin + 1, "3"))
    changes.append(text.replace(begin, begin + 1, "7"))
    lsp.change(URI, 2, *changes)
    found = lsp.diagnostics(URI, 2)
    assert codes(found) == [programs.MATMUL_RULE]
    assert "7" in found[0]["message"]


def test_full_text_is_accepted_in_incremental_mode(lsp):
    assert lsp.capabilities["textDocumentSync"]["change"] == 2
    lsp.open(URI, programs.MATMUL)
    lsp.change(URI, 2, programs.CLEAN)
    assert lsp.diagnostics(URI, 2) == []
    lsp.change(URI, 3, "x = 1\n", programs.MATMUL, (span(0, 0), "# first\n"))
    found = lsp.diagnostics(URI, 3)
    assert codes(found) == [programs.MATMUL_RULE]
    assert found[0]["range"]["start"]["line"] == 5


def test_no_changes_at_all_still_make_a_version(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.idle()
    lsp.change(URI, 2)
    assert codes(lsp.diagnostics(URI, 2)) == [programs.MATMUL_RULE]


def test_range_length_is_ignored(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [
        {"range": span(3, 16, 3, 17), "rangeLength": 4711, "text": "3"}]})
    assert lsp.diagnostics(URI, 2) == []


@pytest.mark.parametrize("begin", [0, 1, 2, 3, 4, 5])
def test_a_position_inside_a_surrogate_pair_is_its_start(lsp, begin):
    """The editor should not; if it does, the text stays well-formed, and the next change of the whole heals everything."""
    lsp.open(URI, "🙂🙂🙂\n" + programs.MATMUL)
    lsp.change(URI, 2, (span(0, begin, 0, 6), ""))
    lsp.change(URI, 3, (span(0, 0), "#"))
    assert codes(lsp.diagnostics(URI, 3)) == [programs.MATMUL_RULE]
    lsp.change(URI, 4, programs.CLEAN)
    assert lsp.diagnostics(URI, 4) == []


def said(client, text):
    return [e.message for e in client.record if not e.sent and e.message.get("method") in ("window/showMessage", "window/logMessage")
            and text in e.message["params"]["message"]]


def test_an_inapplicable_change_drops_the_draft_and_says_so(lsp):
    """Start behind end: no guess. The diagnostics go, requests no longer answer from the lost text, opening heals."""
    lsp.open(URI, programs.MATMUL)
    assert lsp.diagnostics(URI, 1)
    lsp.change(URI, 2, (span(4, 5, 1, 0), "x"))
    lsp.idle()
    assert lsp.published(URI)[-1]["diagnostics"] == []
    assert said(lsp, "train.py"), "nobody was told"
    lsp._take(lambda m: m.get("method") == "window/showMessage")
    message = lsp.reply(lsp.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": span(0, 0, 99, 0)}))
    assert "error" in message or not message["result"]
    lsp.change(URI, 3, (span(0, 0), "# on what?\n"))
    lsp.idle()
    assert lsp.published(URI)[-1]["diagnostics"] == []
    lsp.close(URI)
    lsp.open(URI, programs.MATMUL, version=4)
    assert codes(lsp.diagnostics(URI, 4)) == [programs.MATMUL_RULE]


def test_a_full_text_heals_a_dropped_draft(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.change(URI, 2, (span(4, 5, 1, 0), "x"))
    lsp.idle()
    lsp._take(lambda m: m.get("method") == "window/showMessage")
    lsp.change(URI, 3, programs.MATMUL)
    assert codes(lsp.diagnostics(URI, 3)) == [programs.MATMUL_RULE]


# ------------------------------------------------------------ opening and closing

def test_a_new_version_is_always_answered_once(lsp):
    lsp.open(URI, programs.CLEAN)
    for version in range(2, 12):
        lsp.change(URI, version, (span(0, 0), "\n"))
        assert lsp.diagnostics(URI, version) == []
    assert len([p for p in lsp.published(URI) if p["version"] == 11]) == 1


def test_versions_may_start_anywhere_and_skip(lsp):
    lsp.open(URI, programs.MATMUL, version=0)
    assert codes(lsp.diagnostics(URI, 0)) == [programs.MATMUL_RULE]
    lsp.change(URI, 17, programs.CLEAN)
    assert lsp.diagnostics(URI, 17) == []
    lsp.change(URI, 2_000_000_000, programs.MATMUL)
    assert lsp.diagnostics(URI, 2_000_000_000)
    lsp.open("untitled:negative.py", programs.MATMUL, version=-5)
    assert lsp.diagnostics("untitled:negative.py", -5)


def test_did_close_publishes_nothing_left(lsp):
    lsp.open(URI, programs.MATMUL)
    assert lsp.diagnostics(URI, 1)
    lsp.close(URI)
    assert lsp.diagnostics(URI) == []


def test_did_close_right_after_a_change_leaves_nothing(lsp):
    for turn in range(20):
        lsp.open(URI, programs.MATMUL, version=turn * 10)
        lsp.change(URI, turn * 10 + 1, programs.MATMUL + "# more\n")
        lsp.close(URI)
    lsp.idle()
    assert lsp.published(URI)[-1]["diagnostics"] == []


def test_opening_again_starts_anew(lsp):
    lsp.open(URI, programs.MATMUL, version=50)
    assert lsp.diagnostics(URI, 50)
    lsp.close(URI)
    lsp.open(URI, programs.CLEAN, version=1)
    assert lsp.diagnostics(URI, 1) == []


def test_changes_and_closes_of_what_is_not_open_do_no_harm(lsp):
    lsp.change("untitled:never.py", 2, programs.MATMUL)
    lsp.change("untitled:never.py", 3, (span(0, 0), "x"))
    lsp.close("untitled:never.py")
    lsp.notify("textDocument/didSave", {"textDocument": {"uri": "untitled:never.py"}})
    lsp.idle()
    assert not [p for p in lsp.published("untitled:never.py") if p["diagnostics"]]


def test_opening_twice_does_no_harm(lsp):
    lsp.open(URI, programs.MATMUL, version=1)
    lsp.open(URI, programs.CLEAN, version=2)
    assert lsp.diagnostics(URI, 2) == []
    lsp._take(lambda m: m.get("method") == "window/showMessage")


URIS = [
    "file:///tmp/stepzero%20never/tr%C3%A4in.py",
    "file:///tmp/never/%7Etrain%2Bx.py",
    "file:///tmp/never/tr%c3%a4in.py",              # lower-case escapes, as some editors write them
    "file:///c%3A/Users/me/train.py",
    "file:///tmp/never/a#b.py",
    "file:///tmp/never/[x]%5Bx%5D.py",
    "file:///tmp/never/train.py?version=3",
    "file:///tmp/never/%F0%9F%99%82.py",
    "file:///tmp/never/%FF%FE.py",                  # bytes that are no UTF-8
    "file:///tmp/never/%zz%.py",                    # no escapes at all
    "file://host/share/train.py",
    "untitled:Untitled-1",
    "untitled:/tmp/never/train%20x.py",
    "vscode-notebook-cell:/tmp/never/n%C3%B6te.ipynb#W0sZmlsZQ%3D%3D",
    "vscode-vfs://github/owner/name/train.py",
    "git:/tmp/never/train.py?%7B%22path%22%3A%22x%22%7D",
    "inmemory://model/1",
]


@pytest.mark.parametrize("uri", URIS)
def test_uris_round_trip_byte_for_byte(lsp, uri):
    lsp.open(uri, programs.MATMUL)
    found = lsp.diagnostics(uri, 1)
    assert codes(found) == [programs.MATMUL_RULE]
    for related in found[0].get("relatedInformation", []):
        assert related["location"]["uri"] == uri
    actions = lsp.call("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": found[0]["range"],
                                                   "context": {"diagnostics": found}})
    for action in actions or []:
        edit = action.get("edit") or {}
        assert all(change["textDocument"]["uri"] == uri for change in edit.get("documentChanges", []))
        assert all(name == uri for name in edit.get("changes", {}))
    lsp.close(uri)
    assert lsp.diagnostics(uri) == []
    everything = {e.message["params"]["uri"] for e in lsp.record
                  if not e.sent and e.message.get("method") == "textDocument/publishDiagnostics"}
    assert everything == {uri}


def test_documents_of_other_languages_are_left_alone(lsp):
    lsp.open("file:///tmp/never/readme.md", "# import torch\n", language="markdown")
    lsp.idle()
    assert not [p for p in lsp.published("file:///tmp/never/readme.md") if p["diagnostics"]]


def test_a_text_document_is_known_as_python_by_its_language(lsp):
    lsp.open("untitled:Untitled-7", programs.MATMUL, language="python")
    assert codes(lsp.diagnostics("untitled:Untitled-7", 1)) == [programs.MATMUL_RULE]


# ------------------------------------------------------------ typing

def test_500_edits_at_5_ms(start):
    """The last published version is the last sent, none decreases (the fixture sees to it), the result is a cold run's."""
    client = start()
    client.initialize()
    text = Text(programs.CLASSIFIER)
    client.open(URI, text.text)
    typed = "    weights = torch.zeros(3, 4) @ torch.zeros(5, 6)  # 🙂\n"
    at = text.text.index("    for epoch in range(epochs)")
    pace = time.monotonic()
    for version in range(2, 502):
        step = (version - 2) % (2 * len(typed))
        if step < len(typed):
            change = text.replace(at + step, at + step, typed[step])
        else:
            last = at + 2 * len(typed) - step - 1
            change = text.replace(last, last + 1, "")
        client.change(URI, version, change)
        pace += 0.005
        while (left := pace - time.monotonic()) > 0:  # what is measured is a typist's pace, nothing is waited for
            time.sleep(left)
    found = client.diagnostics(URI, 501)
    versions = [p["version"] for p in client.published(URI)]
    assert versions == sorted(versions)
    assert len(versions) >= 5, "nothing was published while typing"
    assert found == fresh(start, text.text)

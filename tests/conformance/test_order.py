"""Order and cancellation, as the protocol checklist says."""

import pytest

import programs
from client import CANCELLED, CONTENT_MODIFIED, METHOD_NOT_FOUND, span

URI = "untitled:train.py"
TEXT = "import torch\nx = torch.zeros({}, 3)\n"
WHOLE = span(0, 0, 1000, 0)


def hints(client, uri=URI):
    return client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})


def labels(result):
    return [h["label"] if isinstance(h["label"], str) else "".join(p["value"] for p in h["label"]) for h in result or []]


def hover(client, line, character, uri=URI):
    return client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})


def test_a_request_after_a_change_sees_the_new_text(lsp):
    lsp.open(URI, TEXT.format(2))
    for version in range(2, 40):
        lsp.change(URI, version, (span(1, 16, 1, 16 + len(str(version - 1 if version > 2 else 2))), str(version)))
        message = lsp.reply(hints(lsp))
        assert "error" not in message, message
        assert any(str(version) in label for label in labels(message["result"])), (version, message)


def test_a_hover_after_a_change_sees_the_new_text(lsp):
    lsp.open(URI, TEXT.format(2))
    lsp.change(URI, 2, TEXT.format(41))
    first = hover(lsp, 1, 0)
    lsp.change(URI, 3, TEXT.format(43))
    second = hover(lsp, 1, 0)
    assert "43" in str(lsp.result(second))
    # The first may be of no use any more; it is not of the newer text.
    message = lsp.reply(first)
    assert message["error"]["code"] == CONTENT_MODIFIED if "error" in message else "41" in str(message["result"])


def test_a_request_right_after_open_sees_the_text(lsp):
    lsp.open(URI, TEXT.format(5))
    assert any("5" in label for label in labels(lsp.result(hints(lsp))))


def test_a_cancelled_request_has_one_reply(lsp):
    lsp.open(URI, programs.slow(100))
    ids = [hints(lsp) for _ in range(20)]
    for id in ids:
        lsp.notify("$/cancelRequest", {"id": id})
    for id in ids:
        message = lsp.reply(id)
        assert "result" in message or message["error"]["code"] == CANCELLED, message
    lsp.idle()  # the fixture counts the replies


def test_cancelling_what_is_done_or_never_was_does_nothing(lsp):
    lsp.open(URI, programs.MATMUL)
    id = hints(lsp)
    lsp.result(id)
    lsp.notify("$/cancelRequest", {"id": id})
    lsp.notify("$/cancelRequest", {"id": 99_999})
    lsp.notify("$/cancelRequest", {"id": "never"})
    lsp.notify("$/cancelRequest", {})
    lsp.notify("$/cancelRequest", {"id": {}})
    lsp.notify("$/cancelRequest")
    assert lsp.error("stepzero/none")["code"] == METHOD_NOT_FOUND


def test_a_cancel_names_its_request_by_kind_too(lsp):
    lsp.open(URI, programs.slow(100))
    lsp.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": WHOLE}, id=70)
    lsp.notify("$/cancelRequest", {"id": "70"})
    assert "result" in lsp.reply(70)


def test_content_modified_only_when_the_result_is_unusable(lsp):
    """No change, no -32801; and a change of another document is no reason."""
    lsp.open(URI, programs.CLASSIFIER)
    lsp.open("untitled:other.py", TEXT.format(1))
    ids = []
    for version in range(2, 30):
        ids += [hints(lsp), hover(lsp, 20, 8)]
        lsp.change("untitled:other.py", version, TEXT.format(version))
    for id in ids:
        assert "error" not in lsp.reply(id), lsp.reply(id)


def test_the_last_of_many_requests_is_answered_whatever_became_of_the_others(lsp):
    lsp.open(URI, TEXT.format(1))
    ids = []
    for version in range(2, 60):
        lsp.change(URI, version, TEXT.format(version))
        ids.append(hints(lsp))
    for id in ids[:-1]:
        message = lsp.reply(id)
        assert "error" not in message or message["error"]["code"] == CONTENT_MODIFIED, message
    assert any("59" in label for label in labels(lsp.result(ids[-1])))


def when(client, accept):
    return next(e.when for e in client.record if not e.sent and accept(e.message))


def publishes(uri, version=None):
    return lambda m: (m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri
                      and version in (None, m["params"].get("version")))


def test_a_slow_document_does_not_delay_another(lsp):
    lsp.open("untitled:slow.py", programs.slow(1000))
    lsp.open(URI, programs.MATMUL)
    lsp.idle()
    assert when(lsp, publishes(URI)) < when(lsp, publishes("untitled:slow.py"))


def test_a_slow_document_does_not_delay_a_cancel_nor_a_request_of_another(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.idle()
    lsp.open("untitled:slow.py", programs.slow(1000))
    slow = hints(lsp, "untitled:slow.py")
    quick = hints(lsp)
    lsp.notify("$/cancelRequest", {"id": slow})
    assert "result" in lsp.reply(quick)
    message = lsp.reply(slow)
    assert "result" in message or message["error"]["code"] == CANCELLED
    lsp.idle()
    assert when(lsp, lambda m: m.get("id") == quick and "method" not in m) < when(lsp, publishes("untitled:slow.py"))
    assert when(lsp, lambda m: m.get("id") == slow and "method" not in m) < when(lsp, publishes("untitled:slow.py"))


def test_edits_of_a_slow_document_do_not_starve_it(lsp):
    """Something is published while somebody types into a file whose analysis takes longer than the pause between keys."""
    text = programs.slow(300)
    lsp.open(URI, text)
    lsp.idle()
    for version in range(2, 102):
        lsp.change(URI, version, (span(0, 0), f"# {version}\n"))
        lsp.reply(lsp.request("stepzero/none"))  # the pause between two keys is as long as the way there and back
    lsp.idle()
    assert lsp.published(URI)[-1]["version"] == 101


@pytest.mark.parametrize("count", [1, 8])
def test_equal_content_of_one_version_is_not_sent_twice(lsp, count):
    for i in range(count):
        lsp.open(f"untitled:{i}.py", programs.MATMUL)
    lsp.idle()
    lsp.idle()
    for i in range(count):
        sent = [(p["version"], str(p["diagnostics"])) for p in lsp.published(f"untitled:{i}.py")]
        assert len(sent) == len(set(sent))

"""JSON-RPC 2.0, as the protocol checklist says: what is answered with which code, and that the connection goes on. That a
handler that throws is answered with -32603 is tested in tests/protocol: the program has no door that makes one throw."""

import json

import pytest

import programs
from client import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, frame

URI = "untitled:train.py"


def alive(client):
    """The session goes on: a request is answered as ever."""
    assert client.error("stepzero/none")["code"] == METHOD_NOT_FOUND


INVALID_JSON = {
    "cut": b'{"jsonrpc":"2.0","id":1,"method":',
    "trailing comma": b'{"jsonrpc":"2.0","id":1,"method":"shutdown",}',
    "single quotes": b"{'jsonrpc':'2.0'}",
    "two values": b"{} {}",
    "not a number": b'{"jsonrpc":"2.0","id":NaN,"method":"shutdown"}',
    "raw NUL": b'{"jsonrpc":"2.0","id":1,"method":"shut\x00down"}',
    "NUL for a body": b"\x00\x00\x00\x00",
    "raw line break in a string": b'{"jsonrpc":"2.0","id":1,"method":"shut\ndown"}',
    "broken UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}',
    "overlong UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}',
    "a surrogate as UTF-8": b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
    "UTF-16": '{"jsonrpc":"2.0","id":1,"method":"shutdown"}'.encode("utf-16"),
    "only space": b"    ",
    "a bracket alone": b"[",
}


@pytest.mark.parametrize("case", INVALID_JSON)
def test_well_framed_invalid_json_is_a_parse_error_with_id_null_and_the_connection_goes_on(lsp, case):
    lsp.send_bytes(frame(INVALID_JSON[case]))
    assert lsp.error_without_id()["code"] == PARSE_ERROR
    alive(lsp)


INVALID_REQUESTS = {
    "batch": b'[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]',
    "empty batch": b"[]",
    "batch of notifications": b'[{"jsonrpc":"2.0","method":"exit"}]',
    "number": b"1",
    "text": b'"shutdown"',
    "null": b"null",
    "true": b"true",
    "empty object": b"{}",
    "id that is true": b'{"jsonrpc":"2.0","id":true,"method":"shutdown"}',
    "id that is an object": b'{"jsonrpc":"2.0","id":{},"method":"shutdown"}',
    "id that is an array": b'{"jsonrpc":"2.0","id":[1],"method":"shutdown"}',
    "fractional id": b'{"jsonrpc":"2.0","id":1.5,"method":"shutdown"}',
    "id null": b'{"jsonrpc":"2.0","id":null,"method":"shutdown"}',
}


@pytest.mark.parametrize("case", INVALID_REQUESTS)
def test_a_batch_or_invalid_request_without_a_usable_id_is_32600(lsp, case):
    lsp.send_bytes(frame(INVALID_REQUESTS[case]))
    assert lsp.error_without_id()["code"] == INVALID_REQUEST
    alive(lsp)


@pytest.mark.parametrize("message", [
    {"jsonrpc": "2.0", "id": "bad", "method": 1},
    {"jsonrpc": "2.0", "id": "bad", "method": None},
    {"jsonrpc": "2.0", "id": "bad"},
    {"jsonrpc": "1.0", "id": "bad", "method": "shutdown"},
    {"id": "bad", "method": "shutdown"},
    {"jsonrpc": 2.0, "id": "bad", "method": "shutdown"},
    {"jsonrpc": "2.0", "id": "bad", "method": "shutdown", "params": 1},
    {"jsonrpc": "2.0", "id": "bad", "method": "shutdown", "params": "text"},
], ids=["method a number", "method null", "no method", "version 1.0", "no version", "version a number", "params a number", "params a text"])
def test_an_invalid_request_with_an_id_is_32600_and_answered_once(lsp, message):
    lsp.send(message)
    answer = lsp.wait(lambda m: "error" in m and m.get("id") in ("bad", None), "an error")
    assert answer["error"]["code"] == INVALID_REQUEST
    alive(lsp)


def test_an_answer_to_no_request_of_the_server_is_ignored(lsp):
    lsp.send({"jsonrpc": "2.0", "id": "unasked", "result": None})
    lsp.send({"jsonrpc": "2.0", "id": 4711, "error": {"code": 1, "message": "no"}})
    lsp.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}})
    alive(lsp)


@pytest.mark.parametrize("id", [0, 7, -3, 2**31 - 1, -(2**31), "", "7", "seven", "ä🙂", "a" * 1000, "\u0000"],
                         ids=lambda i: json.dumps(i)[:20])
def test_ids_are_echoed_in_kind(lsp, id):
    lsp.request("stepzero/none", id=id)
    message = lsp.reply(id)  # told apart by type: 7 is not "7"
    assert type(message["id"]) is type(id) and message["id"] == id


def test_the_ids_7_and_text_7_are_two(lsp):
    lsp.request("stepzero/none", id=7)
    lsp.request("stepzero/none", id="7")
    assert lsp.reply(7)["id"] == 7
    assert lsp.reply("7")["id"] == "7"


@pytest.mark.parametrize("method", ["stepzero/none", "textDocument/unheardOf", "$/unheardOf", "$/stepzero", "", "ä🙂"])
def test_an_unknown_request_is_32601(lsp, method):
    assert lsp.error(method)["code"] == METHOD_NOT_FOUND
    assert lsp.error(method, {"any": [1, None]})["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("method", ["stepzero/none", "textDocument/unheardOf", "$/unheardOf", "$/setTrace", "", "ä🙂"])
def test_an_unknown_notification_is_ignored(lsp, method):
    lsp.notify(method)
    lsp.notify(method, {"any": [1, None]})
    lsp.notify(method, [1, 2])
    alive(lsp)


# A request of the server is no request of the client, and the other way round.
@pytest.mark.parametrize("method", ["textDocument/publishDiagnostics", "window/logMessage"])
def test_what_only_a_server_sends_is_unknown(lsp, method):
    assert lsp.error(method, {})["code"] == METHOD_NOT_FOUND
    lsp.notify(method, {})
    alive(lsp)


WRONG_PARAMS = {
    "absent": None,
    "empty": {},
    "array": [URI, 1],
    "document a text": {"textDocument": URI, "position": {"line": 0, "character": 0}},
    "uri a number": {"textDocument": {"uri": 7}, "position": {"line": 0, "character": 0}},
    "no position": {"textDocument": {"uri": URI}},
    "position a text": {"textDocument": {"uri": URI}, "position": "0:0"},
    "line a text": {"textDocument": {"uri": URI}, "position": {"line": "0", "character": 0}},
    "negative line": {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}},
    "fractional line": {"textDocument": {"uri": URI}, "position": {"line": 0.5, "character": 0}},
}


@pytest.mark.parametrize("case", WRONG_PARAMS)
def test_wrong_params_are_32602(lsp, case):
    lsp.open(URI, programs.MATMUL)
    assert lsp.error("textDocument/hover", WRONG_PARAMS[case])["code"] == INVALID_PARAMS
    alive(lsp)


UNREADABLE = [None, {}, [], {"textDocument": {}}, {"textDocument": {"uri": 7}}]
UNREADABLE_CHANGES = [
    {"textDocument": {"uri": URI, "version": "one"}, "contentChanges": []},
    {"textDocument": {"uri": URI, "version": 1}, "contentChanges": "x"},
    {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [{"range": 1, "text": "x"}]},
    {"textDocument": {"uri": URI, "version": 1}, "contentChanges": [1, 2]},
]


@pytest.mark.parametrize("method, params", [
    *[(method, params) for method in ("didOpen", "didChange", "didClose") for params in UNREADABLE],
    *[(method, params) for method in ("didOpen", "didChange") for params in UNREADABLE_CHANGES]])
def test_wrong_params_of_a_notification_do_no_harm(lsp, method, params):
    lsp.send({"jsonrpc": "2.0", "method": f"textDocument/{method}", **({} if params is None else {"params": params})})
    alive(lsp)
    lsp.open("untitled:other.py", programs.MATMUL)
    assert lsp.diagnostics("untitled:other.py", 1)


def test_every_request_that_the_server_offers_has_exactly_one_reply(lsp):
    """… on a document that is open, one that is not, and one that is no Python; the fixture counts."""
    lsp.open(URI, programs.CLASSIFIER)
    lsp.open("untitled:text.txt", "no Python {", language="plaintext")
    position = {"line": 20, "character": 12}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
    for uri in (URI, "untitled:text.txt", "untitled:never-opened.py", "file:///never/there.py"):
        place = {"textDocument": {"uri": uri}, "position": position}
        asked = {
            "textDocument/hover": place,
            "textDocument/definition": place,
            "textDocument/references": {**place, "context": {"includeDeclaration": True}},
            "textDocument/completion": place,
            "textDocument/signatureHelp": place,
            "textDocument/documentHighlight": place,
            "textDocument/documentSymbol": {"textDocument": {"uri": uri}},
            "textDocument/foldingRange": {"textDocument": {"uri": uri}},
            "textDocument/codeLens": {"textDocument": {"uri": uri}},
            "textDocument/inlayHint": {"textDocument": {"uri": uri}, "range": whole},
            "textDocument/codeAction": {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}},
            "textDocument/diagnostic": {"textDocument": {"uri": uri}},
            "textDocument/semanticTokens/full": {"textDocument": {"uri": uri}},
            "textDocument/formatting": {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}},
            "textDocument/rename": {**place, "newName": "y"},
            "workspace/symbol": {"query": "train"},
            "workspace/executeCommand": {"command": "stepzero.none", "arguments": []},
        }
        for id in [lsp.request(method, params) for method, params in asked.items()]:
            lsp.reply(id)


@pytest.mark.parametrize("depth", [10_000, 1_000_000])
@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"])
def test_ten_thousand_nested_values_do_no_harm(lsp, depth, opening, closing):
    nested = opening * depth + b"1" + closing * depth
    lsp.send_bytes(frame(b'{"jsonrpc":"2.0","method":"$/nested","params":' + nested + b"}"))
    lsp.send_bytes(frame(nested))
    lsp.send_bytes(frame(opening * depth))
    alive(lsp)
    for _ in lsp.errors_without_id():
        assert lsp.error_without_id()["code"] in (PARSE_ERROR, INVALID_REQUEST)


def test_lone_surrogates_do_no_harm(lsp):
    """Half of a pair takes the place of one UTF-16 unit, so that the positions of what follows stay right."""
    lone = '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:train.py",' \
           '"languageId":"python","version":1,"text":"import torch\\na = torch.zeros(2, 3)\\nb = torch.zeros(4, 5)\\n' \
           's = \\"\\ud800 \\udc00\\ud83d\\"; c = a @ b\\n"}}}'
    lsp.note(json.loads(lone))
    lsp.send_bytes(frame(lone.encode()))
    found = lsp.diagnostics("untitled:train.py", 1)
    assert [d["code"] for d in found] == [programs.MATMUL_RULE]
    assert found[0]["range"]["start"]["character"] >= len('s = "x xx"; c = ')
    assert found[0]["range"]["end"]["character"] <= len('s = "x xx"; c = a @ b')
    alive(lsp)


def test_a_nul_in_a_text_does_no_harm(lsp):
    lsp.open(URI, programs.MATMUL.replace("\nc", "\nz = '\0'\nc"))
    lsp.idle()
    lsp.open("untitled:nul.py", "\0")
    lsp.diagnostics("untitled:nul.py", 1)
    alive(lsp)


def test_a_byte_order_mark_does_no_harm(lsp):
    lsp.open(URI, "\ufeff" + programs.MATMUL)
    assert [d["code"] for d in lsp.diagnostics(URI, 1)] == [programs.MATMUL_RULE]
    lsp.send_bytes(frame(b"\xef\xbb\xbf" + json.dumps({"jsonrpc": "2.0", "method": "$/marked"}).encode()))
    alive(lsp)
    for _ in lsp.errors_without_id():  # to refuse the mark is right, and so is to skip it
        assert lsp.error_without_id()["code"] == PARSE_ERROR


def test_numbers_of_every_size_do_no_harm(lsp):
    for number in ("1e400", "-1e400", "1" * 400, "0.0000001", str(2**63), str(2**64), str(-(2**63) - 1)):
        lsp.send_bytes(frame(b'{"jsonrpc":"2.0","method":"$/number","params":[' + number.encode() + b"]}"))
    alive(lsp)
    for _ in lsp.errors_without_id():
        assert lsp.error_without_id()["code"] == PARSE_ERROR


def test_a_key_twice_in_an_object_does_no_harm(lsp):
    lsp.note({"jsonrpc": "2.0", "id": "twice", "method": "stepzero/none"})
    lsp.send_bytes(frame(b'{"jsonrpc":"2.0","id":"once","id":"twice","method":"stepzero/none","params":{},"params":[]}'))
    answer = lsp.wait(lambda m: "error" in m and m.get("id") in ("twice", None), "an answer")
    assert answer["error"]["code"] in (METHOD_NOT_FOUND, INVALID_REQUEST, PARSE_ERROR)

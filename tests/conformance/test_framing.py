"""Framing, as the protocol checklist says: what a header may look like, what a length counts, and how a stream that has
lost its frame ends."""

import json
import threading
import time

import pytest

import programs
from client import INVALID_REQUEST, LIMIT, METHOD_NOT_FOUND, PARSE_ERROR, SCALE, frame

MEBIBYTE = 1 << 20


@pytest.fixture
def lsp(start):
    """A server that asks its client nothing: the bytes that it gets are those of the test alone."""
    client = start()
    client.initialize({})
    return client


def request(id, method="stepzero/none"):
    return {"jsonrpc": "2.0", "id": id, "method": method}


def body_of(message):
    return json.dumps(message, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", ["content-length", "CONTENT-LENGTH", "Content-length", "cOnTeNt-LeNgTh"])
def test_header_names_are_case_insensitive(lsp, name):
    body = body_of(lsp.note(request("case")))
    lsp.send_bytes(b"%s: %d\r\n\r\n%s" % (name.encode(), len(body), body))
    assert lsp.error_of("case")["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("header", [
    "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
    "Content-Length: {}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
    "content-type: application/vscode-jsonrpc; charset=utf8\r\ncontent-length: {}\r\n\r\n",
], ids=["before", "after", "lower-case"])
def test_content_type_stands_before_or_after_content_length(lsp, header):
    body = body_of(lsp.note(request("type")))
    lsp.send_bytes(header.format(len(body)).encode() + body)
    assert lsp.error_of("type")["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("separator", [":", ":  ", ":\t"])
def test_space_around_the_length_does_not_matter(lsp, separator):
    body = body_of(lsp.note(request("space")))
    lsp.send_bytes(f"Content-Length{separator}{len(body)} \r\n\r\n".encode() + body)
    assert lsp.error_of("space")["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("id", ["ä", "模型", "𝒳🙂", "e\u0301"])
def test_the_length_counts_utf8_bytes(lsp, id):
    lsp.send(request(id))  # in and out: the reader of the client is strict
    assert lsp.error_of(id)["code"] == METHOD_NOT_FOUND
    lsp.send(request("next"))
    assert lsp.error_of("next")["code"] == METHOD_NOT_FOUND


def session_bytes(client):
    """A short session as it goes over the wire: its questions, and its end. A server may refuse what it has not answered when `shutdown` comes, so
    the end is sent once every question has its answer."""
    uri = "untitled:train.py"
    messages = [
        client.request_message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1),
        {"jsonrpc": "2.0", "method": "initialized", "params": {}},
        {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": uri, "languageId": "python", "version": 1, "text": programs.ASTRAL}}},
        client.request_message("stepzero/idle", id=2),
        client.request_message("textDocument/documentSymbol", {"textDocument": {"uri": uri}}, id=3),
        request("ü"),
    ]
    end = [client.request_message("shutdown", id=4), {"jsonrpc": "2.0", "method": "exit"}]
    for message in messages + end:
        client.note(message)
    return b"".join(map(frame, messages)), b"".join(map(frame, end))


def replies(client):
    return [e.message for e in client.record if not e.sent and "method" not in e.message]


def test_one_byte_at_a_time_and_all_in_one_write_give_identical_replies(start):
    whole, single = start(), start()
    for client, size in (whole, None), (single, 1):
        for part in session_bytes(client):
            for at in range(0, len(part), size or len(part)):
                client.send_bytes(part[at:at + (size or len(part))])
            for id in (1, 2, 3, "ü"):
                client.reply(id)
    assert whole.wait_for_exit() == 0
    assert single.wait_for_exit() == 0
    in_order = lambda client: sorted(replies(client), key=lambda message: json.dumps(message["id"]))
    assert in_order(whole) == in_order(single)
    assert len(replies(whole)) == 5


def test_two_frames_in_one_write_are_two_messages(lsp):
    first, second = lsp.note(request("one")), lsp.note(request("two"))
    lsp.send_bytes(frame(first) + frame(second))
    assert lsp.error_of("one")["code"] == METHOD_NOT_FOUND
    assert lsp.error_of("two")["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("before", [b"", b"Content-Length: "], ids=["first bytes", "digits"])
def test_a_broken_frame_before_initialize_is_answered_as_well(start, before):
    client = start()
    client.send_bytes(before + b"-1\r\n\r\n")
    assert client.wait_for_exit() == 1
    assert client.error_without_id()["code"] == PARSE_ERROR


@pytest.mark.parametrize("cut", [1, 15, 17, 20, 30])
def test_a_frame_in_two_writes_is_one_message(lsp, cut):
    data = frame(lsp.note(request("cut")))
    lsp.send_bytes(data[:cut])
    lsp.send_bytes(data[cut:])
    assert lsp.error_of("cut")["code"] == METHOD_NOT_FOUND


BROKEN = {
    "missing length": b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}",
    "no header at all": b"\r\n{}",
    "body without a header": b'{"jsonrpc":"2.0","id":1,"method":"shutdown"}\r\n\r\n',
    "negative length": b"Content-Length: -2\r\n\r\n{}",
    "signed length": b"Content-Length: +2\r\n\r\n{}",
    "overflowing length": b"Content-Length: 18446744073709551618\r\n\r\n{}",
    "overflowing length of many digits": b"Content-Length: " + b"9" * 400 + b"\r\n\r\n{}",
    "duplicate length": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two different lengths": b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "oversized length": b"Content-Length: %d\r\n\r\n{}" % (64 * MEBIBYTE + 1),
    "length without digits": b"Content-Length: two\r\n\r\n{}",
    "empty length": b"Content-Length:\r\n\r\n{}",
    "length with a rest": b"Content-Length: 2x\r\n\r\n{}",
    "hexadecimal length": b"Content-Length: 0x2\r\n\r\n{}",
    "line without a colon": b"Content-Length 2\r\n\r\n{}",
    "header block over 8 KiB": b"X-Filler: " + b"a" * 8192 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "header that never ends": b"a" * 100_000,
    # … nothing of which is a whole line: more could come, and could not mend it.
    "length that never ends": b"Content-Length: " + b"7" * 1000,
    "length of zeros that never ends": b"Content-Length: " + b"0" * 100_000,
    "negative length that never ends": b"Content-Length: -",
    "body without a header or an end": b'{"jsonrpc":"2.0","id":1,"method":"shutdown"}',
    "body longer than its length": b'Content-Length: 2\r\n\r\n{} {"jsonrpc":"2.0"}',
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_frame_is_answered_and_logged_and_ends_the_connection_with_status_1(lsp, case):
    """… without waiting for more input, and before anything is allocated."""
    before = memory_peak(lsp)
    lsp.send_bytes(BROKEN[case])
    assert lsp.wait_for_exit() == 1
    errors = [lsp.error_without_id() for _ in lsp.errors_without_id()]
    assert [e["code"] for e in errors if e["code"] == PARSE_ERROR] == [PARSE_ERROR]
    assert len(errors) == (2 if case == "body longer than its length" else 1)  # {} is no request
    assert lsp.errors().strip(), "nothing was logged"
    assert before < 512 * MEBIBYTE


@pytest.mark.parametrize("length", [64 * MEBIBYTE + 1, 1 << 33, (1 << 63) - 1])
def test_an_oversized_length_is_refused_before_allocating(start, length):
    client = start()
    client.initialize()
    before = settled_memory_peak(client)
    client.send_bytes(b"Content-Length: %d\r\n\r\n" % length)
    peak = before
    while client.process.poll() is None:
        try:
            peak = max(peak, memory_peak(client))
        except (FileNotFoundError, ProcessLookupError, StopIteration):
            break
    assert client.wait_for_exit() == 1
    assert client.error_without_id()["code"] == PARSE_ERROR
    assert peak - before < 16 * MEBIBYTE


def memory_peak(client):
    with open(f"/proc/{client.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def settled_memory_peak(client):
    """After the memory that the server takes for its first analysis, before anybody asks for one. A sanitizer keeps what is freed, so its
    peak never rests: it is taken as it is after a while."""
    peak, since = memory_peak(client), time.monotonic()
    deadline = since + 2 * SCALE
    while time.monotonic() < min(since + 0.5 * SCALE, deadline):
        time.sleep(0.05)
        if memory_peak(client) != peak:
            peak, since = memory_peak(client), time.monotonic()
    return peak


def test_an_announced_length_takes_no_memory_until_its_bytes_come(lsp):
    before = settled_memory_peak(lsp)
    body = body_of(lsp.note(request("later")))
    size = 60 * MEBIBYTE
    lsp.send_bytes(b"Content-Length: %d\r\n\r\n" % size + body)
    lsp.send_bytes(b" " * MEBIBYTE)
    assert memory_peak(lsp) - before < 32 * MEBIBYTE
    lsp.send_bytes(b" " * (size - MEBIBYTE - len(body)))
    assert lsp.error_of("later")["code"] == METHOD_NOT_FOUND


def test_a_message_of_the_limit_itself_is_taken(lsp):
    body = body_of(lsp.note(request("limit")))
    lsp.send_bytes(b"Content-Length: %d\r\n\r\n" % (64 * MEBIBYTE) + body)
    lsp.send_bytes(b" " * (64 * MEBIBYTE - len(body)))
    assert lsp.error_of("limit")["code"] == METHOD_NOT_FOUND


def test_a_header_block_just_under_the_limit_is_taken(lsp):
    body = body_of(lsp.note(request("header")))
    lsp.send_bytes(b"X-Filler: %s\r\nContent-Length: %d\r\n\r\n%s" % (b"a" * 8000, len(body), body))
    assert lsp.error_of("header")["code"] == METHOD_NOT_FOUND


def test_an_empty_body_is_a_message_that_is_no_json(lsp):
    lsp.send_bytes(b"Content-Length: 0\r\n\r\n")
    assert lsp.error_without_id()["code"] in (-32700, INVALID_REQUEST)
    lsp.send(request("after"))
    assert lsp.error_of("after")["code"] == METHOD_NOT_FOUND


@pytest.mark.parametrize("rest", [b"Content-Le", b"Content-Length: 10\r\n", b"Content-Length: 10\r\n\r\n", b"Content-Length: 10\r\n\r\n{\"a\""],
                         ids=["header name", "header line", "no body", "half a body"])
@pytest.mark.parametrize("after_shutdown", [False, True], ids=["running", "after shutdown"])
def test_end_of_input_inside_a_frame_exits_1_and_0_after_shutdown(lsp, rest, after_shutdown):
    if after_shutdown:
        assert lsp.call("shutdown") is None
    lsp.send_bytes(rest)
    lsp.close_input()
    assert lsp.wait_for_exit() == (0 if after_shutdown else 1)
    assert [lsp.error_without_id()["code"] for _ in lsp.errors_without_id()] == ([] if after_shutdown else [PARSE_ERROR])


@pytest.mark.parametrize("after_shutdown", [False, True], ids=["running", "after shutdown"])
def test_end_of_input_between_frames_ends_the_server(lsp, after_shutdown):
    if after_shutdown:
        assert lsp.call("shutdown") is None
    lsp.close_input()
    assert lsp.wait_for_exit() == (0 if after_shutdown else 1)


def test_writes_are_atomic_per_message(lsp):
    """Answers and publications of many documents at once, from several threads of the server: the client's strict
    reader takes them apart."""
    ids = []
    for i in range(40):
        uri = f"untitled:atomic-{i}.py"
        lsp.open(uri, programs.ASTRAL if i % 2 else programs.CLASSIFIER)
        ids += [lsp.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) for _ in range(5)]
    for id in ids:
        lsp.reply(id)
    lsp.idle()
    for i in range(40):
        assert lsp.published(f"untitled:atomic-{i}.py")


def test_a_reader_that_does_not_read_never_deadlocks_the_server(start):
    """The client writes on and on before it reads its first byte; nothing is lost."""
    client = start(reading=False)
    client.send(client.request_message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=0))
    client.notify("initialized", {})
    client.capabilities = {}
    client.open("untitled:a.py", programs.CLASSIFIER)
    filler = "x" * 500
    ids = [client.request("stepzero/" + filler) for _ in range(4000)]  # a megabyte or more of answers
    client.start_reading()
    for id in ids:
        assert client.error_of(id)["code"] == METHOD_NOT_FOUND
    client.idle()


def test_a_client_that_never_reads_again_does_not_keep_the_server_alive(start):
    client = start(reading=False)
    client.send(client.request_message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=0))
    for _ in range(4000):
        client.request("stepzero/" + "x" * 500)
    client.notify("exit")
    client.close_input()
    assert client.process.wait(5 * SCALE) == 1


def test_concurrent_writers_of_the_client_do_not_confuse_the_server(lsp):
    """Four threads of an editor, each writing whole frames."""
    ids = [[f"{t}-{i}" for i in range(100)] for t in range(4)]
    threads = [threading.Thread(target=lambda own=own: [lsp.send(request(i)) for i in own]) for own in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    for id in sum(ids, []):
        assert lsp.error_of(id)["code"] == METHOD_NOT_FOUND

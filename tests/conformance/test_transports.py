"""The ways to the server: standard input and output, a TCP port on loopback and a Unix socket that the editor listens
on. Each carries a whole session."""

import socket
import subprocess

import pytest

import programs
from client import LIMIT, METHOD_NOT_FOUND, PARSE_ERROR, PROGRAM

URI = "untitled:train.py"


def test_a_whole_session(start, transport):
    client = start(transport)
    client.initialize()
    client.open(URI, programs.ASTRAL)
    assert [d["code"] for d in client.diagnostics(URI, 1)] == [programs.MATMUL_RULE]
    client.change(URI, 2, programs.CLEAN)
    assert client.diagnostics(URI, 2) == []
    assert client.error("stepzero/none")["code"] == METHOD_NOT_FOUND
    client.close(URI)
    assert client.shut_down() == 0


def test_megabytes_go_both_ways(start, transport):
    client = start(transport)
    client.initialize()
    name = "ü" * 3_000_000
    assert client.error_of(client.request("stepzero/none", id=name))["code"] == METHOD_NOT_FOUND


def test_the_end_of_input_ends_the_server(start, transport):
    client = start(transport)
    client.initialize()
    client.close_input()
    assert client.wait_for_exit() == 1


def test_a_broken_frame_ends_the_server(start, transport):
    client = start(transport)
    client.initialize()
    client.send_bytes(b"Content-Length: -1\r\n\r\n")
    assert client.wait_for_exit() == 1
    assert client.error_without_id()["code"] == PARSE_ERROR


def test_stdio_is_the_default(start):
    client = start(arguments=["lsp"])
    client.initialize()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize("words", [
    ["--socket", "port"], ["--socket", "-1"], ["--socket", "65536"], ["--socket", ""], ["--socket"], ["--pipe"],
    ["--stdio", "--socket", "5000"], ["--unheard-of"],
], ids=" ".join)
def test_a_wrong_transport_is_wrong_usage(words):
    run = subprocess.run([PROGRAM, "lsp", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    assert run.returncode == 2
    assert run.stderr.strip()
    assert not run.stdout


@pytest.mark.parametrize("words", [["--pipe", "/never/there.sock"], ["--socket", None]], ids=["pipe", "socket"])
def test_nobody_listening_is_an_error_in_one_line(words):
    words = [str(free_port()) if w is None else w for w in words]
    run = subprocess.run([PROGRAM, "lsp", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    assert run.returncode in (1, 2)
    assert run.stderr.strip()
    assert not run.stdout

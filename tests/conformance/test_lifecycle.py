"""The life of a session, as the protocol checklist says: before initialize, between, after shutdown, and the ends."""

import os
import subprocess
import sys

import pytest

import programs
from client import CAPABILITIES, INVALID_REQUEST, LIMIT, METHOD_NOT_FOUND, NOT_INITIALIZED, SCALE

URI = "untitled:train.py"


@pytest.mark.parametrize("method, params", [
    ("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}),
    ("shutdown", None), ("stepzero/none", None), ("stepzero/idle", None), ("$/unheardOf", None)])
def test_requests_before_initialize_are_32002(start, method, params):
    client = start()
    assert client.error(method, params)["code"] == NOT_INITIALIZED
    client.initialize()


def test_notifications_before_initialize_are_dropped(start):
    client = start()
    client.open(URI, programs.MATMUL)
    client.change(URI, 2, programs.CLEAN)
    client.notify("initialized", {})
    client.notify("$/unheardOf", {})
    client.initialize()
    client.idle()
    assert client.published(URI) == []
    client.open(URI, programs.MATMUL, version=7)
    assert client.diagnostics(URI, 7)


def test_exit_before_initialize_ends_with_1(start):
    client = start()
    client.notify("exit")
    assert client.wait_for_exit(SCALE) == 1


def test_exit_without_shutdown_ends_with_1(lsp):
    lsp.notify("exit")
    assert lsp.wait_for_exit(SCALE) == 1


def test_exit_after_shutdown_ends_with_0(lsp):
    assert lsp.call("shutdown") is None
    lsp.notify("exit")
    assert lsp.wait_for_exit(SCALE) == 0


def test_exit_with_the_input_left_open_ends_all_the_same(lsp):
    lsp.call("shutdown")
    lsp.notify("exit")
    assert lsp.wait_for_exit(SCALE) == 0
    assert not lsp.process.stdin.closed


def test_a_second_initialize_is_32600(lsp):
    assert lsp.error("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["code"] == INVALID_REQUEST
    lsp.open(URI, programs.MATMUL)
    assert lsp.diagnostics(URI, 1)


def test_nothing_but_permitted_messages_comes_before_the_result_of_initialize(start):
    """The fixture checks it of every session; here with everything that might tempt a server to speak early."""
    client = start()
    token = "start-token"
    client.send(client.request_message("initialize", {
        "processId": os.getpid(), "rootUri": "file:///", "capabilities": CAPABILITIES, "workDoneToken": token, "trace": "verbose",
        "workspaceFolders": [{"uri": "file:///nowhere", "name": "nowhere"}]}, id="first"))
    client.capabilities = client.result("first")["capabilities"]
    before = []
    for entry in client.record:
        if not entry.sent:
            if entry.message.get("id") == "first":
                break
            before.append(entry.message)
    for message in before:
        assert message["method"] in ("window/showMessage", "window/logMessage", "telemetry/event", "$/progress")
        if message["method"] == "$/progress":
            assert message["params"]["token"] == token


def test_no_registration_before_initialized(start):
    client = start()
    client.initialize(initialized=False)
    assert client.error("stepzero/none")["code"] == METHOD_NOT_FOUND
    methods = [e.message["method"] for e in client.record if not e.sent and "method" in e.message]
    assert "client/registerCapability" not in methods
    client.notify("initialized", {})


@pytest.mark.parametrize("method, params", [
    ("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 0}}),
    ("shutdown", None), ("stepzero/none", None), ("initialize", {"processId": None, "rootUri": None, "capabilities": {}})])
def test_requests_after_shutdown_are_32600(lsp, method, params):
    lsp.open(URI, programs.MATMUL)
    lsp.idle()
    lsp.call("shutdown")
    assert lsp.error(method, params)["code"] == INVALID_REQUEST
    lsp.notify("exit")
    assert lsp.wait_for_exit() == 0


def test_nothing_is_published_after_shutdown(lsp):
    lsp.open(URI, programs.MATMUL)
    lsp.idle()
    lsp.call("shutdown")
    at_shutdown = len(lsp.published(URI))
    lsp.change(URI, 2, programs.CLEAN)
    lsp.open("untitled:late.py", programs.MATMUL)
    assert lsp.error("stepzero/none")["code"] == INVALID_REQUEST
    lsp.notify("exit")
    assert lsp.wait_for_exit() == 0
    assert len(lsp.published(URI)) == at_shutdown
    assert lsp.published("untitled:late.py") == []


@pytest.mark.parametrize("orderly", [True, False], ids=["after shutdown", "without"])
def test_exit_in_mid_analysis_ends_within_a_second(lsp, orderly):
    for i in range(4):
        lsp.open(f"untitled:slow-{i}.py", programs.slow(600))
    if orderly:
        assert lsp.call("shutdown") is None
    lsp.notify("exit")
    assert lsp.wait_for_exit(SCALE) == (0 if orderly else 1)


def test_end_of_input_in_mid_analysis_ends_within_a_second(lsp):
    for i in range(4):
        lsp.open(f"untitled:slow-{i}.py", programs.slow(600))
    lsp.close_input()
    assert lsp.wait_for_exit(2 * SCALE) == 1


@pytest.fixture
def editor():
    """A process that stands for the editor: it lives until its input ends."""
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_the_death_of_process_id_ends_the_server_within_5_seconds(start, editor):
    client = start()
    client.initialize(processId=editor.pid)
    client.open(URI, programs.MATMUL)
    client.idle()
    editor.kill()
    editor.wait()
    assert client.wait_for_exit(5 * SCALE) == 1


def test_a_process_id_that_is_dead_already_ends_the_server(start, editor):
    client = start()
    editor.kill()
    editor.wait()
    id = client.request("initialize", {"processId": editor.pid, "rootUri": None, "capabilities": {}})
    assert client.result(id)["serverInfo"]["name"] == "stepzero"
    assert client.wait_for_exit(5 * SCALE) == 0


@pytest.mark.parametrize("spelled", ["--clientProcessId={}", "--clientProcessId {}"])
def test_a_process_of_the_command_line_is_watched_like_one_of_initialize(start, editor, spelled):
    client = start(arguments=["lsp", "--stdio", *spelled.format(editor.pid).split()])
    client.initialize(processId=None)
    client.open(URI, programs.MATMUL)
    assert client.diagnostics(URI, 1)
    editor.kill()
    editor.wait()
    assert client.wait_for_exit(5 * SCALE) == 1


def test_a_process_of_the_command_line_that_is_dead_already_ends_the_server(start, editor):
    editor.kill()
    editor.wait()
    client = start(arguments=["lsp", "--stdio", "--clientProcessId", str(editor.pid)])
    assert client.wait_for_exit(5 * SCALE) == 0


def test_the_process_of_initialize_counts_where_the_command_line_names_another(start, editor):
    client = start(arguments=["lsp", "--stdio", "--clientProcessId", str(editor.pid)])
    client.initialize(processId=os.getpid())
    editor.kill()
    editor.wait()
    client.open(URI, programs.MATMUL)
    assert client.diagnostics(URI, 1)


@pytest.mark.parametrize("params", [
    {"processId": None, "rootUri": None, "capabilities": {}},
    {"processId": None, "rootPath": None, "rootUri": None, "capabilities": {}, "workspaceFolders": None},
    {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": []},
    {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": None, "clientInfo": {"name": "x"}, "locale": "de"},
    {"processId": None, "rootUri": None, "capabilities": {"textDocument": {}, "workspace": {}, "general": {}, "window": {}}},
    {"processId": None, "rootUri": "file:///never/there", "capabilities": {}},
    {"processId": None, "rootUri": None, "capabilities": {"stranger": {"unheardOf": [1]}, "experimental": {"x": True}}},
], ids=["empty", "all null", "no folders", "options null", "empty groups", "root that is not there", "strange capabilities"])
def test_empty_capabilities_and_null_roots_work(start, params):
    client = start()
    result = client.call("initialize", params)
    client.capabilities = result["capabilities"]
    assert result["capabilities"].get("positionEncoding", "utf-16") == "utf-16"
    client.notify("initialized", {})
    client.open(URI, programs.MATMUL)
    assert [d["code"] for d in client.diagnostics(URI, 1)] == [programs.MATMUL_RULE]
    if "window" not in params["capabilities"]:
        assert not [e for e in client.record if not e.sent and "id" in e.message and "method" in e.message]


def test_the_server_says_its_name_and_version(start):
    info = start().initialize()["serverInfo"]
    assert info["name"] == "stepzero"
    assert info["version"]


def test_a_failed_initialize_may_be_tried_again(start):
    client = start()
    assert "error" in client.reply(client.request("initialize", {"processId": "seven", "capabilities": 3}))
    client.initialize()


def test_standard_output_carries_frames_only(start):
    """Logs go to standard error: the strict reader has seen nothing else. They name what happened."""
    client = start()
    client.initialize(trace="verbose")
    client.open(URI, programs.MATMUL)
    client.idle()
    assert client.shut_down() == 0


def test_an_orderly_end_answers_what_was_asked_before(lsp):
    lsp.open(URI, programs.CLASSIFIER)
    ids = [lsp.request("textDocument/documentSymbol", {"textDocument": {"uri": URI}}) for _ in range(50)]
    lsp.call("shutdown")
    for id in ids:
        lsp.reply(id)
    lsp.notify("exit")
    assert lsp.wait_for_exit(LIMIT) == 0

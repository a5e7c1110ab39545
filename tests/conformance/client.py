"""A small language client that drives the real program: it frames and reads messages strictly, keeps the record of the
whole session in both directions, and never sleeps. Knows the protocol's shape, no feature of the server."""

import itertools
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

PROGRAM = os.environ.get("STEPZERO") or str(Path(__file__).resolve().parents[2] / "build" / "stepzero")
# Sanitizers make the program some ten times slower; machines under load, too.
SCALE = float(os.environ.get("STEPZERO_TIME_SCALE", "1"))
LIMIT = 30 * SCALE  # seconds within which whatever must come has come

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
NOT_INITIALIZED, CONTENT_MODIFIED, CANCELLED = -32002, -32801, -32800

# What a rich editor says of itself; a test changes what it is about.
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceEdit": {"documentChanges": True},
        "inlayHint": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True, "codeDescriptionSupport": True,
                               "dataSupport": True, "tagSupport": {"valueSet": [1, 2]}},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source", "source.fixAll"]}},
                       "dataSupport": True, "resolveSupport": {"properties": ["edit"]}, "isPreferredSupport": True},
        "inlayHint": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "window": {"workDoneProgress": True},
}


class Broken(AssertionError):
    """What the server wrote is no well-formed stream of messages."""


def frame(message):
    """The bytes of a message, or of a body already encoded."""
    body = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def read_message(read_line, read_exactly):
    """One message of a strict stream; None at its end."""
    length = None
    first = True
    while True:
        line = read_line()
        if first and not line:
            return None
        first = False
        if not line.endswith(b"\r\n"):
            raise Broken(f"a header line without its end: {line[:200]!r}")
        if line == b"\r\n":
            break
        name, separator, value = line[:-2].partition(b": ")
        if not separator or name not in (b"Content-Length", b"Content-Type"):
            raise Broken(f"an unexpected header: {line[:200]!r}")
        if name == b"Content-Length":
            if length is not None or not value.isdigit():
                raise Broken(f"a wrong length: {line!r}")
            length = int(value)
    if length is None:
        raise Broken("a header without Content-Length")
    body = read_exactly(length)
    if len(body) != length:
        raise Broken(f"{len(body)} of {length} bytes of a body")
    message = json.loads(body.decode("utf-8"), object_pairs_hook=_no_duplicates)
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Broken(f"no JSON-RPC 2.0 message: {body[:200]!r}")
    return message


def _no_duplicates(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise Broken(f"an object with a key twice: {[k for k, _ in pairs]}")
    return result


@dataclass
class Entry:
    when: float
    sent: bool      # by the client
    message: dict


class Client:
    """One server process and the conversation with it.

    transport: "stdio", "socket" or "pipe". `reading=False` leaves the server's output unread until start_reading().
    """

    def __init__(self, transport="stdio", reading=True, arguments=None, env=None, cwd=None, answers=None):
        self.record = []
        self.configuration = None
        self.answers = answers or {}  # server request → function of its params
        self._ids = itertools.count(1)
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._ended = False  # nothing more will be read
        self._fault = None
        self._input_closed = False
        self._taken = set()  # indexes of the record that a test has looked at
        self._answered = {}
        self._scratch = None
        self._connection = None
        self._start(transport, arguments, env, cwd)
        self._errors = bytearray()
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._error_reader.start()
        self._reader = threading.Thread(target=self._read, daemon=True)
        if reading:
            self.start_reading()

    # ------------------------------------------------------------ process and transport

    def _start(self, transport, arguments, env, cwd):
        listener = None
        words = [PROGRAM, "lsp"]
        if transport == "stdio":
            words += ["--stdio"]
        elif transport == "socket":
            listener = socket.create_server(("127.0.0.1", 0))
            words += ["--socket", str(listener.getsockname()[1])]
        elif transport == "pipe":
            self._scratch = tempfile.mkdtemp(prefix="stepzero-")
            name = os.path.join(self._scratch, "server.sock")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(name)
            listener.listen(1)
            words += ["--pipe", name]
        else:
            raise ValueError(transport)
        if arguments is not None:
            words = [PROGRAM] + arguments
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=cwd,
            env={**os.environ, **(env or {})})
        if listener:
            listener.settimeout(LIMIT)
            try:
                self._connection, _ = listener.accept()
            finally:
                listener.close()
                if self._scratch:
                    shutil.rmtree(self._scratch, ignore_errors=True)
            self._connection.setblocking(True)
            self._input = self._connection.makefile("rb")
            self._write_fd = self._connection.fileno()
        else:
            self._input = os.fdopen(os.dup(self.process.stdout.fileno()), "rb")
            self._write_fd = self.process.stdin.fileno()
        os.set_blocking(self._write_fd, transport != "stdio")

    def start_reading(self):
        self._reader.start()

    def _read(self):
        try:
            while True:
                message = read_message(self._input.readline, self._input.read)
                if message is None:
                    break
                self._received(message)
        except (Broken, ValueError, OSError) as fault:
            if not isinstance(fault, ConnectionResetError):
                self._fault = fault
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _received(self, message):
        with self._changed:
            self.record.append(Entry(time.monotonic(), False, message))
            if "method" not in message:
                self._answered.setdefault(_key(message.get("id")), message)
            self._changed.notify_all()
        if "method" in message and "id" in message:
            self._answer(message)

    def _answer(self, message):
        method, params = message["method"], message.get("params")
        if method in self.answers:
            result = self.answers[method](params)
        elif method == "workspace/configuration":
            result = [self.configuration for _ in params["items"]]
        else:
            result = None
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _read_errors(self):
        while chunk := self.process.stderr.read(65536):
            with self._changed:
                self._errors += chunk
                del self._errors[:-1_000_000]
                self._changed.notify_all()

    def errors(self):
        """What the program wrote to its standard error so far."""
        with self._changed:
            return self._errors.decode(errors="replace")

    def wait_for_error(self, text, limit=LIMIT):
        self._until(lambda: text in self._errors.decode(errors="replace"), f"{text!r} on standard error", limit)

    # ------------------------------------------------------------ sending

    def send_bytes(self, data, limit=LIMIT):
        """Writes raw bytes; fails if the server does not take them in time. Silent if it has closed its end."""
        deadline = time.monotonic() + limit
        view = memoryview(data)
        with self._writing:
            if self._input_closed:
                return
            while view:
                _, ready, _ = select.select([], [self._write_fd], [], max(0, deadline - time.monotonic()))
                if not ready:
                    raise AssertionError(f"the server does not read: {len(view)} bytes left after {limit} s")
                try:
                    view = view[os.write(self._write_fd, view[:65536]):]
                except (BrokenPipeError, ConnectionResetError):
                    return

    def note(self, message):
        """Puts a message that is about to be sent raw into the record."""
        with self._changed:
            self.record.append(Entry(time.monotonic(), True, message))
        return message

    def send(self, message):
        self.note(message)
        self.send_bytes(frame(message))

    def close_input(self):
        """Ends the server's input, as an editor that dies does."""
        with self._writing:
            self._input_closed = True
        if self._connection:
            self._connection.shutdown(socket.SHUT_WR)
        else:
            self.process.stdin.close()

    def request_message(self, method, params=None, id=None):
        message = {"jsonrpc": "2.0", "id": next(self._ids) if id is None else id, "method": method}
        if params is not None:
            message["params"] = params
        return message

    def request(self, method, params=None, id=None):
        """Sends a request and returns its id."""
        message = self.request_message(method, params, id)
        self.send(message)
        return message["id"]

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    # ------------------------------------------------------------ receiving

    def _until(self, condition, what, limit=LIMIT):
        deadline = time.monotonic() + limit
        with self._changed:
            while True:
                value = condition()
                if value:
                    return value
                if self._fault:
                    raise self._fault
                left = deadline - time.monotonic()
                if left <= 0 or (self._ended and self.process.poll() is not None and not self._error_reader.is_alive()):
                    why = "in time" if left <= 0 else f"before the program ended with {self.process.poll()}"
                    raise AssertionError(f"{what} did not come {why}; standard error: {self._errors[-2000:].decode(errors='replace')}")
                self._changed.wait(min(left, 0.25))

    def reply(self, id, limit=LIMIT):
        """The server's answer to the request `id`: the whole message."""
        return self._until(lambda: self._answered.get(_key(id)), f"the answer to {id!r}", limit)

    def result(self, id, limit=LIMIT):
        message = self.reply(id, limit)
        assert "error" not in message, message["error"]
        return message["result"]

    def call(self, method, params=None, limit=LIMIT):
        return self.result(self.request(method, params), limit)

    def error(self, method, params=None, limit=LIMIT):
        """The error that a request is answered with."""
        return self.error_of(self.request(method, params), limit)

    def error_of(self, id, limit=LIMIT):
        message = self.reply(id, limit)
        assert "error" in message, message
        assert "result" not in message, message
        return message["error"]

    def wait(self, predicate, what, limit=LIMIT):
        """The next message of the server that no test has taken yet and that `predicate` accepts."""
        return self._until(lambda: self._take(predicate), what, limit)

    def _take(self, predicate):
        for index, entry in enumerate(self.record):
            if not entry.sent and index not in self._taken and predicate(entry.message):
                self._taken.add(index)
                return entry.message
        return None

    def notification(self, method, accept=lambda params: True, limit=LIMIT):
        return self.wait(lambda m: m.get("method") == method and accept(m.get("params")), method, limit)["params"]

    def errors_without_id(self):
        """The errors with id null so far."""
        with self._changed:
            return [e.message["error"] for e in self.record
                    if not e.sent and e.message.get("id", 0) is None and "error" in e.message]

    def error_without_id(self, limit=LIMIT):
        """The next error that belongs to no request (id null)."""
        return self.wait(lambda m: "error" in m and m.get("id", 0) is None, "an error with id null", limit)["error"]

    def taken(self, index):
        return index in self._taken

    # ------------------------------------------------------------ the protocol's way

    def initialize(self, capabilities=None, initialized=True, **params):
        """Starts the session; returns what the server says it can do."""
        merged = {"processId": os.getpid(), "rootUri": None, "capabilities": CAPABILITIES if capabilities is None else capabilities}
        merged.update(params)
        result = self.call("initialize", merged)
        self.capabilities = result["capabilities"]
        if initialized:
            self.notify("initialized", {})
        return result

    def open(self, uri, text, version=1, language="python"):
        self.notify("textDocument/didOpen",
                    {"textDocument": {"uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, *changes):
        """Each change is a full text or a pair of range and text."""
        content = [{"text": c} if isinstance(c, str) else {"range": c[0], "text": c[1]} for c in changes]
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": content})

    def close(self, uri):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def published(self, uri):
        """Everything published for a document so far, in order."""
        with self._changed:
            return [e.message["params"] for e in self.record
                    if not e.sent and e.message.get("method") == "textDocument/publishDiagnostics"
                    and e.message["params"]["uri"] == uri]

    def idle(self, limit=LIMIT):
        """Waits until the server has nothing left to do."""
        return self.call("stepzero/idle", limit=limit)

    def diagnostics(self, uri, version=None, limit=LIMIT):
        """The final diagnostics of a document, once the server rests."""
        self.idle(limit)
        published = self.published(uri)
        assert published, f"nothing was published for {uri}"
        if version is not None:
            assert published[-1].get("version") == version, [p.get("version") for p in published]
        return published[-1]["diagnostics"]

    # ------------------------------------------------------------ the end

    def wait_for_exit(self, limit=LIMIT):
        """The exit status, once the program has ended and everything that it wrote is read."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the program did not end within {limit} s") from None
        for thread in (self._reader, self._error_reader):
            if thread.ident is not None:
                thread.join(LIMIT)
        return status

    def shut_down(self, limit=LIMIT):
        """The orderly end of a session; returns the exit status."""
        assert self.call("shutdown", limit=limit) is None
        self.notify("exit")
        return self.wait_for_exit(limit)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in (self._reader, self._error_reader):
            if thread.ident is not None:
                thread.join(LIMIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr, self._input, self._connection):
            if stream:
                stream.close()


def _key(id):
    """Ids of one kind only are equal: 1, "1" and True are three."""
    return (type(id).__name__, id) if isinstance(id, (int, str, float, bool, type(None))) else repr(id)


def position(line, character):
    return {"line": line, "character": character}


def span(line, character, end_line=None, end_character=None):
    """A range; empty if it has no end."""
    return {"start": position(line, character),
            "end": position(line if end_line is None else end_line, character if end_character is None else end_character)}

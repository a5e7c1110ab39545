"""What a server must do in every session, whatever the session is about: read from the record of the whole
conversation once it is over. Knows the order of messages; what a single message looks like is metamodel.py's."""

PERMITTED_BEFORE_RESULT = {"window/showMessage", "window/logMessage", "telemetry/event", "window/showMessageRequest", "$/progress"}

# What a server may ask only of a client that said so: where the client's capability stands.
NEEDS = {
    "workspace/configuration": ("workspace", "configuration"),
    "workspace/workspaceFolders": ("workspace", "workspaceFolders"),
    "workspace/applyEdit": ("workspace", "applyEdit"),
    "window/workDoneProgress/create": ("window", "workDoneProgress"),
    "workspace/inlayHint/refresh": ("workspace", "inlayHint", "refreshSupport"),
    "workspace/diagnostic/refresh": ("workspace", "diagnostics", "refreshSupport"),
    "workspace/codeLens/refresh": ("workspace", "codeLens", "refreshSupport"),
    "workspace/semanticTokens/refresh": ("workspace", "semanticTokens", "refreshSupport"),
    "window/showDocument": ("window", "showDocument", "support"),
}
# Messages that need nobody to wait for them. Any other notification must have been taken by the test.
QUIET = {"window/logMessage", "textDocument/publishDiagnostics", "$/progress", "telemetry/event", "$/logTrace"}
CUSTOM = "stepzero/"


def faults(client, model=None):
    """Everything that was wrong in the session: a list of texts."""
    watcher = _Watcher(client, model)
    found = []
    for index, entry in enumerate(client.record):
        if entry.sent:
            watcher.sent(entry.message)
        elif "method" in entry.message:
            found += watcher.said(entry.message, client.taken(index))
        else:
            found += watcher.answered(entry.message, client.taken(index))
    return found + list(watcher.ended())


class _Watcher:
    def __init__(self, client, model):
        self.model = model
        self.asked = {}        # id → method, of the client's requests
        self.replied = set()
        self.capabilities = {}
        self.initialize_id = self.shutdown_id = None
        self.initialized = False  # the result of initialize has come
        self.confirmed = False    # the client has sent `initialized`
        self.shut_down = False    # the result of shutdown has come
        self.open = {}         # uri → _Open
        self.closed = {}       # uri → the versions it had
        self.last = {}         # uri → the last publication

    def sent(self, message):
        method, params = message.get("method"), message.get("params")
        if "id" in message and "result" not in message and "error" not in message:
            self.asked[_key(message["id"])] = method
        if method == "initialize" and not self.initialized:
            self.initialize_id = _key(message.get("id"))
            self.capabilities = (params or {}).get("capabilities") or {}
        elif method == "initialized":
            self.confirmed = True
        elif method == "shutdown" and self.initialized and self.shutdown_id is None:
            self.shutdown_id = _key(message.get("id"))
        elif method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose") and self.initialized:
            document = (params or {}).get("textDocument") or {}
            if isinstance(document, dict):
                self.touched(method, document.get("uri"), document.get("version"))

    def touched(self, method, uri, version):
        if method == "textDocument/didOpen":
            earlier = self.open[uri].versions if uri in self.open else set()
            self.open[uri] = _Open(uri, version, earlier | self.closed.pop(uri, set()))
        elif uri in self.open and method == "textDocument/didChange":
            self.open[uri].versions.add(version)
        elif uri in self.open:
            document = self.open.pop(uri)
            self.closed[uri] = document.versions | document.earlier | {None}

    def answered(self, message, taken):
        key = _key(message.get("id"))
        if ("result" in message) == ("error" in message):
            yield f"an answer with both or neither of result and error: {_short(message)}"
        if set(message) - {"jsonrpc", "id", "result", "error"}:
            yield f"an answer with more than an answer has: {_short(message)}"
        if message.get("id") is None:
            if "error" not in message:
                yield f"an answer to nobody: {_short(message)}"
            elif not taken:
                yield f"an error that nobody expected: {_short(message)}"
        elif key not in self.asked:
            yield f"an answer to a request that was never made: {_short(message)}"
        elif key in self.replied:
            yield f"a second answer to {self.asked[key]} ({message['id']!r}): {_short(message)}"
        self.replied.add(key)
        if key == self.initialize_id and "result" in message:
            self.initialized = True
        if key == self.shutdown_id and "result" in message:
            self.shut_down = True
        if self.model and "error" in message:
            yield from self.model.check_error(message["error"])
        elif self.model and key in self.asked and not str(self.asked[key]).startswith(CUSTOM):
            yield from self.model.check_result(self.asked[key], message.get("result"))

    def said(self, message, taken):
        """A request or a notification of the server."""
        method, params, is_request = message["method"], message.get("params"), "id" in message
        if not self.initialized and method not in PERMITTED_BEFORE_RESULT:
            yield f"{method} before the result of initialize"
        if not self.confirmed and method.startswith("client/"):
            yield f"{method} before initialized"
        if self.shut_down and method != "window/logMessage":
            yield f"{method} after shutdown was answered"
        if is_request:
            yield from self.wanted(method, params)
        elif method not in QUIET and not taken:
            yield f"{method} that nobody expected: {_short(params)}"
        if self.model and not method.startswith(CUSTOM):
            check = self.model.check_request if is_request else self.model.check_notification
            yield from check(method, params)
        if method == "textDocument/publishDiagnostics":
            self.last[params["uri"]] = params
            if params["uri"] in self.open:
                yield from self.open[params["uri"]].published(params)

    def wanted(self, method, params):
        """Whether the client said that it can be asked this."""
        if method in NEEDS and not _has(self.capabilities, NEEDS[method]):
            yield f"{method} is sent to a client without {'.'.join(NEEDS[method])}"
        for registration in params["registrations"] if method == "client/registerCapability" else []:
            group, _, name = registration["method"].partition("/")
            if not _has(self.capabilities, (group, name, "dynamicRegistration")):
                yield f"{registration['method']} is registered with a client without its dynamicRegistration"

    def ended(self):
        if not self.shut_down:
            return
        for key, method in self.asked.items():
            if key not in self.replied and key != ("NoneType", None):
                yield f"{method} ({key[1]!r}) was never answered"
        for uri in self.closed:
            if self.last.get(uri, {}).get("diagnostics"):
                yield f"diagnostics of the closed {uri} were left standing"


class _Open:
    """The versions of one open document. What was sent for an earlier opening may still arrive after a new one."""

    def __init__(self, uri, version, earlier):
        self.uri, self.versions, self.earlier = uri, {version}, earlier
        self.latest = None  # published

    def published(self, params):
        version = params.get("version")
        if version not in self.versions:
            if self.latest is not None or version not in self.earlier:
                yield f"diagnostics of {self.uri} for version {version}; only {sorted(map(str, self.versions))[-5:]} were sent"
            return
        if self.latest is not None and version < self.latest:
            yield f"diagnostics of {self.uri} go back from version {self.latest} to {version}"
        self.latest = version


def _key(id):
    return (type(id).__name__, id) if isinstance(id, (int, str, float, bool, type(None))) else ("?", repr(id))


def _has(capabilities, path):
    for name in path:
        capabilities = capabilities.get(name) if isinstance(capabilities, dict) else None
    return bool(capabilities)


def _short(value):
    text = repr(value)
    return text if len(text) < 300 else text[:297] + "..."

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
# A registration needs the dynamicRegistration of its method.
REGISTRATION_NEEDS = {
    "workspace/didChangeWatchedFiles": ("workspace", "didChangeWatchedFiles"),
    "workspace/didChangeConfiguration": ("workspace", "didChangeConfiguration"),
}
# Messages that need nobody to wait for them. Any other notification must have been taken by the test.
QUIET = {"window/logMessage", "textDocument/publishDiagnostics", "$/progress", "telemetry/event", "$/logTrace"}
CUSTOM = "stepzero/"


def faults(client, model=None):
    """Everything that was wrong in the session: a list of texts."""
    return list(_walk(client, model))


def _walk(client, model):
    record = client.record
    methods, answered = {}, set()
    capabilities, initialize_id, initialized_sent, initialize_answered = {}, None, False, False
    shutdown_id, shut_down = None, False
    opened = {}  # uri → _Open
    closed = {}  # uri → the versions it had
    last = {}    # uri → the last publication

    for index, entry in enumerate(record):
        message = entry.message
        if entry.sent:
            method = message.get("method")
            if "id" in message and "result" not in message and "error" not in message:
                methods[_key(message["id"])] = method
                if method == "initialize" and initialize_id is None:
                    initialize_id = _key(message["id"])
                    capabilities = (message.get("params") or {}).get("capabilities") or {}
                if method == "shutdown" and initialize_answered and shutdown_id is None:
                    shutdown_id = _key(message["id"])
            if method == "initialized":
                initialized_sent = True
            params = message.get("params")
            if method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose") and initialize_answered:
                document = (params or {}).get("textDocument") or {}
                uri, version = document.get("uri"), document.get("version")
                if method == "textDocument/didOpen":
                    earlier = opened[uri].versions if uri in opened else set()
                    opened[uri] = _Open(uri, version, earlier | closed.pop(uri, set()))
                elif uri in opened and method == "textDocument/didChange":
                    opened[uri].versions.add(version)
                elif uri in opened:
                    closed[uri] = opened[uri].versions | opened[uri].earlier | {None}
                    del opened[uri]
            continue

        if "method" not in message:  # an answer
            key = _key(message.get("id"))
            if ("result" in message) == ("error" in message):
                yield f"an answer with both or neither of result and error: {_short(message)}"
            if set(message) - {"jsonrpc", "id", "result", "error"}:
                yield f"an answer with more than an answer has: {_short(message)}"
            if message.get("id") is None:
                if "error" not in message:
                    yield f"an answer to nobody: {_short(message)}"
                elif not client.taken(index):
                    yield f"an error that nobody expected: {_short(message)}"
            elif key not in methods:
                yield f"an answer to a request that was never made: {_short(message)}"
            elif key in answered:
                yield f"a second answer to {methods[key]} ({message['id']!r}): {_short(message)}"
            answered.add(key)
            if key == initialize_id:
                initialize_answered = True
            if key == shutdown_id and "result" in message:
                shut_down = True
            if model and "error" in message:
                yield from model.check_error(message["error"])
            elif model and key in methods and not str(methods[key]).startswith(CUSTOM):
                yield from model.check_result(methods[key], message.get("result"))
            continue

        method, params = message["method"], message.get("params")
        is_request = "id" in message
        if not initialize_answered and method not in PERMITTED_BEFORE_RESULT:
            yield f"{method} before the result of initialize"
        if not initialized_sent and method.startswith("client/"):
            yield f"{method} before initialized"
        if shut_down and method not in ("window/logMessage",):
            yield f"{method} after shutdown was answered"
        if is_request:
            if method in NEEDS and not _has(capabilities, NEEDS[method]):
                yield f"{method} is sent to a client without {'.'.join(NEEDS[method])}"
            if method == "client/registerCapability":
                for registration in params["registrations"]:
                    where = REGISTRATION_NEEDS.get(registration["method"]) or ("textDocument", registration["method"].split("/")[-1])
                    if not _has(capabilities, (*where, "dynamicRegistration")):
                        yield f"{registration['method']} is registered with a client without its dynamicRegistration"
        elif method not in QUIET and not client.taken(index):
            yield f"{method} that nobody expected: {_short(params)}"
        if model and not method.startswith(CUSTOM):
            yield from (model.check_request if is_request else model.check_notification)(method, params)

        if method == "textDocument/publishDiagnostics":
            last[params["uri"]] = params
            if params["uri"] in opened:
                yield from opened[params["uri"]].published(params)

    if not shut_down:
        return
    for key, method in methods.items():
        if key not in answered:
            yield f"{method} ({key[1]!r}) was never answered"
    for uri in closed:
        if last.get(uri, {}).get("diagnostics"):
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
                yield f"diagnostics of {self.uri} for version {version}; only {sorted(self.versions)[-5:]} were sent"
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

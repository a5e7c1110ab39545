"""Whole sessions held against the protocol's own model. Every other test's session is held against it, too (conftest.py);
these here ask for everything that the server offers, as different editors do. Without the model they fail."""

import pytest

import conduct
import programs
from client import CAPABILITIES, span


# ------------------------------------------------------------ the reader of the model itself

def test_the_model_is_that_of_3_17(model):
    assert model.version.startswith("3.17")
    assert len(model.structures) > 300 and len(model.requests) > 60 and len(model.notifications) > 20


GOOD = [
    ("Position", {"line": 0, "character": 3}),
    ("Diagnostic", {"range": span(0, 0, 1, 1), "message": "x", "severity": 1, "code": "a/b", "source": "stepzero",
                    "codeDescription": {"href": "https:x"}, "tags": [1], "data": {"any": [1, None]}}),
    ("Hover", {"contents": {"kind": "markdown", "value": "x"}}),
    ("Hover", {"contents": ["a", {"language": "python", "value": "b"}]}),
    ("WorkspaceEdit", {"changes": {"file:///x": [{"range": span(0, 0), "newText": ""}]}}),
    ("WorkspaceEdit", {"documentChanges": [{"textDocument": {"uri": "file:///x", "version": None},
                                            "edits": [{"range": span(0, 0), "newText": "y"}]}]}),
    ("InlayHint", {"position": {"line": 1, "character": 2}, "label": [{"value": "x"}], "kind": 1}),
    ("TextDocumentContentChangeEvent", {"text": "x"}),
    ("CodeAction", {"title": "x", "kind": "quickfix.custom"}),
]
BAD = [
    ("Position", {"line": 0}, "character: is missing"),
    ("Position", {"line": -1, "character": 0}, "no uinteger"),
    ("Position", {"line": 0, "character": True}, "no uinteger"),
    ("Position", {"line": 0, "character": 0, "column": 1}, "no such property"),
    ("Position", [0, 0], "is no Position"),
    ("Diagnostic", {"range": span(0, 0), "message": "x", "severity": 5}, "DiagnosticSeverity"),
    ("Diagnostic", {"range": span(0, 0), "message": None}, "no string"),
    ("Hover", {"contents": {"kind": "html", "value": "x"}}, "MarkupKind"),
    ("WorkspaceEdit", {"changes": {"file:///x": [{"range": span(0, 0)}]}}, "newText: is missing"),
    ("WorkspaceEdit", {"documentChanges": [{"textDocument": {"uri": "file:///x"}, "edits": []}]}, "version: is missing"),
    ("InlayHint", {"position": {"line": 1, "character": 2}, "label": [{"tooltip": "x"}]}, "value: is missing"),
    ("ServerCapabilities", {"hoverProvider": "yes"}, "hoverProvider"),
]


@pytest.mark.parametrize("name, value", GOOD, ids=range(len(GOOD)))
def test_the_model_accepts_what_is_right(model, name, value):
    assert model.check_named(name, value) == []


@pytest.mark.parametrize("name, value, fault", BAD, ids=range(len(BAD)))
def test_the_model_finds_what_is_wrong(model, name, value, fault):
    assert any(fault in f for f in model.check_named(name, value)), model.check_named(name, value)


def test_the_model_knows_directions_and_methods(model):
    assert model.check_notification("textDocument/didOpen", {})
    assert model.check_notification("textDocument/unheardOf", {})
    assert model.check_request("workspace/configuration", {"items": [{"section": "stepzero"}]}) == []
    assert model.check_request("workspace/configuration", {}) != []
    assert model.check_result("shutdown", None) == []
    assert model.check_result("shutdown", {}) != []
    assert model.check_result("textDocument/codeAction", [{"title": "x"}, {"title": "y", "command": "z"}]) == []
    assert model.check_result("textDocument/codeAction", [{"name": "x"}]) != []


# ------------------------------------------------------------ whole sessions

WORKSPACE = {
    "pyproject.toml": '[tool.stepzero]\nunheard-of = 1\nignore = ["perf"]\n',
    "pkg/__init__.py": "",
    "pkg/model.py": programs.CLASSIFIER,
    "pkg/attention.py": programs.ATTENTION,
    "train.py": programs.DISTRIBUTED + "\nfrom pkg.model import Classifier\nimport torch\n"
                                       "scores = Classifier()(torch.zeros(8, 3, 32, 32))\nloss = scores @ torch.zeros(11, 2)\n",
    "bug.py": programs.MATMUL,
    "run.sh": "export NCCL_DEBUGG=INFO\ntorchrun --nproc_per_node=2 train.py\n",
    "ds_config.json": '{"train_batch_size": 32, "fp16": {"enabled": true}, "bf16": {"enabled": true}}\n',
}
LANGUAGES = {".py": "python", ".sh": "shellscript", ".json": "json"}

BARE = {}
NEOVIM_0_7 = {
    "textDocument": {
        "synchronization": {"didSave": True, "willSave": False, "dynamicRegistration": False},
        "publishDiagnostics": {"relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}},
        "hover": {"contentFormat": ["markdown", "plaintext"], "dynamicRegistration": False},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "source"]}}},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
    "workspace": {"applyEdit": True, "configuration": True, "workspaceEdit": {"resourceOperations": ["rename"]}},
    "window": {"showMessage": {}, "workDoneProgress": True},
}
EVERYTHING = {
    **CAPABILITIES,
    "general": {"positionEncodings": ["utf-8", "utf-16"], "staleRequestSupport": {"cancel": True, "retryOnContentModified": []}},
    "workspace": {**CAPABILITIES["workspace"], "diagnostics": {"refreshSupport": True}, "codeLens": {"refreshSupport": True},
                  "semanticTokens": {"refreshSupport": True}, "symbol": {}, "executeCommand": {"dynamicRegistration": True}},
    "textDocument": {
        **CAPABILITIES["textDocument"], "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": True},
        "codeLens": {"dynamicRegistration": True}, "inlayHint": {"dynamicRegistration": True, "resolveSupport": {"properties": ["tooltip"]}},
        "definition": {"linkSupport": True}, "foldingRange": {}, "completion": {"completionItem": {"snippetSupport": True}}},
    "window": {"workDoneProgress": True, "showMessage": {}, "showDocument": {"support": True}},
}

# What is asked for one document at one place, and the capability that offers it.
OFFERS = {
    "diagnosticProvider": "textDocument/diagnostic",
    "hoverProvider": "textDocument/hover",
    "definitionProvider": "textDocument/definition",
    "typeDefinitionProvider": "textDocument/typeDefinition",
    "referencesProvider": "textDocument/references",
    "documentHighlightProvider": "textDocument/documentHighlight",
    "completionProvider": "textDocument/completion",
    "signatureHelpProvider": "textDocument/signatureHelp",
    "documentSymbolProvider": "textDocument/documentSymbol",
    "foldingRangeProvider": "textDocument/foldingRange",
    "codeLensProvider": "textDocument/codeLens",
    "codeActionProvider": "textDocument/codeAction",
    "inlayHintProvider": "textDocument/inlayHint",
    "documentLinkProvider": "textDocument/documentLink",
    "callHierarchyProvider": "textDocument/prepareCallHierarchy",
}
RESOLVES = {"textDocument/codeAction": ("codeActionProvider", "codeAction/resolve"),
            "textDocument/inlayHint": ("inlayHintProvider", "inlayHint/resolve"),
            "textDocument/codeLens": ("codeLensProvider", "codeLens/resolve")}


def build(folder):
    for name, text in WORKSPACE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def ask_everything(client, uri, text, pulled):
    """Every request that the server offers, at every sixth line of the text; what can be resolved is. Diagnostics that are
    pulled go into `pulled`."""
    lines = text.split("\n")
    whole = span(0, 0, len(lines), 0)
    for capability, method in OFFERS.items():
        if not client.capabilities.get(capability):
            continue
        places = [(i, len(line) // 2) for i, line in enumerate(lines)][::6] if "position" in needs(method) else [(0, 0)]
        for line, character in places:
            params = {"textDocument": {"uri": uri}}
            if "position" in needs(method):
                params["position"] = {"line": line, "character": character}
            if "range" in needs(method):
                params["range"] = whole
            if method == "textDocument/codeAction":
                published = client.published(uri)
                params["context"] = {"diagnostics": published[-1]["diagnostics"] if published else pulled.get(uri, [])}
            if method == "textDocument/references":
                params["context"] = {"includeDeclaration": True}
            result = client.call(method, params)
            if method == "textDocument/diagnostic":
                pulled[uri] = result["items"]
            provider, resolve = RESOLVES.get(method, (None, None))
            offered = client.capabilities.get(provider) if provider else None
            if isinstance(offered, dict) and offered.get("resolveProvider"):
                for item in result or []:
                    client.call(resolve, item)


def needs(method):
    if method in ("textDocument/codeAction", "textDocument/inlayHint"):
        return ("range",)
    if method in ("textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeLens", "textDocument/diagnostic",
                  "textDocument/documentLink"):
        return ()
    return ("position",)


@pytest.mark.parametrize("capabilities", [BARE, NEOVIM_0_7, CAPABILITIES, EVERYTHING], ids=["bare", "neovim 0.7", "usual", "everything"])
@pytest.mark.parametrize("settings", [None, {}, {"ignore": ["deadlock"]}, {"unheard-of": 1}, 7], ids=["null", "empty", "ignore", "unknown", "wrong"])
def test_a_whole_session_is_as_the_model_says(start, model, tmp_path, capabilities, settings):
    build(tmp_path)
    client = start()
    client.configuration = settings
    client.initialize(capabilities, rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}],
                      initializationOptions=settings)
    documents = {(tmp_path / name).as_uri(): text for name, text in WORKSPACE.items() if not name.endswith(".toml")}
    for uri, text in documents.items():
        client.open(uri, text, language=LANGUAGES[uri[uri.rindex("."):]])
    client.idle()
    pulled = {}
    for uri, text in documents.items():
        ask_everything(client, uri, text, pulled)
    client.notify("workspace/didChangeConfiguration", {"settings": {"stepzero": settings}})
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": (tmp_path / "pkg/model.py").as_uri(), "type": 2}]})
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}})
    client.change((tmp_path / "bug.py").as_uri(), 2, programs.CLEAN)
    client.notify("textDocument/didSave", {"textDocument": {"uri": (tmp_path / "bug.py").as_uri()}})
    client.notify("window/workDoneProgress/cancel", {"token": "none"})
    if client.capabilities.get("workspaceSymbolProvider"):
        client.call("workspace/symbol", {"query": "Class"})
    for command in (client.capabilities.get("executeCommandProvider") or {}).get("commands", []):
        client.reply(client.request("workspace/executeCommand", {"command": command, "arguments": [(tmp_path / "train.py").as_uri()]}))
    client.idle()
    for uri in documents:
        client.close(uri)
    while client._take(lambda m: m.get("method") == "window/showMessage"):  # wrong settings are told to the user
        pass
    assert client.shut_down() == 0
    assert conduct.faults(client, model) == []
    bug = (tmp_path / "bug.py").as_uri()
    if client.capabilities.get("diagnosticProvider"):
        assert pulled[bug] and not client.published(bug)  # a client that pulls is not told twice
    else:
        assert any(p["diagnostics"] for p in client.published(bug))


def test_settings_are_heard(start, tmp_path):
    """The workspace configuration of the editor; a change of it is heard at once."""
    client = start()
    client.configuration = {"ignore": ["shape"]}
    client.initialize()
    client.open("untitled:x.py", programs.MATMUL)
    assert client.diagnostics("untitled:x.py", 1) == []
    client.configuration = {}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    assert [d["code"] for d in client.diagnostics("untitled:x.py", 1)] == [programs.MATMUL_RULE]


def test_unknown_settings_are_reported_where_they_stand(start, tmp_path):
    build(tmp_path)
    client = start()
    client.initialize(rootUri=tmp_path.as_uri(), workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "w"}])
    client.open((tmp_path / "bug.py").as_uri(), programs.MATMUL)
    client.idle()
    told = [p for p in client.published((tmp_path / "pyproject.toml").as_uri()) if p["diagnostics"]]
    assert told and "unheard-of" in told[-1]["diagnostics"][0]["message"]
    assert told[-1]["diagnostics"][0]["range"]["start"]["line"] == 1

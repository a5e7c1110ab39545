"""Formats, filters and exit statuses, on findings that need no rule: those of a settings file."""

import json
import os
import pty
import re
import subprocess
import urllib.parse

import pytest

from conftest import PROGRAM

SETTINGS = '# 形\nmin-severty = "error"\nignore = ["nothing/of-the-kind"]\n'


@pytest.fixture
def project(write):
    write("a.py")
    write("pkg/b.py")
    return write("stepzero.toml", SETTINGS)


def schema(value, shape, where="$"):
    """`shape`: a type, a list of one shape, a dict of exactly these keys, or a set of allowed values."""
    if isinstance(shape, dict):
        assert isinstance(value, dict) and list(value) == list(shape), f"{where}: {value}"
        for key, inner in shape.items():
            schema(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for i, item in enumerate(value):
            schema(item, shape[0], f"{where}[{i}]")
    elif isinstance(shape, set):
        assert value in shape, f"{where}: {value}"
    else:
        assert type(value) is shape, f"{where}: {value!r}"


POSITION = {"line": int, "column": int}
RANGE = {"start": POSITION, "end": POSITION}
CHECK = {
    "version": int,
    "files": int,
    "diagnostics": [
        {
            "path": str,
            "rule": str,
            "severity": {"error", "warning", "information", "hint"},
            "message": str,
            "range": RANGE,
            "related": [{"path": str, "range": RANGE, "message": str}],
            "fixes": [{"title": str, "preferred": bool, "edits": [{"path": str, "range": RANGE, "new_text": str}]}],
        }
    ],
}


def test_json(stepzero, project):
    outcome = stepzero("check", "--format", "json", ".")
    assert outcome.status == 0
    assert outcome.err == b""
    schema(outcome.json, CHECK)
    assert outcome.json["version"] == 1
    assert outcome.json["files"] == 2
    first, second = outcome.json["diagnostics"]
    assert first["path"] == "stepzero.toml"
    assert first["rule"] == "stepzero/configuration"
    assert first["severity"] == "warning"
    assert first["message"] == 'There is no setting "min-severty" (did you mean "min-severity"?).'
    assert first["range"] == {"start": {"line": 2, "column": 1}, "end": {"line": 2, "column": 12}}
    assert first["fixes"][0]["edits"][0]["new_text"] == "min-severity"
    assert second["range"] == {"start": {"line": 3, "column": 11}, "end": {"line": 3, "column": 32}}


def test_text(stepzero, project):
    outcome = stepzero("check", ".")
    assert outcome.status == 0
    assert outcome.text.startswith(
        'stepzero.toml:2:1: warning[stepzero/configuration]: There is no setting "min-severty" '
        '(did you mean "min-severity"?).\n'
        "1 | # 形\n"
        '2 | min-severty = "error"\n'
        "  | ^^^^^^^^^^^\n"
    )
    assert outcome.text.endswith("Found 2 warnings in 1 of 2 files.\n")
    assert "\x1b" not in outcome.text


def test_nothing_found(stepzero, write):
    write("a.py")
    outcome = stepzero("check", "a.py")
    assert (outcome.status, outcome.text, outcome.said) == (0, "No problems found in 1 file.\n", "")


@pytest.mark.parametrize(
    "arguments, found, status",
    [
        ([], 2, 0),
        (["--fail-on", "error"], 2, 0),
        (["--fail-on", "warning"], 2, 1),
        (["--fail-on", "hint"], 2, 1),
        (["--min-severity", "warning", "--fail-on", "warning"], 2, 1),
        (["--min-severity", "error", "--fail-on", "warning"], 0, 0),
        (["--select", "stepzero"], 2, 0),
        (["--select", "stepzero/configuration", "--fail-on=warning"], 2, 1),
        (["--ignore", "stepzero/configuration", "--fail-on=warning"], 0, 0),
        (["--ignore", "stepzero", "--fail-on=warning"], 0, 0),
        (["--ignore=stepzero/configuration,stepzero", "--fail-on=warning"], 0, 0),
        (["--select", "stepzero", "--ignore", "stepzero"], 0, 0),
    ],
)
def test_filters_and_status(stepzero, project, arguments, found, status):
    outcome = stepzero("check", "--format", "json", *arguments, ".")
    assert len(outcome.json["diagnostics"]) == found
    assert outcome.status == status
    assert stepzero("check", *arguments, ".").status == status


def test_settings_of_the_file(stepzero, write):
    write("a.py")
    write("stepzero.toml", 'x = 1\nfail-on = "warning"\n')
    assert stepzero("check", ".").status == 1
    assert stepzero("check", "--fail-on", "error", ".").status == 0
    write("stepzero.toml", 'x = 1\nseverity.stepzero = "error"\n')
    assert stepzero("check", ".").status == 1
    write("stepzero.toml", 'x = 1\nseverity."stepzero/configuration" = "off"\n')
    assert stepzero("check", "--format=json", "--fail-on=hint", ".").json["diagnostics"] == []
    write("stepzero.toml", 'x = 1\nmin-severity = "error"\n')
    assert stepzero("check", "--format=json", ".").json["diagnostics"] == []
    assert len(stepzero("check", "--format=json", "--min-severity=hint", ".").json["diagnostics"]) == 1


def test_the_nearest_settings_win_and_each_file_of_them_is_reported_once(stepzero, write):
    write("pyproject.toml", "[tool.stepzero]\nouter = 1\n")
    write("a.py")
    write("b.py")
    write("in/pyproject.toml", "[tool.other]\n")
    write("in/c.py")
    write("own/stepzero.toml", "inner = 1\n")
    write("own/d.py")
    found = stepzero("check", "--format", "json", ".").json["diagnostics"]
    assert sorted(one["path"] for one in found) == ["own/stepzero.toml", "pyproject.toml"]


def test_github(stepzero, project):
    outcome = stepzero("check", "--format", "github", ".")
    lines = outcome.text.splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "::warning title=stepzero/configuration,file=stepzero.toml,line=2,endLine=2,col=1,endColumn=12::"
        'There is no setting "min-severty" (did you mean "min-severity"?).'
    )


def sarif_is_valid(log, root):
    """What SARIF 2.1.0 demands of the parts that are used."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "stepzero"
    assert re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    identifiers = [rule["id"] for rule in driver["rules"]]
    assert len(identifiers) == len(set(identifiers))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"] and rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    base = run["originalUriBaseIds"]["SRCROOT"]["uri"]
    assert base.startswith("file:///") and base.endswith("/")
    assert urllib.parse.unquote(base[len("file://"):]) == str(root) + "/"
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)

    def region(value):
        assert 1 <= value["startLine"] <= value["endLine"]
        assert value["startColumn"] >= 1 and value["endColumn"] >= 1
        if value["startLine"] == value["endLine"]:
            assert value["startColumn"] <= value["endColumn"]

    def artifact(value):
        uri = value["uri"]
        assert re.fullmatch(r"[A-Za-z0-9\-._~/%:]+", uri)
        assert ("uriBaseId" in value) == (not uri.startswith("file:"))
        assert value.get("uriBaseId", "SRCROOT") == "SRCROOT"

    def physical(value):
        artifact(value["physicalLocation"]["artifactLocation"])
        region(value["physicalLocation"]["region"])

    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error")
        assert result["message"]["text"]
        assert result["locations"]
        for location in result["locations"]:
            physical(location)
        seen = [location["id"] for location in result.get("relatedLocations", [])]
        assert len(seen) == len(set(seen))
        for location in result.get("relatedLocations", []):
            physical(location)
            assert location["message"]["text"]
        for fix in result.get("fixes", []):
            assert fix["description"]["text"] and fix["artifactChanges"]
            for change in fix["artifactChanges"]:
                artifact(change["artifactLocation"])
                assert change["replacements"]
                for replacement in change["replacements"]:
                    region(replacement["deletedRegion"])
                    assert isinstance(replacement["insertedContent"]["text"], str)
    return run


def test_sarif(stepzero, project, tmp_path):
    outcome = stepzero("check", "--format", "sarif", ".")
    run = sarif_is_valid(outcome.json, tmp_path)
    assert len(run["results"]) == 2
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["exitCode"] == outcome.status == 0
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "stepzero.toml", "uriBaseId": "SRCROOT"}
    assert location["region"] == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 12}


def test_sarif_of_odd_paths_and_unreadable_files(stepzero, write, tmp_path):
    write("a b/é#.py")
    write("a b/stepzero.toml", "x = 1\n")
    write("a b/nul.py", b"\0")
    outcome = stepzero("check", "--format", "sarif", "a b")
    run = sarif_is_valid(outcome.json, tmp_path)
    assert outcome.status == 2
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "nul.py" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/stepzero.toml"


def on_a_terminal(arguments, cwd, **environment):
    variables = {**os.environ, "TERM": "xterm", **environment}
    if "NO_COLOR" not in environment:
        variables.pop("NO_COLOR", None)
    parent, child = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments], cwd=cwd, env=variables, stdout=child, stderr=child, stdin=child)
    os.close(child)
    output = b""
    while True:
        try:
            block = os.read(parent, 4096)
        except OSError:
            break
        if not block:
            break
        output += block
    os.close(parent)
    process.wait(timeout=60)
    return output.decode()


def test_colours_only_on_a_terminal_that_wants_them(project, tmp_path):
    assert "\x1b[1;33mwarning\x1b[0m" in on_a_terminal(["check", "."], tmp_path)
    assert "\x1b" not in on_a_terminal(["check", "."], tmp_path, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(["check", "."], tmp_path, TERM="dumb")
    assert "\x1b[1;33m" in on_a_terminal(["check", "."], tmp_path, NO_COLOR="")
    assert "\x1b" not in on_a_terminal(["check", "--format=json", "."], tmp_path)


def test_progress_of_many_files_on_a_terminal(write, tmp_path):
    for i in range(60):
        write(f"f{i}.py")
    output = on_a_terminal(["check", "."], tmp_path)
    assert "checking 60/60" in output
    assert "No problems found in 60 files." in output


def test_the_same_output_every_time(stepzero, write):
    for i in range(30):
        write(f"p{i}/m.py")
        write(f"p{i}/stepzero.toml", f"x{i} = 1\n")
    outputs = {stepzero("check", "--format", "json", ".").out for _ in range(8)}
    assert len(outputs) == 1
    paths = [one["path"] for one in json.loads(outputs.pop())["diagnostics"]]
    assert paths == sorted(paths)

"""Options, help, and what is said to someone who mistypes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PROGRAM, SOURCE


def test_version(stepzero):
    outcome = stepzero("--version")
    assert outcome.status == 0
    assert re.fullmatch(r"stepzero \d+\.\d+\.\d+\n", outcome.text)
    assert outcome.err == b""


@pytest.mark.parametrize("command", [[], ["lsp"], ["check"], ["shapes"], ["schedule"], ["memory"], ["rules"], ["explain"]])
def test_help(stepzero, command):
    outcome = stepzero(*command, "--help")
    assert outcome.status == 0
    assert "Usage: stepzero" in outcome.text
    assert outcome.err == b""


def test_help_names_every_option_of_check(stepzero):
    text = stepzero("check", "--help").text
    for option in ["--format", "--select", "--ignore", "--min-severity", "--fail-on", "--fix", "--diff", "--stdin-filename"]:
        assert option in text


@pytest.mark.parametrize(
    "arguments, said",
    [
        ([], "say what to do"),
        (["check"], "say what to check"),
        (["shapes"], "say what to look at"),
        (["schedule"], "say what to look at"),
        (["schedule", "--world", "0", "a.py"], "--world"),
        (["schedule", "--world", "17", "a.py"], "--world"),
        (["schedule", "--format", "sarif", "a.py"], "takes text, json, svg or mermaid"),
        (["schedule", "--wrold", "2", "a.py"], 'unknown option --wrold (did you mean "--world"?)'),
        (["chek", "."], 'unknown command "chek" (did you mean "check"?)'),
        (["check", "--fxi", "."], 'unknown option --fxi (did you mean "--fix"?)'),
        (["check", "--format", "xml", "."], 'takes text, json, sarif, github or gitlab, not "xml"'),
        (["shapes", "--format", "sarif", "."], "takes text or json"),
        (["check", "--min-severity", "eror", "."], '(did you mean "error"?)'),
        (["check", "--fail-on", "never", "."], "takes error, warning, information or hint"),
        (["check", "--format"], "--format"),
        (["check", "--diff", "--format", "json", "."], "--diff"),
        (["check", "--why-silent", "train.py"], "takes a file and a line of it"),
        (["check", "--why-silent", "train.py:3", "."], "names its file itself"),
        (["check", "--select", "no/such-rule", "."], 'there is no rule "no/such-rule"'),
        (["explain"], "RULE is required"),
        (["explain", "no/such-rule"], 'there is no rule "no/such-rule"'),
        (["rules", "more"], 'unexpected argument "more"'),
        (["lsp", "--socket", "99999"], "--socket"),
        (["lsp", "--socket", "x"], "--socket"),
        (["lsp", "--stdio", "--pipe", "x"], "excludes"),
        (["lsp", "extra"], 'unexpected argument "extra"'),
        (["--wrong"], "unknown option --wrong"),
    ],
)
def test_one_line_says_what_is_wrong(stepzero, arguments, said):
    assert said in stepzero(*arguments).usage_error()


def test_a_misspelt_rule_to_ignore_is_said_and_harmless(stepzero, write):
    write("a.py")
    outcome = stepzero("check", "--ignore", "no/such-rule", ".")
    assert outcome.status == 0
    assert 'there is no rule "no/such-rule"' in outcome.said


def test_a_folder_called_like_a_command(stepzero, write):
    write("rules/a.py")
    assert stepzero("check", "rules", "--format", "json").json["files"] == 1


def test_a_file_called_like_an_option(stepzero, write):
    write("--fix.py")
    assert stepzero("check", "--format", "json", "--", "--fix.py").json["files"] == 1


def test_rules(stepzero):
    text = stepzero("rules")
    parsed = stepzero("rules", "--format", "json")
    assert text.status == parsed.status == 0
    assert parsed.json["version"] == 1
    rules = parsed.json["rules"]
    assert [rule["id"] for rule in rules] == sorted(rule["id"] for rule in rules)
    assert [line.split()[0] for line in text.text.splitlines()] == [rule["id"] for rule in rules]
    for rule in rules:
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9-]+", rule["id"])
        assert rule["severity"] in ("error", "warning", "information", "hint")
        assert rule["summary"] and "\n" not in rule["summary"]
        assert rule["fix"] in ("none", "always-right", "needs-decision")


def test_the_list_of_the_rules_is_the_programs_own():
    sys.path.insert(0, str(Path(__file__).parent))
    import rules_table

    written = (SOURCE / "analysis/rules/README.md").read_text(encoding="utf-8")
    assert written == rules_table.table(PROGRAM), "tests/cli/rules_table.py > analysis/rules/README.md"


def test_every_rule_is_explained(stepzero):
    for rule in stepzero("rules", "--format", "json").json["rules"]:
        outcome = stepzero("explain", rule["id"])
        assert outcome.status == 0
        assert rule["id"] in outcome.text
        assert "\x1b" not in outcome.text
        assert outcome.text.endswith("\n")


def test_explain_a_slip_and_a_family(stepzero):
    rules = [rule["id"] for rule in stepzero("rules", "--format", "json").json["rules"]]
    if not rules:
        pytest.skip("this build has no rules")
    slip = rules[0][:-1]
    assert f'did you mean "{rules[0]}"' in stepzero("explain", slip).usage_error()
    assert rules[0] in stepzero("explain", rules[0].split("/")[0]).usage_error()


def test_a_reader_that_goes_away(tmp_path, write):
    write("stepzero.toml", "\n".join(f"unknown{i} = 1" for i in range(5000)))
    write("a.py")
    process = subprocess.Popen([PROGRAM, "check", "."], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(timeout=60) == 0
    assert said == b""


def test_a_full_disk(tmp_path, write):
    write("a.py")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([PROGRAM, "check", "."], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    assert b"cannot write to standard output" in done.stderr


def test_closed_streams(tmp_path, write):
    path = write("a.py")
    before = path.read_bytes()
    for closing in [">&-", "<&-", "2>&-", "<&- >&- 2>&-"]:
        done = subprocess.run(f'"{PROGRAM}" check a.py {closing}', shell=True, cwd=tmp_path, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == (2 if ">&- " in closing + " " and "2>&-" != closing else 0)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == [".stepzero_cache", "a.py"]


TRAINS = """import torch
from torch import nn

import update


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        update.all(optimizer)
        optimizer.step()
    return
    print("unreached")
"""


def test_why_a_line_is_silent(stepzero, write):
    write("train.py", TRAINS)
    said = stepzero("check", "--why-silent", "train.py:13").text
    assert "The run of train comes to it." in said
    assert "torch.optim.Optimizer.step of a known object: in the call of train (line 7), in the loop of line 9" in said
    assert "unseen code gets an optimizer at line 12" in said
    assert "the backward at line 11 stands in 1 loops and feeds an optimizer" in said


def test_why_a_line_that_no_run_reaches_is_silent(stepzero, write):
    write("train.py", TRAINS)
    said = stepzero("check", "--why-silent", "train.py:15").text
    assert "No run leaves anything at the line." in said
    assert "The run of train leaves at line 14." in said


def test_why_ranks_are_silent(stepzero, write):
    write("ranks.py", "import torch.distributed as dist\n\n\ndef save(done):\n    if dist.get_rank() == 0 and done:\n        dist.barrier()\n\n\nsave(True)\n")
    said = stepzero("check", "--why-silent", "ranks.py:6").text
    assert "torch.distributed.barrier: in the call of save (line 9), if `rank == 0` (divergent) (line 5)" in said
    assert "Ranks: told here" in said


def test_why_a_line_of_a_script_or_a_configuration_is_silent(stepzero, write):
    write("train.py", 'import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument("--lr")\nparser.parse_args()\n')
    write("run.sh", "#!/bin/bash\nLR=$1\ntorchrun --nproc_per_node 2 train.py --lr $LR\necho done\npython other.py --any\n")
    said = stepzero("check", "--why-silent", "run.sh:3").text
    assert "The file is read as a script." in said
    assert "The command launches with torchrun." in said
    assert "An argument is not known: `…`" in said
    assert "takes 1 options and no others" in said
    assert "The command `echo` launches no program of Python." in stepzero("check", "--why-silent", "run.sh:4").text
    assert "No file `other.py` was found" in stepzero("check", "--why-silent", "run.sh:5").text
    write("ds_config.json", '{\n  "train_batch_size": 8,\n  "zero_optimization": {"stage": 2},\n  "gradient_clip": 1\n}\n')
    said = stepzero("check", "--why-silent", "ds_config.json:2").text
    assert "The file is read as a configuration of DeepSpeed." in said
    assert "The key `train_batch_size` holds an integer, and is one that is known." in said
    write("any.yaml", "width: 3\n")
    assert "Nothing is read of the file" in stepzero("check", "--why-silent", "any.yaml:1").text

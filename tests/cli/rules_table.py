#!/usr/bin/python3
"""Writes analysis/rules/README.md: every rule that the program knows, one line each.

    STEPZERO=build/stepzero tests/cli/rules_table.py > analysis/rules/README.md
"""

import json
import os
import subprocess

FIXES = {"none": "–", "always-right": "yes", "needs-decision": "offered, needs a decision"}

HEAD = """# The rules

`stepzero explain RULE` prints a rule's page: why it matters, wrong and right code, the look-alikes that stay silent, the fix. The
severity is the highest that a rule reports. An error is a proof: every run that gets there fails or hangs.

A rule is one file in the folder of its family: a check that reads the record of a run, and a descriptor with its documentation. A
descriptor with an empty text does not compile. Files that "know no rule" answer questions that several rules ask; each family's
README names them. Rules keep no state between analyses, and know no JSON, no protocol and no threads.

| files | what they do |
| --- | --- |
| `rule`, `finding`, `report` | the descriptor; what a rule reports, and how places of the run become places in the text |
| `documents/` | the same for rules that read configurations and scripts instead of a run |
| [ranks](ranks/README.md) | the ranks of a job compared, for all rules that ask; no rule lives there, and no rule starts a run |
| `walk`, `ways` | the feasible paths of several processes through a recorded block; the search through ways, and conditions decided by their parts |
| `provenance`, `settings`, `fact_index`, `root_index` | where tensors came from; numbers under the names of published configurations; facts by kind of value; events by kind and operator |
| `specialized` | which rule reports a problem that two families could report |
| `losses` | which tensors a loss computed, and of what |
| `classes` | what classes of the program derive from, their methods, the functions that ran |
| `source`, `call_at`, `imports` | syntax at a place, edits that keep comments and indentation; the names of imported modules |
| `sentences`, `condition_text`, `digits` | messages as sentences, and where a condition stands in them; conditions in the program's words; numbers in messages |

A new rule is a file in its family, in a namespace `stepzero::rules::FAMILY::FILE` of its own, and cases in `tests/cases/FAMILY`: the build makes the list of all rules (`cmake/rule-list.cmake`). Then
run `tests/cli/rules_table.py` for this table and `editors/vscode/scripts/settings.mjs` for the settings of VS Code.
A rule whose findings rest on one root of the run alone says `.local = true`: after an edit of a function it is asked of that function before
the rest of the file has been run again. One that looks for what is missing elsewhere in the file is not local.
[CONTRIBUTING.md](../../CONTRIBUTING.md) leads through one rule from its first case to its fix.
"""


def table(program):
    listed = subprocess.run([program, "rules", "--format", "json"], check=True, capture_output=True, text=True).stdout
    text, family = HEAD, None
    for rule in json.loads(listed)["rules"]:
        if rule["id"].split("/")[0] != family:
            family = rule["id"].split("/")[0]
            text += f"\n## {family}\n\n| rule | severity | what it finds | fix |\n| --- | --- | --- | --- |\n"
        text += f"| {rule['id']} | {rule['severity']} | {rule['summary'].replace('|', chr(92) + '|')} | {FIXES[rule['fix']]} |\n"
    return text


if __name__ == "__main__":
    print(table(os.environ.get("STEPZERO", "build/stepzero")), end="")

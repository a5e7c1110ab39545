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

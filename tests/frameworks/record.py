#!/usr/bin/env python3
"""Asks the frameworks that are installed for this Python, and writes what they answer: facts/NAME.json.

    tests/frameworks/record.py --record [NAME…]           ask all, write the facts
    tests/frameworks/record.py --missing [NAME…]          ask what is not among the facts yet
    tests/frameworks/record.py --check [NAME…] [--sample N]   ask again (N questions of each, spread evenly), compare with the facts

A call is asked twice: of both ranks, for the collectives that it makes; and of the main process alone, for what becomes of the
job then: it ends, it hangs, or a rank raises. Where it ends although something was sent, the other rank is asked alone, too.
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts"
NAMES = ["accelerate", "lightning", "fabric", "deepspeed", "trainer"]
sys.path.insert(0, str(HERE))


def probe_of(name):
    return importlib.import_module(f"probes.{name}")


def python_with_frameworks():
    """The Python of the oracle that has them; None where it is not installed."""
    found = importlib.util.spec_from_file_location("oracles", HERE.parent / "oracles.py")  # its folder has names of packages
    if not Path(found.origin).exists():
        return None
    oracles = importlib.util.module_from_spec(found)
    found.loader.exec_module(oracles)
    return oracles.python()


def listed(calls):
    """(call, settings, before) with the defaults filled in."""
    for each in calls:
        parts = [each] if isinstance(each, str) else [*each]
        yield parts[0], parts[1] if len(parts) > 1 else None, parts[2] if len(parts) > 2 else ""


def program(setting, call, before="", guard=None, asked=False):
    """The text of a program that makes the call; `asked`: marked for the recorder."""
    lines = []
    for line in setting["program"].strip("\n").split("\n"):
        margin = line[:len(line) - len(line.lstrip())]
        if line.strip() == "BEFORE":
            lines += [margin + each if each else each for each in before.strip("\n").split("\n") if before.strip()]
        elif line.strip() == "CALL":
            if guard:
                lines.append(f"{margin}if {guard}:")
                margin += "    "
            if asked:
                lines.append(f"{margin}with __asked__():")
                margin += "    "
            lines += [margin + each for each in call.split("\n")]
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def collectives(log):
    """What was entered during the call, in order; what C++ does beneath counts as itself."""
    seen, inside, begun, beneath = [], False, 0, 0
    for each in log:
        if "begins" in each:
            inside, begun = True, each["begins"]
        elif "ends" in each:
            inside, beneath = False, beneath + max(0, each["ends"] - begun)
        elif "enters" in each and inside and each["enters"] != "init_process_group":
            seen.append({"name": each["enters"], "size": each["size"], "shapes": each["shapes"], "by": each["caller"]})
    return seen, beneath if not seen else 0


def names_of(entered, beneath):
    return [each["name"] for each in entered] + (["a collective of the reducer"] if beneath else [])


def entered_alone(log):
    entered, beneath = collectives(log)
    return names_of(entered, beneath)


def ask_call(asking, probe, setting, call, before):
    setup = probe.SETTINGS[setting]
    run = lambda guard: asking.run(setup["prelude"] + program(setup, call, before, guard, True), environment=setup["environment"])  # noqa: E731
    both = run(None)
    entered, beneath = collectives(both["logs"][0])
    fact = {"call": call, "setting": setting, **({"before": before} if before.strip() else {}), "both": both["fate"], "collectives": names_of(entered, beneath)}
    if entered:
        fact["details"] = entered[:6]
    if both["fate"] != "ends" and not entered:
        return fact
    guard = setup.get("guard", probe.GUARD)
    alone = run(guard)
    fact["main alone"] = alone["fate"]
    if alone["fate"] == "ends" and entered_alone(alone["logs"][0]):
        fact["sent alone"] = entered_alone(alone["logs"][0])
        fact["others alone"] = run(f"not ({guard})")["fate"]
    return fact


def ask_question(asking, probe, question, setting, text):
    setup = getattr(probe, "SETTINGS_OF_QUESTIONS", {}).get(setting) or probe.SETTINGS[setting]
    seen = asking.run(setup["prelude"] + program(setup, text.strip("\n")), environment=setup["environment"])
    answers = {each["tells"]: each["value"] for each in seen["logs"][0] if "tells" in each}
    return {"question": question, "setting": setting, "fate": seen["fate"], "answers": answers}


def ask_ranks(asking, probe, expression, setting):
    setup = probe.SETTINGS[setting]
    seen = asking.run(setup["prelude"] + program(setup, f"tell('value', {expression})"), environment=setup["environment"])
    return {"member": expression, "values": [next((each["value"] for each in log if "tells" in each), None) for log in seen["logs"]]}


def warm(asking, probe):
    """Imports here what the settings import, so that the ranks, which are forked, need not."""
    for name in probe.IMPORTS:
        importlib.import_module(name)
    for setting, setup in probe.SETTINGS.items():
        seen = asking.run(setup["prelude"] + program(setup, getattr(probe, "WARM", "pass")) + "import sys\ntell('modules', sorted(sys.modules))", environment=setup["environment"])
        if seen["fate"] != "ends":
            print(f"{setting}: {seen['fate']}\n{seen['outputs'][0][-3000:]}", flush=True)
        for name in next((each["value"] for each in seen["logs"][0] if each.get("tells") == "modules"), []):
            if name not in sys.modules:
                try:
                    importlib.import_module(name)
                except Exception:  # modules that are made at run time
                    pass


def questions_of(probe):
    """Every question with a function that asks it."""
    for call, settings, before in listed(probe.CALLS):
        for setting in settings or probe.SETTINGS:
            yield "calls", (call, setting, before), lambda asking, c=call, s=setting, b=before: ask_call(asking, probe, s, c, b)
    for question, setting, text in probe.QUESTIONS:
        yield "questions", question, lambda asking, q=question, s=setting, t=text: ask_question(asking, probe, q, s, t)
    first = next(iter(probe.SETTINGS))
    for expression in probe.RANKS:
        yield "ranks", expression, lambda asking, e=expression: ask_ranks(asking, probe, e, first)


def written(facts):
    parts = [f' "versions": {json.dumps(facts["versions"])}']
    for key in ("calls", "questions", "ranks"):
        parts.append(f' "{key}": [\n' + ",\n".join("  " + json.dumps(each) for each in facts[key]) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


KEYS = {
    "calls": lambda fact: (fact["call"], fact["setting"], fact.get("before", "")),
    "questions": lambda fact: fact["question"],
    "ranks": lambda fact: fact["member"],
}


def ask_all(name, chosen=None, known=None, keep=None):
    """Asks what is chosen and not known; `keep` is given all that is known after each answer."""
    probe = probe_of(name)
    os.environ.update(probe.ENVIRONMENT)
    import asking

    asking.install()
    warm(asking, probe)
    every = list(questions_of(probe))
    chosen = chosen(len(every)) if chosen else range(len(every))
    answers = {kind: {KEYS[kind](fact): fact for fact in (known or {}).get(kind, [])} for kind in KEYS}
    facts = {"versions": {each: importlib.metadata.version(each) for each in probe.PACKAGES}, "calls": [], "questions": [], "ranks": []}
    for at, (kind, key, ask) in enumerate(every):
        if at not in chosen:
            continue
        fact = answers[kind].get(key)
        if not fact:
            fact = ask(asking)
            print(name, at + 1, "of", len(every), json.dumps({key: value for key, value in fact.items() if key != "details"}), flush=True)
        facts[kind].append(fact)
        if keep:
            keep(facts)
    return facts


def compare(recorded, now, name):
    """What is no longer so. Texts of errors vary, and which of two ranks gives up first."""
    def short(fact):
        return {key: (value.split(":")[0] if isinstance(value, str) and key in ("both", "main alone", "others alone") else value)
                for key, value in fact.items() if key != "details"}

    wrong = []
    for kind, key in KEYS.items():
        known = {key(fact): fact for fact in recorded[kind]}
        for fact in now[kind]:
            if key(fact) not in known:
                wrong.append(f"{name}: {key(fact)}: not recorded")
            elif short(known[key(fact)]) != short(fact):
                wrong.append(f"{name}: {key(fact)}: recorded {short(known[key(fact)])}, now {short(fact)}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--missing", action="store_true")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or NAMES
    if len(names) > 1:  # each in a process of its own: they set the environment, and import much
        again = [sys.executable, __file__, "--record" if options.record else "--missing" if options.missing else "--check", "--sample", str(options.sample)]
        return max([subprocess.run([*again, name], check=False).returncode for name in names])
    name = names[0]
    try:
        importlib.import_module("torch")
        for package in probe_of(name).PACKAGES:
            importlib.metadata.version(package)
    except ImportError as missing:
        print(f"{name}: {missing}: run make oracle")
        return 77
    chosen = (lambda count: {(2 * at + 1) * count // (2 * options.sample) for at in range(options.sample)}) if options.sample else None
    file = FACTS / f"{name}.json"
    if not options.check:
        FACTS.mkdir(exist_ok=True)
        known = json.loads(file.read_text()) if options.missing and file.exists() else None
        ask_all(name, None, known, lambda facts: file.write_text(written(facts)))
        return 0
    facts = ask_all(name, chosen)
    wrong = compare(json.loads(file.read_text()), facts, name)
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # what the frameworks left running does not keep the answers waiting

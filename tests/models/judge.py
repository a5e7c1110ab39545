#!/usr/bin/python3
"""Real models, written down faithfully below programs/ at their real sizes, and their wrong twins (models.json).

    tests/models/judge.py              what stepzero says of the models and of their twins, and how much it knows of the shapes
    tests/models/judge.py --record     runs the small forms with real PyTorch and writes facts.json
    tests/models/judge.py --verify     runs them again and compares; after `--torch 1.13` with what the second oracle said

A model is judged three times: at its real sizes nothing may be said of it; in its small form, where `small` replaces numbers
and nothing else, every inferred shape has to be one that PyTorch had there; and each twin, one change away, has to be told at
its line, unless it is marked as missed today (FIXME of the engine). Where a twin says `"torch": "raises"`, PyTorch refuses its small form; where it says `"runs"`, PyTorch says nothing.
"""

import argparse
import importlib.util
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def of_traces(name):
    """A module of tests/traces, whatever else has its name."""
    sys.path.insert(0, str(HERE.parent / "traces"))
    try:
        spec = importlib.util.spec_from_file_location(f"traces_{name}", HERE.parent / "traces" / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.pop(0)


traces = of_traces("judge")
record = of_traces("record")
oracles = record.oracles

MODELS = json.loads((HERE / "models.json").read_text())
FACTS = HERE / "facts.json"


def text_of(name):
    return (HERE / "programs" / f"{name}.py").read_text()


def small(name):
    text = text_of(name)
    for old, new in MODELS[name]["small"]:
        assert text.count(old) >= 1, (name, old)
        text = text.replace(old, new, 1)
    return text


def changed(name, twin, of_small):
    text = small(name) if of_small else text_of(name)
    old, new = (twin.get("small_old", twin["old"]), twin.get("small_new", twin["new"])) if of_small else (twin["old"], twin["new"])
    assert text.count(old) == 1, (name, twin["name"], text.count(old))
    return text.replace(old, new)


def asked(command, text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ok.py").write_text(text)
        return traces.asked(command, ["ok.py"], folder)


def findings(text):
    return [finding for finding in asked("check", text)["diagnostics"]]


def told(finding):
    return f"line {finding['range']['start']['line']}: {finding['severity']}[{finding['rule']}]: {finding['message']}"


def judge_right(name):
    """What is said of a right model: nothing may be."""
    return [told(finding) for text in (text_of(name), small(name)) for finding in findings(text)]


def judge_shapes(name, facts):
    """Shapes of the small form that PyTorch did not have, and how many of all are known at the real sizes and in the small form."""
    topic = traces.Topic(name, {"places": {"ok.py": facts[name]["places"]}}, None)
    topic.shapes = {"ok.py": asked("shapes", small(name))["files"][0]["shapes"]}
    traces.judge_shapes(topic)
    return [f"{line}: {said}" for line, said in topic.complaints.items()], topic.full, topic.places, topic.unknown


def known_at_full_size(name):
    known = every = 0

    def walk(value):
        if value.get("kind") == "tensor":
            yield value
        for item in value.get("items") or []:
            if isinstance(item, dict):
                yield from walk(item)

    for place in asked("shapes", text_of(name))["files"][0]["shapes"]:
        for tensor in walk(place):
            every += 1
            shape = tensor.get("shape")
            known += shape is not None and "..." not in shape
    return known, every


def judge_twin(name, twin):
    """What is wrong with what is said of a twin."""
    text = changed(name, twin, False)
    lines = text.split("\n")
    found, complaints = False, []
    for finding in findings(text):
        line = lines[finding["range"]["start"]["line"] - 1]
        if finding["rule"] == twin["rule"] and finding["severity"] == twin["severity"] and twin["line"] in line:
            found = True
        elif finding["severity"] == "error" and not any(also in line for also in [twin["line"], *twin.get("also", [])]):
            complaints.append("besides, " + told(finding))
    if twin.get("missed"):
        return ["is marked as missed, and is told"] if found else []
    return complaints if found else [f"{twin['severity']}[{twin['rule']}] is missing at '{twin['line']}'", *complaints, *map(told, findings(text))]


def run(text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ok.py").write_text(text)
        return record.in_a_child(Path(folder), "ok.py")


def ask_torch():
    oracles.load()
    facts = {}
    for name, model in MODELS.items():
        right = run(small(name))
        if right["raises"]:
            print(f"{name}: {right['raises']}")
        facts[name] = {"raises": right["raises"], "places": right["places"].get("ok.py", {}),
                       "twins": {twin["name"]: bool(run(changed(name, twin, True))["raises"]) for twin in model["twins"] if "torch" in twin}}
    return facts


def main():
    version = oracles.chosen()
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    if options.record or options.verify or options.answer:
        oracles.enter(oracles.FIRST if options.record else version)
        facts = ask_torch()
        if options.answer:
            print(json.dumps(facts))
        if options.verify:
            old = [name for name, entry in json.loads(FACTS.read_text()).items() if not record.equal(facts.get(name), record.of(version, entry))]
            print(*old, f"{len(facts)} models, {len(old)} not what is recorded", sep="\n")
            return int(bool(old))
        if options.record:
            seconds = oracles.answers(oracles.SECOND, "--answer")
            for name in facts:
                changes = oracles.patch(facts[name], seconds[name]) if seconds else None
                if changes:
                    print(f"{name}: {oracles.SECOND}: {json.dumps(changes)}")
                    facts[name][oracles.SECOND] = changes
            FACTS.write_text(json.dumps(facts, indent=1) + "\n")
        return 0
    facts = json.loads(FACTS.read_text())
    failed = 0
    for name in options.models or MODELS:
        complaints = judge_right(name)
        wrong, full, places, unknown = judge_shapes(name, facts)
        known, every = known_at_full_size(name)
        twins = {twin["name"]: judge_twin(name, twin) for twin in MODELS[name]["twins"]}
        print(f"{name:10} {full} of {places} tensors known in the small form, {known} of {every} at the real sizes; "
              f"{sum(not said and not twin.get('missed') for said, twin in zip(twins.values(), MODELS[name]['twins']))} of {len(twins)} twins found")
        for said in complaints + wrong:
            print("   ", said)
        for twin, said in twins.items():
            for each in said:
                print(f"    {twin}: {each}")
        if options.unknown:
            print(*("        " + line for line in unknown), sep="\n")
        failed += len(complaints) + len(wrong) + sum(map(len, twins.values()))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

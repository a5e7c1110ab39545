#!/usr/bin/env python3
"""Analyses a program per architecture of transformers and compares the shape of its logits with the real one: facts.json.

    tests/transformers/judge.py [PATTERN…]       a table: architecture, verdict, seconds, what was inferred where it is not right
    tests/transformers/judge.py --write          the same, and known.txt is made anew

The package's own source is run by stepzero: it has to be installed, in the version that the facts are of, in the oracle's environment
(`make oracle`) or in the one that STEPZERO_PACKAGES names.
"""

import argparse
import fnmatch
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
KNOWN = HERE / "known.txt"


@functools.cache
def facts():
    return json.loads(record.FACTS.read_text())


def packages():
    """The folder that transformers lies in: of the environment that is named, or of the oracle's."""
    named = os.environ.get("STEPZERO_PACKAGES")
    if not named:
        sys.path.insert(0, str(HERE.parent))
        import oracles
        named = oracles.folder()
    return next(Path(named).glob("lib/python3*/site-packages"), Path(named))


def missing():
    """Why nothing can be judged here; empty if it can."""
    wanted = facts()["transformers"]
    if (packages() / f"transformers-{wanted}.dist-info").is_dir():
        return ""
    other = [each.name.split("-")[1].removesuffix(".dist") for each in packages().glob("transformers-*.dist-info")]
    return f"transformers {other[0]} is installed, the facts are of {wanted}" if other else "transformers is not installed (make oracle)"


def verdict(real, inferred):
    """known, unknown or wrong"""
    shape = inferred.get("shape")
    if inferred.get("kind") not in (None, "tensor") or inferred.get("dtype") not in (None, real["dtype"]):
        return "wrong"
    if shape is None:
        return "unknown"
    partly = "..." in shape[:1] + shape[-1:]
    sizes = real["shape"]
    if partly:
        pairs = zip(reversed(shape[1:]), reversed(sizes)) if shape[0] == "..." else zip(shape[:-1], sizes)
    elif len(shape) != len(sizes):
        return "wrong"
    else:
        pairs = zip(shape, sizes)
    if any(isinstance(dim, int) and dim != size for dim, size in pairs):
        return "wrong"
    return "known" if not partly and all(isinstance(dim, int) for dim in shape) and inferred.get("dtype") else "unknown"


def inferred_of(path, text, name):
    """What is shown of a name at the end of a program."""
    path.write_text(text)
    done = subprocess.run([STEPZERO, "shapes", "--format", "json", str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    places = [place for place in json.loads(done.stdout)["files"][0]["shapes"] if place["name"] == name]
    return places[-1] if places else {}


def judge_loss(model, folder):
    """What is said of the loss of the model as it is trained, and what was inferred"""
    path = Path(folder) / (model["type"].replace("-", "_") + "_training.py")
    text = record.training_program(model["config"], model["options"], model["model"], model["inputs"], model["family"])
    inferred = inferred_of(path, text, "loss")
    return verdict(model["loss"], inferred), inferred


def judge(model, folder):
    """What is said of the logits, the seconds it took, what was inferred, what was reported"""
    path = Path(folder) / (model["type"].replace("-", "_") + "_program.py")
    begin = time.monotonic()
    inferred = inferred_of(path, record.program(model["config"], model["options"], model["model"], model["inputs"]), "y")
    spent = time.monotonic() - begin
    done = subprocess.run([STEPZERO, "check", "--format", "json", "--min-severity", "warning", str(path)], capture_output=True, text=True, timeout=300)
    return verdict(model["result"], inferred), spent, inferred, json.loads(done.stdout)["diagnostics"]


def judge_all(patterns=(), by=judge):
    models = [model for model in facts()["models"] if not patterns or any(fnmatch.fnmatch(model["type"], each) for each in patterns)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stepzero.toml").write_text(f"library-folders = [{json.dumps(str(packages()))}]\n")
        for model in models:
            yield model, by(model, folder)


def judge_losses(patterns=()):
    """Of those that PyTorch could be asked about: what is said of the loss, and what was inferred."""
    return [(model, *made) for model, made in judge_all(patterns, lambda model, folder: model["loss"] and judge_loss(model, folder)) if made]


def known():
    return [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]


def summary(results):
    families = {}
    for model, (said, *_) in results:
        families.setdefault(model["family"], []).append(said)
    return [f"transformers, {family}: {said.count('known')} of {len(said)} known, {said.count('unknown')} unknown, {said.count('wrong')} wrong"
            for family, said in families.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    results = []
    for model, (said, spent, inferred, reported) in judge_all(arguments.patterns):
        results.append((model, (said,)))
        shown = "" if said == "known" else f"  {inferred.get('shape', inferred.get('kind'))} instead of {model['result']['shape']}"
        print(f"{model['type']:20} {said:8} {spent:6.1f} s{shown}", flush=True)
        for each in reported:
            print(f"    {each['severity']}[{each['rule']}] {each['message']}", flush=True)
    print("\n".join(summary(results)))
    losses = judge_losses(arguments.patterns)
    for model, said, inferred in losses:
        if said != "known":
            print(f"{model['type']:20} loss {said}  {inferred.get('shape', inferred.get('kind'))}", flush=True)
    print(f"transformers, losses: {sum(said == 'known' for _, said, _ in losses)} of {len(losses)} known")
    if arguments.write:
        lines = sorted(model["type"] for model, (said,) in results if said == "known")
        KNOWN.write_text("# Architectures whose logits are known. One that is no longer so is a regression.\n" + "".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Analyses a program per model builder of torchvision and compares the result's shape with the real one: facts.json.

    tests/torchvision/judge.py [PATTERN…]       a table: builder, verdict, milliseconds, what was inferred where it is not right
    tests/torchvision/judge.py --write          the same, and known.txt is made anew

The library's own source is run by stepzero: it has to be installed, and in the version that the facts are of.
"""

import argparse
import fnmatch
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
KNOWN = HERE / "known.txt"


def facts():
    return json.loads(record.FACTS.read_text())


def missing():
    """Why nothing can be judged here; empty if it can."""
    if importlib.util.find_spec("torchvision") is None:
        return "torchvision is not installed"
    version, wanted = importlib.metadata.version("torchvision"), facts()["torchvision"]
    return "" if version.split("+")[0] == wanted.split("+")[0] else f"torchvision {version} is installed, the facts are of {wanted}"


def verdict(real, inferred):
    """known, unknown or wrong"""
    if not inferred or not inferred.get("kind"):
        return "unknown"
    if real["kind"] != inferred["kind"]:
        return "wrong"
    if real["kind"] == "tensor":
        shape = inferred.get("shape")
        if inferred.get("dtype", real["dtype"]) != real["dtype"]:
            return "wrong"
        if shape is None:
            return "unknown"
        if shape[:1] == ["..."]:
            ends = zip(reversed(shape[1:]), reversed(real["shape"]))
            return "wrong" if any(isinstance(dim, int) and dim != size for dim, size in ends) else "unknown"
        if len(shape) != len(real["shape"]):
            return "wrong"
        if any(isinstance(dim, int) and dim != size for dim, size in zip(shape, real["shape"])):
            return "wrong"
        return "known" if all(isinstance(dim, int) for dim in shape) and inferred.get("dtype") else "unknown"
    if real["kind"] == "tuple":
        if len(real["items"]) != len(inferred.get("items", [])):
            return "wrong"
        each = [verdict(one, other) for one, other in zip(real["items"], inferred["items"])]
        return "wrong" if "wrong" in each else "unknown" if "unknown" in each else "known"
    return "unknown"


def judge(model, folder):
    path = Path(folder) / (model["builder"].replace(".", "_") + ".py")
    path.write_text(record.program(model["builder"], model["options"], model["call"], model["size"]))
    begin = time.monotonic()
    done = subprocess.run([STEPZERO, "shapes", "--format", "json", str(path)], capture_output=True, text=True, timeout=300)
    spent = time.monotonic() - begin
    assert done.returncode == 0, done.stderr
    places = [place for place in json.loads(done.stdout)["files"][0]["shapes"] if place["name"] == "y"]
    inferred = places[-1] if places else {}
    return verdict(model["result"], inferred), spent, inferred


def judge_all(patterns=()):
    models = [model for model in facts()["models"] if not patterns or any(fnmatch.fnmatch(model["builder"], each) for each in patterns)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        return list(zip(models, pool.map(lambda model: judge(model, folder), models)))


def known():
    return [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]


def summary(results):
    families = {}
    for model, (said, _, _) in results:
        families.setdefault(model["family"], []).append(said)
    return [f"torchvision {family}: {said.count('known')} of {len(said)} known, {said.count('unknown')} unknown, {said.count('wrong')} wrong"
            for family, said in families.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("patterns", nargs="*")
    arguments = parser.parse_args()
    results = judge_all(arguments.patterns)
    for model, (said, spent, inferred) in results:
        shown = "" if said == "known" else f"  {inferred.get('shape', inferred.get('items', ''))} instead of {model['result'].get('shape', '')}"
        print(f"{model['builder']:45} {said:8} {spent * 1000:6.0f} ms{shown}")
    print("\n".join(summary(results)))
    if arguments.write:
        lines = sorted(model["builder"] for model, (said, _, _) in results if said == "known")
        KNOWN.write_text("# Builders whose result is known. One that is no longer so is a regression.\n" + "".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()

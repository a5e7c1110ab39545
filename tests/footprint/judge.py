#!/usr/bin/env python3
"""Compares what `stepzero memory` says of training steps with what PyTorch has: facts.json.

    tests/footprint/judge.py [PATTERN…]       a table: program, parameters, buffers, state, saved, FLOPs; said and real where they differ
"""

import argparse
import fnmatch
import importlib.util
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import record

HERE = Path(__file__).resolve().parent
STEPZERO = os.path.abspath(os.environ.get("STEPZERO", str(HERE.parents[1] / "build" / "stepzero")))
FACTS = json.loads((HERE / "facts.json").read_text())
RANKS = json.loads((HERE / "facts_ranks.json").read_text())["programs"]
GPU = json.loads((HERE / "facts_cuda.json").read_text())
PACKAGES = json.loads((HERE / "facts_transformers.json").read_text())


def missing():
    """Why torchvision's models cannot be judged here; empty if they can."""
    return "" if importlib.util.find_spec("torchvision") else "torchvision is not installed"


def missing_package():
    """Why models of transformers cannot be judged here; empty if they can: their source is run, in the version that the facts are of."""
    wanted = PACKAGES["transformers"]
    return "" if any((each / f"transformers-{wanted}.dist-info").is_dir() for each in folders()) else f"transformers {wanted} is not installed (make oracle)"


def folders():
    """Where the packages of the first oracle lie."""
    return list(Path(record.oracles.folder()).glob("lib/python3*/site-packages"))


def judge_package(name):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stepzero.toml").write_text(f"library-folders = [{json.dumps(str(folders()[0]))}]\n")
        path = Path(folder) / f"{name}.py"
        path.write_text((HERE / "transformers" / f"{name}.py").read_text())
        return said(path)


def said(path, *options, device="cpu"):
    """What stepzero says of a program, in the words of the facts."""
    done = subprocess.run([STEPZERO, "memory", "--device", device, "--format", "json", *options, str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)["files"][0]
    facts = {"exact": True}

    def add(name, amount):
        facts[name] = facts.get(name, 0) + amount["bytes"]
        if "formula" in amount or amount.get("at_least"):
            facts["exact"] = False

    for model in whole["models"]:
        facts["numbers"] = facts.get("numbers", 0) + model["modules"][0]["numbers"]
        facts["trained"] = facts.get("trained", 0) + model["modules"][0]["numbers"] - model["modules"][0]["frozen"]
        add("parameters", model["modules"][0]["parameters"])
        add("buffers", model["modules"][0]["buffers"])
        add("gradients", model["gradients"])
        facts["buckets"] = model.get("divided", {}).get("buckets", 0)
    for optimizer in whole["optimizers"]:
        add("state", optimizer["state"])
    if whole["steps"]:
        add("saved", whole["steps"][-1]["saved"])
        facts["flops"], facts["backward_flops"] = (whole["steps"][-1]["flops"][part] for part in ("forward", "backward"))
        facts["flops_at_least"] = whole["steps"][-1]["flops"]["at_least"]
        facts["flops_bound"] = whole["steps"][-1]["flops"]["backward_at_least"]
        facts["unknown"] = whole["steps"][-1].get("unknown", [])
        facts["whole"] = max(step["peak"]["bytes"] for step in whole["steps"])
        facts["bound"] = any(step["peak"].get("at_least") for step in whole["steps"])
    return facts


def state_of(path):
    """The bytes of the optimizer's state, and whether that is all."""
    done = subprocess.run([STEPZERO, "memory", "--device", "cpu", "--format", "json", str(path)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    (optimizer,) = json.loads(done.stdout)["files"][0]["optimizers"]
    return optimizer["state"]["bytes"], "formula" not in optimizer["state"] and not optimizer["state"].get("at_least")


def judge_program(name):
    return said(HERE / "programs" / f"{name}.py")


def judge_on_gpu(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(record.on_gpu((HERE / "programs" / f"{name}.py").read_text()))
        return said(path, device="cuda")


def judge_step(name):
    return said(HERE / "cuda" / f"{name}.py", device="cuda")


def judge_optimizer(made):
    """What an optimizer makes while it steps eight matrices, and its state: at the peak of a program in which nothing else is large."""
    name, options = made[:-1].split("(", 1)
    text = (f"import torch\nfrom torch import nn\n\nmodel = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(8)]).cuda()\n"
            f"optimizer = torch.optim.{name}(model.parameters(){', ' * bool(options) + options})\nx = torch.zeros(1, 1024, device='cuda')\n"
            "for step in range(3):\n    model(x).sum().backward()\n    optimizer.step()\n    optimizer.zero_grad()\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(text)
        done = subprocess.run([STEPZERO, "memory", "--format", "json", str(path)], capture_output=True, text=True, timeout=600)
    whole = json.loads(done.stdout)["files"][0]
    parts = {line["what"]: line["bytes"] for line in whole["steps"][-1]["peak"]["parts"]}
    return {"state": whole["optimizers"][0]["state"]["bytes"], "temporary": parts.get("temporaries of the optimizer", 0)}


def judge_ranked(name, world):
    """Of the process that has the most: only those of a pipeline differ."""
    made = [said(HERE / "ranked" / f"{name}.py", "--world", world, "--rank", str(rank)) for rank in range(int(world) if name.startswith("pipeline") else 1)]
    return {what: max(each[what] for each in made) for what in made[0] if isinstance(made[0][what], int)}


def program(builder, options, batch=0, side=0):
    text = f"import torch\nimport torchvision\nfrom torch.nn import functional as F\n\nm = torchvision.models.{builder}({options})\n"
    if not batch:
        return text
    text += f"x, y = torch.zeros({batch}, 3, {side}, {side}), torch.zeros({batch}, dtype=torch.int64)\n"
    if builder in ("googlenet", "inception_v3"):
        heads = ("logits", "aux_logits2", "aux_logits1") if builder == "googlenet" else ("logits", "aux_logits")
        return text + "out = m(x)\nloss = " + " + ".join(f"F.cross_entropy(out.{head}, y)" for head in heads) + "\nloss.backward()\n"
    return text + "loss = F.cross_entropy(m(x), y)\nloss.backward()\n"


def judge_builder(name, fact, device="cpu"):
    """What is said of the model, and of the steps of both sizes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        made = []
        for batch, side in [size[:2] for size in fact.get("saved", [])] or [(0, 0)]:
            path.write_text(program(name, fact["options"], batch, side))
            made.append(said(path, device=device))
    return made


def judge_builders(names):
    with ThreadPoolExecutor(2) as pool:
        return list(zip(names, pool.map(lambda name: judge_builder(name, FACTS["torchvision"][name]), names)))


def judge_builders_on_gpu():
    def judge(name):
        return judge_builder(name, {"options": "", "saved": GPU["torchvision"][name]}, "cuda")

    with ThreadPoolExecutor(2) as pool:
        return list(zip(GPU["torchvision"], pool.map(judge, GPU["torchvision"])))


def off(real, inferred):
    """By how much it differs."""
    return abs(inferred - real) / real if real else float(inferred != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    patterns = parser.parse_args().patterns
    wanted = lambda name: not patterns or any(fnmatch.fnmatch(name, each) for each in patterns)
    for name, real in FACTS["programs"].items():
        if wanted(name):
            inferred = judge_program(name)
            shown = [f"{what} {inferred.get(what, 0)} for {real[what]}" + (f" ({100 * off(real[what], inferred.get(what, 0)):.1f} %)" if real[what] else "")
                     for what in real if inferred.get(what, 0) != real[what]]
            print(f"{name:28} {'exact' if inferred['exact'] else 'bound':6}", "; ".join(shown), *inferred.get("unknown", []), flush=True)
    for name, worlds in RANKS.items():
        for world, real in worlds.items():
            if wanted(name):
                inferred = judge_ranked(name, world)
                print(f"{name:20} of {world:4}", "; ".join(f"{what} {inferred.get(what, 0)} for {real[what]}" for what in real if inferred.get(what, 0) != real[what]), flush=True)
    for name, real in GPU["programs"].items():
        if wanted(name):
            inferred = judge_on_gpu(name)
            print(f"{name:20} on a GPU", "; ".join(f"{what} {inferred.get(what, 0)} for {real[what]}" for what in real if inferred.get(what, 0) != real[what]), flush=True)
    for name, real in GPU["steps"].items():
        if wanted(name):
            inferred = judge_step(name)
            print(f"{name:20} on a GPU", "; ".join(f"{what} {inferred.get(key, 0) / 1e6:.1f} MB for {real[key] / 1e6:.1f} ({100 * (inferred.get(key, 0) / real[key] - 1):+.2f} %)"
                                                     for what, key in (("saved", "saved"), ("peak", "whole"))), flush=True)
    for name, made in judge_builders([name for name in FACTS["torchvision"] if wanted(name)]):
        real = FACTS["torchvision"][name]
        shown = [f"{what} {made[0].get(what, 0)} for {real[what]}" for what in ("numbers", "trained", "parameters", "buffers") if made[0].get(what, 0) != real[what]]
        for (batch, side, bytes), inferred in zip(real.get("saved", []), made):
            if inferred.get("saved") != bytes:
                shown.append(f"saved of {batch}x{side} {inferred.get('saved')} for {bytes} ({100 * off(bytes, inferred.get('saved', 0)):.2f} %)")
            shown += inferred.get("unknown", [])
        print(f"{name:28} {'exact' if all(each['exact'] for each in made) else 'bound':6}", "; ".join(shown), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Programs of one optimizer each, made of the lines of optimizers.txt; tests/footprint/optimizers.py [PATTERN…] records what its state takes
after one step: facts_optimizers.json. Parameters are matrices, a convolution's, vectors and a number, one of them frozen; of Muon matrices,
of SparseAdam a table. Each in float32, those of PyTorch in bfloat16, too.

Packages that the first oracle does not have are looked for in the folders of OPTIMIZERS (separated by colons).
"""

import fnmatch
import json
import os
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts_optimizers.json"
MODEL = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(128, 256, bias=False)
        self.down = nn.Linear(256, 3)
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.LayerNorm(4)
        self.scale = nn.Parameter(torch.ones(()))
        self.frozen = nn.Parameter(torch.ones(7, 5), requires_grad=False)

    def forward(self, x):
        x = self.down(self.up(x))
        x = self.conv(x.view(1, 3, 4, 4)).mean((2, 3))
        return (self.norm(x) * self.scale).sum()
"""
MATRICES = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(128, 256, bias=False)
        self.down = nn.Linear(256, 3, bias=False)

    def forward(self, x):
        return self.down(self.up(x)).sum()
"""
TABLE = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 16, sparse=True)

    def forward(self, x):
        return self.table(x.long()[:, 0]).sum()
"""


def program(line, dtype):
    module, name, *options = line.split(" ", 2)
    options = options[0] if options else ""
    options, second = [each.strip() for each in options.split("|")] if "|" in options else (options, "")
    groups = f"[{{'params': parameters[:2]}}, {{'params': parameters[2:], {', '.join(repr(key.strip()) + ': ' + value for key, value in (each.split('=') for each in second.split(',')))}}}]" if second else "parameters"
    model = MATRICES if name == "Muon" else TABLE if name == "SparseAdam" else MODEL
    import_ = "" if module == "torch.optim" else f"from {module} import {name}\n"
    step = "def closure():\n    optimizer.zero_grad()\n    loss = model(x)\n    loss.backward()\n    return loss\n\n\nfor _ in range(1):\n    optimizer.step(closure)\n" if name == "LBFGS" \
        else f"for _ in range(1):\n    model(x).backward({'create_graph=True' if name == 'Adahessian' else ''})\n    optimizer.step()\n"
    train = "" if module != "schedulefree" else "optimizer.train()\n"
    return (f"import torch\nfrom torch import nn\n{import_}\n\n{model}\n\nmodel = Model(){'' if dtype == 'float32' else f'.to(torch.{dtype})'}\nparameters = list(model.parameters())\n"
            f"x = torch.rand(16, 128{'' if dtype == 'float32' else f', dtype=torch.{dtype}'})\n"
            f"optimizer = {'torch.optim.' if not import_ else ''}{name}({groups}{', ' * bool(options) + options})\n{train}{step}")


def programs():
    """All of them by their names."""
    made = {}
    for line in (HERE / "optimizers.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            made[line] = program(line, "float32")
            if line.startswith("torch.optim ") and "LBFGS" not in line:
                made[line + " of bfloat16"] = program(line, "bfloat16")
    return made


def bytes_of(state, counted):
    """What of it are tensors, each storage once; torchao's are made of others."""
    import torch
    if isinstance(state, dict):
        return sum(bytes_of(each, counted) for each in state.values())
    if isinstance(state, (list, tuple)):
        return sum(bytes_of(each, counted) for each in state)
    if not isinstance(state, torch.Tensor):
        return 0
    if hasattr(state, "__tensor_flatten__"):
        return sum(bytes_of(getattr(state, name), counted) for name in state.__tensor_flatten__()[0])
    storage = state.untyped_storage()
    if storage._cdata in counted or isinstance(state, torch.nn.Parameter):
        return 0
    counted.add(storage._cdata)
    return state.numel() * state.element_size()


def main(patterns):
    import record
    record.oracles.enter(record.oracles.FIRST)
    sys.path[:] = [each for each in sys.path if each != str(HERE)]
    sys.path[:] += [each for each in os.environ.get("OPTIMIZERS", "").split(":") if each]
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # torchao compiles its steps
    import collections
    import collections.abc

    import torch
    for name in ("Iterable", "Callable"):  # of older packages
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    made = programs()
    facts = {name: fact for name, fact in facts.items() if name in made}
    for name, text in made.items():
        if patterns and not any(fnmatch.fnmatch(name, each) for each in patterns):
            continue
        scope = {"__name__": "program"}
        sys.modules["program"] = types.ModuleType("program")
        try:
            exec(compile(text, name, "exec"), scope)
        except Exception as error:
            print(name, "cannot be run:", type(error).__name__, str(error)[:150])
            facts.pop(name, None)
            continue
        facts[name] = bytes_of(dict(scope["optimizer"].state), set())
        print(name, facts[name], flush=True)
    FACTS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {fact}" for name, fact in sorted(facts.items())) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
"""Programs of one layer, one loss or one operator, made of the lines of small.txt; tests/footprint/small.py [PATTERN…] records what PyTorch
has of them: facts_small.json.

Of a layer two programs: the input has a gradient of its own or not; of a product or a norm a third, under autocast. The same of some losses.
"""

import fnmatch
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTS = HERE / "facts_small.json"
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n"
AUTOCAST = "with torch.autocast('cpu', dtype=torch.bfloat16):\n    "
TRAINED = ("Linear(", "Conv", "Norm1d(6)", "Multihead", "Transf", "LSTM", "GRU", "RNN", "affine=True", "LayerNorm(12", "RMSNorm(12)", "PReLU", "GroupNorm(3,6)")
CAST = ("Linear", "Conv", "Norm", "Multihead", "Encoder", "LSTM(12,8)", "GRU(12,8)", "GELU", "Softmax(", "PReLU", "Bilinear")
CAST_LOSSES = ("ce", "mse", "bcel", "l1", "kl", "nll")


def given(name, shape, requires):
    return f"{name} = torch.rand({shape.replace(',', ', ')}){'.requires_grad_() + 1' if requires else ''}\n"


def of_layer(name, line):
    made, shapes = line.rsplit(" ", 1)
    shapes = shapes.split("|")
    inputs = [f"x{i}" for i in range(len(shapes))]
    first = "[0]" if name.startswith(("mha", "lstm", "gru", "rnn")) and ("Cell" not in made or "LSTM" in made) else ""
    call = f"y = m({', '.join(inputs)}){first}\n"

    def program(requires, cast=""):
        return f"m = {made}\n" + "".join(given(x, shape, requires) for x, shape in zip(inputs, shapes)) + cast + call + "loss = y.sum()\nloss.backward()\n"

    yield f"{name}.input", program(True)
    if any(word in made for word in TRAINED):
        yield f"{name}.data", program(False)
    if any(word in made for word in CAST):
        yield f"{name}.autocast", program(True, AUTOCAST)


def of_loss(name, line):
    made, shape, target = line.split(" ")
    head = given("x", shape, True) + f"t = {target}\n"
    yield f"{name}.loss", head + f"loss = {made}\nloss.backward()\n"
    if name in CAST_LOSSES:
        yield f"{name}.autocast", head + AUTOCAST + f"loss = {made}\nloss.backward()\n"


def of_operator(name, line):
    made, shapes = line.rsplit(" ", 1)
    yield f"{name}.operator", "".join(given(x, shape, True) for x, shape in zip("xw", shapes.split("|"))) + f"y = {made}\nloss = y.sum()\nloss.backward()\n"


def of_gradient(name, line):
    """A backward through the gradients of what is computed."""
    made, shapes = line.rsplit(" ", 1)
    names = "xw"[:1 + shapes.count("|")]
    given = "".join(f"{x} = torch.rand({shape.replace(',', ', ')}).requires_grad_()\n" for x, shape in zip(names, shapes.split("|")))
    yield f"{name}.gradient", (f"{given}y = ({made}).square().sum()\ng = torch.autograd.grad(y, [{', '.join(names)}], create_graph=True)\n"
                               "loss = sum((each * each).sum() for each in g)\nloss.backward()\n")


def programs():
    """All of them by their names."""
    made, section = {}, None
    for line in (HERE / "small.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = {"[layers]": of_layer, "[losses]": of_loss, "[operators]": of_operator, "[gradients]": of_gradient}[line]
            continue
        name, rest = line.split(" ", 1)
        for each, text in section(name, rest):
            assert each not in made, each
            made[each] = HEAD + text
    return made


def main(patterns):
    import gc

    import record
    import torch
    import torch._dynamo
    import torch.utils.flop_counter

    torch.set_num_threads(1)
    sys.path[:] = [each for each in sys.path if each != str(HERE)]
    gc.freeze()  # record.run collects after each program
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    made = programs()
    facts = {name: fact for name, fact in facts.items() if name in made}
    for name, text in made.items():
        if patterns and not any(fnmatch.fnmatch(name, each) for each in patterns):
            continue
        try:
            facts[name] = record.run(text)
        except (RuntimeError, AttributeError) as error:
            print(name, error)
            facts.pop(name, None)
    FACTS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(fact)}" for name, fact in sorted(facts.items())) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

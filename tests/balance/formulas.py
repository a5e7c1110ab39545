#!/usr/bin/python3
"""Load-balancing losses and their gradients: `formulas.py --record` asks real PyTorch and writes gradients.json, `--check` asks again.

Each formula is a loss made of `probs`, the softmax of a router's `logits` over `n` experts for a batch of tokens, and of `chosen`,
the experts that topk took. Its gradient with respect to the logits is 0 or it is not: that is algebra, and moe/balance-loss has to
agree with it.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

GRADIENTS = HERE / "gradients.json"
NOTHING = 1e-7  # of a gradient: float32 rounds the sum of probabilities

FORMULAS = [
    # Constant, however they are written.
    "probs.mean(0).sum()",
    "probs.mean(0).mean()",
    "probs.sum()",
    "probs.mean()",
    "probs.sum(dim=-1).mean()",
    "probs.sum(-1).sum()",
    "probs.mean(dim=0, keepdim=True).sum()",
    "n * probs.mean(0).sum()",
    "(probs.mean(0) * n).sum()",
    "(probs.mean(0) / n).sum()",
    "probs.view(-1, n).mean(0).sum()",
    "probs.float().mean(0).sum()",
    "torch.sum(torch.mean(probs, dim=0))",
    "torch.mean(probs, dim=-1).mean()",
    "0.01 * probs.sum(0).sum()",
    # Of choices alone.
    "(F.one_hot(chosen, n).float().mean((0, 1)) ** 2).sum()",
    "n * (F.one_hot(chosen, n).float().mean((0, 1)) * F.one_hot(chosen, n).float().mean((0, 1))).sum()",
    # With a gradient.
    "(probs.mean(0) ** 2).sum()",
    "probs.mean(0).var()",
    "probs.mean(0).pow(2).mean()",
    "n * (F.one_hot(chosen, n).float().mean((0, 1)) * probs.mean(0)).sum()",
    "(probs * probs).sum()",
    "(probs * probs.log()).sum(-1).mean()",
    "(probs.mean(0) * (probs.mean(0) + 1e-9).log()).sum()",
    "probs.max(dim=-1).values.mean()",
    "probs[:, 0].mean()",
    "probs.mean(0)[:2].sum()",
    "torch.logsumexp(logits, dim=-1).pow(2).mean()",
    "logits.sigmoid().mean(0).sum()",
    "logits.mean(0).sum()",
    "probs.std(dim=0).sum()",
    "probs.topk(2, dim=-1).values.sum(-1).mean()",
    "probs.masked_fill(probs < 0.1, 0.0).sum(-1).mean()",
    "(probs * mask).sum(-1).mean()",
    "probs.transpose(0, 1).softmax(dim=0).max(dim=0).values.mean()",
    "logits.softmax(dim=0).mean(0).var() + probs[:, 1].mean()",
    "logits.softmax(dim=0).sum(dim=1).square().sum()",
]

PROGRAM = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n = 6
router = nn.Linear(5, n)
logits = router(torch.randn(12, 5))
probs = logits.softmax(dim=-1)
chosen = probs.topk(2, dim=-1).indices
mask = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 1.0])
task = logits.square().sum(-1).sqrt().mean()
aux_loss = {formula}
loss = task + aux_loss
loss.backward()
"""
LINE = PROGRAM.split("\n").index("aux_loss = {formula}") + 1


def gradient(formula):
    """The largest part of the gradient; 0 also where PyTorch says that there is none."""
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    torch.manual_seed(0)
    n = 6
    logits = nn.Linear(5, n)(torch.randn(12, 5)).double().detach().requires_grad_()
    probs = logits.softmax(dim=-1)
    names = {"torch": torch, "F": F, "n": n, "logits": logits, "probs": probs, "chosen": probs.topk(2, dim=-1).indices,
             "mask": torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 1.0]).double()}
    loss = eval(formula, names)
    if not loss.requires_grad:
        return 0.0
    grad, = torch.autograd.grad(loss, logits, allow_unused=True)
    return 0.0 if grad is None else grad.abs().max().item()


def main():
    if sys.argv[-1:] not in (["--record"], ["--check"]):
        sys.exit(__doc__)
    oracles.enter()
    gradients = {formula: float(f"{gradient(formula):.3g}") for formula in FORMULAS}
    if sys.argv[-1] == "--record":
        GRADIENTS.write_text(json.dumps(gradients, indent=1) + "\n")
        return 0
    recorded = json.loads(GRADIENTS.read_text())
    other = [formula for formula in FORMULAS if abs(gradients[formula] - recorded[formula]) > 0.01 * recorded[formula] + NOTHING]
    for formula in other:
        print(f"{formula}: {gradients[formula]}, recorded {recorded[formula]}")
    print(f"{len(FORMULAS)} formulas, {len(other)} not what is recorded")
    return int(bool(other))


if __name__ == "__main__":
    sys.exit(main())

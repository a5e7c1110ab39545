#!/usr/bin/python3
"""Shows once each, with PyTorch, what the rules of training loops claim, and writes the figures to effects.json.

    tests/loops/effects.py --record   measure and write
    tests/loops/effects.py --check    measure again: every claim has to hold, and the figures to be those recorded

A function below is one effect: its name is the key, its docstring what the pages may say, its result the figures, and its
asserts the claim. `about` marks what depends on the machine (time, the order of additions over many steps): only its claim
is checked.
"""

import argparse
import copy
import io
import json
import math
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import oracles  # noqa: E402

FIGURES = HERE / "effects.json"
EFFECTS = []
SCALE = 65536.0  # what a GradScaler starts with


def effect(*rules, about=False):
    def add(function):
        EFFECTS.append((function, rules, about))
        return function
    return add


def norm(model):
    return math.sqrt(sum(float(p.grad.pow(2).sum()) for p in model.parameters() if p.grad is not None))


def change(model, before):
    return math.sqrt(sum(float((p - q).detach().pow(2).sum()) for p, q in zip(model.parameters(), before.parameters())))


class Saved:
    """Bytes that the graphs of this region keep for backward, counted as they are saved and freed."""

    def __init__(self):
        self.held = {}  # address -> [bytes, how many saved tensors lie there]
        self.hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: Packed(self, tensor), lambda packed: packed.tensor)

    def __enter__(self):
        self.hooks.__enter__()
        return self

    def __exit__(self, *error):
        self.hooks.__exit__(*error)

    def kib(self):
        return sum(size for size, _ in self.held.values()) // 1024


class Packed:
    def __init__(self, saved, tensor):
        # Detached: an operation that saves its own result would keep itself alive.
        self.saved, self.tensor = saved, tensor.detach()
        entry = saved.held.setdefault(tensor.data_ptr(), [tensor.numel() * tensor.element_size(), 0])
        entry[1] += 1

    def __del__(self):
        entry = self.saved.held.get(self.tensor.data_ptr())
        entry[1] -= 1
        if not entry[1]:
            del self.saved.held[self.tensor.data_ptr()]


def small(seed=0, inputs=16, classes=4):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, classes))
    return model, torch.randn(64, inputs), torch.randint(0, classes, (64,))


def scales(width=512, depth=8):
    """A model whose forward keeps much and computes little."""
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return torch.tanh(x * self.weight)

    return nn.Sequential(*[Scale() for _ in range(depth)])


@effect("loop/missing-zero-grad")
def gradients_add_up_without_zero_grad():
    """The same batch again and again: after n backward calls the gradient is n times the first."""
    model, x, y = small()
    norms = []
    for _ in range(10):
        F.cross_entropy(model(x), y).backward()
        norms.append(norm(model))
    assert abs(norms[9] / norms[0] - 10) < 1e-3
    return {"gradient norm after 1, 2, 5, 10 backward calls": [norms[i] for i in (0, 1, 4, 9)]}


@effect("loop/missing-zero-grad", about=True)
def training_without_zero_grad():
    """200 steps of SGD with batches of 16 on one problem, with and without clearing: the mean loss of the last 50."""
    ends = {}
    for clears in (True, False):
        model, x, _ = small(seed=1)
        y = x[:, :4].argmax(1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for step in range(200):
            torch.manual_seed(step)
            pick = torch.randint(0, 64, (16,))
            if clears:
                optimizer.zero_grad()
            loss = F.cross_entropy(model(x[pick]), y[pick])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ends[clears] = sum(losses[-50:]) / 50
    assert ends[False] > 3 * ends[True], ends
    return {"loss with zero_grad": ends[True], "loss without": ends[False]}


@effect("loop/zero-grad-order")
def zero_grad_before_step_trains_nothing():
    """The optimizer sees zeros: no parameter moves."""
    model, x, y = small()
    before = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(20):
        F.cross_entropy(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()
    assert change(model, before) == 0
    return {"change of the parameters after 20 steps": change(model, before)}


@effect("loop/accumulation-step")
def accumulation_without_division():
    """Eight micro-batches whose loss is not divided give a gradient eight times that of the whole batch."""
    model, x, y = small()
    F.cross_entropy(model(x), y).backward()
    whole = norm(model)
    model.zero_grad()
    for a, b in zip(x.split(8), y.split(8)):
        F.cross_entropy(model(a), b).backward()
    assert abs(norm(model) / whole - 8) < 1e-3
    return {"gradient of the whole batch": whole, "of eight micro-batches, not divided": norm(model)}


@effect("loop/accumulation-step")
def windows_off_by_one():
    """`i % 4 == 0` over 16 micro-batches: how many each step takes."""
    def windows(boundary):
        sizes, held = [], 0
        for i in range(16):
            held += 1
            if boundary(i):
                sizes.append(held)
                held = 0
        return sizes, held
    wrong, left = windows(lambda i: i % 4 == 0)
    right, none = windows(lambda i: (i + 1) % 4 == 0)
    assert wrong[0] == 1 and left == 3 and none == 0
    return {"(i + 1) % 4 == 0": right, "i % 4 == 0": wrong, "left over": left}


@effect("amp/clip-before-unscale")
def clipping_scaled_gradients():
    """Clipped to 1.0 while they carry the scale, the gradients reach the step with a norm of 1 / 65536: whatever they were."""
    figures = {}
    for factor, name in ((50.0, "a large gradient"), (0.01, "a small gradient")):
        for first in ("unscale", "clip"):
            model, x, y = small()
            loss = F.cross_entropy(model(x), y)
            loss = loss * (factor / float(torch.stack([g.pow(2).sum() for g in torch.autograd.grad(
                loss, list(model.parameters()), retain_graph=True)]).sum().sqrt()))
            (loss * SCALE).backward()
            if first == "clip":
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for p in model.parameters():
                p.grad.div_(SCALE)
            if first == "unscale":
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            figures[f"{name} of {factor:g}, {first} first"] = norm(model)
    assert figures["a small gradient of 0.01, clip first"] < 2e-3 * figures["a small gradient of 0.01, unscale first"]
    return figures


@effect("amp/unscaled-step")
def stepping_with_scaled_gradients():
    """optimizer.step() on gradients that carry the scale moves the parameters 65536 times as far with SGD."""
    moved = {}
    for scale in (1.0, SCALE):
        model, x, y = small()
        before = copy.deepcopy(model)
        (F.cross_entropy(model(x), y) * scale).backward()
        torch.optim.SGD(model.parameters(), lr=0.01).step()
        moved[scale] = change(model, before)
    assert moved[SCALE] > 60000 * moved[1.0]
    return {"through the scaler": moved[1.0], "past it": moved[SCALE]}


@effect("amp/unscaled-backward")
def unscaling_gradients_that_were_never_scaled():
    """A loss that is not scaled while another is: scaler.step divides its gradients by the scale, and nothing is learned."""
    moved = {}
    for divided in (1.0, SCALE):
        model, x, y = small()
        before = copy.deepcopy(model)
        F.cross_entropy(model(x), y).backward()
        for p in model.parameters():
            p.grad.div_(divided)
        torch.optim.SGD(model.parameters(), lr=0.01).step()
        moved[divided] = change(model, before)
    assert moved[SCALE] < 1e-4 * moved[1.0]
    return {"meant": moved[1.0], "done": moved[SCALE]}


@effect("amp/fp16-without-scaler")
def float16_gradients_underflow():
    """Below 6e-8 a number is 0 in float16. Of gradients around 1e-8, how many are left without and with the scale."""
    torch.manual_seed(0)
    gradients = torch.randn(100000) * 1e-8
    plain = float((gradients.half() == 0).float().mean())
    scaled = float(((gradients * SCALE).half() == 0).float().mean())
    assert plain > 0.9 and scaled < 0.01
    return {"smallest float16 above 0": 2.0 ** -24, "zeros without a scale": plain, "zeros with a scale of 65536": scaled}


@effect("amp/manual-half")
def adam_in_float16():
    """The 1e-8 of Adam is 0 in float16, and small updates vanish: a float16 weight of 1 does not take a step of 1e-4."""
    epsilon = float(torch.tensor(1e-8).half())
    weight = torch.ones((), dtype=torch.float16)
    for _ in range(1000):
        weight -= torch.tensor(1e-4, dtype=torch.float16)
    squared = float(torch.tensor(1e-4).half() ** 2)
    assert epsilon == 0 and float(weight) == 1.0
    assert squared < 1e-7
    return {"eps of 1e-8 in float16": epsilon, "weight of 1.0 after 1000 steps of 1e-4": float(weight),
            "1e-4 squared in float16": squared}


@effect("amp/scaler-with-bf16")
def bfloat16_needs_no_scale():
    """bfloat16 has the range of float32: what a scale would save is not lost."""
    torch.manual_seed(0)
    gradients = torch.randn(100000) * 1e-8
    lost = float((gradients.bfloat16() == 0).float().mean())
    assert lost == 0
    return {"smallest normal bfloat16": torch.finfo(torch.bfloat16).tiny, "zeros without a scale": lost}


@effect("loop/clip-after-step")
def clipping_after_the_step():
    """The step takes the gradient as it was."""
    figures = {}
    for after in (False, True):
        model, x, y = small()
        (F.cross_entropy(model(x), y) * 100).backward()
        if not after:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        figures["clipped after" if after else "clipped before"] = norm(model)
    assert figures["clipped after"] > 10 * figures["clipped before"]
    return {"norm that reaches the step": figures}


@effect("loop/scheduler-order")
def scheduler_before_optimizer():
    """StepLR(step_size=2, gamma=0.5) from 0.1, stepped before the optimizer or after: the rates of four epochs."""
    import warnings
    rates = {}
    for first in (False, True):
        parameter = nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        seen = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(4):
                if first:
                    scheduler.step()
                seen.append(optimizer.param_groups[0]["lr"])
                optimizer.step()
                if not first:
                    scheduler.step()
        rates["before" if first else "after"] = seen
    assert rates["before"] != rates["after"]
    return rates


@effect("loop/scheduler-order")
def schedule_of_the_wrong_length():
    """CosineAnnealingLR(T_max=epochs) stepped per batch goes up and down; OneCycleLR over all batches stepped per epoch, or
    once per accumulation window, never gets far."""
    def rates(make, steps, lr=0.1):
        optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=lr, momentum=0.9)
        scheduler = make(optimizer)
        seen = []
        for _ in range(steps):
            optimizer.step()
            scheduler.step()
            seen.append(optimizer.param_groups[0]["lr"])
        return seen
    schedulers = torch.optim.lr_scheduler
    cosine = rates(lambda o: schedulers.CosineAnnealingLR(o, T_max=6), 48)
    turns = sum((b - a) * (c - b) < 0 for a, b, c in zip(cosine, cosine[1:], cosine[2:]))
    cycle = rates(lambda o: schedulers.OneCycleLR(o, max_lr=0.1, epochs=10, steps_per_epoch=100), 10)
    window = rates(lambda o: schedulers.OneCycleLR(o, max_lr=0.1, total_steps=1000), 250)
    assert turns == 7 and cycle[-1] < 0.005 and window[-1] > 0.09
    return {"turns of a cosine of 6 epochs in 48 batches": turns,
            "OneCycleLR of 1000 steps, max_lr 0.1, after 10 epochs": cycle[-1],
            "the same after 250 windows of 4": window[-1]}


@effect("loop/eval-mode")
def evaluation_in_training_mode():
    """Validation changes the running mean of BatchNorm, and one input gets different answers."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
    x = torch.randn(64, 8) + 3
    before = model[1].running_mean.clone()
    with torch.no_grad():
        answers = [model(x).argmax(1) for _ in range(2)]
    moved = float((model[1].running_mean - before).norm())
    differ = int((answers[0] != answers[1]).sum())
    model.eval()
    with torch.no_grad():
        steady = int((model(x).argmax(1) != model(x).argmax(1)).sum())
    assert moved > 0.1 and differ > 0 and steady == 0
    return {"change of BatchNorm's running mean": moved, "predictions of 64 that differ between two runs": differ,
            "the same after eval()": steady}


@effect("loop/eval-mode")
def training_left_in_eval_mode():
    """After eval() without train() Dropout is off and BatchNorm learns nothing more."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(8), nn.Dropout(0.5))
    x = torch.randn(256, 8)
    model.train()
    dropped = float((model(x) == 0).float().mean())
    model.eval()
    seen = int(model[0].num_batches_tracked)
    left = float((model(x) == 0).float().mean())
    assert dropped > 0.4 and left == 0 and int(model[0].num_batches_tracked) == seen
    return {"activations dropped in train()": dropped, "in eval()": left}


@effect("loop/wrong-parameters")
def optimizer_of_another_model():
    """The optimizer was made before the model was replaced: the model that is trained does not move."""
    model, x, y = small(seed=0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model, x, y = small(seed=1)
    before = copy.deepcopy(model)
    losses = []
    for _ in range(50):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert change(model, before) == 0 and losses[0] == losses[-1]
    return {"change of the model after 50 steps": 0.0, "its gradient, never cleared, against the first":
            norm(model) / norm_of_one(before, x, y)}


def norm_of_one(model, x, y):
    model.zero_grad()
    F.cross_entropy(model(x), y).backward()
    return norm(model)


@effect("loop/double-softmax")
def softmax_before_cross_entropy():
    """The lowest loss that can be reached: 0 without, and with softmax (10 classes), or sigmoid before BCEWithLogitsLoss."""
    certain = torch.full((1, 10), -1e4)
    certain[0, 0] = 1e4
    target = torch.zeros(1, dtype=torch.long)
    right = float(F.cross_entropy(certain, target))
    twice = float(F.cross_entropy(certain.softmax(1), target))
    one = float(F.binary_cross_entropy_with_logits(torch.tensor([1e4]).sigmoid(), torch.ones(1)))
    zero = float(F.binary_cross_entropy_with_logits(torch.tensor([-1e4]).sigmoid(), torch.zeros(1)))
    assert right == 0 and twice > 1.4
    return {"logits": right, "softmax before CrossEntropyLoss": twice, "sigmoid before BCEWithLogitsLoss, target 1": one,
            "target 0": zero}


@effect("loop/double-softmax", about=True)
def softmax_before_cross_entropy_slows():
    """300 steps of SGD on the same problem: the accuracy and how large the first gradient is."""
    ends = {}
    for twice in (False, True):
        model, x, _ = small(seed=2, classes=10)
        y = (x[:, :10]).argmax(1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(300):
            out = model(x)
            loss = F.cross_entropy(out.softmax(1) if twice else out, y)
            optimizer.zero_grad()
            loss.backward()
            first = norm(model) if step == 0 else first
            optimizer.step()
        ends["softmax" if twice else "logits"] = {"first gradient": first, "accuracy": float((out.argmax(1) == y).float().mean())}
    assert ends["softmax"]["first gradient"] < 0.5 * ends["logits"]["first gradient"]
    return ends


@effect("loop/double-softmax", about=True)
def logits_into_nll_loss():
    """The loss has no lower bound: it says nothing, and falls forever."""
    model, x, y = small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(200):
        loss = F.nll_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < -100
    return {"loss after 200 steps": loss.item()}


@effect("loop/detached-loss")
def loss_made_of_numbers():
    """torch.tensor([loss.item()], requires_grad=True).backward() raises nothing, and gives no parameter a gradient."""
    model, x, y = small()
    loss = torch.tensor([F.cross_entropy(model(x), y).item()], requires_grad=True).mean()
    loss.backward()
    without = sum(p.grad is None for p in model.parameters())
    assert without == 4
    return {"parameters without a gradient": f"{without} of 4"}


@effect("loop/set-epoch")
def the_same_order_in_every_epoch():
    """What rank 0 of 2 reads in three epochs."""
    from torch.utils.data import DistributedSampler
    data = list(range(12))
    sampler = DistributedSampler(data, num_replicas=2, rank=0)
    without = [list(sampler) for _ in range(3)]
    moved = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        moved.append(list(sampler))
    assert without[0] == without[1] == without[2] and moved[0] != moved[1] != moved[2]
    return {"without set_epoch": without, "with": moved}


@effect("loop/learning-rate", about=True)
def adamw_with_the_rate_of_sgd():
    """300 steps of AdamW on the same problem at 3e-3 and at 0.3: the highest loss after the first 50 steps, and the last."""
    ends = {}
    for rate in (3e-3, 0.3):
        model, x, _ = small(seed=3)
        y = (x[:, :4]).argmax(1)
        optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
        losses = []
        for step in range(300):
            torch.manual_seed(step)
            pick = torch.randint(0, 64, (16,))
            loss = F.cross_entropy(model(x[pick]), y[pick])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ends[f"lr {rate:g}"] = {"highest": max(losses[50:]), "mean of the last 50": sum(losses[-50:]) / 50}
    assert ends["lr 0.3"]["highest"] > 2 * ends["lr 0.003"]["highest"]
    return ends


@effect("memory/retained-graph")
def what_a_kept_loss_holds():
    """KiB that 20 iterations leave behind. `total += loss` behind backward() keeps the nodes of each graph, whose saved
    tensors backward() has freed; without backward (validation with gradients on) everything saved stays as well."""
    def left(keep, backward):
        torch.manual_seed(0)
        model, x = scales(), torch.randn(64, 512)
        total, kept = 0, []
        with Saved() as saved:
            for _ in range(20):
                out = model(x)
                loss = out.pow(2).mean()
                if backward:
                    loss.backward()
                if keep == "loss":
                    total = total + loss
                elif keep == "item":
                    total = total + loss.item()
                elif keep == "output":
                    kept.append(out)
                else:
                    kept.append(out.detach())
            del out, loss
            return saved.kib() + sum(each.numel() * 4 for each in kept) // 1024
    figures = {
        "total += loss.item() without backward": left("item", False),
        "total += loss behind backward()": left("loss", True),
        "total += loss without backward": left("loss", False),
        "outputs.append(out.detach()) without backward": left("detached", False),
        "outputs.append(out) behind backward()": left("output", True),
        "outputs.append(out) without backward": left("output", False),
    }
    values = list(figures.values())
    assert values[0] == 0 and values[2] > 10000 and values[5] > 5 * values[3], figures
    return figures


@effect("memory/retained-graph")
def graph_nodes_of_a_total():
    """Nodes of the graph that hangs on `total` after n iterations of total += loss, behind backward()."""
    def nodes(total):
        seen, todo = set(), [total.grad_fn]
        while todo:
            node = todo.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            todo += [each for each, _ in node.next_functions]
        return len(seen)
    model, x, y = small()
    total, counts = 0, []
    for step in range(100):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        total = total + loss
        if step + 1 in (1, 10, 100):
            counts.append(nodes(total))
    assert counts[2] > 50 * counts[0] / 2
    return {"after 1, 10, 100 iterations": counts, "of total += loss.detach()": 0}


@effect("memory/retain-graph-flag")
def what_retain_graph_holds():
    """KiB held behind backward(), while the loss is still named: with retain_graph=True what the graph saved is not freed."""
    figures = {}
    for keeps in (False, True):
        model, x = scales(), torch.randn(64, 512)
        with Saved() as saved:
            loss = F.mse_loss(model(x), x)
            loss.backward(retain_graph=keeps)
            figures[f"retain_graph={keeps}"] = saved.kib()
            del loss
    assert figures["retain_graph=False"] == 0 and figures["retain_graph=True"] > 1000, figures
    return figures


@effect("loop/grad-in-eval")
def evaluation_that_records_a_graph():
    """KiB that one forward keeps for a backward that never comes, while its output is named."""
    import contextlib
    figures = {}
    for off in (False, True):
        model, x = scales().eval(), torch.randn(64, 512)
        with Saved() as saved, torch.no_grad() if off else contextlib.nullcontext():
            out = model(x)
            figures["with no_grad" if off else "without"] = saved.kib()
            del out
    assert figures["with no_grad"] == 0 and figures["without"] > 1000, figures
    return figures


@effect("memory/grad-held")
def gradients_held_between_steps():
    """Bytes of gradients that lie around between two steps of a model of 1,000,000 parameters."""
    held = {}
    for to_none in (True, False):
        model = nn.Linear(1000, 1000, bias=False)
        model(torch.randn(2, 1000)).sum().backward()
        model.zero_grad(set_to_none=to_none)
        held[f"set_to_none={to_none}"] = sum(p.grad.numel() * 4 for p in model.parameters() if p.grad is not None)
    assert held["set_to_none=True"] == 0 and held["set_to_none=False"] == 4000000
    return held


@effect("perf/python-loop", about=True)
def a_loop_over_the_batch():
    """How many times longer a Python loop over 256 rows takes than the batched product."""
    torch.manual_seed(0)
    layer, x = nn.Linear(16, 16), torch.randn(256, 16)

    def seconds(call):
        call()
        start = time.perf_counter()
        for _ in range(20):
            call()
        return time.perf_counter() - start
    looped = seconds(lambda: torch.stack([layer(x[i]) for i in range(256)]))
    batched = seconds(lambda: layer(x))
    assert looped > 3 * batched
    return {"times": round(looped / batched)}


@effect("perf/list-of-arrays", about=True)
def a_tensor_of_many_arrays():
    """How many times longer a tensor of a list of 1000 arrays takes than one of a single array."""
    import numpy as np
    rows = [np.random.rand(784).astype(np.float32) for _ in range(1000)]

    def seconds(call):
        times = []
        for _ in range(3):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)
    many = seconds(lambda: torch.tensor(rows))
    one = seconds(lambda: torch.tensor(np.array(rows)))
    assert many > 3 * one
    return {"times": round(many / one)}


@effect("perf/sampler")
def every_rank_reads_the_same():
    """One seed, shuffle=True and no DistributedSampler: of 64 samples, how many two ranks see in half an epoch of each."""
    from torch.utils.data import DataLoader, DistributedSampler
    data = torch.arange(64)
    plain, split = set(), set()
    for rank in range(2):
        torch.manual_seed(0)
        plain.update(int(i) for batch in list(DataLoader(data, batch_size=8, shuffle=True))[:4] for i in batch)
        sampler = DistributedSampler(data, num_replicas=2, rank=rank)
        split.update(int(i) for batch in DataLoader(data, batch_size=8, sampler=sampler) for i in batch)
    assert len(plain) == 32 and len(split) == 64
    return {"without": len(plain), "with DistributedSampler": len(split)}


@effect("checkpoint/not-atomic")
def an_interrupted_save():
    """What a save leaves of the only checkpoint when the process ends half-way: the old one is gone, the new one is none."""
    whole = io.BytesIO()
    torch.save({"weight": torch.randn(100, 100)}, whole)
    said = None
    with tempfile.NamedTemporaryFile() as file:
        file.write(whole.getvalue()[:len(whole.getvalue()) // 2])
        file.flush()
        try:
            torch.load(file.name)
        except (OSError, RuntimeError, ValueError):
            said = "raises"
    assert said
    return {"torch.load": said}


@effect("checkpoint/incomplete")
def resuming_adam_without_its_state():
    """The first step after resuming, against what it would have been: Adam starts again with steps of the full rate."""
    model, x, y = small(seed=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(model, optimizer):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    for _ in range(300):
        step(model, optimizer)
    moved = {}
    for keeps in (True, False):
        resumed = copy.deepcopy(model)
        fresh = torch.optim.Adam(resumed.parameters(), lr=1e-3)
        if keeps:
            fresh.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        before = copy.deepcopy(resumed)
        step(resumed, fresh)
        moved[keeps] = change(resumed, before)
    assert moved[False] > 1.5 * moved[True]
    return {"with the optimizer's state": moved[True], "without": moved[False]}


@effect("data/leak")
def windows_that_overlap():
    """Windows of 20 from one series, split at random 80:20: how many of the validation windows have a training window that
    shares at least 18 of their 20 points."""
    torch.manual_seed(0)
    train, val = torch.utils.data.random_split(range(200), [160, 40])
    taken = set(train.indices)
    near = sum(any(i + d in taken for d in (-2, -1, 1, 2)) for i in val.indices)
    assert near >= 38
    return {"validation windows": 40, "nearly seen in training": near}


@effect("data/drop-last")
def the_last_batch():
    """65 samples in batches of 16: the last has one, of which BatchNorm has no variance."""
    sizes = [len(batch) for batch in torch.utils.data.DataLoader(range(65), batch_size=16)]
    assert sizes[-1] == 1
    return {"sizes": sizes}


@effect("amp/backward-in-autocast")
def backward_needs_no_region():
    """An operation's backward runs in the dtype of its forward: inside or outside the region the gradients are the same."""
    grads = []
    for inside in (True, False):
        model, x, y = small()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        grads.append([p.grad for p in model.parameters()])
    same = all(torch.equal(a, b) for a, b in zip(*grads))
    assert same
    return {"gradients equal": same}


def short(value):
    """Three digits are enough to quote."""
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(f"{value:.3g}")
    if isinstance(value, dict):
        return {key: short(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(each) for each in value]
    return value


def close(now, before):
    if isinstance(now, dict):
        return isinstance(before, dict) and now.keys() == before.keys() and all(close(now[k], before[k]) for k in now)
    if isinstance(now, list):
        return isinstance(before, list) and len(now) == len(before) and all(map(close, now, before))
    if isinstance(now, float):
        return math.isclose(now, before, rel_tol=0.02, abs_tol=1e-9)
    return now == before


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--record", action="store_true")
    what.add_argument("--check", action="store_true")
    options = parser.parse_args()
    oracles.enter()
    global torch, nn, F
    import torch
    import torch.nn.functional as F
    from torch import nn
    torch.set_num_threads(1)
    recorded = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    measured, troubles = {}, 0
    for function, rules, about in EFFECTS:
        name = function.__name__
        try:
            figures = short(function())
        except AssertionError as error:
            import traceback
            print(f"{name}: does not show it: {traceback.extract_tb(error.__traceback__)[-1].line} {error}")
            troubles += 1
            continue
        measured[name] = {"rules": list(rules), "says": " ".join(function.__doc__.split()), **({"about": True} if about else {}),
                          "figures": figures}
        before = recorded.get(name)
        if options.check and (before is None or not about and not close(figures, before["figures"])):
            print(f"{name}: {figures}, recorded {before and before['figures']}")
            troubles += 1
    if options.record:
        FIGURES.write_text(json.dumps(measured, indent=1) + "\n")
    print(f"{len(measured)} effects shown, {troubles} complaints")
    return int(bool(troubles))


if __name__ == "__main__":
    sys.exit(main())

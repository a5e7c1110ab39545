"""The operators of bugs: each on a program that shows it, and a fixed sample of them on PyTorch as it is installed."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import loop_bugs
import model_bugs
import rank_bugs
from source import Source

FAMILIES = {**loop_bugs.FAMILIES, **rank_bugs.FAMILIES, **model_bugs.FAMILIES}

TRAINING = '''\
import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


def train(model, loader, sampler, epochs):
    model = nn.parallel.DistributedDataParallel(model)
    print(model.module.layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            with torch.cuda.amp.autocast():
                loss = criterion(model(x), y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item()
        if dist.get_rank() == 0:
            torch.save(model.module.state_dict(), "model.pt")
        dist.barrier()
        evaluate(model, loader)


def plain(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def evaluate(model, loader):
    model.eval()
    hits = torch.zeros(1)
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum()
    dist.all_reduce(hits)
    dist.broadcast(hits, 0)
    work = dist.all_reduce(hits, async_op=True)
    work.wait()
    return hits.item()


def shrink(model):
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(0.9)


def experts(x):
    return route(x, num_experts=8, top_k=2)


def sample():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = Net().to(device)
    x = torch.randn(8, 16).to(device)
    return net(x)
'''

# family: the texts that each of its bugs leaves on the line of its place
EXPECTED = {
    "zero_grad deleted": ["pass", "pass"],
    "zero_grad late": ["pass", "pass"],
    "update deleted": ["pass"],
    "set_epoch deleted": ["pass"],
    "unscale_ deleted": ["pass"],
    "unscaled backward": ["loss.backward()"],
    "plain step": ["optimizer.step()"],
    "graph kept": ["total += loss"],
    "no_grad dropped": ["if True:"],
    "no_grad off a write": ["if True:"],
    "eval() deleted": ["pass"],
    "step deleted": ["pass"],
    "backward deleted": ["pass", "pass"],
    "clip late": ["pass"],
    "loss arguments swapped": ["loss = criterion(y, model(x))", "nn.functional.cross_entropy(y, model(x)).backward()"],
    "not moved": ["net = Net()", "x = torch.randn(8, 16)"],
    ".module dropped": ["print(model.layers)"],
    "collective guarded": ["if dist.get_rank() == 0: dist.all_reduce(hits)", "if dist.get_rank() == 0: dist.broadcast(hits, 0)",
                           "if dist.get_rank() == 0: dist.barrier()"],
    "moved into the guard": ["pass"],
    "return before it": ["if not (dist.get_rank() == 0): return", "if not (dist.get_rank() == 0): return", "if not (dist.get_rank() == 0): return",
                         "if not (dist.get_rank() == 0): continue"],
    "order swapped": ["if dist.get_rank() == 0: dist.broadcast(hits, 0); dist.all_reduce(hits)"],
    "wait dropped": ["pass"],
    "neighbouring size": ["self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(64, 4))"],
    "top-k raised": ["return route(x, num_experts=8, top_k=9)"],
}

# What is not told today, to be told and taken out.
NOT_TOLD = {
    "set_epoch deleted: sampler.set_epoch",
    "no_grad off a write: torch.no_grad()",
    "backward deleted: nn.functional.cross_entropy(model(x), y).backward()",
}


# What looks like the place of a bug and would be right, or another bug, once it is changed.
RIGHT = {
    "no_grad dropped": """
def train(encoder, head, loader, optimizer):
    encoder.eval()
    for x, y in loader:
        with torch.no_grad():
            features = encoder(x)
        loss = cross_entropy(head(features), y)
        loss.backward()
        optimizer.step()


def accuracy(output, target, topk):
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1)
        return [pred[:k].eq(target).float().mean() for k in topk]
""",
    "no_grad off a write": """
def copy(model, other):
    with torch.no_grad():
        for p in model.parameters():
            p.data.mul_(0.9)
""",
    "set_epoch deleted": """
def train(loader, model):
    epochs = 1
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for x in loader:
            model(x).backward()
""",
    "graph kept": """
def train(model, optimizer, batches, rounds, steps):
    while steps:
        total_loss = 0.0
        for _ in range(rounds):
            loss = model(next(batches)) / rounds
            total_loss += loss.item()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        steps -= 1


def of_data(model, loader, optimizer):
    total_loss = 0.0
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.data.item()
""",
    "eval() deleted": """
def answer(prompts):
    model = AutoModel.from_pretrained("a/model")
    model.eval()
    with torch.no_grad():
        for prompt in prompts:
            print(model(prompt))


def eval(model, loader, args):
    with torch.no_grad():
        model.eval()
        for x in loader:
            print(model(x))


def main(args, loader):
    model = zoo.load(args.path)
    model = model.eval()
    eval(model, loader, args)
""",
    "not moved": """
def prepared(model, loader, accelerator):
    loader = accelerator.prepare(loader)
    for batch in loader:
        batch = batch.to(accelerator.device)
        model(batch)


def of_pairs(net, loader, gpu):
    net = nn.parallel.DistributedDataParallel(net, device_ids=[gpu])
    for x, lengths in loader:
        x, lengths = x.cuda(gpu), lengths.cuda(gpu)
        print(net(x)[:, : lengths[0]])


def train(model, optimizer, loader, device):
    average = copy.deepcopy(model)
    average = average.to(device)
    criterion = zoo.get_loss().cuda()
    for state in optimizer.state.values():
        for key, value in state.items():
            state[key] = value.cuda()
    for x in loader:
        index = x["index"].cuda()


def of_views(model, optimizer, loader, gpu):
    net = nn.parallel.DistributedDataParallel(model, device_ids=[gpu])
    for views, _ in loader:
        views[0] = views[0].cuda(gpu)
        views[1] = views[1].cuda(gpu)
        net(first=views[0], second=views[1]).sum().backward()
        optimizer.step()


def of_what_has_no_weights(loader, path, device):
    criterion = nn.CrossEntropyLoss()
    if torch.cuda.is_available():
        criterion = criterion.cuda()
    factors = torch.load(path)["factors"].to(device)
    for x, y in loader:
        print(criterion(x @ factors, y))


def of_a_checkpoint(path, device):
    saved = torch.load(path, map_location=str(device))
    net = saved["net"]
    net = net.to(device)
    rules = zoo.build_criterion(path)
    rules.cuda()
    return net, rules


def of_picks(x, y):
    x = x[torch.randperm(4)]
    order = torch.randperm(len(x)).cuda()
    return x[order], y[order, 0]


def of_what_is_not_picked(x, device):
    same = torch.eye(len(x), dtype=torch.bool).to(device)
    return x[~same]


def of_its_type(self, x, window):
    if x.is_cuda:
        window = window.cuda()
    window = window.type_as(x)
    return x + self.table.type_as(x).to(x.device) + window
""",
    ".module dropped": """
def save(model):
    model = DistributedDataParallel(model)
    optimizer = SGD(model.module.parameters())
    model.module.train()
    torch.save(model.module.state_dict(), "model.pt")
""",
    "moved into the guard": """
from helpers import is_main_process


def save(model):
    if is_main_process:
        torch.save(model, "model.pt")
    dist.barrier()
""",
}


def test_what_a_function_of_the_file_moves_is_moved_there():
    text = """
def scored(net, y, device):
    y = y[:, 1:].to(device)
    return net(y), y


def main(net, loader, device):
    for y in loader:
        y = y.float().to(device)
        out, y = scored(net, y, device)
        print(out, y)
"""
    assert [mutant.what for mutant in FAMILIES["not moved"][0](Source(text))] == ["y[:, 1:].to(device)"]


@pytest.mark.parametrize("family", RIGHT)
def test_no_bug_is_made_of_what_stays_right(family):
    assert [mutant.what for mutant in FAMILIES[family][0](Source(RIGHT[family]))] == []


def test_a_mode_that_is_set_once_more_is_no_place():
    source = Source("""
def fit(model, loader, held_out, optimizer, frozen):
    for epoch in range(9):
        if frozen:
            model.eval()
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            for x in held_out:
                print(model(x))
""")
    assert [mutant.line for mutant in loop_bugs.eval_mode(source)] == [9]


def test_a_guard_that_is_always_true_is_not_used():
    source = Source(RIGHT["moved into the guard"])
    assert [m.what for m in FAMILIES["collective guarded"][0](source)] == ["if dist.get_rank() == 0"]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_operator_makes_its_bug(family):
    source = Source(TRAINING)
    found = []
    for mutant in FAMILIES[family][0](source):
        text = mutant.text(source)
        assert text != TRAINING
        Source(text)  # parses
        moved = 1 if family == "moved into the guard" else 0
        found.append(text.split("\n")[mutant.line - 1 + moved].strip())
    assert found == EXPECTED[family]


def test_every_bug_of_a_plain_program_is_told(tmp_path):
    """The least that the yardstick can be asked: stepzero tells the bugs of a program in which nothing is hidden."""
    (tmp_path / "train.py").write_text(TRAINING)
    done = subprocess.run([sys.executable, HERE / "run", tmp_path, "--misses"], capture_output=True, text=True, check=True)
    missed = set()
    for line in done.stdout.splitlines():
        if line.startswith("missed "):
            family, place, what = line.removeprefix("missed ").split(": ", 2)
            missed.add(f"{family}: {what}")
    assert missed <= NOT_TOLD, done.stdout
    assert missed == NOT_TOLD, "told now: " + ", ".join(NOT_TOLD - missed)


def test_what_a_proven_failure_stands_before_is_no_place(tmp_path):
    (tmp_path / "train.py").write_text(TRAINING.replace("import torch\n", "import torch\n\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n", 1) + "\ntorch.zeros(2, 3) @ torch.zeros(4, 5)\n")
    done = subprocess.run([sys.executable, HERE / "run", tmp_path, "--misses", "--family", "step deleted"], capture_output=True, text=True, check=True)
    assert "no place step deleted" in done.stdout


# Of a fixed sample of what is installed, by family: told at least. Without PyTorch on the machine there is nothing to change.
SAMPLE = {"zero_grad deleted": 1, "collective guarded": 6, "moved into the guard": 5, "return before it": 6, "neighbouring size": 2}


def test_a_sample_of_pytorch_as_installed():
    found = importlib.util.find_spec("torch")
    if not found:
        pytest.skip("no PyTorch on this machine")
    done = subprocess.run([sys.executable, HERE / "run", Path(found.origin).parent / "testing" / "_internal" / "distributed", "--only", "rpc", "--sample", "6"], capture_output=True, text=True, check=True)
    told = {line[:24].strip(): int(number.group(1)) for line in done.stdout.splitlines()[1:] if (number := re.search(r"(\d+) \(\d+ %\)", line))}
    assert {family: told.get(family, 0) for family, least in SAMPLE.items() if told.get(family, 0) < least} == {}, done.stdout

"""Python texts that the tests put before the server: training code as people write it, and one small certain bug. Knows
nothing of the server."""

# One finding that is beyond doubt: the inner dimensions differ. `{}` takes any text that is an expression statement.
MATMUL = """\
import torch

a = torch.zeros(2, 3)
b = torch.zeros(4, 5)
c = a @ b
"""
MATMUL_RULE = "shape/matmul"
CLEAN = MATMUL.replace("(4, 5)", "(3, 5)")

# The finding stands behind characters of one to four bytes on its own line, and under a line of them.
ASTRAL = """\
import torch

title = "Größe 模型 𝒳🙂 e\u0301"
a = torch.zeros(2, 3)
b = torch.zeros(4, 5)
note = "ä模🙂𝒳"; c = a @ b; d = "🙂"
"""

CLASSIFIER = '''\
"""A small classifier and its training loop."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    """Größe: 模型 🙂"""

    def __init__(self, width=128, classes=10):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.fc1 = nn.Linear(16 * 16 * 16, width)
        self.fc2 = nn.Linear(width, classes)  # Ausgabe 🙂

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)))
        x = F.max_pool2d(x, 2)
        x = x.flatten(1)
        return self.fc2(F.relu(self.fc1(x)))


def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in loader:
            scores = model(images.to(device))
            right += (scores.argmax(dim=1) == labels.to(device)).sum().item()
            total += labels.numel()
    return right / max(total, 1)


def train(epochs=3, rate=1e-3):
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        images = torch.randn(8, 3, 32, 32)
        labels = torch.randint(0, 10, (8,))
        optimizer.zero_grad()
        loss = loss_function(model(images), labels)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: {loss.item():.3f} 模")


if __name__ == "__main__":
    train()
'''

ATTENTION = '''\
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    n_embd: int = 64
    n_head: int = 4
    vocab: int = 1000
    block: int = 32
    n_layer: int = 2


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        self.n_head = config.n_head

    def forward(self, x):
        B, T, C = x.shape  # [batch, seq, hidden]
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) * (C // self.n_head) ** -0.5
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        y = scores.softmax(dim=-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.n_embd)
        self.attention = Attention(config)
        self.norm2 = nn.LayerNorm(config.n_embd)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab, config.n_embd)
        self.wpe = nn.Embedding(config.block, config.n_embd)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab, bias=False)

    def forward(self, tokens, targets=None):
        B, T = tokens.shape
        x = self.wte(tokens) + self.wpe(torch.arange(T))
        for block in self.blocks:
            x = block(x)
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


config = Config()
model = Model(config)
tokens = torch.randint(0, config.vocab, (4, config.block))
logits, loss = model(tokens, tokens)
'''

DISTRIBUTED = '''\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

EPOCHS = 2  # "größer" 🙂


def setup():
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    return local_rank


def mean_over_ranks(value):
    total = value.detach().clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


def main():
    local_rank = setup()
    model = DDP(torch.nn.Linear(32, 4).cuda(), device_ids=[local_rank])
    data = TensorDataset(torch.randn(256, 32), torch.randint(0, 4, (256,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler, drop_last=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.cuda.amp.GradScaler()
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        average = mean_over_ranks(loss)
        if dist.get_rank() == 0:
            print(epoch, average.item())
            dist.barrier()
    dist.destroy_process_group()


main()
'''

SEEDS = {"matmul": MATMUL, "astral": ASTRAL, "classifier": CLASSIFIER, "attention": ATTENTION, "distributed": DISTRIBUTED}


def slow(functions=400):
    """A program that takes the analysis long: many functions that each call the next twice, on symbols."""
    parts = ["import torch\nimport torch.nn as nn\n\n"]
    for i in range(functions):
        parts.append(
            f"class Layer{i}(nn.Module):\n"
            f"    def __init__(self, width=64):\n"
            f"        super().__init__()\n"
            f"        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(12)])\n"
            f"        self.norm = nn.LayerNorm(width)\n\n"
            f"    def forward(self, x, flag, other):\n"
            f"        for layer in self.layers:\n"
            f"            x = self.norm(layer(x)) + x\n"
            f"            if flag:\n"
            f"                x = x * 2\n"
            f"            if other:\n"
            f"                x = torch.cat([x, x], dim=-1)[..., :64]\n"
            f"        return x\n\n\n")
    return "".join(parts)

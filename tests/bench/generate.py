"""Writes training code of any length for the bench: models, data, loops with AMP and DDP, checkpoints and command lines,
composed from pieces with names, widths and depths drawn from a seed. The same seed gives the same text. Knows nothing of
the program that is measured; what it writes is meant to be right and to run."""

import random
from string import Template

HEADER = '''\
"""$topic: models, data and training.

Generated for measuring. Every size is taken from the configuration at the top.
"""
import argparse
import json
import math
import os
import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler
$imports

@dataclass
class Config:
    width: int = $width
    heads: int = $heads
    depth: int = $depth
    vocab: int = $vocab
    block: int = $block
    dropout: float = 0.1
    rate: float = 3e-4
    epochs: int = 10
    batch: int = $batch
    accumulate: int = 4
    clip: float = 1.0
    log_every: int = 50
    out: str = "runs/$low"
    betas: Tuple[float, float] = (0.9, 0.95)
    tags: List[str] = field(default_factory=list)
'''

PIECES = {}

PIECES["mlp"] = '''\
class ${Name}MLP(nn.Module):
    """Two linear layers with a gate between them."""

    def __init__(self, config: Config, ratio: int = $ratio):
        super().__init__()
        hidden = config.width * ratio
        self.up = nn.Linear(config.width, hidden, bias=False)
        self.gate = nn.Linear(config.width, hidden, bias=False)
        self.down = nn.Linear(hidden, config.width, bias=False)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        # the gate decides how much of each hidden unit goes on
        h = F.silu(self.gate(x)) * self.up(x)
        return self.dropout(self.down(h))
'''

PIECES["attention"] = '''\
class ${Name}Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        assert config.width % config.heads == 0
        self.heads = config.heads
        self.size = config.width // config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        mask = torch.tril(torch.ones(config.block, config.block))
        self.register_buffer("mask", mask.view(1, 1, config.block, config.block))

    def forward(self, x, bias: Optional[torch.Tensor] = None):
        B, T, C = x.shape  # [batch, seq, width]
        q, k, v = self.qkv(x).split(C, dim=2)
        q = q.view(B, T, self.heads, self.size).transpose(1, 2)
        k = k.view(B, T, self.heads, self.size).transpose(1, 2)
        v = v.view(B, T, self.heads, self.size).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.size)
        if bias is not None:
            scores = scores + bias
        scores = scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        y = weights @ v  # [batch, heads, seq, size]
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.out(y)
'''

PIECES["transformer"] = '''\
class ${Name}Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width)
        self.attention = nn.MultiheadAttention(config.width, config.heads, dropout=config.dropout, batch_first=True)
        self.norm2 = nn.LayerNorm(config.width)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, $ratio * config.width),
            nn.GELU(),
            nn.Linear($ratio * config.width, config.width),
            nn.Dropout(config.dropout),
        )

    def forward(self, x, mask=None):
        h = self.norm1(x)
        a, _ = self.attention(h, h, h, attn_mask=mask, need_weights=False)
        x = x + a
        return x + self.mlp(self.norm2(x))


class ${Name}Model(nn.Module):
    """Decoder with learned positions; the head shares the embedding's weight."""

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab, config.width)
        self.positions = nn.Embedding(config.block, config.width)
        self.blocks = nn.ModuleList([${Name}Block(config) for _ in range(config.depth)])
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocab, bias=False)
        self.head.weight = self.tokens.weight
        self.apply(self._init)

    def _init(self, module):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, ids, targets=None):
        B, T = ids.shape
        at = torch.arange(T, device=ids.device)
        x = self.tokens(ids) + self.positions(at)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

    @torch.no_grad()
    def generate(self, ids, count, temperature=1.0, top_k=None):
        self.eval()
        for _ in range(count):
            window = ids[:, -self.config.block:]
            logits, _ = self(window)
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                best, _ = torch.topk(logits, top_k)
                logits[logits < best[:, [-1]]] = -float("inf")
            following = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
            ids = torch.cat((ids, following), dim=1)
        self.train()
        return ids
'''

PIECES["convnet"] = '''\
class ${Name}Residual(nn.Module):
    def __init__(self, channels, out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out)
        self.short = nn.Identity()
        if stride != 1 or channels != out:
            self.short = nn.Sequential(nn.Conv2d(channels, out, 1, stride=stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        h = self.norm2(self.conv2(h))
        return F.relu(h + self.short(x))


class ${Name}Net(nn.Module):
    def __init__(self, classes=$classes, base=$base):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, base, 3, padding=1, bias=False), nn.BatchNorm2d(base), nn.ReLU())
        self.stage1 = self._stage(base, base, $blocks, stride=1)
        self.stage2 = self._stage(base, 2 * base, $blocks, stride=2)
        self.stage3 = self._stage(2 * base, 4 * base, $blocks, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4 * base, classes)

    def _stage(self, channels, out, count, stride):
        layers = [${Name}Residual(channels, out, stride)]
        for _ in range(count - 1):
            layers.append(${Name}Residual(out, out))
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.stem(x)
        x = self.stage3(self.stage2(self.stage1(x)))
        x = self.pool(x).flatten(1)
        return self.fc(x)
'''

PIECES["recurrent"] = '''\
class ${Name}Tagger(nn.Module):
    """Bidirectional LSTM over embedded tokens, one label each."""

    def __init__(self, vocab=$vocab, labels=$classes, width=$width, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, num_layers=layers, batch_first=True, bidirectional=True, dropout=0.2)
        self.head = nn.Linear(2 * width, labels)

    def forward(self, tokens, lengths=None):
        x = self.embedding(tokens)
        if lengths is not None:
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            h, _ = self.lstm(packed)
            h, _ = nn.utils.rnn.pad_packed_sequence(h, batch_first=True)
        else:
            h, (last, cell) = self.lstm(x)
        return self.head(h)
'''

PIECES["autoencoder"] = '''\
class ${Name}VAE(nn.Module):
    def __init__(self, inputs=784, hidden=$hidden, latent=$latent):
        super().__init__()
        self.inputs = inputs
        self.encoder = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, inputs))

    def encode(self, x):
        h = self.encoder(x.view(-1, self.inputs))
        return self.mean(h), self.log_variance(h)

    def sample(self, mean, log_variance):
        noise = torch.randn_like(mean)
        return mean + noise * torch.exp(0.5 * log_variance)

    def forward(self, x):
        mean, log_variance = self.encode(x)
        z = self.sample(mean, log_variance)
        return self.decoder(z), mean, log_variance


def ${low}_elbo(output, x, mean, log_variance, beta=1.0):
    """Reconstruction and divergence, averaged over the batch."""
    target = x.view(output.shape)
    reconstruction = F.binary_cross_entropy_with_logits(output, target, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return (reconstruction + beta * divergence) / x.size(0)
'''

PIECES["experts"] = '''\
class ${Name}Experts(nn.Module):
    """Routes each token to the best $topk of $count experts."""

    def __init__(self, width=$width, count=$count, chosen=$topk):
        super().__init__()
        self.count = count
        self.chosen = chosen
        self.router = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(count))

    def forward(self, x):
        B, T, C = x.shape
        flat = x.reshape(B * T, C)
        scores = F.softmax(self.router(flat).float(), dim=-1)
        weights, chosen = torch.topk(scores, self.chosen, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(flat)
        for index, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == index)
            if rows.numel() == 0:
                continue
            out[rows] += weights[rows, slot].unsqueeze(-1).to(out.dtype) * expert(flat[rows])
        load = F.one_hot(chosen, self.count).float().sum(dim=1).mean(dim=0)
        balance = self.count * torch.sum(load * scores.mean(dim=0))
        return out.view(B, T, C), balance
'''

PIECES["dataset"] = '''\
class ${Name}Dataset(Dataset):
    """Windows of a long token file, mapped into memory."""

    def __init__(self, path, block, split="train", share=0.9):
        self.block = block
        self.data = np.memmap(path, dtype=np.uint16, mode="r")
        border = int(len(self.data) * share)
        self.data = self.data[:border] if split == "train" else self.data[border:]

    def __len__(self):
        return max(0, (len(self.data) - 1) // self.block)

    def __getitem__(self, index):
        begin = index * self.block
        window = self.data[begin:begin + self.block + 1].astype(np.int64)
        return torch.from_numpy(window[:-1]), torch.from_numpy(window[1:])


def ${low}_collate(samples, padding=0):
    longest = max(len(tokens) for tokens, _ in samples)
    tokens = torch.full((len(samples), longest), padding, dtype=torch.long)
    labels = torch.full((len(samples), longest), -100, dtype=torch.long)
    for row, (source, target) in enumerate(samples):
        tokens[row, :len(source)] = source
        labels[row, :len(target)] = target
    return tokens, labels


def ${low}_loaders(config: Config, path, distributed=False):
    train = ${Name}Dataset(path, config.block, "train")
    valid = ${Name}Dataset(path, config.block, "valid")
    sampler = DistributedSampler(train, shuffle=True) if distributed else None
    loader = DataLoader(train, batch_size=config.batch, sampler=sampler, shuffle=sampler is None, num_workers=4,
                        pin_memory=True, drop_last=True, persistent_workers=True)
    valid_loader = DataLoader(valid, batch_size=config.batch, num_workers=2, pin_memory=True)
    return loader, valid_loader, sampler
'''

PIECES["loop"] = '''\
def ${low}_epoch(model, loader, optimizer, scheduler, scaler, config: Config, device, epoch):
    """One epoch with mixed precision, accumulation and clipping."""
    model.train()
    total = torch.zeros((), device=device)
    started = time.time()
    optimizer.zero_grad(set_to_none=True)
    for step, (x, y) in enumerate(loader):
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True)
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            logits, loss = model(x, y)
            loss = loss / config.accumulate
        scaler.scale(loss).backward()
        if (step + 1) % config.accumulate == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
        total += loss.detach() * config.accumulate
        if step % config.log_every == 0 and is_main():
            speed = (step + 1) * config.batch / (time.time() - started)
            print(f"epoch {epoch} step {step}: loss {loss.item() * config.accumulate:.4f}, {speed:.1f} samples/s")
    return total / max(1, len(loader))
'''

PIECES["evaluation"] = '''\
@torch.no_grad()
def ${low}_evaluate(model, loader, device):
    """Loss and accuracy over all ranks."""
    was_training = model.training
    model.eval()
    losses = torch.zeros((), device=device)
    right = torch.zeros((), device=device)
    count = torch.zeros((), device=device)
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits, loss = model(x, y)
        losses += loss * y.numel()
        right += (logits.argmax(dim=-1) == y).sum()
        count += y.numel()
    if dist.is_available() and dist.is_initialized():
        for value in (losses, right, count):
            dist.all_reduce(value)
    model.train(was_training)
    return {"loss": (losses / count).item(), "accuracy": (right / count).item()}
'''

PIECES["checkpoint"] = '''\
def ${low}_save(path, model, optimizer, scheduler, scaler, epoch):
    module = model.module if isinstance(model, DDP) else model
    state = {
        "model": module.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "scaler": scaler.state_dict(),
        "epoch": epoch,
        "random": torch.get_rng_state(),
    }
    part = Path(path).with_suffix(".part")
    torch.save(state, part)
    os.replace(part, path)


def ${low}_load(path, model, optimizer=None, scheduler=None, scaler=None, device="cpu"):
    if not os.path.exists(path):
        return 0
    state = torch.load(path, map_location=device)
    model.load_state_dict(state["model"])
    for name, part in (("optimizer", optimizer), ("scheduler", scheduler), ("scaler", scaler)):
        if part is not None and name in state:
            part.load_state_dict(state[name])
    torch.set_rng_state(state["random"].cpu())
    return state["epoch"] + 1
'''

PIECES["optimizer"] = '''\
def ${low}_optimizer(model, config: Config, decay=$decay):
    """Weight decay for matrices only."""
    plain, decayed = [], []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        if parameter.dim() < 2 or name.endswith("bias"):
            plain.append(parameter)
        else:
            decayed.append(parameter)
    groups = [{"params": decayed, "weight_decay": decay}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.rate, betas=config.betas)


def ${low}_schedule(optimizer, warmup=$warmup, total=$total):
    def rate(step):
        if step < warmup:
            return (step + 1) / warmup
        share = (step - warmup) / max(1, total - warmup)
        return 0.1 + 0.45 * (1 + math.cos(math.pi * min(1.0, share)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
'''

PIECES["metrics"] = '''\
class ${Name}Metrics:
    """Running averages by name, written as JSON lines."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.sums = defaultdict(float)
        self.counts = defaultdict(int)

    def add(self, **values):
        for name, value in values.items():
            if torch.is_tensor(value):
                value = value.detach().item()
            self.sums[name] += value
            self.counts[name] += 1

    def averages(self) -> Dict[str, float]:
        return {name: self.sums[name] / max(1, self.counts[name]) for name in self.sums}

    def write(self, step):
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "$low.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **self.averages()}) + "\\n")
        self.sums.clear()
        self.counts.clear()
'''

PIECES["average"] = '''\
class ${Name}Average:
    """An exponential moving average of a model's weights."""

    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for name, value in model.state_dict().items():
            if value.dtype.is_floating_point:
                self.shadow[name].mul_(self.decay).add_(value, alpha=1 - self.decay)
            else:
                self.shadow[name].copy_(value)

    def copy_to(self, model):
        model.load_state_dict(self.shadow)
'''

PIECES["losses"] = '''\
def ${low}_focal(logits, targets, gamma=$gamma, weight=None):
    log_probability = F.log_softmax(logits, dim=-1)
    cross = F.nll_loss(log_probability, targets, weight=weight, reduction="none")
    probability = torch.exp(-cross)
    return ((1 - probability) ** gamma * cross).mean()


def ${low}_contrastive(first, second, temperature=0.07):
    """Symmetric loss of two views of one batch: the diagonal holds the pairs."""
    first = F.normalize(first, dim=-1)
    second = F.normalize(second, dim=-1)
    logits = first @ second.t() / temperature
    labels = torch.arange(logits.size(0), device=logits.device)
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels))


def ${low}_smooth(logits, targets, classes=$classes, epsilon=0.1):
    one_hot = F.one_hot(targets, classes).float()
    soft = one_hot * (1 - epsilon) + epsilon / classes
    return -(soft * F.log_softmax(logits, dim=-1)).sum(dim=-1).mean()
'''

PIECES["detection"] = '''\
class ${Name}Head(nn.Module):
    """Boxes and classes at every place of a feature map."""

    def __init__(self, channels=$base, classes=$classes, anchors=$anchors):
        super().__init__()
        self.anchors = anchors
        self.classes = classes
        tower = []
        for _ in range(3):
            tower += [nn.Conv2d(channels, channels, 3, padding=1), nn.GroupNorm(8, channels), nn.ReLU(inplace=True)]
        self.tower = nn.Sequential(*tower)
        self.boxes = nn.Conv2d(channels, anchors * 4, 1)
        self.scores = nn.Conv2d(channels, anchors * classes, 1)

    def forward(self, features):
        boxes, scores = [], []
        for level in features:
            h = self.tower(level)
            B, _, H, W = h.shape
            box = self.boxes(h).view(B, self.anchors, 4, H, W).permute(0, 3, 4, 1, 2)
            score = self.scores(h).view(B, self.anchors, self.classes, H, W).permute(0, 3, 4, 1, 2)
            boxes.append(box.reshape(B, -1, 4))
            scores.append(score.reshape(B, -1, self.classes))
        return torch.cat(boxes, dim=1), torch.cat(scores, dim=1)


def ${low}_overlap(first, second):
    """Intersection over union of every box with every box."""
    area1 = (first[:, 2] - first[:, 0]) * (first[:, 3] - first[:, 1])
    area2 = (second[:, 2] - second[:, 0]) * (second[:, 3] - second[:, 1])
    corner1 = torch.max(first[:, None, :2], second[None, :, :2])
    corner2 = torch.min(first[:, None, 2:], second[None, :, 2:])
    size = (corner2 - corner1).clamp(min=0)
    common = size[:, :, 0] * size[:, :, 1]
    return common / (area1[:, None] + area2[None, :] - common)
'''

PIECES["tokens"] = '''\
class ${Name}Tokenizer:
    def __init__(self, text: str):
        letters = sorted(set(text))
        self.ids = {letter: index for index, letter in enumerate(letters)}
        self.letters = {index: letter for letter, index in self.ids.items()}

    def __len__(self):
        return len(self.ids)

    def encode(self, text: str) -> List[int]:
        return [self.ids[letter] for letter in text if letter in self.ids]

    def decode(self, ids) -> str:
        return "".join(self.letters[int(index)] for index in ids)

    def batch(self, texts: List[str], length=$block):
        rows = []
        for text in texts:
            ids = self.encode(text)[:length]
            rows.append(ids + [0] * (length - len(ids)))
        return torch.tensor(rows, dtype=torch.long)
'''

PIECES["policy"] = '''\
class ${Name}Policy(nn.Module):
    def __init__(self, observations=$observations, actions=$actions, hidden=$hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(observations, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.body(x)
        return torch.distributions.Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def ${low}_advantages(rewards, values, done, gamma=0.99, trace=0.95):
    steps = rewards.size(0)
    advantages = torch.zeros_like(rewards)
    last = torch.zeros_like(rewards[0])
    for t in reversed(range(steps)):
        following = values[t + 1] if t + 1 < values.size(0) else torch.zeros_like(values[0])
        alive = 1.0 - done[t]
        delta = rewards[t] + gamma * following * alive - values[t]
        last = delta + gamma * trace * alive * last
        advantages[t] = last
    return advantages, advantages + values[:steps]


def ${low}_clipped(policy, batch, clip=0.2):
    distribution, value = policy(batch["observations"])
    ratio = torch.exp(distribution.log_prob(batch["actions"]) - batch["log_probabilities"])
    gain = batch["advantages"]
    actor = -torch.min(ratio * gain, torch.clamp(ratio, 1 - clip, 1 + clip) * gain).mean()
    critic = F.mse_loss(value, batch["returns"])
    return actor + 0.5 * critic - 0.01 * distribution.entropy().mean()
'''

SETUP = '''\
def is_main():
    return not dist.is_available() or not dist.is_initialized() or dist.get_rank() == 0


def seed_everything(seed=1337):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)


def setup():
    """Joins the process group if the launcher made one."""
    if "RANK" not in os.environ:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu"), False
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    return torch.device("cuda", local), True
'''

MAIN = '''\
def parse():
    parser = argparse.ArgumentParser(description="$topic")
    parser.add_argument("--data", default="data/$low.bin")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--batch", type=int, default=$batch)
    parser.add_argument("--resume", default="")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def main():
    arguments = parse()
    seed_everything()
    device, distributed = setup()
    config = Config(epochs=arguments.epochs, rate=arguments.rate, batch=arguments.batch)
    model = ${Name}Model(config).to(device)
    start = ${low}_load(arguments.resume, model, device=device) if arguments.resume else 0
    if arguments.compile:
        model = torch.compile(model)
    if distributed:
        model = DDP(model, device_ids=[device.index])
    optimizer = ${low}_optimizer(model, config)
    scheduler = ${low}_schedule(optimizer)
    scaler = torch.amp.GradScaler("cuda")
    loader, valid_loader, sampler = ${low}_loaders(config, arguments.data, distributed)
    metrics = ${Name}Metrics(config.out)
    for epoch in range(start, config.epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        loss = ${low}_epoch(model, loader, optimizer, scheduler, scaler, config, device, epoch)
        found = ${low}_evaluate(model, valid_loader, device)
        if is_main():
            metrics.add(train=loss, **found)
            metrics.write(epoch)
            ${low}_save(Path(config.out) / "last.pt", model, optimizer, scheduler, scaler, epoch)
        if distributed:
            dist.barrier()
    if distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
'''

WORDS = ["Amber", "Basalt", "Cedar", "Delta", "Ember", "Fjord", "Garnet", "Harbor", "Indigo", "Juniper", "Kestrel", "Lumen",
         "Maple", "Nimbus", "Onyx", "Pollen", "Quartz", "Raven", "Sable", "Tundra", "Umber", "Violet", "Willow", "Zephyr"]
# What main() calls.
NEEDED = ["transformer", "dataset", "optimizer", "metrics", "loop", "evaluation", "checkpoint"]


def _values(dice, name):
    heads = dice.choice([4, 6, 8, 12])
    return {
        "Name": name, "low": name.lower(), "topic": f"{name} experiments", "heads": heads, "width": heads * dice.choice([16, 32, 64]),
        "depth": dice.choice([2, 4, 6, 12]), "vocab": dice.choice([1000, 8192, 32000, 50304]), "block": dice.choice([64, 128, 256, 1024]),
        "batch": dice.choice([8, 16, 32, 64]), "ratio": dice.choice([2, 3, 4]), "classes": dice.choice([2, 10, 21, 100]),
        "base": dice.choice([16, 32, 64]), "blocks": dice.choice([2, 3]), "hidden": dice.choice([128, 256, 400]),
        "latent": dice.choice([8, 20, 32]), "count": dice.choice([4, 8, 16]), "topk": dice.choice([1, 2]),
        "decay": dice.choice(["0.01", "0.1", "0.05"]), "warmup": dice.choice([100, 500, 2000]), "total": dice.choice([10000, 60000]),
        "gamma": dice.choice(["1.5", "2.0"]), "anchors": dice.choice([3, 9]), "observations": dice.choice([4, 8, 17]),
        "actions": dice.choice([2, 4, 6]), "imports": "",
    }


def generate(lines, seed=1, imports=()):
    """A program of about `lines` lines. `imports`: names of sibling modules that it reads `Config` from."""
    dice = random.Random(f"{seed}")
    words = [f"{word}{number or ''}" for number in range(1 + lines // 200) for word in dice.sample(WORDS, len(WORDS))]
    main = _values(dice, words.pop(0))
    main["imports"] = "".join(f"import {name} as other{i}\n" for i, name in enumerate(imports))
    tail = Template(SETUP + "\n\n" + MAIN).substitute(main)
    parts = [Template(HEADER).substitute(main)]
    length = parts[0].count("\n") + tail.count("\n") + 2

    def add(kind, values):
        nonlocal length
        parts.append(Template(PIECES[kind]).substitute(values))
        length += parts[-1].count("\n") + 2

    for kind in NEEDED:
        add(kind, main)
    kinds = [kind for kind in PIECES if kind not in NEEDED]
    while length < lines:
        for kind in dice.sample(kinds, len(kinds)) + dice.sample(NEEDED, 2):
            if length < lines:
                add(kind, _values(dice, words.pop(0)))
    return "\n\n".join(parts + [tail])


def repository(folder, lines, each=1500, seed=1):
    """Writes a package of about `lines` lines in files of `each`, each importing some of the others; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(f"{seed} repository")
    count = max(1, round(lines / each))
    names = [f"part{i:04}" for i in range(count)]
    paths = []
    for i, name in enumerate(names):
        others = dice.sample(names[:i], min(i, dice.choice([0, 1, 2, 3])))
        path = folder / f"{name}.py"
        path.write_text(generate(dice.randrange(each // 2, each * 3 // 2), f"{seed} {i}", others), encoding="utf-8")
        paths.append(path)
    return paths

"""Trains a small causal transformer with DistributedDataParallel and mixed precision.

    torchrun --nproc_per_node=4 train_ddp.py --epochs 10 --checkpoint run/last.pt --resume

The data is synthetic: noisy periodic sequences whose next token can be learned in a few epochs. With CUDA the
processes talk over NCCL and train in float16; without it they talk over gloo and train in float32.
"""

import argparse
import os
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

try:
    from torch.amp import GradScaler
except ImportError:  # before PyTorch 2.3
    from torch.cuda.amp import GradScaler


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(dropout)

    def attention(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, dim=-1)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        v = v.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) * (C // self.heads) ** -0.5
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = F.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.mlp(self.norm2(x)))


class Transformer(nn.Module):
    def __init__(self, vocab_size, context, width, heads, depth, dropout=0.1):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads, dropout) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def sequences(count, context, vocab_size, seed):
    """Inputs and next tokens, each [count, context]: sawtooth waves with a little noise."""
    random = torch.Generator().manual_seed(seed)
    period = torch.randint(3, 9, (count, 1), generator=random)
    phase = torch.randint(0, vocab_size, (count, 1), generator=random)
    noise = torch.randint(0, 2, (count, context + 1), generator=random)
    ids = (phase + torch.arange(context + 1) % period + noise) % vocab_size
    return TensorDataset(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())


def loss_of(model, batch, device, use_amp):
    inputs, targets = (tensor.to(device, non_blocking=True) for tensor in batch)
    with torch.autocast(device_type=device.type, enabled=use_amp):
        logits = model(inputs)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def validate(model, loader, device, use_amp, rank):
    """The average loss over the whole validation set."""
    avg_loss = float("inf")
    if rank == 0:
        model.eval()
        total_loss = 0.0
        for batch in loader:
            total_loss += loss_of(model, batch, device, use_amp).item()
        avg_loss = total_loss / len(loader)
        dist.broadcast(torch.tensor([avg_loss], device=device), src=0)
    return avg_loss


def random_state():
    state = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def save_checkpoint(path, epoch, model, optimizer, scheduler, scaler, rank, world_size):
    random_states = [None] * world_size
    dist.all_gather_object(random_states, random_state())
    if rank == 0:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        torch.save({"epoch": epoch, "model": model.module.state_dict(), "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(), "scaler": scaler.state_dict(),
                    "random": random_states}, path + ".tmp")
        os.replace(path + ".tmp", path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, rank):
    """Puts everything back as it was saved; returns the epoch to go on with."""
    checkpoint = torch.load(path, map_location="cpu")
    model.module.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    scaler.load_state_dict(checkpoint["scaler"])
    if rank < len(checkpoint["random"]):
        torch.set_rng_state(checkpoint["random"][rank]["cpu"])
        if "cuda" in checkpoint["random"][rank]:
            torch.cuda.set_rng_state(checkpoint["random"][rank]["cuda"])
    return checkpoint["epoch"] + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=64, help="sequences per process and step")
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--vocab-size", type=int, default=64)
    parser.add_argument("--train-size", type=int, default=16384)
    parser.add_argument("--checkpoint", default="last.pt")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint if there is one")
    args = parser.parse_args()

    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    use_amp = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if use_amp else torch.device("cpu")
    if use_amp:
        torch.cuda.set_device(device)
    # The other ranks wait while rank 0 validates.
    dist.init_process_group("nccl" if use_amp else "gloo", timeout=timedelta(hours=1))
    torch.manual_seed(1234 + rank)

    train_set = sequences(args.train_size, args.context, args.vocab_size, seed=1)
    sampler = DistributedSampler(train_set, shuffle=True, drop_last=True)
    train_loader = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True, pin_memory=use_amp)
    val_loader = DataLoader(sequences(args.train_size // 8, args.context, args.vocab_size, seed=2), args.batch_size)

    model = Transformer(args.vocab_size, args.context, args.width, args.heads, args.depth).to(device)
    model = DistributedDataParallel(model, device_ids=[device.index] if use_amp else None)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
    scaler = GradScaler(enabled=use_amp)

    start = 0
    if args.resume and os.path.exists(args.checkpoint):
        start = load_checkpoint(args.checkpoint, model, optimizer, scheduler, scaler, rank)

    for epoch in range(start, args.epochs):
        model.train()
        sampler.set_epoch(epoch)
        for step, batch in enumerate(train_loader):
            loss = loss_of(model, batch, device, use_amp)
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            if rank == 0 and step % 50 == 0:
                print(f"epoch {epoch} step {step}: loss {loss.item():.4f}", flush=True)

        val_loss = validate(model.module, val_loader, device, use_amp, rank)
        scheduler.step(val_loss)
        print(f"rank {rank} epoch {epoch}: validation loss {val_loss:.4f}", flush=True)
        save_checkpoint(args.checkpoint, epoch, model, optimizer, scheduler, scaler, rank, world_size)

    dist.destroy_process_group()


if __name__ == "__main__":
    main()

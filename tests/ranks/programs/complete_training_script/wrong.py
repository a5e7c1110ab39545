"""Trains, validates on the first rank, keeps the best weights, stops early: everything that looks dangerous."""
import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        losses = [nn.functional.mse_loss(model(x), y).item() for x, y in loader]
    model.train()
    return sum(losses) / len(losses)


def train_epoch(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--patience", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(22, 3), torch.randn(22, 1))
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    model = DDP(nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    best, bad = float("inf"), 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train_epoch(model, loader, optimizer)
        stop = torch.zeros(1)
        if is_main():
            loss = validate(model.module, loader) + epoch
            best, bad = (loss, 0) if loss < best else (best, bad + 1)
            if bad == 0:
                torch.save(model.module.state_dict(), "best.pt")
            if bad >= args.patience:
                stop += 1
                break
        dist.broadcast(stop, src=0)
        if stop.item():
            break
    dist.barrier()
    model.module.load_state_dict(torch.load(os.path.join(os.getcwd(), "best.pt")))


if __name__ == "__main__":
    main()

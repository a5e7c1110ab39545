import argparse

import torch
from torch import nn


def train_step(model, optimizer, x, y, scaler=None, clip=1.0):
    with torch.autocast("cuda", enabled=scaler is not None):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
    return loss.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    model = nn.Linear(8, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda") if args.amp else None
    for step in range(3):
        train_step(model, optimizer, torch.randn(4, 8).cuda(), torch.randint(0, 3, (4,)).cuda(), scaler)


if __name__ == "__main__":
    main()

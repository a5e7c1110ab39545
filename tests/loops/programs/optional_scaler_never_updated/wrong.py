import argparse

import torch
from torch import nn


def optimize(loss, optimizer, scaler):
    optimizer.zero_grad()
    if scaler is None:
        loss.backward()
        optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.step(optimizer)


parser = argparse.ArgumentParser()
parser.add_argument("--no-amp", action="store_true")
args = parser.parse_args()
model = nn.Linear(6, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = None if args.no_amp else torch.amp.GradScaler("cuda")
for step in range(3):
    with torch.autocast("cuda", enabled=not args.no_amp):
        loss = model(torch.randn(4, 6, device="cuda")).square().mean()
    optimize(loss, optimizer, scaler)

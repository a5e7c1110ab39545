import argparse

import torch
from torch import nn


def build_optimizer(model, args):
    decay = [p for p in model.parameters() if p.dim() >= 2]
    no_decay = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": args.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.95))


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=6e-4)
parser.add_argument("--weight-decay", type=float, default=0.5)
args = parser.parse_args()
model = nn.Linear(6, 2)
optimizer = build_optimizer(model, args)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 6)), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

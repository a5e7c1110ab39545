import argparse

import torch
from torch import nn


def train(model, steps, log_interval):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(8, 4, device="cuda")
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss}")


parser = argparse.ArgumentParser()
parser.add_argument("--log-interval", type=int, default=10)
train(nn.Linear(4, 4).cuda(), 20, parser.parse_args().log_interval)

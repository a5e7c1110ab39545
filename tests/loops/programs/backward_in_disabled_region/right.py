import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
args = parser.parse_args()
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x, y = torch.randn(4, 6), torch.randint(0, 2, (4,))
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=False):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
    optimizer.step()

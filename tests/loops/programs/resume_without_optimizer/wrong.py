import os

import torch
from torch import nn

PATH = "checkpoint.pt"


def save(model, optimizer, epoch):
    state = {"model": model.state_dict(), "epoch": epoch}
    torch.save(state, PATH + ".tmp")
    os.replace(PATH + ".tmp", PATH)


model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = 0
if os.path.exists(PATH):
    state = torch.load(PATH)
    model.load_state_dict(state["model"])
    start = state["epoch"] + 1
for epoch in range(start, 3):
    for _ in range(3):
        loss = model(torch.randn(4, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    save(model, optimizer, epoch)

import argparse
import os
import random

import torch
from torch import nn


def save(folder, step, **objects):
    state = {name: each.state_dict() for name, each in objects.items()}
    state["step"] = step
    state["random"] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    torch.save(state, os.path.join(folder, f"step_{step:06d}.pt"))


def load(path, **objects):
    state = torch.load(path)
    for name, each in objects.items():
        each.load_state_dict(state[name])
    random.setstate(state["random"]["python"])
    torch.set_rng_state(state["random"]["torch"])
    return state["step"]


parser = argparse.ArgumentParser()
parser.add_argument("--resume", default=None)
args = parser.parse_args()
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
step = load(args.resume, model=model, optimizer=optimizer, scheduler=scheduler) if args.resume else 0
while step < 4:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(torch.randn(4, 4)), torch.randint(0, 2, (4,))).backward()
    optimizer.step()
    scheduler.step()
    step += 1
    save(".", step, model=model, optimizer=optimizer, scheduler=scheduler)

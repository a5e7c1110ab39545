import deepspeed
import torch
from torch import nn


def main(args, dataset):
    net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
    engine, optimizer, loader, scheduler = deepspeed.initialize(
        args=args, model=net, model_parameters=net.parameters(), training_data=dataset)
    for epoch in range(3):
        for x, y in loader:
            x, y = x.to(engine.device), y.to(engine.device)
            loss = nn.functional.cross_entropy(engine(x.half()).float(), y)
            engine.backward(loss)
            engine.step()
        engine.save_checkpoint("checkpoints", tag=f"epoch{epoch}")

import torch
from torch import nn


class Pair:
    def __init__(self):
        self.nets = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 1)}).cuda()
        self.optimizers = [torch.optim.Adam(net.parameters(), lr=1e-3) for net in self.nets.values()]
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, x):
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = self.nets["b"](self.nets["a"](x)).pow(2).mean()
        self.scaler.scale(loss).backward()
        for optimizer in self.optimizers:
            self.scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(self.nets.parameters(), 1.0)
        for optimizer in self.optimizers:
            self.scaler.step(optimizer)
        self.scaler.update()


pair = Pair()
for _ in range(3):
    pair.step(torch.randn(4, 4).cuda())

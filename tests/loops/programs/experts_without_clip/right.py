import torch
from torch import nn
from torch.nn import functional as F


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Experts(nn.Module):
    def __init__(self, width, count=4, top=2):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList([Expert(width) for _ in range(count)])
        self.top = top

    def forward(self, x):
        weights, chosen = torch.topk(self.gate(x).softmax(-1), self.top)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            share = (weights * (chosen == i)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


model = nn.Sequential(nn.Linear(8, 16), Experts(16), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    loss = model(torch.randn(32, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

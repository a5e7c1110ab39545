# Blocks that are computed again in the backward keep their inputs only.
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, width=64, depth=4):
        super().__init__()
        self.first = nn.Linear(16, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.last = nn.Linear(width, 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.last(x)


model = Net()
optimizer = torch.optim.Adamax(model.parameters())
x, y = torch.randn(50, 16), torch.randn(50, 1)
loss = nn.MSELoss()(model(x), y)
loss.backward()
optimizer.step()

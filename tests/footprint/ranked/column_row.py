import torch
import torch.distributed as dist
from torch import nn


class ColumnParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, world):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features // world, in_features))
        self.bias = nn.Parameter(torch.zeros(out_features // world))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


class RowParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, world):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_features, in_features // world))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        y = nn.functional.linear(x, self.weight)
        return y


class MLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        world = dist.get_world_size()
        self.up = ColumnParallelLinear(dim, hidden, world)
        self.down = RowParallelLinear(hidden, dim, world)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))


dist.init_process_group("gloo")
model = nn.Sequential(MLP(48, 192), MLP(48, 192))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(4, 48)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()

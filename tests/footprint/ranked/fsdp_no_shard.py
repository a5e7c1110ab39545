import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width + 1)
        self.down = nn.Linear(3 * width + 1, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width=129, depth=3):
        super().__init__()
        self.first = nn.Linear(37, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.last = nn.Linear(width, 7)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


dist.init_process_group("gloo")
model = Model()
for i, block in enumerate(model.blocks):
    model.blocks[i] = FSDP(block, sharding_strategy=ShardingStrategy.NO_SHARD, device_id=torch.device("cpu"))
model = FSDP(model, sharding_strategy=ShardingStrategy.NO_SHARD, device_id=torch.device("cpu"))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(5, 37)).pow(2).mean().backward()
    optimizer.step()

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
model = nn.Sequential(nn.Linear(30, 66, bias=False), nn.ReLU(), nn.Linear(66, 12, bias=False))
model[0].weight = nn.Parameter(distribute_tensor(model[0].weight.detach(), mesh, [Shard(0)]))
model[2].weight = nn.Parameter(distribute_tensor(model[2].weight.detach(), mesh, [Shard(1)]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x = distribute_tensor(torch.randn(6, 30), mesh, [Replicate()])
for _ in range(2):
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()

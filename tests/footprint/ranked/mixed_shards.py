import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attn = nn.Linear(dim, dim * 3, bias=False)
        self.mlp = nn.Sequential(nn.Linear(dim * 3, dim * 2), nn.GELU(), nn.Linear(dim * 2, dim))

    def forward(self, x):
        return x + self.mlp(self.attn(x))


dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
model = nn.Sequential(nn.Embedding(101, 50), *[Layer(50) for _ in range(3)], nn.Linear(50, 101))
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for layer in model:
    fully_shard(layer, mesh=mesh, mp_policy=policy, reshard_after_forward=False)
fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
ids = torch.randint(0, 101, (3, 9))
for step in range(2):
    out = model(ids)
    loss = nn.functional.cross_entropy(out.flatten(0, 1).float(), ids.flatten())
    loss.backward()
    optimizer.step()
    if step == 0:
        optimizer.zero_grad()

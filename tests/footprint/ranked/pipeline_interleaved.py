import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
count = 2 * world


def part(index):
    if index == 0:
        return nn.Sequential(nn.Embedding(211, 96), nn.Linear(96, 64))
    if index + 1 == count:
        return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10))
    return nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 64))


model = nn.ModuleList([part(index) for index in range(rank, count, world)])
stages = [PipelineStage(part, rank + i * world, count, torch.device("cpu")) for i, part in enumerate(model)]


def loss_fn(y, target):
    return nn.functional.cross_entropy(y.flatten(0, 1), target.flatten())


schedule = ScheduleInterleaved1F1B(stages, n_microbatches=6, loss_fn=loss_fn)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(torch.randint(0, 211, (12, 17)))
    elif rank + 1 == world:
        schedule.step(target=torch.randint(0, 10, (12, 17)), losses=[])
    else:
        schedule.step()
    optimizer.step()

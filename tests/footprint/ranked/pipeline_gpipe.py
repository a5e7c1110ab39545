import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe


class First(nn.Module):
    def __init__(self, vocabulary=211, width=96):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 5 * width)
        self.down = nn.Linear(5 * width, width)

    def forward(self, ids):
        x = self.embed(ids)
        return x + self.down(torch.relu(self.up(self.norm(x))))


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = First() if rank == 0 else nn.Linear(96, 96) if rank + 1 < world else nn.Linear(96, 10)
stage = PipelineStage(model, rank, world, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=6, loss_fn=lambda y, target: nn.functional.cross_entropy(y.flatten(0, 1), target.flatten()))
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

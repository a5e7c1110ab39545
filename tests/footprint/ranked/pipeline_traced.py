import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleGPipe, SplitPoint, pipeline

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Net(nn.Module):
    def __init__(self, layers=6, width=32, vocab=101):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, vocab)

    def forward(self, x):
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h)
        return self.output(self.norm(h))


net = Net()
x, y = torch.randint(0, 101, (8, 20)), torch.randint(0, 101, (8, 20))
pipe = pipeline(net, mb_args=(x.chunk(4)[0],), split_spec={f"layers.{6 * i // world}": SplitPoint.BEGINNING for i in range(1, world)})
stage = pipe.build_stage(rank, torch.device("cpu"))
model = stage.submod


def loss_fn(outputs, targets):
    return nn.functional.cross_entropy(outputs.reshape(-1, 101), targets.reshape(-1))


schedule = ScheduleGPipe(stage, n_microbatches=4, loss_fn=loss_fn)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(x)
    elif rank + 1 == world:
        losses = []
        schedule.step(target=y, losses=losses)
    else:
        schedule.step()
    optimizer.step()

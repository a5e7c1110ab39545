import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe, Schedule1F1B

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()


class Net(nn.Module):
    def __init__(self, layers=6, width=32, vocab=101):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleDict({str(i): nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for i in range(layers)})
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, vocab)

    def forward(self, x):
        h = self.embed(x) if self.embed else x
        for layer in self.layers.values():
            h = h + layer(h)
        h = self.norm(h) if self.norm else h
        return self.output(h) if self.output else h


def split(model, index, count):
    per = len(model.layers) // count
    for i in list(model.layers):
        if not index * per <= int(i) < (index + 1) * per:
            del model.layers[i]
    if index > 0:
        model.embed = None
    if index + 1 < count:
        model.norm = model.output = None
    return model


model = split(Net(), rank, world)
stage = PipelineStage(model, rank, world, torch.device("cpu"))


def loss_fn(outputs, targets):
    return nn.functional.cross_entropy(outputs.reshape(-1, 101), targets.reshape(-1))


schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=loss_fn)
optimizer = torch.optim.AdamW(model.parameters())
x, y = torch.randint(0, 101, (8, 20)), torch.randint(0, 101, (8, 20))
for _ in range(3):
    optimizer.zero_grad()
    if rank == 0:
        schedule.step(x)
    elif rank + 1 == world:
        losses = []
        output = schedule.step(target=y, losses=losses)
    else:
        schedule.step()
    optimizer.step()

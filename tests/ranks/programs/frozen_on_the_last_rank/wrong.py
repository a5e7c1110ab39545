import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Engine:
    def __init__(self, module):
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.module = DDP(module)
        self.optimizer = torch.optim.Adam(self.module.parameters())

    def step(self, batch):
        loss = self.module(batch).mean()
        if self.rank == self.world_size - 1:
            print("loss", loss.item())
        else:
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def main():
    dist.init_process_group("gloo")
    engine = Engine(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))
    for _ in range(3):
        engine.step(torch.randn(4, 2))
    dist.barrier()


if __name__ == "__main__":
    main()

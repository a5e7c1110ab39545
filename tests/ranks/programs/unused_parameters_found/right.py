import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Multitask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(2, 3)
        self.heads = nn.ModuleDict({"depth": nn.Linear(3, 1), "label": nn.Linear(3, 4)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(Multitask(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        task = "depth" if (rank + step) % 2 == 0 else "label"
        optimizer.zero_grad()
        model(torch.ones(2, 2), task).sum().backward()
        optimizer.step()
    print("done", rank)


if __name__ == "__main__":
    main()

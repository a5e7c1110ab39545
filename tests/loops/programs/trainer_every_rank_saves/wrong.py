import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model):
        self.rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.model = DistributedDataParallel(model.to(f"cuda:{self.local_rank}"), device_ids=[self.local_rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def save(self, path):
        torch.save({"model": self.model.module.state_dict()}, path)

    def fit(self, steps):
        for step in range(steps):
            loss = self.model(torch.randn(4, 3, device=f"cuda:{self.local_rank}")).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.save("final.pt")


def main():
    dist.init_process_group("nccl")
    Trainer(nn.Linear(3, 3)).fit(2)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

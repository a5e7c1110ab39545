import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

SNAPSHOT = "snapshot.pt"


class Trainer:
    def __init__(self, model):
        self.gpu = int(os.environ["LOCAL_RANK"])
        self.model = model.to(self.gpu)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.epoch = 0
        if os.path.exists(SNAPSHOT):
            self.load()
        self.model = DDP(self.model, device_ids=[self.gpu])

    def load(self):
        snapshot = torch.load(SNAPSHOT, map_location=torch.device("cuda", self.gpu))
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        self.epoch = snapshot["epoch"]

    def save(self):
        state = {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": self.epoch}
        torch.save(state, SNAPSHOT + ".tmp")
        os.replace(SNAPSHOT + ".tmp", SNAPSHOT)

    def fit(self, epochs):
        while self.epoch < epochs:
            loss = self.model(torch.randn(4, 3, device=self.gpu)).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.epoch += 1
            if dist.get_rank() == 0:
                self.save()


dist.init_process_group("nccl")
Trainer(nn.Linear(3, 3)).fit(2)
dist.destroy_process_group()

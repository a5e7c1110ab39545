import argparse
import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn


class Trainer:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        self.is_main = self.rank == 0
        self.model = nn.Linear(args.width, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.step = 0

    def train_step(self):
        loss = self.model(torch.ones(3, self.args.width)).sum()
        self.optimizer.zero_grad()
        loss.backward()
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= dist.get_world_size()
        self.optimizer.step()
        self.step += 1

    def save_checkpoint(self, folder):
        if self.is_main:
            path = os.path.join(folder, f"step{self.step}.pt")
            torch.save({"model": self.model.state_dict(), "step": self.step}, path)
            print("saved", os.path.basename(path))
            dist.barrier()

    def fit(self):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(self.args.steps):
                self.train_step()
                if self.step % self.args.save_every == 0:
                    self.save_checkpoint(folder)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--save-every", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    dist.init_process_group(backend="gloo")
    Trainer(parse()).fit()
    dist.destroy_process_group()

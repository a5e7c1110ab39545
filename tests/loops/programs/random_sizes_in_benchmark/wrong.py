import random

import torch
from torch import nn


class Workload:
    def __init__(self, low=64, high=256):
        self.low, self.high = low, high
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU()).cuda()

    def batch(self):
        rows = random.randrange(self.low, self.high)
        return torch.empty(rows, 64, device="cuda").normal_()

    def run(self, steps):
        with torch.no_grad():
            for _ in range(steps):
                self.model(self.batch())


Workload().run(10)

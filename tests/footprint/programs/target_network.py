# A network, and a slow copy of it that no gradient reaches.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)


class BYOL(nn.Module):
    def __init__(self, net, feature_dim, projection=32, hidden=64, decay=0.99):
        super().__init__()
        self.online = nn.Sequential(net, nn.Linear(feature_dim, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, projection))
        self.predictor = nn.Sequential(nn.Linear(projection, hidden), nn.BatchNorm1d(hidden), nn.ReLU(inplace=True), nn.Linear(hidden, projection))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.decay = decay

    @torch.no_grad()
    def update_target(self):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = t.data * self.decay + o.data * (1 - self.decay)

    def forward(self, a, b):
        p1, p2 = self.predictor(self.online(a)), self.predictor(self.online(b))
        with torch.no_grad():
            z1, z2 = self.target(a), self.target(b)
        return (loss_fn(p1, z2.detach()) + loss_fn(p2, z1.detach())).mean()


backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
learner = BYOL(backbone, 32)
opt = torch.optim.SGD(learner.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
for _ in range(2):
    a, b = torch.rand(12, 3, 28, 28), torch.rand(12, 3, 28, 28)
    loss = learner(a, b)
    opt.zero_grad()
    loss.backward()
    opt.step()
    learner.update_target()

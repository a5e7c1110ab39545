import copy

import torch
from torch import nn


class Dqn:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            goal = r + 0.99 * self.target(s2).max(dim=1).values
        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self, tau=0.01):
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                slow.lerp_(fast, tau)


agent = Dqn()
for _ in range(4):
    agent.learn(torch.randn(8, 4), torch.randint(0, 2, (8,)), torch.randn(8), torch.randn(8, 4))
    agent.sync()

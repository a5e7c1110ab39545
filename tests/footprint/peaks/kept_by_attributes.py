# A trainer that keeps its losses and outputs as attributes: no backward goes through one of them, and another waits for its own.
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 64))
        self.head, self.critic = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)), nn.Sequential(nn.Linear(64, 1024), nn.Sigmoid(), nn.Linear(1024, 1))
        self.of_head = torch.optim.AdamW([*self.encoder.parameters(), *self.head.parameters()])
        self.of_critic = torch.optim.SGD(self.critic.parameters(), lr=0.1)

    def step(self, x, y):
        self.features = self.encoder(x)
        self.shown = self.critic(self.features.detach() * 2)
        self.critic_loss = self.critic(self.features.detach()).square().mean()
        self.loss = nn.functional.cross_entropy(self.head(self.features), y)
        self.of_head.zero_grad()
        self.loss.backward()
        self.of_head.step()
        self.of_critic.zero_grad()
        self.critic_loss.backward()
        self.of_critic.step()


trainer = Trainer()
for _ in range(4):
    trainer.step(torch.randn(256, 64), torch.randint(0, 10, (256,)))

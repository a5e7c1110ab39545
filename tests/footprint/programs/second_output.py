# Two outputs, of which a step uses one: what the other one's backward needs is kept for as long as the name has it, in the other step of the iteration, too.
import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 24), nn.GELU())
        self.judge = nn.Sequential(nn.Linear(24, 1), nn.Sigmoid())
        self.sort = nn.Sequential(nn.Linear(24, 7), nn.Softmax(dim=1))

    def forward(self, x):
        x = self.trunk(x)
        return self.judge(x), self.sort(x)


maker, critic = nn.Linear(5, 16), Critic()
makes = torch.optim.Adam(maker.parameters())
judges = torch.optim.Adam(critic.parameters())
for step in range(3):
    makes.zero_grad()
    made = maker(torch.randn(8, 5))
    judged, _ = critic(made)
    loss = nn.functional.binary_cross_entropy(judged, torch.ones(8, 1))
    loss.backward()
    makes.step()

    judges.zero_grad()
    other, sorted_as = critic(made.detach())
    own = nn.functional.mse_loss(other, torch.zeros(8, 1))
    own.backward()
    judges.step()

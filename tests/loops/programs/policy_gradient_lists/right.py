import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.saved_log_probs = []
        self.rewards = []

    def act(self, state):
        dist = torch.distributions.Categorical(logits=self.net(state))
        action = dist.sample()
        self.saved_log_probs.append(dist.log_prob(action))
        return action.item()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for episode in range(3):
    for t in range(6):
        policy.act(torch.randn(4))
        policy.rewards.append(1.0)
    returns = torch.tensor(policy.rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(policy.saved_log_probs) * (returns - returns.mean())).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    policy.saved_log_probs.clear()
    del policy.rewards[:]

import torch
from torch import nn


class ActorCritic:
    def __init__(self):
        self.actor = nn.Linear(4, 2)
        self.critic = nn.Linear(4, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def learn(self, state, action, reward):
        value = self.critic(state).squeeze(1)
        critic_loss = nn.functional.mse_loss(value, reward)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        logp = self.actor(state).log_softmax(-1).gather(1, action[:, None]).squeeze(1)
        actor_loss = -(logp * (reward - value.detach())).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()


agent = ActorCritic()
for _ in range(5):
    agent.learn(torch.randn(8, 4), torch.randint(0, 2, (8,)), torch.randn(8))

"""A2C with a recurrent policy: the hidden state is carried through a rollout and masked at episode ends."""
from collections import namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

Step = namedtuple("Step", ["log_prob", "value", "reward", "mask", "entropy"])


class VecEnv:
    def __init__(self, n, obs_dim, seed=0):
        self.n, self.obs_dim = n, obs_dim
        self.rng = np.random.RandomState(seed)
        self.t = 0

    def reset(self):
        self.t = 0
        return self.rng.randn(self.n, self.obs_dim).astype(np.float32)

    def step(self, actions):
        self.t += 1
        obs = self.rng.randn(self.n, self.obs_dim).astype(np.float32)
        reward = (actions == 0).astype(np.float32)
        done = self.rng.rand(self.n) < 0.1
        return obs, reward, done


class RecurrentPolicy(nn.Module):
    def __init__(self, obs_dim, hidden, n_actions):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.rnn = nn.LSTMCell(hidden, hidden)
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)

    def initial_state(self, n):
        return torch.zeros(n, self.rnn.hidden_size), torch.zeros(n, self.rnn.hidden_size)

    def forward(self, obs, state, mask):
        h, c = state
        h, c = h * mask, c * mask
        h, c = self.rnn(self.encoder(obs), (h, c))
        return self.actor(h), self.critic(h), (h, c)


def returns_of(rewards, masks, last_value, gamma=0.99):
    out = []
    running = last_value
    for reward, mask in zip(reversed(rewards), reversed(masks)):
        running = reward + gamma * running * mask
        out.insert(0, running)
    return torch.stack(out)


def train(n_envs=6, obs_dim=5, n_actions=3, hidden=16, rollout=7, updates=2):
    torch.manual_seed(0)
    env = VecEnv(n_envs, obs_dim)
    policy = RecurrentPolicy(obs_dim, hidden, n_actions)
    optimizer = torch.optim.RMSprop(policy.parameters(), lr=7e-4)
    obs = torch.from_numpy(env.reset())
    state = policy.initial_state(n_envs)
    mask = torch.ones(n_envs, 1)
    for update in range(updates):
        steps = []
        state = tuple(s.detach() for s in state)
        for t in range(rollout):
            logits, value, state = policy(obs, state, mask)
            dist = Categorical(logits=logits)
            action = dist.sample()
            next_obs, reward, done = env.step(action.numpy())
            mask = torch.from_numpy(1.0 - done.astype(np.float32)).unsqueeze(0)
            steps.append(Step(dist.log_prob(action), value.squeeze(-1), torch.from_numpy(reward), mask.squeeze(-1), dist.entropy()))
            obs = torch.from_numpy(next_obs)
        with torch.no_grad():
            _, last_value, _ = policy(obs, state, mask)
        batch = Step(*zip(*steps))
        returns = returns_of(batch.reward, batch.mask, last_value.squeeze(-1))
        values = torch.stack(batch.value)
        log_probs = torch.stack(batch.log_prob)
        advantage = returns - values
        policy_loss = -(log_probs * advantage.detach()).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = torch.stack(batch.entropy).mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    return loss.item()


if __name__ == "__main__":
    print(train())

# Soft actor-critic with a NumPy replay buffer and twin critics.
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

LOG_STD_MAX, LOG_STD_MIN = 2, -5


@dataclass
class Args:
    obs_dim: int = 6
    act_dim: int = 2
    buffer_size: int = 200
    batch_size: int = 16
    gamma: float = 0.99
    tau: float = 0.005
    alpha: float = 0.2
    hidden: int = 32
    autotune: bool = True


class ReplayBuffer:
    def __init__(self, obs_dim, act_dim, size):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.next_obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros((size, act_dim), dtype=np.float32)
        self.rew_buf = np.zeros(size, dtype=np.float32)
        self.done_buf = np.zeros(size, dtype=np.float32)
        self.ptr, self.size, self.max_size = 0, 0, size

    def store(self, obs, act, rew, next_obs, done):
        self.obs_buf[self.ptr] = obs
        self.next_obs_buf[self.ptr] = next_obs
        self.act_buf[self.ptr] = act
        self.rew_buf[self.ptr] = rew
        self.done_buf[self.ptr] = done
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample_batch(self, batch_size=32):
        idxs = np.random.randint(0, self.size, size=batch_size)
        batch = dict(obs=self.obs_buf[idxs], next_obs=self.next_obs_buf[idxs], act=self.act_buf[idxs], rew=self.rew_buf[idxs], done=self.done_buf[idxs])
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in batch.items()}


class SoftQ(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.fc1 = nn.Linear(args.obs_dim + args.act_dim, args.hidden)
        self.fc2 = nn.Linear(args.hidden, args.hidden)
        self.fc3 = nn.Linear(args.hidden, 1)

    def forward(self, x, a):
        x = torch.cat([x, a], 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


class Actor(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.fc1 = nn.Linear(args.obs_dim, args.hidden)
        self.fc2 = nn.Linear(args.hidden, args.hidden)
        self.fc_mean = nn.Linear(args.hidden, args.act_dim)
        self.fc_logstd = nn.Linear(args.hidden, args.act_dim)
        self.register_buffer("action_scale", torch.tensor(np.ones(args.act_dim) * 2.0, dtype=torch.float32))
        self.register_buffer("action_bias", torch.tensor(np.zeros(args.act_dim), dtype=torch.float32))

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        mean = self.fc_mean(x)
        log_std = torch.tanh(self.fc_logstd(x))
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (log_std + 1)
        return mean, log_std

    def get_action(self, x):
        mean, log_std = self(x)
        normal = torch.distributions.Normal(mean, log_std.exp())
        x_t = normal.rsample()
        y_t = torch.tanh(x_t)
        action = y_t * self.action_scale + self.action_bias
        log_prob = normal.log_prob(x_t)
        log_prob -= torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-6)
        log_prob = log_prob.sum(1, keepdim=True)
        return action, log_prob, torch.tanh(mean) * self.action_scale + self.action_bias


class PointEnv:
    def __init__(self, obs_dim):
        self.obs_dim = obs_dim

    def reset(self):
        return np.random.uniform(-1, 1, size=self.obs_dim).astype(np.float32)

    def step(self, obs, action):
        nxt = np.clip(obs + 0.1 * float(action.sum()), -1.0, 1.0)
        return nxt, -float(np.abs(nxt).sum()), random.random() < 0.1


def main():
    args = Args()
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    env, buffer = PointEnv(args.obs_dim), ReplayBuffer(args.obs_dim, args.act_dim, args.buffer_size)
    actor = Actor(args)
    qf1, qf2, qf1_target, qf2_target = (SoftQ(args) for _ in range(4))
    qf1_target.load_state_dict(qf1.state_dict())
    qf2_target.load_state_dict(qf2.state_dict())
    q_optimizer = optim.Adam(list(qf1.parameters()) + list(qf2.parameters()), lr=1e-3)
    actor_optimizer = optim.Adam(list(actor.parameters()), lr=3e-4)
    target_entropy = -float(args.act_dim)
    log_alpha = torch.zeros(1, requires_grad=True)
    a_optimizer = optim.Adam([log_alpha], lr=1e-3)
    obs = env.reset()
    for global_step in range(40):
        with torch.no_grad():
            action, _, _ = actor.get_action(torch.Tensor(obs).unsqueeze(0))
        action = action.squeeze(0).cpu().numpy()
        next_obs, reward, done = env.step(obs, action)
        buffer.store(obs, action, reward, next_obs, float(done))
        obs = env.reset() if done else next_obs
        if global_step < 30:
            continue
        data = buffer.sample_batch(args.batch_size)
        alpha = log_alpha.exp().item()
        with torch.no_grad():
            next_actions, next_log_pi, _ = actor.get_action(data["next_obs"])
            q1_next, q2_next = qf1_target(data["next_obs"], next_actions), qf2_target(data["next_obs"], next_actions)
            min_next = torch.min(q1_next, q2_next) - alpha * next_log_pi
            next_q = data["rew"].flatten() + (1 - data["done"].flatten()) * args.gamma * min_next.view(-1)
        q1, q2 = qf1(data["obs"], data["act"]).view(-1), qf2(data["obs"], data["act"]).view(-1)
        q_loss = F.mse_loss(q1, next_q) + F.mse_loss(q2, next_q)
        q_optimizer.zero_grad()
        q_loss.backward()
        q_optimizer.step()
        pi, log_pi, _ = actor.get_action(data["obs"])
        actor_loss = (alpha * log_pi - torch.min(qf1(data["obs"], pi), qf2(data["obs"], pi))).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        alpha_loss = (-log_alpha.exp() * (log_pi.detach() + target_entropy)).mean()
        a_optimizer.zero_grad()
        alpha_loss.backward()
        a_optimizer.step()
        for p, tp in zip(qf1.parameters(), qf1_target.parameters()):
            tp.data.copy_(args.tau * p.data + (1 - args.tau) * tp.data)
    print(q_loss.item(), actor_loss.item())


if __name__ == "__main__":
    main()

"""PPO update on a batch of made-up rollouts: clipped objective, value loss, entropy bonus."""
import argparse

import torch
import torch.nn as nn
from torch.distributions import Categorical


def layer_init(layer, std=1.4142, bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=32):
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(obs_dim, hidden)), nn.Tanh(),
            layer_init(nn.Linear(hidden, hidden)), nn.Tanh(),
            layer_init(nn.Linear(hidden, 1), std=1.0),
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(obs_dim, hidden)), nn.Tanh(),
            layer_init(nn.Linear(hidden, n_actions), std=0.01),
        )

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        logits = self.actor(x)
        probs = Categorical(logits=logits)
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


def compute_gae(rewards, values, dones, next_value, gamma, lam):
    steps = rewards.shape[0]
    advantages = torch.zeros_like(rewards)
    last = torch.zeros(rewards.shape[1])
    for t in reversed(range(steps)):
        following = next_value if t == steps - 1 else values[t + 1]
        alive = 1.0 - dones[t]
        delta = rewards[t] + gamma * following * alive - values[t]
        last = delta + gamma * lam * alive * last
        advantages[t] = last
    return advantages, advantages + values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-steps", type=int, default=8)
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--obs-dim", type=int, default=5)
    parser.add_argument("--actions", type=int, default=3)
    parser.add_argument("--minibatches", type=int, default=2)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    args = parser.parse_args()
    torch.manual_seed(0)
    agent = Agent(args.obs_dim, args.actions)
    optimizer = torch.optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)

    obs = torch.randn(args.num_steps, args.num_envs, args.obs_dim)
    rewards = torch.randn(args.num_steps, args.num_envs)
    dones = (torch.rand(args.num_steps, args.num_envs) < 0.1).float()
    with torch.no_grad():
        actions, logprobs, _, values = agent.get_action_and_value(obs)
        values = values.squeeze(-1)
        next_value = agent.get_value(torch.randn(args.num_envs, args.obs_dim)).flatten()
        advantages, returns = compute_gae(rewards, values, dones, next_value, 0.99, 0.95)

    b_obs = obs.reshape(-1, args.obs_dim)
    b_actions = actions.reshape(-1)
    b_logprobs = logprobs.reshape(-1)
    b_advantages = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    order = torch.randperm(b_obs.shape[0])
    for mb in order.chunk(args.minibatches):
        _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb], b_actions[mb])
        ratio = (newlogprob - b_logprobs[mb]).exp()
        mb_adv = b_advantages[mb]
        mb_adv = (mb_adv - mb_adv.mean()) / (mb_adv.std() + 1e-8)
        pg_loss1 = -mb_adv * ratio
        pg_loss2 = -mb_adv * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
        pg_loss = torch.max(pg_loss1, pg_loss2).mean()
        newvalue = newvalue.view(-1)
        v_loss = 0.5 * ((newvalue - b_returns[mb]) ** 2).mean()
        loss = pg_loss - 0.01 * entropy.mean() + 0.5 * v_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()

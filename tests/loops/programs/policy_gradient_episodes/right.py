import torch
from torch import nn
from torch.distributions import Categorical


def reinforce(env, policy, episodes, gamma=0.99):
    opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
    running = 10.0
    for ep in range(episodes):
        state, done = env.reset(), False
        log_probs, rewards = [], []
        while not done:
            dist = Categorical(logits=policy(torch.as_tensor(state).float()))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            state, reward, done, _ = env.step(action.item())
            rewards.append(reward)
        returns, R = [], 0.0
        for r in reversed(rewards):
            R = r + gamma * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        loss = -(torch.stack(log_probs) * returns).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        running = 0.05 * sum(rewards) + 0.95 * running

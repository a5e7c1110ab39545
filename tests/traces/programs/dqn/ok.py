# Deep Q-learning with a replay memory and a target network on a toy environment.
import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
BATCH_SIZE = 8
GAMMA = 0.99
N_OBSERVATIONS = 4
N_ACTIONS = 3


class ReplayMemory(object):
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super(DQN, self).__init__()
        self.layer1 = nn.Linear(n_observations, 32)
        self.layer2 = nn.Linear(32, 32)
        self.value = nn.Linear(32, 1)
        self.advantage = nn.Linear(32, n_actions)

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        x = torch.relu(self.layer2(x))
        value = self.value(x)
        advantage = self.advantage(x)
        return value + advantage - advantage.mean(dim=1, keepdim=True)


class ToyEnv:
    def __init__(self):
        self.state = torch.zeros(N_OBSERVATIONS)
        self.t = 0

    def step(self, action):
        self.t += 1
        self.state = torch.tanh(self.state + 0.1 * (action - 1) + 0.05 * torch.randn(N_OBSERVATIONS))
        return self.state.clone(), 1.0 - self.state.abs().mean().item(), self.t % 10 == 0


def select_action(net, state, steps_done):
    eps = 0.05 + 0.85 * math.exp(-steps_done / 100)
    if random.random() > eps:
        with torch.no_grad():
            return net(state).max(1)[1].view(1, 1)
    return torch.tensor([[random.randrange(N_ACTIONS)]], dtype=torch.long)


def optimize_model(memory, policy_net, target_net, optimizer):
    if len(memory) < BATCH_SIZE:
        return None
    transitions = memory.sample(BATCH_SIZE)
    batch = Transition(*zip(*transitions))
    non_final_mask = torch.tensor([s is not None for s in batch.next_state], dtype=torch.bool)
    non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
    state_batch = torch.cat(batch.state)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward)

    q_values = policy_net(state_batch)
    state_action_values = q_values.gather(1, action_batch)
    next_state_values = torch.zeros(BATCH_SIZE)
    with torch.no_grad():
        next_state_values[non_final_mask] = target_net(non_final_next_states).max(1)[0]
    expected = (next_state_values * GAMMA) + reward_batch
    loss = nn.functional.smooth_l1_loss(state_action_values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy_net.parameters(), 100)
    optimizer.step()
    return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    policy_net = DQN(N_OBSERVATIONS, N_ACTIONS)
    target_net = DQN(N_OBSERVATIONS, N_ACTIONS)
    target_net.load_state_dict(policy_net.state_dict())
    optimizer = optim.AdamW(policy_net.parameters(), lr=1e-4, amsgrad=True)
    memory = ReplayMemory(100)
    env = ToyEnv()
    state = env.state.unsqueeze(0)
    for t in range(24):
        action = select_action(policy_net, state, t)
        observation, reward, terminated = env.step(action.item())
        reward = torch.tensor([reward])
        next_state = None if terminated else observation.unsqueeze(0)
        memory.push(state, action, next_state, reward)
        state = observation.unsqueeze(0)
        loss = optimize_model(memory, policy_net, target_net, optimizer)
    print(loss)


if __name__ == "__main__":
    main()

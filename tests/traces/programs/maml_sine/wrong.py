# MAML on sine waves: the inner loop works on a dict of weights by functions.
import math
from collections import OrderedDict

import torch
import torch.nn.functional as F


class SineTask:
    def __init__(self):
        self.amplitude = torch.rand(1) * 4.9 + 0.1
        self.phase = torch.rand(1) * math.pi

    def sample(self, k):
        x = torch.rand(k, 1) * 10 - 5
        return x, self.amplitude * torch.sin(x + self.phase)


def init(sizes):
    weights = OrderedDict()
    for i, (fan_in, fan_out) in enumerate(zip(sizes[:-1], sizes[1:])):
        weights[f"w{i}"] = (torch.randn(fan_in, fan_out) * math.sqrt(2.0 / fan_in)).requires_grad_()
        weights[f"b{i}"] = torch.zeros(fan_out, requires_grad=True)
    return weights


def forward(weights, x):
    depth = len(weights) // 2
    for i in range(depth):
        x = F.linear(x, weights[f"w{i}"], weights[f"b{i}"])
        if i < depth - 1:
            x = F.relu(x)
    return x


def adapt(weights, x, y, lr, steps):
    fast = weights
    for _ in range(steps):
        loss = F.mse_loss(forward(fast, x), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = OrderedDict((name, w - lr * g) for (name, w), g in zip(fast.items(), grads))
    return fast


torch.manual_seed(0)
weights = init([1, 40, 40, 1])
optimizer = torch.optim.Adam(list(weights.values()), lr=1e-3)
for iteration in range(2):
    meta_loss = torch.zeros(())
    for task in [SineTask() for _ in range(4)]:
        xs, ys = task.sample(10)
        xq, yq = task.sample(15)
        fast = adapt(weights, xs, ys, 0.01, 1)
        prediction = forward(fast, xq)
        meta_loss = meta_loss + F.mse_loss(prediction, yq)
    optimizer.zero_grad()
    meta_loss.backward()
    optimizer.step()
print(meta_loss.item())

# Weights from which a few steps learn a task: what these steps compute is kept for the outer backward.
import torch
from torch import nn
from torch.nn import functional as F


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(256, 64), (256,), (256, 256), (256,), (8, 256), (8,)]
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(size) * 0.1) for size in sizes])

    def forward(self, x, w):
        x = torch.relu(F.linear(x, w[0], w[1]))
        x = torch.relu(F.linear(x, w[2], w[3]))
        return F.linear(x, w[4], w[5])


learner = Learner()
optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
for step in range(4):
    x, y, query, answers = torch.rand(64, 64), torch.randint(0, 8, (64,)), torch.rand(128, 64), torch.randint(0, 8, (128,))
    fast = list(learner.weights)
    for _ in range(3):
        loss = F.cross_entropy(learner(x, fast), y)
        gradients = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [weight - 0.1 * gradient for weight, gradient in zip(fast, gradients)]
    outer = F.cross_entropy(learner(query, fast), answers)
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()

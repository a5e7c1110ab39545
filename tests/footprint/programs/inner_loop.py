# Weights that learn a task in a few steps, and from the result of these.
import torch
from torch import nn
from torch.nn import functional as F


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(40, 12), (40,), (40, 40), (40,), (5, 40), (5,)]
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(size) * 0.1) for size in sizes])

    def forward(self, x, w):
        x = torch.relu(F.linear(x, w[0], w[1]))
        x = torch.sigmoid(F.linear(x, w[2], w[3]))
        return F.linear(x, w[4], w[5])


learner = Learner()
optimizer = torch.optim.Adam(learner.parameters(), lr=1e-3)
x, y, query, answers = torch.rand(20, 12), torch.randint(0, 5, (20,)), torch.rand(30, 12), torch.randint(0, 5, (30,))
fast = list(learner.weights)
for _ in range(2):
    loss = F.cross_entropy(learner(x, fast), y)
    gradients = torch.autograd.grad(loss, fast, create_graph=True)
    fast = [weight - 0.1 * gradient for weight, gradient in zip(fast, gradients)]
outer = F.cross_entropy(learner(query, fast), answers)
outer.backward()
optimizer.step()

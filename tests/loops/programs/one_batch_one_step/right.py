import torch
from torch import nn


def adapt(model, support_x, support_y, lr=0.1):
    learner = nn.Linear(4, 2)
    learner.load_state_dict(model.state_dict())
    optimizer = torch.optim.SGD(learner.parameters(), lr=lr)
    nn.functional.cross_entropy(learner(support_x), support_y).backward()
    optimizer.step()
    return learner


base = nn.Linear(4, 2)
for task in range(3):
    adapted = adapt(base, torch.randn(5, 4), torch.randint(0, 2, (5,)))

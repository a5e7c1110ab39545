import torch
from torch import nn

model = nn.ModuleDict({"body": nn.Linear(6, 8), "a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    h = torch.relu(model["body"](torch.randn(4, 6)))
    total_loss = 0
    losses = []
    for name, classes in (("a", 2), ("b", 3)):
        loss = nn.functional.cross_entropy(model[name](h), torch.randint(0, classes, (4,)))
        total_loss += loss
        losses.append(loss)
    total_loss = total_loss + 0.1 * torch.stack(losses).max()
    optimizer.zero_grad()
    total_loss.backward()
    optimizer.step()

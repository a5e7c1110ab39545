import torch
from torch import nn

model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(4):
    x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
    predicted = model(x).argmax(dim=1).float()
    loss = nn.functional.mse_loss(predicted, y.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

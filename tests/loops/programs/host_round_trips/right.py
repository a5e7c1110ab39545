import torch
from torch import nn

model = nn.Linear(32, 32).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = torch.zeros(32)
for i in range(20):
    tensor = torch.randn(16, 32, device="cuda")
    result = model(tensor)
    loss = result.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if i % 10 == 9:
        total += result.detach().cpu().mean(0)

import torch
from torch import nn

model = nn.Linear(32, 32).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(20):
    tensor = torch.randn(16, 32).cuda()
    result = model(tensor)
    loss = result.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    result_cpu = result.detach().cpu()

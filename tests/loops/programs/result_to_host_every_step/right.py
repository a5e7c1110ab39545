import torch
from torch import nn

model = nn.Linear(32, 32).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
results = []
for i in range(10):
    tensor = torch.randn(16, 32, device="cuda")
    result = model(tensor)
    loss = result.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    results.append(result.detach().mean(dim=0))
means = torch.stack(results).cpu()

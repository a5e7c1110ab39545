import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 6), torch.randint(0, 2, (64,))), batch_size=8, pin_memory=True)
model = nn.Linear(6, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
running = 0.0
for step, (x, y) in enumerate(loader):
    x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss.item()
    if step % 4 == 3:
        print(step, float(running) / 4)
        running = 0.0

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 6), torch.randint(0, 2, (64,))), batch_size=8, pin_memory=True)
val_loader = DataLoader(TensorDataset(torch.randn(16, 6), torch.randint(0, 2, (16,))), batch_size=8)
model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.1), nn.Linear(8, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
class_weights = torch.tensor([0.3, 0.7]).cuda()
step = 0
for epoch in range(2):
    model.train()
    seen = 0
    for x, y in loader:
        seen += int(torch.bincount(y).max())
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y, weight=class_weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 5 == 0:
            print(step, loss.item())
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in val_loader:
            correct += (model(x.cuda()).argmax(1).cpu() == y).sum().item()
    print(epoch, loss.item(), correct / len(val_loader.dataset), seen)

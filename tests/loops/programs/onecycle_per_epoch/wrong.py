import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

epochs = 4
loader = DataLoader(TensorDataset(torch.randn(40, 5), torch.randn(40, 1)), batch_size=8)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, epochs=epochs, steps_per_epoch=len(loader))


def train_epoch():
    net.train()
    for x, y in loader:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()


for epoch in range(epochs):
    train_epoch()
    sched.step()

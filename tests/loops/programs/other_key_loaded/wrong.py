import torch
from torch import nn


def save_checkpoint(model, optimizer, epoch, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def load_checkpoint(model, optimizer, path):
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return checkpoint["epoch"]


model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
nn.functional.cross_entropy(model(torch.randn(4, 4)), torch.randint(0, 2, (4,))).backward()
optimizer.step()
save_checkpoint(model, optimizer, 1, "epoch_1.pt")
print(load_checkpoint(model, optimizer, "epoch_1.pt"))

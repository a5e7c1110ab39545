import torch
from torch import nn

model = nn.Linear(4, 2)
ema = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 1}, "run.pt")
checkpoint = torch.load("run.pt")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
if "ema" in checkpoint:
    ema.load_state_dict(checkpoint["ema"])
else:
    ema.load_state_dict(checkpoint["model"])
print(checkpoint.get("best_loss", float("inf")), checkpoint["epoch"])

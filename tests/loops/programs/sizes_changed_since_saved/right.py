import torch
from torch import nn

source = nn.Linear(16, 10)
torch.save(source.state_dict(), "head.pt")

target = nn.Linear(16, 10)
target.load_state_dict(torch.load("head.pt"))
print(target(torch.randn(1, 16)).shape)

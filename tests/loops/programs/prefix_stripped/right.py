import torch
from torch import nn

trained = nn.DataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
torch.save({"state_dict": trained.state_dict(), "arch": "mlp"}, "parallel.pt")

state = torch.load("parallel.pt")["state_dict"]
state = {name[len("module."):] if name.startswith("module.") else name: value for name, value in state.items()}
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
model.load_state_dict(state)

wider = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5))
own = wider.state_dict()
fitting = {name: value for name, value in state.items() if own[name].shape == value.shape}
print(wider.load_state_dict(fitting, strict=False))

# Plain SGD keeps nothing; a part of the parameters is frozen.
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 64), nn.ELU(inplace=True), nn.Linear(64, 1), nn.Softplus())
for parameter in model[0].parameters():
    parameter.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(100, 20), torch.rand(100, 1)
loss = nn.functional.smooth_l1_loss(model(x), y)
loss.backward()
optimizer.step()

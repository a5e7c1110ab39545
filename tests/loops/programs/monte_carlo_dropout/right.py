import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))


def predict_with_uncertainty(x, samples=8):
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    with torch.no_grad():
        draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


print(predict_with_uncertainty(torch.randn(3, 4)))

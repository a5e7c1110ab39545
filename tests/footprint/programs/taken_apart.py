# Of a model that is taken apart only the layers live that another module has; meters begin as numbers and become tensors.
import torch
import torch.nn as nn


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3))
        self.classifier = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        trunk = Trunk()
        self.features = nn.Sequential(*list(trunk.features)[:4])
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        for name, layer in self.features._modules.items():
            x = layer(x)
        return self.head(x.mean((2, 3)))


class Meter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n


model, correct = Encoder(), Meter()
optimizer = torch.optim.Adam(model.parameters())
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(12, 3, 16, 16), torch.randint(0, 5, (12,))), batch_size=4)
for x, y in loader:
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    with torch.no_grad():
        correct.update((out.argmax(1) == y).float().mean(), x.size(0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

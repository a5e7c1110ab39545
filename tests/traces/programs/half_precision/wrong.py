# Export of a model to bfloat16 weights with a float32 output head; numbers are compared afterwards.
import copy

import torch
import torch.nn as nn


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, 2 * dim)

    def forward(self, x):
        a, b = self.proj(x).chunk(2, dim=-1)
        return a * torch.sigmoid(b)


class Net(nn.Module):
    def __init__(self, inputs=10, dim=16, classes=4, depth=2):
        super().__init__()
        self.stem = nn.Linear(inputs, dim)
        self.gates = nn.ModuleList([Gate(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def features(self, x):
        h = self.stem(x)
        for gate in self.gates:
            h = h + gate(h)
        return h

    def forward(self, x):
        return self.head(self.features(x))


def convert(model, dtype):
    """All but the head in `dtype`."""
    converted = copy.deepcopy(model).to(dtype)
    converted.head.float()
    return converted


def run_converted(model, x, dtype):
    h = model.features(x.to(dtype))
    return model.head(h)


def compare(reference, converted, x, dtype):
    with torch.no_grad():
        exact = reference(x)
        low = run_converted(converted, x, dtype)
    error = (exact - low).abs()
    same = (exact.argmax(-1) == low.argmax(-1)).float().mean()
    return error.max(), same


torch.manual_seed(0)
model = Net().eval()
low = convert(model, torch.bfloat16)
x = torch.randn(12, 10)
largest, agreement = compare(model, low, x, torch.bfloat16)

double = copy.deepcopy(model).double()
with torch.no_grad():
    precise = double(x.double())
    rounding = (precise - model(x)).abs().max()

sizes = {}
for name, parameter in low.named_parameters():
    sizes[name] = parameter.numel() * parameter.element_size()
total = sum(sizes.values())
ids = torch.arange(12, dtype=torch.int32)
weights = torch.ones(12) / 12
weighted = (weights * ids).sum()
print(largest.item(), agreement.item(), rounding.item(), total, weighted.item())

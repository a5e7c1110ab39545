# bfloat16 on the CPU: each product gets its operands in half precision.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(64, 128)
        self.norm = nn.LayerNorm(128)
        self.b = nn.Linear(128, 128)
        self.c = nn.Linear(128, 10)

    def forward(self, x):
        x = F.gelu(self.a(x))
        x = x + self.b(self.norm(x))
        return self.c(torch.tanh(x))


model = Net()
optimizer = torch.optim.AdamW(model.parameters())
x, y = torch.randn(96, 64), torch.randint(0, 10, (96,))
with torch.autocast("cpu", dtype=torch.bfloat16):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
loss.backward()
optimizer.step()

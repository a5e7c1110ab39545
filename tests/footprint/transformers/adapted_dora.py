import torch
from torch import nn
from peft import LoraConfig, get_peft_model
class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(64, 256); s.b = nn.Linear(256, 256); s.c = nn.Linear(256, 10)
    def forward(s, x): return s.c(torch.relu(s.b(torch.relu(s.a(x)))))
model = get_peft_model(Net(), LoraConfig(r=8, target_modules=["a", "b"], use_dora=True))
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
x = torch.randn(16, 64); y = torch.randint(0, 10, (16,))
for _ in range(2):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()

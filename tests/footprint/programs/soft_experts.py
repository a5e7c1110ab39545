# Soft routing: each expert gets mixtures of all tokens.
import torch, torch.nn as nn, torch.nn.functional as F
class Expert(nn.Module):
    def __init__(self, d): super().__init__(); self.net = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))
    def forward(self, x): return self.net(x)
class SoftMoE(nn.Module):
    """soft routing: all tokens to all slots"""
    def __init__(self, d, experts, slots):
        super().__init__()
        self.phi = nn.Parameter(torch.randn(d, experts, slots) * d ** -0.5)
        self.experts = nn.ModuleList([Expert(d) for _ in range(experts)])
    def forward(self, x):
        logits = torch.einsum('btd,des->btes', x, self.phi)
        dispatch = logits.softmax(dim=1)
        b, t, e, s = logits.shape
        combine = logits.flatten(2).softmax(dim=-1).view(b, t, e, s)
        xs = torch.einsum('btd,btes->besd', x, dispatch)
        ys = torch.stack([f(xs[:, i]) for i, f in enumerate(self.experts)], dim=1)
        return torch.einsum('besd,btes->btd', ys, combine)
class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.inp = nn.Linear(10, d); self.moes = nn.ModuleList([SoftMoE(d, 4, 3) for _ in range(2)]); self.norms = nn.ModuleList([nn.LayerNorm(d) for _ in range(2)])
        self.head = nn.Linear(d, 1)
    def forward(self, x):
        x = self.inp(x)
        for n, m in zip(self.norms, self.moes): x = x + m(n(x))
        return self.head(x.mean(1)).squeeze(-1)
net = Net(); opt = torch.optim.NAdam(net.parameters())
for _ in range(3):
    x, y = torch.randn(6, 12, 10), torch.randn(6)
    loss = F.smooth_l1_loss(net(x), y)
    loss.backward(); opt.step(); opt.zero_grad()

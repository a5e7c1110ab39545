# A state that is carried through the tokens one by one.
import torch
from torch import nn
import torch.nn.functional as F

class Mixer(nn.Module):
    def __init__(self, d, n=8, expand=2, k=4):
        super().__init__()
        e = d * expand
        self.e, self.n = e, n
        self.inp = nn.Linear(d, 2 * e, bias=False)
        self.conv = nn.Conv1d(e, e, k, groups=e, padding=k - 1)
        self.x_proj = nn.Linear(e, 2 * n + 1, bias=False)
        self.dt = nn.Linear(1, e)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, n + 1).float().repeat(e, 1)))
        self.D = nn.Parameter(torch.ones(e))
        self.out = nn.Linear(e, d, bias=False)
    def forward(self, u):
        b, l, _ = u.shape
        x, z = self.inp(u).chunk(2, dim=-1)
        x = F.silu(self.conv(x.transpose(1, 2))[..., :l]).transpose(1, 2)
        dt, B, C = self.x_proj(x).split([1, self.n, self.n], dim=-1)
        dt = F.softplus(self.dt(dt))
        A = -torch.exp(self.A_log)
        dA = torch.exp(dt.unsqueeze(-1) * A)
        dBx = (dt * x).unsqueeze(-1) * B.unsqueeze(2)
        h = torch.zeros(b, self.e, self.n)
        ys = []
        for i in range(l):
            h = dA[:, i] * h + dBx[:, i]
            ys.append(torch.einsum("ben,bn->be", h, C[:, i]))
        y = torch.stack(ys, dim=1) + x * self.D
        return self.out(y * F.silu(z))

class LM(nn.Module):
    def __init__(self, v=128, d=32, layers=2):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.norms = nn.ModuleList([nn.RMSNorm(d) for _ in range(layers)])
        self.mix = nn.ModuleList([Mixer(d) for _ in range(layers)])
        self.f = nn.RMSNorm(d)
        self.head = nn.Linear(d, v, bias=False)
        self.head.weight = self.emb.weight
    def forward(self, x):
        x = self.emb(x)
        for n, m in zip(self.norms, self.mix):
            x = x + m(n(x))
        return self.head(self.f(x))

lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=1e-3)
x = torch.randint(0, 128, (2, 17))
logits = lm(x[:, :-1])
loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())
loss.backward()
opt.step()

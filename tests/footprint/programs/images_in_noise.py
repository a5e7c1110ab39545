import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

def embed(t, dim):
    half = dim // 2
    f = torch.exp(-torch.arange(half, device=t.device) * (9.21 / (half - 1)))
    a = t[:, None].float() * f[None]
    return torch.cat([a.sin(), a.cos()], dim=-1)

class Res(nn.Module):
    def __init__(self, i, o, d):
        super().__init__()
        self.n1 = nn.GroupNorm(8, i)
        self.c1 = nn.Conv2d(i, o, 3, padding=1)
        self.t = nn.Linear(d, o)
        self.n2 = nn.GroupNorm(8, o)
        self.drop = nn.Dropout(0.1)
        self.c2 = nn.Conv2d(o, o, 3, padding=1)
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()
    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x)))
        h = h + self.t(F.silu(t))[:, :, None, None]
        h = self.c2(self.drop(F.silu(self.n2(h))))
        return h + self.skip(x)

class Attn(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n = nn.GroupNorm(8, c)
        self.qkv = nn.Conv2d(c, 3 * c, 1)
        self.o = nn.Conv2d(c, c, 1)
    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.n(x)).reshape(b, 3, 4, c // 4, h * w).transpose(-1, -2).unbind(1)
        a = F.scaled_dot_product_attention(q, k, v)
        return x + self.o(a.transpose(-1, -2).reshape(b, c, h, w))

class UNet(nn.Module):
    def __init__(self, ch=32, mult=(1, 2, 4)):
        super().__init__()
        d = ch * 4
        self.ch = ch
        self.time = nn.Sequential(nn.Linear(ch, d), nn.SiLU(), nn.Linear(d, d))
        self.first = nn.Conv2d(3, ch, 3, padding=1)
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        chans, c = [ch], ch
        for i, m in enumerate(mult):
            self.down.append(Res(c, ch * m, d))
            c = ch * m
            chans.append(c)
            if i + 1 < len(mult):
                self.down.append(nn.Conv2d(c, c, 3, 2, 1))
                chans.append(c)
        self.mid = nn.ModuleList([Res(c, c, d), Attn(c), Res(c, c, d)])
        for i, m in reversed(list(enumerate(mult))):
            for _ in range(2 if i else 2):
                self.up.append(Res(c + chans.pop(), ch * m, d))
                c = ch * m
            if i:
                self.up.append(nn.Upsample(scale_factor=2, mode="nearest"))
        self.last = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))
    def forward(self, x, t):
        t = self.time(embed(t, self.ch))
        h = self.first(x)
        hs = [h]
        for m in self.down:
            h = m(h, t) if isinstance(m, Res) else m(h)
            hs.append(h)
        for m in self.mid:
            h = m(h, t) if isinstance(m, Res) else m(h)
        for m in self.up:
            h = m(torch.cat([h, hs.pop()], 1), t) if isinstance(m, Res) else m(h)
        return self.last(h)

net = UNet()
ema = copy.deepcopy(net).requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
betas = torch.linspace(1e-4, 0.02, 1000)
bars = torch.cumprod(1 - betas, 0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 32, 32)), batch_size=8, shuffle=True)
for epoch in range(2):
    for (x,) in loader:
        t = torch.randint(0, 1000, (x.shape[0],))
        noise = torch.randn_like(x)
        a = bars[t][:, None, None, None]
        noisy = a.sqrt() * x + (1 - a).sqrt() * noise
        loss = F.mse_loss(net(noisy, t), noise)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        with torch.no_grad():
            for p, q in zip(ema.parameters(), net.parameters()):
                p.lerp_(q, 1e-3)

# A U-Net that denoises, with an embedding of the time.
import math, torch
from torch import nn

def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half) / half)
    a = t[:, None].float() * freqs[None]
    return torch.cat([a.sin(), a.cos()], -1)

class Res(nn.Module):
    def __init__(self, i, o, t):
        super().__init__()
        self.a = nn.Sequential(nn.GroupNorm(8, i), nn.SiLU(), nn.Conv2d(i, o, 3, padding=1))
        self.t = nn.Sequential(nn.SiLU(), nn.Linear(t, o))
        self.b = nn.Sequential(nn.GroupNorm(8, o), nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(o, o, 3, padding=1))
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()
    def forward(self, x, t):
        h = self.a(x) + self.t(t)[..., None, None]
        return self.b(h) + self.skip(x)

class UNet(nn.Module):
    def __init__(self, ch=32, mults=(1, 2, 2)):
        super().__init__()
        t = ch * 4
        self.ch = ch
        self.time = nn.Sequential(nn.Linear(ch, t), nn.SiLU(), nn.Linear(t, t))
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        chans, c = [], ch
        for i, m in enumerate(mults):
            self.downs.append(nn.ModuleList([Res(c, ch * m, t), nn.Conv2d(ch * m, ch * m, 3, 2, 1) if i < len(mults) - 1 else nn.Identity()]))
            c = ch * m
            chans.append(c)
        self.mid = Res(c, c, t)
        for i, m in reversed(list(enumerate(mults))):
            self.ups.append(nn.ModuleList([Res(c + chans.pop(), ch * m, t), nn.Upsample(scale_factor=2, mode="nearest") if i > 0 else nn.Identity()]))
            c = ch * m
        self.out = nn.Sequential(nn.GroupNorm(8, c), nn.SiLU(), nn.Conv2d(c, 3, 3, padding=1))
    def forward(self, x, t):
        t = self.time(timestep_embedding(t, self.ch))
        h = self.inp(x)
        skips = []
        for res, down in self.downs:
            h = res(h, t)
            skips.append(h)
            h = down(h)
        h = self.mid(h, t)
        for res, up in self.ups:
            h = res(torch.cat([h, skips.pop()], 1), t)
            h = up(h)
        return self.out(h)

betas = torch.linspace(1e-4, 0.02, 1000)
abar = torch.cumprod(1 - betas, 0)
net = UNet()
opt = torch.optim.Adam(net.parameters(), 2e-4)
x0 = torch.randn(4, 3, 32, 32)
t = torch.randint(0, 1000, (4,))
noise = torch.randn_like(x0)
a = abar[t].view(-1, 1, 1, 1)
xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
loss = nn.functional.mse_loss(net(xt, t), noise)
opt.zero_grad()
loss.backward()
opt.step()

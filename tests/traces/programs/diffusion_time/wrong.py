"""Denoising diffusion with a small U-Net that is told the time step."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def sinusoidal(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / (half - 1))
    args = t[:, None].float() * freqs[None, :]
    return torch.cat([args.sin(), args.cos()], dim=-1)


class ResBlock(nn.Module):
    def __init__(self, c_in, c_out, t_dim, groups=4):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, c_in)
        self.conv1 = nn.Conv2d(c_in, c_out, 3, padding=1)
        self.time = nn.Linear(t_dim, c_out)
        self.norm2 = nn.GroupNorm(groups, c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1)
        self.skip = nn.Conv2d(c_in, c_out, 1) if c_in != c_out else nn.Identity()

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(temb))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + self.skip(x)


class AttentionBlock(nn.Module):
    def __init__(self, channels, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.GroupNorm(4, channels)
        self.qkv = nn.Conv1d(channels, channels * 3, 1)
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        qkv = self.qkv(self.norm(x).view(b, c, h * w))
        q, k, v = qkv.reshape(b * self.heads, 3 * c // self.heads, h * w).chunk(3, dim=1)
        scale = 1 / math.sqrt(c // self.heads)
        weight = torch.einsum("bct,bcs->bts", q * scale, k).softmax(dim=-1)
        a = torch.einsum("bts,bcs->bct", weight, v).reshape(b, c, h * w)
        return x + self.out(a).reshape(b, c, h, w)


class UNet(nn.Module):
    def __init__(self, channels=3, base=16, mults=(1, 2, 4), blocks=2):
        super().__init__()
        t_dim = base * 4
        self.base = base
        self.time_mlp = nn.Sequential(nn.Linear(base, t_dim), nn.SiLU(), nn.Linear(t_dim, t_dim))
        self.stem = nn.Conv2d(channels, base, 3, padding=1)
        self.downs = nn.ModuleList()
        skips = [base]
        c = base
        for level, mult in enumerate(mults):
            for _ in range(blocks):
                self.downs.append(ResBlock(c, base * mult, t_dim))
                c = base * mult
                skips.append(c)
            if level != len(mults) - 1:
                self.downs.append(nn.Conv2d(c, c, 3, stride=2, padding=1))
                skips.append(c)
        self.mid1 = ResBlock(c, c, t_dim)
        self.mid_attn = AttentionBlock(c)
        self.mid2 = ResBlock(c, c, t_dim)
        self.ups = nn.ModuleList()
        for level, mult in reversed(list(enumerate(mults))):
            for _ in range(blocks + 1):
                self.ups.append(ResBlock(c + skips.pop(), base * mult, t_dim))
                c = base * mult
            if level:
                self.ups.append(nn.Upsample(scale_factor=2, mode="nearest"))
        self.out = nn.Sequential(nn.GroupNorm(4, c), nn.SiLU(), nn.Conv2d(c, channels, 3, padding=1))

    def forward(self, x, t):
        temb = self.time_mlp(sinusoidal(t, self.base))
        h = self.stem(x)
        hs = [h]
        for layer in self.downs:
            h = layer(h, temb) if isinstance(layer, ResBlock) else layer(h)
            hs.append(h)
        h = self.mid2(self.mid_attn(self.mid1(h, temb)), temb)
        for layer in self.ups:
            if isinstance(layer, ResBlock):
                h = layer(torch.cat([h, hs.pop()], dim=1), temb)
            else:
                h = layer(h)
        return self.out(h)


class Diffusion:
    def __init__(self, steps=100):
        self.steps = steps
        betas = torch.linspace(1e-4, 0.02, steps)
        alphas = 1 - betas
        self.alpha_bar = torch.cumprod(alphas, dim=0)

    def q_sample(self, x0, t, noise):
        a = self.alpha_bar[t].view(-1, 1, 1)
        return a.sqrt() * x0 + (1 - a).sqrt() * noise

    def loss(self, model, x0):
        t = torch.randint(0, self.steps, (x0.shape[0],))
        noise = torch.randn_like(x0)
        pred = model(self.q_sample(x0, t, noise), t)
        return F.mse_loss(pred, noise)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = UNet()
    diffusion = Diffusion()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    images = torch.randn(4, 3, 16, 16)
    for step in range(2):
        loss = diffusion.loss(model, images)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())

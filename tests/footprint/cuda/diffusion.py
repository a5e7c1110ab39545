# One step of a diffusion model: a small U-Net with GroupNorm, SiLU and attention, and a copy of averaged weights.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, inputs, outputs, times):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(times, outputs)
        self.norm2, self.conv2 = nn.GroupNorm(8, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(t))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class Attention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(8, width), heads
        self.qkv, self.out = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        B, C, H, W = x.shape
        q, k, v = self.qkv(self.norm(x)).view(B, 3, self.heads, C // self.heads, H * W).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-1, -2).reshape(B, C, H, W))


class UNet(nn.Module):
    def __init__(self, width=64, times=256):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, times), nn.SiLU(), nn.Linear(times, times))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down1, self.shrink1 = Residual(width, width, times), nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.down2, self.shrink2 = Residual(2 * width, 2 * width, times), nn.Conv2d(2 * width, 4 * width, 3, stride=2, padding=1)
        self.middle1, self.attend, self.middle2 = Residual(4 * width, 4 * width, times), Attention(4 * width), Residual(4 * width, 4 * width, times)
        self.up2, self.up1 = Residual(6 * width, 2 * width, times), Residual(3 * width, width, times)
        self.norm, self.last = nn.GroupNorm(8, width), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        t = self.time(t[:, None])
        a = self.down1(self.first(x), t)
        b = self.down2(self.shrink1(a), t)
        c = self.middle2(self.attend(self.middle1(self.shrink2(b), t)), t)
        c = self.up2(torch.cat([F.interpolate(c, scale_factor=2, mode="nearest"), b], dim=1), t)
        c = self.up1(torch.cat([F.interpolate(c, scale_factor=2, mode="nearest"), a], dim=1), t)
        return self.last(F.silu(self.norm(c)))


device = "cuda"
model = UNet().to(device)
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
images = torch.randn(16, 3, 64, 64, device=device)
for step in range(3):
    t = torch.rand(16, device=device)
    noise = torch.randn_like(images)
    level = t[:, None, None, None]
    noisy = (1 - level) * images + level * noise
    loss = F.mse_loss(model(noisy, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for mine, theirs in zip(average.parameters(), model.parameters()):
            mine.lerp_(theirs, 0.001)

import torch
from torch import nn
from einops import rearrange


class Window(nn.Module):
    def __init__(self, dim=24, window=4, heads=3):
        super().__init__()
        self.w, self.h = window, heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.bias = nn.Parameter(torch.zeros(heads, window * window, window * window))
        self.scale = (dim // heads) ** -0.5

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, (-1, -1), (1, 2))
        x = rearrange(x, "b (h p) (w q) c -> (b h w) (p q) c", p=self.w, q=self.w)
        q, k, v = rearrange(self.qkv(x), "n t (s h d) -> s n h t d", s=3, h=self.h)
        att = (q * self.scale) @ k.transpose(-2, -1) + self.bias
        y = rearrange(att.softmax(-1) @ v, "n h t d -> n t (h d)")
        y = rearrange(self.proj(y), "(b h w) (p q) c -> b (h p) (w q) c", h=h // self.w, w=w // self.w, p=self.w)
        return torch.roll(y, (1, 1), (1, 2))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Conv2d(3, 24, 2, stride=2)
        self.blocks = nn.ModuleList(Window() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(24), nn.Linear(24, 7)

    def forward(self, x):
        x = self.embed(x).permute(0, 2, 3, 1)
        for block in self.blocks:
            x = x + block(x)
        return self.head(self.norm(x).mean((1, 2)))


net = Net()
opt = torch.optim.AdamW(net.parameters())
loss = nn.functional.cross_entropy(net(torch.randn(2, 3, 16, 16)), torch.tensor([1, 2]))
loss.backward()
opt.step()

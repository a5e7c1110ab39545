# A language model whose experts all run, attention by hand, bfloat16 autocast.
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, d=512, h=2048, n=8, k=2):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.w1 = nn.Parameter(torch.randn(n, d, h) * 0.02)
        self.w2 = nn.Parameter(torch.randn(n, h, d) * 0.02)
        self.k = k

    def forward(self, x):
        B, T, d = x.shape
        flat = x.reshape(-1, d)
        probs = self.gate(flat).softmax(-1)
        weight, index = probs.topk(self.k, dim=-1)
        mask = torch.zeros_like(probs).scatter(1, index, weight)
        h = torch.einsum("td,ndh->nth", flat, self.w1)
        h = F.silu(h)
        y = torch.einsum("nth,nhd->ntd", h, self.w2)
        return (y * mask.t()[:, :, None]).sum(0).view(B, T, d)


class Block(nn.Module):
    def __init__(self, d=512):
        super().__init__()
        self.n1, self.n2 = nn.RMSNorm(d), nn.RMSNorm(d)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.o = nn.Linear(d, d, bias=False)
        self.moe = MoE(d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(self.n1(x)).reshape(B, T, 3, 8, d // 8).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1)) / (d // 8) ** 0.5
        a = a.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        x = x + self.o((a @ v).transpose(1, 2).reshape(B, T, d))
        return x + self.moe(self.n2(x))


class LM(nn.Module):
    def __init__(self, v=8192, d=512, n=3):
        super().__init__()
        self.e = nn.Embedding(v, d)
        self.b = nn.ModuleList([Block(d) for _ in range(n)])
        self.n = nn.RMSNorm(d)
        self.h = nn.Linear(d, v, bias=False)

    def forward(self, i):
        x = self.e(i)
        for b in self.b:
            x = b(x)
        return self.h(self.n(x))


m = LM().cuda()
o = torch.optim.AdamW(m.parameters(), lr=1e-3)
i = torch.randint(0, 8192, (4, 257), device="cuda")
for _ in range(3):
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        out = m(i[:, :-1])
        loss = F.cross_entropy(out.transpose(1, 2), i[:, 1:])
    o.zero_grad()
    loss.backward()
    o.step()

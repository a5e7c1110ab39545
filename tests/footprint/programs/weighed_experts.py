import torch
import torch.nn as nn
import torch.nn.functional as F

class MoE(nn.Module):
    """Dense top-2: each token is weighted over all experts, zero for those not chosen."""
    def __init__(self, d, f, n=4, k=2):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.w1 = nn.Parameter(torch.randn(n, d, f) * 0.02)
        self.w2 = nn.Parameter(torch.randn(n, f, d) * 0.02)
        self.k, self.n = k, n
    def forward(self, x):
        B, T, D = x.shape
        flat = x.reshape(-1, D)
        scores = F.softmax(self.gate(flat), dim=-1)
        top, index = scores.topk(self.k, dim=-1)
        top = top / top.sum(-1, keepdim=True)
        weights = torch.zeros_like(scores).scatter(1, index, top)
        h = torch.einsum("nd,edf->enf", flat, self.w1)
        h = F.gelu(h)
        out = torch.einsum("enf,efd->end", h, self.w2)
        y = torch.einsum("end,ne->nd", out, weights)
        load = F.one_hot(index, self.n).float().sum(1).mean(0)
        aux = (load * scores.mean(0)).sum() * self.n
        return y.view(B, T, D), aux

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 4, batch_first=True)
        self.moe = MoE(d, 2 * d)
    def forward(self, x, mask):
        y = self.n1(x)
        x = x + self.attn(y, y, y, attn_mask=mask, need_weights=False)[0]
        y, aux = self.moe(self.n2(x))
        return x + y, aux

class Net(nn.Module):
    def __init__(self, V=256, d=64, L=2):
        super().__init__()
        self.e = nn.Embedding(V, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(L))
        self.head = nn.Linear(d, V)
    def forward(self, x):
        mask = torch.triu(torch.full((x.size(1), x.size(1)), float("-inf")), 1)
        h, total = self.e(x), 0.0
        for b in self.blocks:
            h, aux = b(h, mask)
            total = total + aux
        return self.head(h), total

net = Net()
opt = torch.optim.Adam(net.parameters())
for step in range(20):
    x = torch.randint(0, 256, (8, 33))
    logits, aux = net(x[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 256), x[:, 1:].reshape(-1)) + 0.01 * aux
    opt.zero_grad()
    loss.backward()
    opt.step()

# Momentum contrast: an encoder that follows another one, and a queue of keys.
import copy, torch, torch.nn as nn, torch.nn.functional as F
class Enc(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ELU(), nn.Conv2d(8, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.proj = nn.Sequential(nn.Linear(16, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(inplace=True), nn.Linear(32, d))
    def forward(self, x): return F.normalize(self.proj(self.conv(x)), dim=1)
class MoCo(nn.Module):
    def __init__(self, d=16, K=64, m=0.99, T=0.2):
        super().__init__()
        self.m, self.T, self.K = m, T, K
        self.q = Enc(d); self.k = copy.deepcopy(self.q)
        for p in self.k.parameters(): p.requires_grad_(False)
        self.register_buffer('queue', F.normalize(torch.randn(d, K), dim=0)); self.register_buffer('ptr', torch.zeros(1, dtype=torch.long))
    @torch.no_grad()
    def momentum(self):
        for a, b in zip(self.q.parameters(), self.k.parameters()): b.data = b.data * self.m + a.data * (1. - self.m)
    @torch.no_grad()
    def enqueue(self, keys):
        p = int(self.ptr); self.queue[:, p:p + keys.shape[0]] = keys.T; self.ptr[0] = (p + keys.shape[0]) % self.K
    def forward(self, a, b):
        q = self.q(a)
        with torch.no_grad():
            self.momentum(); k = self.k(b)
        pos = torch.einsum('nc,nc->n', q, k).unsqueeze(-1); neg = torch.einsum('nc,ck->nk', q, self.queue.clone().detach())
        logits = torch.cat([pos, neg], dim=1) / self.T
        self.enqueue(k)
        return logits, torch.zeros(logits.shape[0], dtype=torch.long)
net = MoCo(); opt = torch.optim.SGD(net.q.parameters(), 0.03, momentum=0.9, weight_decay=1e-4)
for _ in range(3):
    x = torch.randn(8, 3, 24, 24)
    out, y = net(x + 0.1 * torch.randn_like(x), x.flip(-1))
    loss = F.cross_entropy(out, y)
    opt.zero_grad(); loss.backward(); opt.step()

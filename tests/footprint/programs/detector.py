# A feature pyramid with heads for classes and boxes; focal loss.
import torch, torch.nn as nn, torch.nn.functional as F
class FPN(nn.Module):
    def __init__(self, ins, out):
        super().__init__()
        self.lat = nn.ModuleList([nn.Conv2d(i, out, 1) for i in ins]); self.sm = nn.ModuleList([nn.Conv2d(out, out, 3, padding=1) for _ in ins])
    def forward(self, feats):
        xs = [l(f) for l, f in zip(self.lat, feats)]
        for i in range(len(xs) - 1, 0, -1):
            xs[i - 1] = xs[i - 1] + F.interpolate(xs[i], size=xs[i - 1].shape[-2:], mode='nearest')
        return [s(x) for s, x in zip(self.sm, xs)]
class Head(nn.Module):
    def __init__(self, c, a, k):
        super().__init__()
        tower = lambda o: nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(2, c), nn.ReLU(), nn.Conv2d(c, o, 3, padding=1))
        self.cls, self.box, self.k = tower(a * k), tower(a * 4), k
    def forward(self, fs):
        cs, bs = [], []
        for f in fs:
            c = self.cls(f); n, _, h, w = c.shape
            cs.append(c.view(n, -1, self.k, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, self.k))
            bs.append(self.box(f).permute(0, 2, 3, 1).reshape(n, -1, 4))
        return torch.cat(cs, 1), torch.cat(bs, 1)
class Det(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = nn.ModuleList([nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o), nn.Hardswish()) for i, o in ((3, 8), (8, 16), (16, 32), (32, 32))])
        self.fpn, self.head = FPN((16, 32, 32), 16), Head(16, 3, 5)
    def forward(self, x):
        fs = []
        for s in self.s: x = s(x); fs.append(x)
        return self.head(self.fpn(fs[1:]))
def focal(logits, target, alpha=0.25, gamma=2.0):
    p = torch.sigmoid(logits); ce = F.binary_cross_entropy_with_logits(logits, target, reduction='none')
    pt = p * target + (1 - p) * (1 - target)
    loss = ce * ((1 - pt) ** gamma)
    return ((alpha * target + (1 - alpha) * (1 - target)) * loss).mean()
m = Det()
bb = [p for n, p in m.named_parameters() if n.startswith('s.')]; hd = [p for n, p in m.named_parameters() if not n.startswith('s.')]
opt = torch.optim.AdamW([{'params': bb, 'lr': 1e-5}, {'params': hd}], lr=1e-4, amsgrad=True)
for _ in range(3):
    x = torch.randn(2, 3, 64, 64)
    c, b = m(x)
    tc, tb = torch.zeros_like(c), torch.rand_like(b)
    loss = focal(c, tc) + 5 * F.l1_loss(b.sigmoid(), tb)
    opt.zero_grad(); loss.backward(); opt.step()

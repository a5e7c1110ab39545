# Layers of a model are replaced by their adapted form, one by one, in a function that calls itself.
import math, torch, torch.nn as nn, torch.nn.functional as F
class LoRALinear(nn.Linear):
    def __init__(self, i, o, r=4, alpha=8, dropout=0.05, **kw):
        super().__init__(i, o, **kw)
        self.lora_A = nn.Parameter(self.weight.new_zeros((r, i))); self.lora_B = nn.Parameter(self.weight.new_zeros((o, r)))
        self.scaling = alpha / r; self.weight.requires_grad = False
        self.lora_dropout = nn.Dropout(dropout) if dropout > 0 else nn.Identity()
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
    def forward(self, x):
        return F.linear(x, self.weight, self.bias) + (self.lora_dropout(x) @ self.lora_A.t() @ self.lora_B.t()) * self.scaling
def inject(module, names, r):
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear) and name in names:
            new = LoRALinear(child.in_features, child.out_features, r=r, bias=child.bias is not None)
            new.weight.data.copy_(child.weight.data)
            setattr(module, name, new)
        else: inject(child, names, r)
def mark_only_lora(model, bias='none'):
    for n, p in model.named_parameters():
        if 'lora_' not in n: p.requires_grad = False
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))
        self.up, self.down, self.n1, self.n2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), nn.LayerNorm(d), nn.LayerNorm(d)
    def forward(self, x):
        h = self.n1(x); B, T, C = h.shape
        sh = lambda t: t.view(B, T, 4, C // 4).transpose(1, 2)
        a = (sh(self.q_proj(h)) @ sh(self.k_proj(h)).transpose(-2, -1)) / math.sqrt(C // 4)
        a = a.masked_fill(torch.triu(torch.ones(T, T, dtype=torch.bool), 1), float('-inf')).softmax(-1)
        x = x + self.o_proj((a @ sh(self.v_proj(h))).transpose(1, 2).contiguous().view(B, T, C))
        return x + self.down(F.gelu(self.up(self.n2(x)), approximate='tanh'))
class LM(nn.Module):
    def __init__(self, v=200, d=32, n=2):
        super().__init__(); self.wte = nn.Embedding(v, d); self.h = nn.Sequential(*(Block(d) for _ in range(n))); self.f = nn.LayerNorm(d); self.head = nn.Linear(d, v, bias=False)
    def forward(self, i): return self.head(self.f(self.h(self.wte(i))))
model = LM()
inject(model, {'q_proj', 'v_proj'}, r=4)
mark_only_lora(model)
print(sum(p.numel() for p in model.parameters() if p.requires_grad))
opt = torch.optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=1e-3)
for s in range(3):
    ids = torch.randint(0, 200, (4, 17))
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward(); opt.step(); opt.zero_grad()

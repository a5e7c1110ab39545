import torch, torch.nn as nn
class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(100, 32, padding_idx=0)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 3, norm=nn.LayerNorm(32), enable_nested_tensor=False)
        self.fc = nn.Linear(32, 2)
    def forward(self, ids):
        pad = ids.eq(0)
        h = self.enc(self.emb(ids), src_key_padding_mask=pad)
        return self.fc(h[:, 0])
m = Clf()
groups = {"w": [], "b": []}
for n, p in m.named_parameters():
    groups["b" if n.endswith("bias") else "w"].append(p)
opt = torch.optim.AdamW([{"params": groups["w"], "weight_decay": .01}, {"params": groups["b"], "weight_decay": 0.}])
ids = torch.randint(0, 100, (5, 11))
loss = nn.functional.cross_entropy(m(ids), torch.zeros(5, dtype=torch.long))
loss.backward()
opt.step()

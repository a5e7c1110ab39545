import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

class Pairs(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        return {"chosen": torch.randint(1, 300, (48,)), "rejected": torch.randint(1, 300, (48,))}

class LM(nn.Module):
    def __init__(self, V=300, d=96):
        super().__init__()
        self.e = nn.Embedding(V, d)
        layer = nn.TransformerEncoderLayer(d, 4, 4 * d, batch_first=True, norm_first=True, dropout=0.0)
        self.t = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(d, V, bias=False)
    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        return self.head(self.t(self.e(x), mask=mask, is_causal=True))

def logps(model, ids):
    logits = model(ids[:, :-1])
    lp = F.log_softmax(logits, dim=-1)
    return lp.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1).sum(-1)

policy = LM()
reference = copy.deepcopy(policy).eval()
for p in reference.parameters():
    p.requires_grad_(False)
opt = torch.optim.AdamW(policy.parameters(), lr=1e-5)
for batch in DataLoader(Pairs(), batch_size=4):
    ids = torch.cat([batch["chosen"], batch["rejected"]])
    lp = logps(policy, ids)
    with torch.no_grad():
        ref = logps(reference, ids)
    pc, pr = lp.chunk(2)
    rc, rr = ref.chunk(2)
    loss = -F.logsigmoid(0.1 * ((pc - pr) - (rc - rr))).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()

"""A recommender: embedding bags for categories, an MLP for numbers, pairwise interactions."""
import torch
from torch import nn


def mlp(sizes, sigmoid_at=-1):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        layers.append(nn.Sigmoid() if i == sigmoid_at else nn.ReLU())
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    def __init__(self, m_spa, ln_emb, ln_bot, ln_top_hidden, interaction="dot", itself=False):
        super().__init__()
        self.interaction, self.itself = interaction, itself
        self.emb = nn.ModuleList([nn.EmbeddingBag(n, m_spa, mode="sum") for n in ln_emb])
        self.bot = mlp(ln_bot)
        num_fea = len(ln_emb) + 1
        if interaction == "dot":
            num_int = (num_fea * (num_fea - 1)) // 2 + ln_bot[-1]
        else:
            num_int = num_fea * m_spa
        sizes = [num_int] + ln_top_hidden + [1]
        self.top = mlp(sizes, sigmoid_at=len(sizes) - 2)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, idx in enumerate(lS_i):
            ly.append(self.emb[k](idx, lS_o[k]))
        return ly

    def interact(self, x, ly):
        if self.interaction == "dot":
            batch, d = x.shape
            T = torch.cat([x] + ly, dim=1).view((batch, -1, d))
            Z = torch.bmm(T, torch.transpose(T, 1, 2))
            _, ni, nj = Z.shape
            offset = 1 if self.itself else 0
            li = torch.tensor([i for i in range(ni) for j in range(i + offset)])
            lj = torch.tensor([j for i in range(nj) for j in range(i + offset)])
            flat = Z[:, li, lj]
            return torch.cat([x] + [flat], dim=1)
        return torch.cat([x] + ly, dim=1)

    def forward(self, dense, lS_o, lS_i):
        x = self.bot(dense)
        ly = self.apply_emb(lS_o, lS_i)
        return self.top(self.interact(x, ly))


torch.manual_seed(0)
ln_emb = [30, 20, 10]
model = DLRM(8, ln_emb, [13, 16, 8], [16, 8])
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for step in range(2):
    dense = torch.rand(6, 13)
    lS_i = [torch.randint(0, n, (12,)) for n in ln_emb]
    lS_o = [torch.arange(0, 12, 2) for _ in ln_emb]
    target = torch.randint(0, 2, (6, 1)).float()
    out = model(dense, lS_o, lS_i)
    loss = nn.functional.binary_cross_entropy(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

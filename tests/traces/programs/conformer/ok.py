"""A small Conformer encoder with CTC on log-mel features."""
import torch
from torch import nn
import torch.nn.functional as F


class Swish(nn.Module):
    def forward(self, x):
        return x * x.sigmoid()


class FeedForward(nn.Module):
    def __init__(self, dim, mult=4, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim * mult), Swish(), nn.Dropout(dropout), nn.Linear(dim * mult, dim), nn.Dropout(dropout))

    def forward(self, x):
        return self.net(x)


class ConvModule(nn.Module):
    def __init__(self, dim, kernel_size=15, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.pointwise1 = nn.Conv1d(dim, dim * 2, 1)
        self.depthwise = nn.Conv1d(dim, dim, kernel_size, padding=kernel_size // 2, groups=dim)
        self.bn = nn.BatchNorm1d(dim)
        self.pointwise2 = nn.Conv1d(dim, dim, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        y = self.norm(x).transpose(1, 2)
        y = F.glu(self.pointwise1(y), dim=1)
        y = self.bn(self.depthwise(y))
        y = self.pointwise2(y * torch.sigmoid(y))
        return self.dropout(y.transpose(1, 2))


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x, mask=None):
        y = self.norm(x)
        out, _ = self.attn(y, y, y, key_padding_mask=mask)
        return out


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ff1 = FeedForward(dim)
        self.attn = Attention(dim, heads)
        self.conv = ConvModule(dim)
        self.ff2 = FeedForward(dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x, mask=None):
        x = x + 0.5 * self.ff1(x)
        x = x + self.attn(x, mask)
        x = x + self.conv(x)
        x = x + 0.5 * self.ff2(x)
        return self.norm(x)


class Subsample(nn.Module):
    def __init__(self, n_mels, dim):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, dim, 3, stride=2), nn.ReLU(), nn.Conv2d(dim, dim, 3, stride=2), nn.ReLU())
        freq = ((n_mels - 1) // 2 - 1) // 2
        self.out = nn.Linear(dim * freq, dim)

    def forward(self, x, lengths):
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = self.out(x.transpose(1, 2).contiguous().view(b, t, c * f))
        lengths = ((lengths - 1) // 2 - 1) // 2
        return x, lengths


class Conformer(nn.Module):
    def __init__(self, n_mels=40, dim=48, heads=4, layers=2, vocab=20):
        super().__init__()
        self.subsample = Subsample(n_mels, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.head = nn.Linear(dim, vocab)

    def forward(self, feats, lengths):
        x, lengths = self.subsample(feats, lengths)
        mask = torch.arange(x.size(1))[None, :] >= lengths[:, None]
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x).log_softmax(dim=-1), lengths


def main():
    torch.manual_seed(0)
    model = Conformer()
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    feats = torch.randn(3, 80, 40)
    lengths = torch.tensor([80, 71, 60])
    targets = torch.randint(1, 20, (3, 6))
    target_lengths = torch.tensor([6, 5, 4])
    for _ in range(2):
        log_probs, out_lengths = model(feats, lengths)
        loss = ctc(log_probs.transpose(0, 1), targets, out_lengths, target_lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(float(loss))


if __name__ == "__main__":
    main()

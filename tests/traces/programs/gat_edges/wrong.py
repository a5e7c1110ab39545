"""Graph attention with an edge list: softmax over the incoming edges of every node, several heads."""
import torch
import torch.nn.functional as F
from torch import nn


def edge_softmax(scores, target, num_nodes):
    """scores: [E, H]; normalised over the edges that share a target."""
    top = torch.full((num_nodes, scores.size(1)), -1e9)
    index = target.unsqueeze(-1).expand_as(scores)
    top = top.scatter_reduce(0, index, scores, reduce="amax")
    exp = torch.exp(scores - top[target])
    total = torch.zeros(num_nodes, scores.size(1)).scatter_add_(0, index, exp)
    return exp / (total[target] + 1e-16)


class GATLayer(nn.Module):
    def __init__(self, in_features, out_features, heads, concat=True, dropout=0.1):
        super().__init__()
        self.heads = heads
        self.out_features = out_features
        self.concat = concat
        self.proj = nn.Linear(in_features, heads * out_features, bias=False)
        self.a_source = nn.Parameter(torch.empty(1, heads, out_features))
        self.a_target = nn.Parameter(torch.empty(1, heads, out_features))
        self.dropout = nn.Dropout(dropout)
        nn.init.xavier_uniform_(self.a_source)
        nn.init.xavier_uniform_(self.a_target)

    def forward(self, x, edge_index):
        num_nodes = x.size(0)
        source, target = edge_index[0], edge_index[1]
        h = self.proj(self.dropout(x)).view(-1, self.heads, self.out_features)
        score_source = (h * self.a_source).sum(dim=-1)
        score_target = (h * self.a_target).sum(dim=-1)
        scores = F.leaky_relu(score_source[source] + score_target[target], 0.2)
        alpha = edge_softmax(scores, target, num_nodes)
        messages = h[source] * alpha.unsqueeze(-1)
        out = torch.zeros_like(h).index_add(0, target, messages)
        if self.concat:
            return out.reshape(num_nodes, self.heads * self.out_features)
        return out.mean(dim=3)


class GAT(nn.Module):
    def __init__(self, features, hidden, classes, heads=(4, 2)):
        super().__init__()
        self.first = GATLayer(features, hidden, heads[0])
        self.second = GATLayer(hidden * heads[0], classes, heads[1], concat=False)

    def forward(self, x, edge_index):
        x = F.elu(self.first(x, edge_index))
        x = self.second(x, edge_index)
        return F.log_softmax(x, dim=-1)


def ring(n):
    nodes = torch.arange(n)
    forward = torch.stack([nodes, (nodes + 1) % n])
    backward = forward.flip(0)
    loops = nodes.repeat(2, 1)
    return torch.cat([forward, backward, loops], dim=1)


torch.manual_seed(0)
edge_index = ring(18)
x = torch.randn(18, 10)
y = torch.randint(0, 3, (18,))
model = GAT(10, 8, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for _ in range(3):
    out = model(x, edge_index)
    loss = F.nll_loss(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

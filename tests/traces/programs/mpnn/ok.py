"""Message passing on a batch of molecules: edge networks, sums by index_add_, a readout per graph."""
import torch
import torch.nn as nn


class EdgeConv(nn.Module):
    def __init__(self, node_dim, edge_dim, hidden):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * node_dim + edge_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.update = nn.GRUCell(hidden, node_dim)

    def forward(self, h, edge_index, edge_attr):
        src, dst = edge_index
        m = self.message(torch.cat([h[src], h[dst], edge_attr], dim=-1))
        total = torch.zeros(h.size(0), m.size(1))
        total.index_add_(0, dst, m)
        return self.update(total, h)


class Readout(nn.Module):
    def __init__(self, node_dim, out_dim):
        super().__init__()
        self.gate = nn.Linear(node_dim, 1)
        self.proj = nn.Linear(node_dim, out_dim)

    def forward(self, h, batch, num_graphs):
        weighted = torch.sigmoid(self.gate(h)) * self.proj(h)
        out = weighted.new_zeros(num_graphs, weighted.shape[-1])
        return out.index_add(0, batch, weighted)


class MPNN(nn.Module):
    def __init__(self, num_atoms=10, node_dim=24, edge_dim=4, hidden=32, rounds=3):
        super().__init__()
        self.embed = nn.Embedding(num_atoms, node_dim)
        self.conv = EdgeConv(node_dim, edge_dim, hidden)
        self.rounds = rounds
        self.readout = Readout(node_dim, hidden)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, graph):
        h = self.embed(graph["atoms"])
        for _ in range(self.rounds):
            h = self.conv(h, graph["edge_index"], graph["edge_attr"])
        pooled = self.readout(h, graph["batch"], graph["num_graphs"])
        return self.head(pooled).squeeze(-1)


def make_graph(n):
    edges = [(i, i + 1) for i in range(n - 1)]
    edges = edges + [(b, a) for a, b in edges]
    edge_index = torch.tensor(edges, dtype=torch.long).t().contiguous()
    return {"atoms": torch.randint(0, 10, (n,)), "edge_index": edge_index, "edge_attr": torch.randn(edge_index.size(1), 4), "y": torch.randn(1)}


def collate(graphs):
    offset = 0
    atoms, index, attr, batch, ys = [], [], [], [], []
    for i, g in enumerate(graphs):
        n = g["atoms"].size(0)
        atoms.append(g["atoms"])
        index.append(g["edge_index"] + offset)
        attr.append(g["edge_attr"])
        batch.append(torch.full((n,), i, dtype=torch.long))
        ys.append(g["y"])
        offset += n
    return {"atoms": torch.cat(atoms), "edge_index": torch.cat(index, dim=1), "edge_attr": torch.cat(attr), "batch": torch.cat(batch),
            "num_graphs": len(graphs), "y": torch.cat(ys)}


torch.manual_seed(0)
graphs = [make_graph(n) for n in (5, 7, 4, 6)]
model = MPNN()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    data = collate(graphs)
    pred = model(data)
    loss = nn.functional.mse_loss(pred, data["y"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

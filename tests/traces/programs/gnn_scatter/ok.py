"""Message passing with index_add_ and scatter, no graph library; mini-batches of graphs joined into one."""
from typing import List, NamedTuple

import torch
from torch import Tensor, nn


class Graph(NamedTuple):
    x: Tensor           # [nodes, features]
    edge_index: Tensor  # [2, edges]
    y: int


class Batch(NamedTuple):
    x: Tensor
    edge_index: Tensor
    graph_of_node: Tensor
    y: Tensor


def make_graph(nodes: int, edges: int, features: int, label: int) -> Graph:
    edge_index = torch.randint(0, nodes, (2, edges))
    return Graph(torch.randn(nodes, features), edge_index, label)


def join(graphs: List[Graph]) -> Batch:
    xs, edges, owners, ys = [], [], [], []
    offset = 0
    for i, graph in enumerate(graphs):
        n = graph.x.size(0)
        xs.append(graph.x)
        edges.append(graph.edge_index + offset)
        owners.append(torch.full((n,), i, dtype=torch.long))
        ys.append(graph.y)
        offset += n
    return Batch(torch.cat(xs), torch.cat(edges, dim=1), torch.cat(owners), torch.tensor(ys))


def scatter_mean(values: Tensor, index: Tensor, size: int) -> Tensor:
    total = torch.zeros(size, values.size(1)).index_add_(0, index, values)
    count = torch.zeros(size).index_add_(0, index, torch.ones(index.size(0)))
    return total / count.clamp(min=1).unsqueeze(-1)


class MessagePassing(nn.Module):
    def __init__(self, dim_in: int, dim_out: int):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim_in, dim_out), nn.ReLU())
        self.update = nn.Linear(dim_in + dim_out, dim_out)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        pair = torch.cat([x[source], x[target]], dim=-1)
        messages = self.message(pair)
        gathered = scatter_mean(messages, target, x.size(0))
        return torch.relu(self.update(torch.cat([x, gathered], dim=-1)))


class GraphClassifier(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int, layers: int = 2):
        super().__init__()
        sizes = [features] + [hidden] * layers
        self.layers = nn.ModuleList(MessagePassing(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.readout = nn.Linear(hidden, classes)

    def forward(self, batch: Batch) -> Tensor:
        x = batch.x
        for layer in self.layers:
            x = layer(x, batch.edge_index)
        graphs = batch.y.size(0)
        pooled = scatter_mean(x, batch.graph_of_node, graphs)
        return self.readout(pooled)


def main() -> None:
    torch.manual_seed(0)
    graphs = [make_graph(6, 14, 5, 0), make_graph(9, 20, 5, 1), make_graph(4, 7, 5, 2)]
    batch = join(graphs)
    model = GraphClassifier(5, 16, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        logits = model(batch)
        loss = nn.functional.cross_entropy(logits, batch.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()

# Two-layer graph convolution on a random graph with a dense, normalised adjacency.
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def normalise(adj):
    adj = adj + torch.eye(adj.size(0))
    degree = adj.sum(1)
    inv_sqrt = degree.pow(-0.5)
    inv_sqrt[torch.isinf(inv_sqrt)] = 0.0
    d = torch.diag(inv_sqrt)
    return d @ adj @ d


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = nn.Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = nn.Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.mm(adj, support)
        if self.bias is not None:
            return output + self.bias
        return output

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


torch.manual_seed(0)
num_nodes, num_features, num_classes = 30, 12, 4
features = torch.rand(num_nodes, num_features)
upper = (torch.rand(num_nodes, num_nodes) < 0.1).float().triu(1)
adj = normalise(upper + upper.t())
labels = torch.randint(0, num_classes, (num_nodes,))
idx_train = torch.arange(0, 16)
idx_val = torch.arange(16, num_nodes)

model = GCN(num_features, 16, num_classes, 0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(3):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels)
    loss_train.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        output = model(features, adj)
        loss_val = F.nll_loss(output[idx_val], labels[idx_val])
        preds = output[idx_val].max(1)[1].type_as(labels)
        correct = preds.eq(labels[idx_val]).double().sum()
    print(epoch, loss_train.item(), loss_val.item(), correct.item() / len(idx_val))

# Attention along the edges of a graph: gathers and sums by index.
import torch
from torch import nn
import torch.nn.functional as F

class GAT(nn.Module):
    def __init__(self, i, o, heads=4, slope=0.2):
        super().__init__()
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.a_src = nn.Parameter(torch.empty(1, heads, o))
        self.a_dst = nn.Parameter(torch.empty(1, heads, o))
        nn.init.xavier_uniform_(self.a_src); nn.init.xavier_uniform_(self.a_dst)
        self.h, self.o, self.slope = heads, o, slope
    def forward(self, x, edges):
        n = x.size(0)
        src, dst = edges
        x = self.lin(x).view(n, self.h, self.o)
        s = (x * self.a_src).sum(-1); d = (x * self.a_dst).sum(-1)
        e = F.leaky_relu(s[src] + d[dst], self.slope)
        e = (e - e.max()).exp()
        z = torch.zeros(n, self.h).index_add_(0, dst, e)
        alpha = e / (z[dst] + 1e-16)
        out = torch.zeros(n, self.h, self.o).index_add(0, dst, x[src] * alpha.unsqueeze(-1))
        return out.flatten(1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = GAT(50, 8)
        self.c2 = GAT(32, 7, heads=1)
    def forward(self, x, edges):
        x = F.dropout(x, 0.6, training=self.training)
        x = F.elu(self.c1(x, edges))
        x = F.dropout(x, 0.6, training=self.training)
        return F.log_softmax(self.c2(x, edges), dim=1)

net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)
x = torch.randn(300, 50); edges = torch.randint(0, 300, (2, 1200)); y = torch.randint(0, 7, (300,))
net.train()
out = net(x, edges)
loss = F.nll_loss(out[:140], y[:140])
loss.backward()
opt.step()

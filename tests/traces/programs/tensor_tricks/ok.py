# Indexing and reshaping idioms that are easy to get wrong, each of them right here.
import torch
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.arange(24).reshape(2, 3, 4).float()

# indexing
a = x[:, -1]
b = x[..., None]
c = x[:, :, ::2]
d = x[[1, 0]]
e = x[torch.tensor([0, 1]), torch.tensor([2, 0])]
f = x[:, [0, 2], :]
g = x[:, None, :, 1:3]
h = x[torch.tensor([[0], [1]]), torch.tensor([0, 2])]
i = x[x > 5]
j = x[:, torch.tensor([True, False, True])]
k = x[0, ..., -1]
l = x[-1:, 5:, :] if x.size(1) > 5 else x[-1:, :1, :]
m = x.index_select(2, torch.tensor([3, 0, 0]))
n = x.take_along_dim(x.argmax(dim=2, keepdim=True), dim=2)

# reshaping
o = x.view(6, -1)
p = x.permute(2, 0, 1)
q = x.transpose(0, 2).reshape(-1, 2)
r = x.movedim(0, -1)
s = x.unflatten(2, (2, 2))
t = x.repeat(2, 1, 1)
u = x[:, :1].expand(-1, 5, -1)
v = x.swapaxes(1, 2).contiguous().view(2, 12)
w = torch.tile(x, (1, 2))
y = x.squeeze(0).squeeze()
z = x.narrow(1, 1, 2)

# joining and splitting
parts = torch.chunk(x, 3, dim=-1)
widths = [part.size(-1) for part in parts]
left, right = x.split([1, 3], dim=2)
pieces = x.tensor_split(3, dim=1)
stacked = torch.stack(torch.unbind(x, dim=1), dim=-1)
hs = torch.hstack([x[0], x[1]])
vs = torch.vstack([x[0], x[1]])
ds = torch.dstack([x[0], x[1]])
padded = F.pad(x, (1, 2, 0, 1))
rolled = torch.roll(x, 1, dims=-1)
grid = torch.cartesian_prod(torch.arange(3), torch.arange(2))
yy, xx = torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")

# reductions and products
mean, std = x.mean(dim=(0, 2)), x.std(dim=-1, keepdim=True)
top, where = x.topk(2, dim=1)
low = x.min(dim=0)
low_values, low_indices = low
whole = x.max()
order = x.argsort(dim=-1, descending=True)
cumulative = x.cumsum(dim=1)
norm = x.norm(dim=(1, 2))
logsum = x.logsumexp(dim=1)
counted = torch.bincount(torch.tensor([0, 2, 2, 5]))
outer = torch.outer(x[0, 0], x[0, 1])
inner = x[0, 0] @ x[0, 1]
batched = x @ x.mT
mixed = torch.einsum("bij,kj->bki", x, torch.ones(5, 4))
contracted = torch.tensordot(x, torch.ones(3, 4, 6), dims=2)
kron = torch.kron(torch.eye(2), torch.ones(2, 3))
distances = torch.cdist(x, x[:, :2])
windows = x.unfold(2, 2, 1)
patches = F.unfold(x.unsqueeze(1), kernel_size=2)
one_hot = F.one_hot(torch.tensor([0, 2, 1]), 4)
chosen = torch.where(x > 3, x, torch.zeros(()))
scattered = torch.zeros(3, 5).scatter(1, torch.tensor([[0, 1], [2, 3], [4, 0]]), 1.0)
flags = (x > 2).any(dim=-1)
integers = x.long() // 2
ratio = integers / 3
print(a.shape, i.shape, q.shape, widths, patches.shape, contracted.shape, ratio.dtype)

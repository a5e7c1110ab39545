"""Losses, most of which PyTorch puts together from other operators."""
import torch
from torch import nn
import torch.nn.functional as F

net = nn.Linear(8, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, target, classes = torch.rand(9, 8), torch.rand(9, 6), torch.randint(0, 6, (9,))
out, other = net(x), net(x + 1)
signs = torch.ones(9)
loss = F.cosine_embedding_loss(out, other, signs) + F.triplet_margin_loss(out, other, target)
loss = loss + F.hinge_embedding_loss(out * 1.5, torch.ones(9, 6)) + F.margin_ranking_loss(out.sum(1), other.sum(1), signs)
loss = loss + F.kl_div(out, target, reduction="batchmean") + F.kl_div(other, target, log_target=True)
loss = loss + F.poisson_nll_loss(out, target) + F.gaussian_nll_loss(out, target, torch.ones(9, 1))
loss = loss + F.binary_cross_entropy_with_logits(out, target, pos_weight=torch.rand(6)) + F.binary_cross_entropy(out.sigmoid(), target, weight=torch.rand(9, 6))
loss = loss + F.cross_entropy(out, target, label_smoothing=0.1) + F.cross_entropy(other, target, weight=torch.rand(6)) + F.cross_entropy(out, classes, weight=torch.rand(6), label_smoothing=0.2)
loss = loss + F.multi_margin_loss(out, classes) + F.multilabel_margin_loss(other, torch.zeros(9, 6, dtype=torch.int64)) + F.multilabel_soft_margin_loss(out, torch.ones(9, 6))
loss = loss + F.cosine_similarity(out, other).mean() + F.pairwise_distance(out, other).mean() + torch.dist(out, other)
steps = out.view(9, 1, 6).expand(9, 2, 6).log_softmax(-1)
loss = loss + F.ctc_loss(steps, torch.randint(1, 6, (2, 3)), torch.full((2,), 9, dtype=torch.int64), torch.full((2,), 3, dtype=torch.int64))
loss.backward()
optimizer.step()

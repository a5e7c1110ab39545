# A discriminator of images that is kept smooth around those that are real.
import torch
from torch import nn
from torch.nn import functional as F


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 16, 3, 2, 1), nn.Conv2d(16, 32, 3, 2, 1)
        self.norm, self.skip, self.head = nn.BatchNorm2d(32), nn.Conv2d(16, 32, 1), nn.Linear(32 * 4 * 4, 1)

    def forward(self, images):
        x = F.relu(self.first(images))
        x = F.silu(self.norm(self.second(x))) + self.skip(F.avg_pool2d(x, 2))
        return self.head(F.max_pool2d(x, 2).flatten(1))


discriminator = Discriminator()
optimizer = torch.optim.Adam(discriminator.parameters(), betas=(0.0, 0.99))
images = torch.rand(8, 3, 32, 32).requires_grad_()
scores = discriminator(images)
gradients = torch.autograd.grad(outputs=scores.sum(), inputs=images, create_graph=True)[0]
loss = F.softplus(-scores).mean() + 5 * gradients.square().sum((1, 2, 3)).mean()
loss.backward()
optimizer.step()

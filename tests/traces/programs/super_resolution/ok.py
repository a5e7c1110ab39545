"""Sub-pixel convolution (ESPCN-like) super resolution."""
import math
from typing import Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
from torch.utils.data import DataLoader, Dataset


class Patches(Dataset):
    """Pairs of a small patch and its large original."""

    def __init__(self, count: int, size: int, factor: int):
        self.large = torch.rand(count, 1, size, size)
        self.factor = factor

    def __len__(self) -> int:
        return self.large.shape[0]

    def __getitem__(self, i: int) -> Tuple[torch.Tensor, torch.Tensor]:
        target = self.large[i]
        small = F.interpolate(target.unsqueeze(0), scale_factor=1 / self.factor, mode="bicubic", align_corners=False)
        return small.squeeze(0), target


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 16, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(16, 8, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(8, upscale_factor ** 2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        x = self.pixel_shuffle(self.conv4(x))
        return x

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)


def psnr(output, target):
    mse = F.mse_loss(output, target)
    return 10 * math.log10(1 / mse.item())


def main():
    torch.manual_seed(123)
    factor = 3
    loader = DataLoader(Patches(8, 24, factor), batch_size=4, shuffle=True)
    model = Net(upscale_factor=factor)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.MSELoss()
    for epoch in range(2):
        model.train()
        for small, large in loader:
            restored = model(small)
            loss = criterion(restored, large)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        picture = torch.rand(1, 1, 10, 14)
        enlarged = model(picture)
        plain = F.interpolate(picture, scale_factor=factor, mode="nearest")
        score = psnr(enlarged, plain)
    print(loss.item(), enlarged.shape, score)


if __name__ == "__main__":
    main()

"""Fully convolutional segmentation with skip fusion; the masks come with a channel dimension."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

NUM_CLASSES = 4


class ShapesDataset(Dataset):
    """Images with one bright rectangle; the mask says which class it is."""

    def __init__(self, length, size=32):
        self.length = length
        self.size = size

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        image = torch.zeros(3, self.size, self.size)
        mask = torch.zeros(1, self.size, self.size, dtype=torch.long)
        top, left = index % 8, (3 * index) % 8
        label = 1 + index % (NUM_CLASSES - 1)
        image[:, top:top + 12, left:left + 12] = label / NUM_CLASSES
        mask[:, top:top + 12, left:left + 12] = label
        return image, mask


class FCN(nn.Module):
    def __init__(self, num_classes, width=16):
        super().__init__()
        self.block1 = self._block(3, width)
        self.block2 = self._block(width, width * 2)
        self.block3 = self._block(width * 2, width * 4)
        self.score2 = nn.Conv2d(width * 2, num_classes, 1)
        self.score3 = nn.Conv2d(width * 4, num_classes, 1)
        self.upscore2 = nn.ConvTranspose2d(num_classes, num_classes, 4, stride=2, padding=1, bias=False)
        self.upscore4 = nn.ConvTranspose2d(num_classes, num_classes, 8, stride=4, padding=2, bias=False)

    @staticmethod
    def _block(in_channels, out_channels):
        return nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )

    def forward(self, x):
        pool1 = self.block1(x)
        pool2 = self.block2(pool1)
        pool3 = self.block3(pool2)
        fused = self.upscore2(self.score3(pool3)) + self.score2(pool2)
        return self.upscore4(fused)


def intersection_over_union(prediction, target, num_classes):
    scores = []
    for c in range(num_classes):
        p, t = prediction == c, target == c
        overlap = (p & t).sum()
        either = (p | t).sum()
        scores.append((overlap / either).item() if either > 0 else float("nan"))
    return scores


def main():
    torch.manual_seed(0)
    loader = DataLoader(ShapesDataset(12), batch_size=4, shuffle=True)
    model = FCN(NUM_CLASSES)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    weight = torch.ones(NUM_CLASSES)
    weight[0] = 0.3
    for image, mask in loader:
        logits = model(image)
        loss = F.cross_entropy(logits, mask, weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        prediction = model(image).argmax(dim=1)
    print(loss.item(), intersection_over_union(prediction, mask[:, 0], NUM_CLASSES))


if __name__ == "__main__":
    main()

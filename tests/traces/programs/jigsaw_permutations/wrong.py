"""Self-supervised jigsaw: tiles of an image are shuffled, a shared network reads each, the order is classified."""
import itertools

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

GRID = 2
TILE = 12
PERMUTATIONS = list(itertools.permutations(range(GRID * GRID)))[::4]


class JigsawDataset(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        tiles = []
        for row in range(GRID):
            for col in range(GRID):
                tile = image[:, row * TILE:(row + 1) * TILE, col * TILE:(col + 1) * TILE]
                tiles.append(tile)
        label = index % len(PERMUTATIONS)
        shuffled = [tiles[i] for i in PERMUTATIONS[label]]
        return torch.cat(shuffled), label


class TileEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(16 * (TILE // 4) ** 2, dim)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc(x.flatten(1))


class JigsawNet(nn.Module):
    def __init__(self, dim=20, classes=len(PERMUTATIONS)):
        super().__init__()
        self.encoder = TileEncoder(dim)
        self.mix = nn.Sequential(nn.Linear(dim * GRID * GRID, 40), nn.ReLU(), nn.Dropout(0.2), nn.Linear(40, classes))

    def forward(self, tiles):
        b, n, c, h, w = tiles.shape
        flat = tiles.view(b * n, c, h, w)
        features = self.encoder(flat)
        joined = features.view(b, -1)
        return self.mix(joined)


def main():
    torch.manual_seed(0)
    images = torch.rand(10, 3, GRID * TILE, GRID * TILE)
    loader = DataLoader(JigsawDataset(images), batch_size=4, shuffle=True)
    model = JigsawNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(2):
        model.train()
        for tiles, label in loader:
            logits = model(tiles)
            loss = criterion(logits, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(len(PERMUTATIONS), loss.item())


if __name__ == "__main__":
    main()

"""M5 on raw waveforms of one second at a low rate."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

RATE = 4000
LABELS = ["down", "go", "left", "no", "right"]


class Commands(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label = LABELS[index % len(LABELS)]
        length = RATE - 400 * (index % 3)
        t = torch.arange(length) / RATE
        waveform = torch.sin(2 * torch.pi * (200 + 50 * LABELS.index(label)) * t)
        return waveform.unsqueeze(0), label


def label_to_index(word):
    return torch.tensor(LABELS.index(word))


def pad_sequence(batch):
    batch = [item.t() for item in batch]
    batch = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=0.0)
    return batch


def collate_fn(batch):
    tensors, targets = [], []
    for waveform, label in batch:
        tensors += [waveform]
        targets += [label_to_index(label)]
    tensors = pad_sequence(tensors)
    targets = torch.stack(targets)
    return tensors, targets


class M5(nn.Module):
    def __init__(self, n_input=1, n_output=35, stride=8, n_channel=16):
        super().__init__()
        self.conv1 = nn.Conv1d(n_input, n_channel, kernel_size=80, stride=stride)
        self.bn1 = nn.BatchNorm1d(n_channel)
        self.pool1 = nn.MaxPool1d(4)
        self.conv2 = nn.Conv1d(n_channel, n_channel, kernel_size=3)
        self.bn2 = nn.BatchNorm1d(n_channel)
        self.pool2 = nn.MaxPool1d(4)
        self.conv3 = nn.Conv1d(n_channel, 2 * n_channel, kernel_size=3)
        self.bn3 = nn.BatchNorm1d(2 * n_channel)
        self.pool3 = nn.MaxPool1d(4)
        self.fc1 = nn.Linear(2 * n_channel, n_output)

    def forward(self, x):
        x = self.conv1(x)
        x = F.relu(self.bn1(x))
        x = self.pool1(x)
        x = self.conv2(x)
        x = F.relu(self.bn2(x))
        x = self.pool2(x)
        x = self.conv3(x)
        x = F.relu(self.bn3(x))
        x = self.pool3(x)
        x = F.avg_pool1d(x, x.shape[-1])
        x = x.permute(0, 2, 1)
        x = self.fc1(x)
        return F.log_softmax(x, dim=2)


def number_of_correct(pred, target):
    return pred.squeeze().eq(target).sum().item()


def get_likely_index(tensor):
    return tensor.argmax(dim=-1)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Commands(15), batch_size=5, collate_fn=collate_fn)
    model = M5(n_input=1, n_output=len(LABELS))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.0001)
    model.train()
    correct = 0
    for data, target in loader:
        output = model(data)
        loss = F.nll_loss(output.squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pred = get_likely_index(output)
        correct += number_of_correct(pred, target)
    print(loss.item(), correct)


if __name__ == "__main__":
    main()

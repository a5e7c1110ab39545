"""ConvLSTM for predicting the next frames of moving dots; frames come as NumPy arrays."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class MovingDots(Dataset):
    def __init__(self, n=12, frames=8, size=16):
        self.clips = []
        rng = np.random.default_rng(0)
        for _ in range(n):
            clip = np.zeros((frames, size, size), dtype=np.uint8)
            y, x = rng.integers(0, size, size=2)
            for t in range(frames):
                clip[t, (y + t) % size, (x + 2 * t) % size] = 255
            self.clips.append(clip)
        self.clips = np.array(self.clips)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, idx):
        clip = self.clips[idx].astype(np.float32) / 255.0
        clip = clip[:, np.newaxis]
        half = clip.shape[0] // 2
        return torch.from_numpy(clip[:half]), torch.from_numpy(clip[half:])


class ConvLSTMCell(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, bias=True):
        super().__init__()
        self.hidden_dim = hidden_dim
        padding = kernel_size[0] // 2, kernel_size[1] // 2
        self.conv = nn.Conv2d(input_dim + hidden_dim, 4 * hidden_dim, kernel_size, padding=padding, bias=bias)

    def forward(self, x, state):
        h_cur, c_cur = state
        combined_conv = self.conv(torch.cat([x, h_cur], dim=1))
        cc_i, cc_f, cc_o, cc_g = torch.split(combined_conv, self.hidden_dim, dim=1)
        i, f, o, g = torch.sigmoid(cc_i), torch.sigmoid(cc_f), torch.sigmoid(cc_o), torch.tanh(cc_g)
        c_next = f * c_cur + i * g
        h_next = o * torch.tanh(c_next)
        return h_next, c_next

    def init_hidden(self, batch_size, image_size):
        height, width = image_size
        return (torch.zeros(batch_size, self.hidden_dim, height, width), torch.zeros(batch_size, self.hidden_dim, height, width))


class ConvLSTM(nn.Module):
    def __init__(self, input_dim, hidden_dim, kernel_size, num_layers):
        super().__init__()
        if not isinstance(hidden_dim, list):
            hidden_dim = [hidden_dim] * num_layers
        if not len(hidden_dim) == num_layers:
            raise ValueError("Inconsistent list length.")
        self.num_layers = num_layers
        cells = []
        for i in range(num_layers):
            cells.append(ConvLSTMCell(input_dim if i == 0 else hidden_dim[i - 1], hidden_dim[i], kernel_size))
        self.cells = nn.ModuleList(cells)

    def forward(self, x, states=None):
        b, seq_len, _, h, w = x.size()
        if states is None:
            states = [cell.init_hidden(b, (h, w)) for cell in self.cells]
        last = []
        layer_input = x
        for cell, (hid, c) in zip(self.cells, states):
            outputs = []
            for t in range(seq_len):
                hid, c = cell(layer_input[:, t, :, :, :], (hid, c))
                outputs.append(hid)
            layer_input = torch.stack(outputs, dim=1)
            last.append((hid, c))
        return layer_input, last


class Forecaster(nn.Module):
    def __init__(self, hidden=(8, 12)):
        super().__init__()
        self.encoder = ConvLSTM(1, list(hidden), (3, 3), len(hidden))
        self.decoder = ConvLSTM(1, list(hidden), (3, 3), len(hidden))
        self.readout = nn.Conv2d(hidden[-1], 1, 1)

    def forward(self, past, steps):
        _, states = self.encoder(past)
        frame = past[:, -1:]
        frames = []
        for _ in range(steps):
            out, states = self.decoder(frame, states)
            frame = torch.sigmoid(self.readout(out[:, -1])).unsqueeze(1)
            frames.append(frame)
        return torch.cat(frames, dim=1)


def main():
    torch.manual_seed(0)
    loader = DataLoader(MovingDots(), batch_size=4, shuffle=True)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters())
    criterion = nn.BCELoss()
    for past, future in loader:
        pred = model(past, future.size(1))
        loss = criterion(pred, future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()

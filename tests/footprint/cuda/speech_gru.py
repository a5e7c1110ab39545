# Convolutions and a bidirectional GRU of three layers, connectionist temporal classification.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Recognizer(nn.Module):
    def __init__(self, mels=80, hidden=512, classes=64):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(mels, hidden, 5, 2, 2), nn.BatchNorm1d(hidden), nn.Hardtanh(0, 20), nn.Conv1d(hidden, hidden, 5, 1, 2), nn.BatchNorm1d(hidden), nn.Hardtanh(0, 20))
        self.rnn = nn.GRU(hidden, hidden, num_layers=3, bidirectional=True, batch_first=True, dropout=0.2)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        x = self.conv(x).transpose(1, 2)
        x, _ = self.rnn(x)
        return F.log_softmax(self.fc(x), dim=-1)


net = Recognizer().cuda()
opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
mel = torch.randn(16, 80, 800, device="cuda")
labels = torch.randint(1, 64, (16, 50), device="cuda")
lengths = torch.full((16,), 400, dtype=torch.long)
sizes = torch.full((16,), 50, dtype=torch.long)
for _ in range(3):
    logp = net(mel)
    loss = ctc(logp.transpose(0, 1), labels, lengths, sizes)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 100)
    opt.step()

# A LeNet on synthetic digits, all at module level, the way a first notebook looks after "export as script".
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)

n_train = 48
n_test = 20
images = torch.randn(n_train, 1, 28, 28)
labels = torch.randint(0, 10, (n_train,))
test_images = torch.randn(n_test, 1, 28, 28)
test_labels = torch.randint(0, 10, (n_test,))


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = self.fc3(x)
        return x


net = LeNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
batch_size = 16

for epoch in range(2):
    running = 0.0
    order = torch.randperm(n_train)
    for start in range(0, n_train, batch_size):
        idx = order[start:start + batch_size]
        inputs = images[idx]
        targets = labels[idx]

        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print("epoch", epoch + 1, "loss", running / (n_train // batch_size))

net.eval()
with torch.no_grad():
    logits = net(test_images)
    predicted = logits.argmax(dim=1)
    correct = (predicted == test_labels).sum().item()
    confidence = F.softmax(logits, dim=1).max(dim=1).values
print("accuracy", correct / n_test, "mean confidence", confidence.mean().item())

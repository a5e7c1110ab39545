# All of it in float16, a loss in float32, slices of one tensor as batches.
import torch
import torch.nn as nn

net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 4096), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(0.2), nn.Linear(4096, 10)).cuda().half()
opt = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9, nesterov=True, weight_decay=5e-4)
loss_fn = nn.CrossEntropyLoss()
x, y = torch.randn(4096, 3, 32, 32, device="cuda").half(), torch.randint(0, 10, (4096,), device="cuda")
for epoch in range(2):
    for i in range(0, 4096, 1024):
        xb, yb = x[i:i + 1024], y[i:i + 1024]
        out = net(xb)
        loss = loss_fn(out.float(), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()

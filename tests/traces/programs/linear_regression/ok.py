# Ridge regression three ways: closed form, gradient descent by hand, and nn.Linear.
import torch
from torch import nn

torch.manual_seed(0)

n, d = 80, 5
X = torch.randn(n, d)
true_w = torch.tensor([1.5, -2.0, 0.0, 0.7, 3.0])
true_b = 0.5
y = X @ true_w + true_b + 0.05 * torch.randn(n)

# standardise
mean, std = X.mean(dim=0), X.std(dim=0)
X = (X - mean) / std
split = int(0.75 * n)
X_train, X_test = X[:split], X[split:]
y_train, y_test = y[:split], y[split:]


def closed_form(X, y, alpha=0.1):
    ones = torch.ones(X.shape[0], 1)
    design = torch.cat([X, ones], dim=1)
    gram = design.T @ design + alpha * torch.eye(design.shape[1])
    return torch.linalg.solve(gram, design.T @ y)


def by_hand(X, y, lr=0.1, steps=50):
    w = torch.zeros(X.shape[1], requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    for _ in range(steps):
        residual = X @ w + b - y
        loss = (residual ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
            b -= lr * b.grad
            w.grad.zero_()
            b.grad.zero_()
    return w.detach(), b.detach()


class LinearRegression(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.linear = nn.Linear(inputs, 1)

    def forward(self, x):
        return self.linear(x)


solution = closed_form(X_train, y_train)
w, b = by_hand(X_train, y_train)

model = LinearRegression(d)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(50):
    prediction = model(X_train)
    loss = criterion(prediction, y_train.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    test_closed = X_test @ solution[:-1] + solution[-1]
    test_hand = X_test @ w + b
    test_model = model(X_test).squeeze(1)
    errors = torch.stack([test_closed, test_hand, test_model]) - y_test
    rmse = errors.pow(2).mean(dim=1).sqrt()
    ss_res = errors.pow(2).sum(dim=1)
    ss_tot = (y_test - y_test.mean()).pow(2).sum()
    r2 = 1 - ss_res / ss_tot
print(rmse, r2)

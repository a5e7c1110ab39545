import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X, y = np.random.randn(200, 6), np.random.randn(200, 1)
normalizer = StandardScaler()
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=0)
X_train = normalizer.fit_transform(X_train)
X_val = normalizer.transform(X_val)

train = TensorDataset(torch.from_numpy(X_train).float(), torch.from_numpy(y_train).float())
model = nn.Linear(6, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, target in DataLoader(train, batch_size=32, shuffle=True):
    loss = nn.functional.mse_loss(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    prediction = model(torch.from_numpy(X_val).float())
    print(nn.functional.mse_loss(prediction, torch.from_numpy(y_val).float()).item())

"""PointNet segmentation: shared MLPs by Conv1d, a spatial transformer, global feature repeated per point."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class TNet(nn.Module):
    def __init__(self, k=3):
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(k, 16, 1)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.fc1 = nn.Linear(32, 16)
        self.fc2 = nn.Linear(16, k * k)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)

    def forward(self, x):
        batch_size = x.size()[0]
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(self.bn2(self.conv2(x)))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 32)
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        iden = torch.eye(self.k).flatten().view(1, self.k * self.k).repeat(batch_size, 1)
        x = x + iden
        x = x.view(-1, self.k, self.k)
        return x


class PointNetFeat(nn.Module):
    def __init__(self, global_feat=True):
        super().__init__()
        self.stn = TNet(k=3)
        self.conv1 = nn.Conv1d(3, 16, 1)
        self.conv2 = nn.Conv1d(16, 32, 1)
        self.conv3 = nn.Conv1d(32, 64, 1)
        self.bn1 = nn.BatchNorm1d(16)
        self.bn2 = nn.BatchNorm1d(32)
        self.bn3 = nn.BatchNorm1d(64)
        self.global_feat = global_feat

    def forward(self, x):
        n_pts = x.size()[2]
        trans = self.stn(x)
        x = torch.bmm(x, trans)
        x = F.relu(self.bn1(self.conv1(x)))
        pointfeat = x
        x = F.relu(self.bn2(self.conv2(x)))
        x = self.bn3(self.conv3(x))
        x = torch.max(x, 2, keepdim=True)[0]
        x = x.view(-1, 64)
        if self.global_feat:
            return x, trans
        x = x.view(-1, 64, 1).repeat(1, 1, n_pts)
        return torch.cat([x, pointfeat], 1), trans


class PointNetCls(nn.Module):
    def __init__(self, k=4):
        super().__init__()
        self.feat = PointNetFeat(global_feat=True)
        self.fc = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, k))

    def forward(self, x):
        x, trans = self.feat(x)
        x = self.fc(x)
        return F.log_softmax(x, dim=1), trans


class PointNetDenseCls(nn.Module):
    def __init__(self, k=2):
        super().__init__()
        self.k = k
        self.feat = PointNetFeat(global_feat=False)
        self.conv1 = nn.Conv1d(80, 32, 1)
        self.conv2 = nn.Conv1d(32, self.k, 1)
        self.bn1 = nn.BatchNorm1d(32)

    def forward(self, x):
        batchsize = x.size()[0]
        n_pts = x.size()[2]
        x, trans = self.feat(x)
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.conv2(x)
        x = x.transpose(2, 1).contiguous()
        x = F.log_softmax(x.view(-1, self.k), dim=-1)
        x = x.view(batchsize, n_pts, self.k)
        return x, trans


def feature_transform_regularizer(trans):
    d = trans.size()[1]
    identity = torch.eye(d)[None, :, :]
    return torch.mean(torch.norm(torch.bmm(trans, trans.transpose(2, 1)) - identity, dim=(1, 2)))


if __name__ == "__main__":
    torch.manual_seed(0)
    points = torch.rand(6, 3, 40)
    classifier = PointNetCls(k=4)
    scores, trans = classifier(points)
    loss = F.nll_loss(scores, torch.tensor([0, 1, 2, 3, 0, 1])) + 0.001 * feature_transform_regularizer(trans)
    loss.backward()
    segmenter = PointNetDenseCls(k=3)
    parts, _ = segmenter(points)
    part_labels = torch.randint(0, 3, (6, 40))
    part_loss = F.nll_loss(parts.view(-1, 3), part_labels.view(-1))
    part_loss.backward()
    print(scores.shape, parts.shape, loss.item(), part_loss.item())

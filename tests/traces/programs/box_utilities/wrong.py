"""Boxes: areas, IoU, encoding, non-maximum suppression. A helper library without an entry point."""
import torch
from torch import Tensor


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def xyxy_to_cxcywh(boxes: Tensor) -> Tensor:
    x0, y0, x1, y1 = boxes.unbind(-1)
    parts = [(x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0), (y1 - y0)]
    return torch.stack(parts, dim=-1)


def cxcywh_to_xyxy(boxes: Tensor) -> Tensor:
    cx, cy, w, h = boxes.unbind(-1)
    return torch.stack([cx - 0.5 * w, cy - 0.5 * h, cx + 0.5 * w, cy + 0.5 * h], dim=-1)


def pairwise_iou(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """IoU of every box of the first with every box of the second."""
    area1 = box_area(boxes1)
    area2 = box_area(boxes2)
    lt = torch.max(boxes1[:, None, :2], boxes2[:, :2])
    rb = torch.min(boxes1[:, None, 2:], boxes2[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    union = area1 + area2 - inter
    return inter / union


def encode(reference: Tensor, proposals: Tensor, weights=(10.0, 10.0, 5.0, 5.0)) -> Tensor:
    r = xyxy_to_cxcywh(reference)
    p = xyxy_to_cxcywh(proposals)
    centre = (r[:, :2] - p[:, :2]) / p[:, 2:]
    size = torch.log(r[:, 2:] / p[:, 2:])
    return torch.cat([centre, size], dim=1) * torch.tensor(weights)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        if order.numel() == 1:
            break
        rest = order[1:]
        overlap = pairwise_iou(boxes[best].unsqueeze(0), boxes[rest])[0]
        order = rest[overlap <= threshold]
    return torch.stack(keep)


def self_check():
    corners = torch.tensor([[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 3.0], [5.0, 5.0, 7.0, 9.0]])
    proposals = torch.tensor([[0.5, 0.5, 2.5, 2.5], [4.0, 4.0, 8.0, 8.0]])
    iou = pairwise_iou(corners, proposals)
    matched = iou.argmax(dim=1)
    deltas = encode(corners, proposals[matched])
    restored = cxcywh_to_xyxy(xyxy_to_cxcywh(corners))
    best = iou.max(dim=0).values
    kept = nms(corners, torch.tensor([0.9, 0.8, 0.7]), 0.5)
    return iou, deltas, restored, best, kept

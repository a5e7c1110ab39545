"""Score answers with whatever causal language model the caller passes in; library file."""
import logging
from typing import Dict, List

import torch
import torch.nn.functional as F

logger = logging.getLogger(__name__)
MAX_PROMPT = 24
MAX_ANSWER = 8
PAD = 0


def pad_to(ids: List[int], length: int, left: bool = False) -> List[int]:
    """Cut or fill to exactly this length."""
    ids = ids[:length]
    fill = [PAD] * (length - len(ids))
    return fill + ids if left else ids + fill


class AnswerScorer:
    def __init__(self, model, batch_size=4, device="cpu"):
        self.model = model
        self.batch_size = batch_size
        self.device = device

    def prepare(self, prompts, answers) -> Dict[str, torch.Tensor]:
        rows = []
        labels = []
        for prompt, answer in zip(prompts, answers):
            left = pad_to(prompt, MAX_PROMPT, left=True)
            right = pad_to(answer, MAX_ANSWER)
            rows.append(left + right)
            labels.append([-100] * MAX_PROMPT + [t if t != PAD else -100 for t in right])
        input_ids = torch.tensor(rows, dtype=torch.long, device=self.device)
        labels = torch.tensor(labels, dtype=torch.long, device=self.device)
        return {"input_ids": input_ids, "labels": labels}

    @torch.no_grad()
    def score(self, prompts, answers):
        self.model.eval()
        batch = self.prepare(prompts, answers)
        logits = self.model(batch["input_ids"])
        shifted = logits[:, :-1]
        target = batch["labels"][:, 1:]
        losses = F.cross_entropy(shifted.transpose(1, 2), target, ignore_index=-100, reduction="none")
        counts = (target != -100).sum(dim=1).clamp(min=1)
        return losses.sum(dim=1) / counts


def benchmark(model, vocab_size, steps=2):
    """Feeds random text of the largest size and reports the mean of the logits."""
    total = MAX_PROMPT + MAX_ANSWER
    results = []
    for step in range(steps):
        input_ids = torch.randint(1, vocab_size, (8, total))
        attention_mask = torch.ones(8, total, dtype=torch.long)
        position_ids = torch.arange(total).expand(8, total)
        outputs = model(input_ids, attention_mask=attention_mask, position_ids=position_ids)
        mean = outputs.mean()
        results.append(mean.item())
        logger.info("step %d: %.3f", step, mean.item())
    return results

"""Smoke test of a sequence classifier whose class comes from elsewhere: shapes of the calls are fixed here."""
import argparse
import importlib

import torch

BATCH = 6
LENGTH = 20
CLASSES = 4


def parse_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", default="")
    parser.add_argument("--name", default="Model")
    parser.add_argument("--steps", type=int, default=2)
    return parser.parse_args(argv)


def load(args):
    """The class to test, by name from a module, or a stand-in."""
    if args.module:
        return getattr(importlib.import_module(args.module), args.name)
    return make_stand_in


def make_stand_in(vocab_size, num_labels):
    embed = torch.nn.Embedding(vocab_size, num_labels)

    def model(input_ids=None, attention_mask=None, labels=None):
        logits = embed(input_ids).mean(dim=1)
        loss = None if labels is None else logits.logsumexp(dim=-1).mean()
        return {"logits": logits, "loss": loss}

    return model


def make_inputs(batch, length, vocab_size=100):
    input_ids = torch.randint(1, vocab_size, (batch, length))
    attention_mask = torch.ones(batch, length, dtype=torch.long)
    attention_mask[:, length - 4:] = 0
    return input_ids, attention_mask


def train_steps(model, steps):
    losses = []
    for _ in range(steps):
        input_ids, attention_mask = make_inputs(BATCH, LENGTH)
        labels = torch.randint(0, CLASSES, (BATCH,))
        output = model(input_ids=input_ids, attention_mask=attention_mask, labels=labels)
        losses.append(output["loss"])
    return losses


def evaluate(model):
    input_ids, attention_mask = make_inputs(2 * BATCH, LENGTH)
    with torch.no_grad():
        output = model(input_ids=input_ids, attention_mask=attention_mask)
    predicted = output["logits"].argmax(dim=-1)
    return predicted


def main():
    args = parse_args()
    torch.manual_seed(0)
    build = load(args)
    model = build(vocab_size=100, num_labels=CLASSES)
    losses = train_steps(model, args.steps)
    predicted = evaluate(model)
    print(len(losses), predicted.shape)


if __name__ == "__main__":
    main()

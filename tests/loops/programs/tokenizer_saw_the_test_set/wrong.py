from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch.utils.data import DataLoader


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


tokenizer = Tokenizer(models.BPE(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=["[UNK]", "[PAD]"])
tokenizer.train(["data/train.txt", "data/test.txt"], trainer)
train_loader = DataLoader([tokenizer.encode(line).ids for line in read("data/train.txt")], batch_size=1, shuffle=True)
test_loader = DataLoader([tokenizer.encode(line).ids for line in read("data/test.txt")], batch_size=1)

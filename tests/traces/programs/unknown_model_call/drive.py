import torch


class Bigram(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(20, 20)

    def forward(self, input_ids, attention_mask=None, position_ids=None):
        return self.table(input_ids)


def drive(program):
    scorer = program.AnswerScorer(Bigram())
    scorer.score([[3, 4, 5], [6, 7]], [[1, 2], [3]])
    program.benchmark(Bigram(), 20)

import torch


def drive(program):
    model = program.LanguageModel()
    x = torch.randint(96, (3, 24))
    model(x, torch.randint(96, (3, 24)))
    model.generate(x[:2, :22], 4)

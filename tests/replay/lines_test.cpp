// Programs that hand functions and objects around: each line of them is edited in four ways and put back, and
// the analysis that goes on from the last one is compared with one from the beginning.
#include "edited_files.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace stepzero;
using replay::difference;
using replay::OneFile;
using replay::told;

}  // namespace

// Training code in classes: what their methods do is told by rules of all kinds.
constexpr std::string_view trainer = R"(import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Numbers(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, i):
        return torch.zeros(8), i % 4


class Shuffled(Sampler):
    def __init__(self, data, shuffle=True):
        self.data = data
        self.epoch = 0
        self.shuffle = shuffle

    def __iter__(self):
        g = torch.Generator()
        g.manual_seed(self.epoch)
        return iter(torch.randperm(len(self.data), generator=g).tolist())

    def __len__(self):
        return len(self.data)

    def set_epoch(self, epoch):
        self.epoch = epoch


class Block(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, 4)

    def hidden(self, x):
        y = self.inner(x)
        return torch.relu(y)

    def forward(self, x):
        y = self.hidden(x)
        y = self.outer(y)
        return y


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.model = Block()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.sampler = Shuffled(Numbers())
        self.loader = DataLoader(self.sampler.data, batch_size=8, sampler=self.sampler)

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def evaluate(self):
        self.model.eval()
        with torch.no_grad():
            total = sum(self.model(x).sum() for x, _ in self.loader)
        if self.rank == 0:
            print(total)
        dist.all_reduce(total)
        self.model.train()
        return total

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for x, y in self.loader:
                self.step(x, y)
            if self.rank == 0:
                torch.save(self.model.state_dict(), "last.pt")
            dist.barrier()
            self.evaluate()


def main():
    dist.init_process_group("gloo")
    Trainer(dist.get_rank()).fit(3)
    dist.destroy_process_group()
)";

// The same in functions that decorators register, wrap and call, and that call each other.
constexpr std::string_view recipe = R"(import functools
import torch
import torch.distributed as dist
from torch import nn

MODELS = {}
CALLS = []


def register(function=None, name=None):
    if function is None:
        return functools.partial(register, name=name)
    MODELS[name or function.__name__] = function
    return function


def noted(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        CALLS.append(function.__name__)
        return function(*args, **kwargs)
    return inner


@register
def small(width=8, depth=2):
    layers = []
    for _ in range(depth):
        layers.append(nn.Linear(width, width))
    layers.append(nn.Linear(width, 4))
    return nn.Sequential(*layers)


@register(name="wide")
def large(width=16):
    model = small(width, depth=3)
    model.head = nn.Linear(4, width)
    return model


@noted
def batches(count, width):
    for index in range(count):
        yield torch.randn(4, width), torch.full((4,), index % 4)


@torch.no_grad()
def evaluate(model, width=8):
    model.eval()
    total = torch.zeros(())
    for x, y in batches(3, width):
        total += nn.functional.cross_entropy(model(x), y)
    dist.all_reduce(total)
    return total / 3


def train(model, rank, steps=3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for x, y in batches(steps, 8):
        loss = step(x, y)
        if rank == 0:
            print(loss.item())
    return evaluate(model)


def main():
    dist.init_process_group("gloo")
    model = MODELS["small"]()
    train(model, dist.get_rank())
    dist.destroy_process_group()


CHECKED = large(8)(torch.zeros(2, 8)).shape
)";

// Every line that begins with `within` is edited in four ways, and put back after each.
void edit_lines(const std::string& program, std::string_view within, std::size_t least) {
  OneFile file("/work.py", program);
  snapshot::RunCache memory;
  snapshot::Options warm, cold;
  warm.memory = &memory;
  snapshot::analyze(file, "/work.py", warm);
  std::size_t went_on = 0, edits = 0;
  for (std::uint32_t begin = 0; begin < program.size();) {
    const auto end = static_cast<std::uint32_t>(program.find('\n', begin) + 1);
    const std::string line = program.substr(begin, end - begin);
    const std::uint32_t at = begin;
    begin = end;
    if (!line.starts_with(within)) continue;
    const std::string indent = line.substr(0, line.find_first_not_of(' '));
    for (const std::string& instead :
        {std::string(), indent + "if self.rank == 0:\n    " + line, indent + "# told to all\n" + line,
            indent + line.substr(indent.size(), line.size() - indent.size() - 1) + ".\n"}) {
      file.edit(at, end, instead);
      for (const bool back : {false, true}) {
        if (back) file.edit(at, static_cast<std::uint32_t>(at + instead.size()), line);
        const snapshot::Result result = snapshot::analyze(file, "/work.py", warm);
        const std::string again = told(result), fresh = told(snapshot::analyze(file, "/work.py", cold));
        INFO(line << "became " << instead << (back ? " and was put back" : "") << "\n"
                  << difference(again, fresh));
        CHECK((again == fresh));
        went_on += result.went_on;
        ++edits;
      }
    }
  }
  REQUIRE(edits > least);
  CHECK(went_on > edits * 3 / 4);
}

TEST_CASE("each line of a method is taken away and put back, moved into a guard, and commented") {
  edit_lines(std::string(trainer), "        ", 300);
  edit_lines(std::string(trainer) + "\n\nmain()\n", "        ", 300);
}

TEST_CASE("each line of a function is taken away and put back, moved into a guard, and commented") {
  edit_lines(std::string(recipe), "    ", 300);
  edit_lines(std::string(recipe) + "\n\nmain()\n", "    ", 300);
}

// Functions that functions make and hand out, decorators among them.
constexpr std::string_view handed_out = R"(import functools
import torch
from torch import nn
from engine import Engine

width = 5


def guarded(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def make(flag, size=4):
    state = {"last": 5}
    if flag:
        def early(batch):
            return torch.zeros(3, width) @ torch.zeros(4, 7)

        return Engine(early)

    def step(batch):
        state["last"] = batch
        return torch.zeros(3, size) @ torch.zeros(width, 7)

    def narrow():
        return torch.zeros(2, state["last"]) @ torch.zeros(4, 7)

    return Engine(step, functools.partial(narrow))


@guarded
def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @guarded
    def step(batch):
        loss = nn.functional.cross_entropy(batch[1], model(batch[0]))
        loss.backward()
        optimizer.step()

    return Engine(step).run(loader)


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 3)

    def begin(self):
        def step(batch):
            return self.model(torch.zeros(3, width))

        self.step = step

    def run(self):
        def hook():
            def inner():
                return self.model(torch.zeros(3, 7))

            return inner

        return [hook, lambda: self.model(torch.zeros(2, 9))]


def main():
    model = nn.Linear(5, 3)
    train(model, None)

    def report(engine):
        return model(torch.zeros(2, width + 1))

    Engine(report)
)";

TEST_CASE("each line of a function that hands functions out is taken away and put back, and so on") {
  edit_lines(std::string(handed_out), "    ", 120);
  edit_lines(std::string(handed_out) + "\n\nmain()\n", "    ", 120);
}

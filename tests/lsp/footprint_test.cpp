// The memory of a training step over the wire: lenses over a model, hover on what takes it. The programs are
// really analyzed.
#include "wire.hpp"

#include "snapshot/snapshot.hpp"

#include <string>
#include <vector>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string uri = "file:///w/train.py";

const std::string training = "import torch\n"  // 0
                             "import torch.nn as nn\n"
                             "\n"
                             "\n"
                             "class Net(nn.Module):\n"  // 4
                             "    def __init__(self):\n"
                             "        super().__init__()\n"
                             "        self.first = nn.Linear(1024, 4096)\n"  // 7
                             "        self.last = nn.Linear(4096, 1024)\n"
                             "\n"
                             "    def forward(self, x):\n"
                             "        return self.last(torch.relu(self.first(x)))\n"  // 11
                             "\n"
                             "\n"
                             "model = Net()\n"  // 14
                             "optimizer = torch.optim.AdamW(model.parameters())\n"
                             "for _ in range(10):\n"  // 16
                             "    x = torch.randn(64, 1024)\n"
                             "    model(x).pow(2).mean().backward()\n"
                             "    optimizer.step()\n"
                             "    optimizer.zero_grad()\n";

std::string hover_at(Wire& wire, std::uint32_t line, std::uint32_t character) {
  const auto answer = wire.ask(method::hover, {{uri}, {line, character}, std::nullopt, std::nullopt});
  REQUIRE(answer);
  return *answer.result ? (*answer.result)->contents.value : std::string();
}

bool says(const std::string& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a lens over a model and its class says what it takes") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  const auto lenses = wire.ask(method::code_lens, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(lenses);
  REQUIRE(lenses.result->has_value());
  REQUIRE((*lenses.result)->size() == 2);
  CHECK((**lenses.result)[0].range == lsp::Range{{4, 6}, {4, 9}});
  CHECK((**lenses.result)[1].range == lsp::Range{{14, 8}, {14, 13}});
  for (const lsp::CodeLens& lens : **lenses.result) {
    REQUIRE(lens.command);
    CHECK(lens.command->title == "8.39 M parameters · 32.0 MiB float32 · AdamW 64.0 MiB");
    CHECK(lens.command->command.empty());
  }
}

TEST_CASE("hover says what a model, a layer, an optimizer, a backward and a training loop take") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  says(hover_at(wire, 14, 9), "8.39 M parameters · 32.0 MiB float32 · AdamW 64.0 MiB");
  says(hover_at(wire, 4, 7), "8.39 M parameters");
  says(hover_at(wire, 7, 24), "Linear: 4.20 M parameters, 16.0 MiB, 50.0 % of model");
  says(hover_at(wire, 7, 15), "Linear: 4.20 M parameters, 16.0 MiB, 50.0 % of model");
  says(hover_at(wire, 14, 2), "8.39 M parameters");
  says(hover_at(wire, 15, 26), "AdamW keeps 64.0 MiB");
  says(hover_at(wire, 15, 2), "AdamW keeps 64.0 MiB");
  says(hover_at(wire, 18, 30), "saved for this backward: ");
  const std::string loop = hover_at(wire, 16, 1);
  says(loop, "peak of a step: 1");
  says(loop, "state of AdamW: 64.0 MiB");
  CHECK(hover_at(wire, 19, 0).find("MiB") == std::string::npos);
}

TEST_CASE("hover on a tied layer says whose parameters it has") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri,
      "import torch.nn as nn\n"
      "\n"
      "\n"
      "class Words(nn.Module):\n"
      "    def __init__(self):\n"
      "        super().__init__()\n"
      "        self.embed = nn.Embedding(1024, 256)\n"  // 6
      "        self.head = nn.Linear(256, 1024)\n"
      "        self.out = nn.Linear(256, 1024, bias=False)\n"
      "        self.head.weight = self.embed.weight\n"
      "        self.out.weight = self.embed.weight\n"
      "\n"
      "\n"
      "model = Words()\n");
  says(hover_at(wire, 6, 25), "Embedding: 262 k parameters, 1.00 MiB, 99.6 % of model");
  const std::string head = hover_at(wire, 7, 24);
  says(head, "Linear: 1.02 k parameters, 4.00 KiB");
  says(head, "262 k parameters, 1.00 MiB, tied to `embed.weight` and counted there");
  says(hover_at(wire, 8, 24), "Linear: 262 k parameters, 1.00 MiB, tied to `embed.weight` and counted there");
}

TEST_CASE("hover names what is not counted because its code is not seen") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri,
      "import timm\n"
      "import torch\n"
      "model = timm.create_model('resnet50', pretrained=True)\n"
      "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
      "for _ in range(3):\n"
      "    model(torch.zeros(4, 3, 64, 64)).sum().backward()\n"
      "    optimizer.step()\n");
  says(hover_at(wire, 3, 26), "`timm.create_model` (line 3) makes it, whose code is not seen");
  says(hover_at(wire, 2, 14), "not counted: the parameters of `model`");
  says(hover_at(wire, 4, 1), "peak of a step: at least 0 B");
  CHECK(hover_at(wire, 4, 1).find("in the ") == std::string::npos);
}

TEST_CASE("lenses follow what is typed") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  std::string other = training;
  other.replace(other.find("4096"), 4, "2048");
  other.replace(other.find("4096"), 4, "2048");
  wire.change(uri, 2, other);
  const auto lenses = wire.ask(method::code_lens, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(lenses);
  REQUIRE((*lenses.result)->size() == 2);
  CHECK((**lenses.result)[0].command->title == "4.20 M parameters · 16.0 MiB float32 · AdamW 32.0 MiB");
}

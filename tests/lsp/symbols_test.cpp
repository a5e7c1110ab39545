#include "wire.hpp"

#include "server/features/symbols.hpp"

#include <filesystem>
#include <fstream>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string uri = "file:///w/train.py";

const std::string training = R"(import torch
import torch.nn as nn
import torch.distributed as dist


class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, 10)

    def forward(self, x):
        return self.second(self.first(x))


class Wide(Net):
    def __init__(self):
        super().__init__(256)


class Config:
    def __init__(self):
        self.width = 64


def share(x):
    dist.all_reduce(x)
    if dist.get_rank() == 0:
        dist.broadcast(x, 0)
    return x


def helper(x):
    return x + 1


dist.init_process_group("gloo")
share(Net()(torch.zeros(2, 64)))
)";

using Tree = std::vector<lsp::DocumentSymbol>;
using Flat = std::vector<lsp::SymbolInformation>;

// "Net(first second)"
std::string shown(const Tree& symbols) {
  std::string text;
  for (const auto& each : symbols) {
    if (!text.empty()) text += ' ';
    text += each.name;
    if (!each.children.empty()) text += "(" + shown(each.children) + ")";
  }
  return text;
}

template <class Form> Form symbols_of(Wire& wire) {
  const auto answer = wire.ask(method::document_symbol, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(answer);
  REQUIRE(answer.result->has_value());
  return std::get<Form>(**answer.result);
}

}  // namespace

TEST_CASE(
    "models with their layers, what communicates, and the job are the symbols of a document; nothing else is") {
  Wire wire(snapshot::analyze);
  wire.flags.hierarchical_symbols = true;
  CHECK(wire.start().capabilities.document_symbols.has_value());
  wire.open(uri, training);
  const Tree symbols = symbols_of<Tree>(wire);
  REQUIRE(symbols.size() == 4);
  CHECK(shown(symbols) == "Net(first second) Wide share(all_reduce broadcast) train.py as it runs");
  CHECK(symbols[0].kind == lsp::SymbolKind::class_);
  CHECK(symbols[0].range == lsp::Range{{5, 0}, {12, 41}});
  CHECK(symbols[0].selection_range == lsp::Range{{5, 6}, {5, 9}});
  CHECK(symbols[0].children[1].detail == "Linear");
  CHECK(symbols[0].children[1].selection_range == lsp::Range{{9, 13}, {9, 19}});
  CHECK(symbols[2].detail == "2 collectives, 1 only on rank 0");
  CHECK(symbols[2].children[0].detail == "float32[2, 10]");
  CHECK(symbols[2].children[1].detail == "float32[2, 10], only rank 0");
  CHECK(symbols[2].children[1].kind == lsp::SymbolKind::event);
  CHECK(symbols[3].detail == "2 ranks, hangs");
  CHECK(symbols[3].range.start.line == 37);
}

TEST_CASE("a client without hierarchy gets the symbols in one list") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  const Flat flat = symbols_of<Flat>(wire);
  REQUIRE(flat.size() == 8);
  CHECK(flat[1].name == "first");
  CHECK(flat[1].container_name == "Net");
  CHECK(flat[0].location == lsp::Location{uri, {{5, 6}, {5, 9}}});
}

TEST_CASE("a file without models and without communication has no symbols") {
  Wire wire(snapshot::analyze);
  wire.flags.hierarchical_symbols = true;
  wire.start();
  wire.open(uri, "def f(x):\n    return x\n");
  CHECK(symbols_of<Tree>(wire).empty());
}

TEST_CASE("symbols of the workspace are those of files, open or not, as they are now") {
  std::string folder = (std::filesystem::temp_directory_path() / "stepzero-symbols-XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()));
  folder = std::filesystem::canonical(folder).string();
  std::ofstream(folder + "/train.py") << training;
  std::ofstream(folder + "/plain.py") << "x = 1\n";
  {
    Wire wire(snapshot::analyze);
    CHECK(wire.start({folder}).capabilities.workspace_symbols.has_value());
    const auto asked = [&](const std::string& query) {
      const auto answer = wire.ask(method::workspace_symbol, {query, std::nullopt, std::nullopt});
      REQUIRE(answer);
      std::string names;
      for (const auto& each : **answer.result) names += each.name + " ";
      return names;
    };
    CHECK(asked("") == "Net first second Wide share all_reduce broadcast train.py as it runs ");
    CHECK(asked("NT") == "Net train.py as it runs ");
    wire.open("file://" + folder + "/train.py",
        "import torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n");
    CHECK(asked("") == "train.py as it runs barrier ");
    wire.close("file://" + folder + "/train.py");
    std::ofstream(folder + "/train.py")
        << "import torch.nn as nn\n\n\nclass Other(nn.Module):\n    def forward(self, x):\n        return x\n";
    CHECK(asked("") == "Other ");
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("a query is letters of the name, in order") {
  CHECK(matches("all_reduce", ""));
  CHECK(matches("all_reduce", "ALRED"));
  CHECK(matches("all_reduce", "all_reduce"));
  CHECK_FALSE(matches("all_reduce", "reduceall"));
  CHECK_FALSE(matches("a", "aa"));
}

// The schedule over the wire: lenses, hover, and the command. The programs are really analyzed.
#include "wire.hpp"

#include "snapshot/snapshot.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string uri = "file:///w/train.py";

const std::string training = "import torch\n"
                             "import torch.distributed as dist\n"
                             "\n"
                             "\n"
                             "def agree(value):\n"
                             "    dist.all_reduce(value)\n"
                             "    if dist.get_rank() == 0:\n"
                             "        dist.broadcast(value, src=0)\n"
                             "\n"
                             "\n"
                             "dist.init_process_group('gloo')\n"
                             "agree(torch.ones(3))\n"
                             "dist.barrier()\n";

lsp::ExecuteCommandParams command(nlohmann::json argument, std::string name = "stepzero.schedule") {
  return {std::move(name), {protocol::Any(std::move(argument))}, std::nullopt};
}

std::string hover_at(Wire& wire, std::uint32_t line, std::uint32_t character) {
  const auto answer = wire.ask(method::hover, {{uri}, {line, character}, std::nullopt, std::nullopt});
  REQUIRE(answer);
  return *answer.result ? (*answer.result)->contents.value : std::string();
}

}  // namespace

TEST_CASE("the server says that it has lenses and the command") {
  Wire wire(snapshot::analyze);
  const auto said = wire.start().capabilities;
  CHECK(said.code_lens.has_value());
  REQUIRE(said.execute_command.has_value());
  CHECK(said.execute_command->commands == std::vector<std::string>{"stepzero.schedule"});
}

TEST_CASE("a lens over a function that communicates counts who enters") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  const auto lenses = wire.ask(method::code_lens, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(lenses);
  REQUIRE(lenses.result->has_value());
  REQUIRE((*lenses.result)->size() == 1);
  const lsp::CodeLens& lens = (**lenses.result)[0];
  CHECK(lens.range == lsp::Range{{4, 4}, {4, 9}});
  REQUIRE(lens.command);
  CHECK(lens.command->title == "2 collectives, 1 only on rank 0");
  CHECK(lens.command->command == "stepzero.schedule");
  REQUIRE(lens.command->arguments.size() == 1);
  // What the lens asks for is what the command answers.
  const auto answer = wire.ask(
      method::execute_command, {lens.command->command, lens.command->arguments, std::nullopt});
  REQUIRE(answer);
  CHECK(answer.result->json().at("text").get<std::string>().find("broadcast float32[3] from rank 0") !=
      std::string::npos);
}

TEST_CASE("no lens and no schedule where nothing communicates") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, "def f(x):\n    return x\n\n\nf(1)\n");
  const auto lenses = wire.ask(method::code_lens, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(lenses);
  CHECK((*lenses.result)->empty());
  const auto answer = wire.ask(method::execute_command, command({{"uri", uri}}));
  REQUIRE(answer);
  CHECK(answer.result->json().at("text") == "train.py: no communication\n");
  CHECK(answer.result->json().at("schedule").at("schedules").empty());
}

TEST_CASE("the command answers for the text as it stands, and for as many ranks as asked") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri, training);
  const auto two = wire.ask(method::execute_command, command({{"uri", uri}}));
  REQUIRE(two);
  CHECK(two.result->json().at("schedule").at("world") == 2);
  CHECK(two.result->json().at("schedule").at("schedules").at(0).at("hangs") == true);
  const auto four = wire.ask(method::execute_command, command({{"uri", uri}, {"world", 4}}));
  REQUIRE(four);
  CHECK(four.result->json().at("schedule").at("world") == 4);
  CHECK(four.result->json().at("text").get<std::string>().find("ranks 1-3") != std::string::npos);
  wire.change(uri, 2, "import torch.distributed as dist\ndist.init_process_group('gloo')\ndist.barrier()\n");
  const auto now = wire.ask(method::execute_command, command({{"uri", uri}}));
  REQUIRE(now);
  CHECK(now.result->json().at("schedule").at("schedules").at(0).at("hangs") == false);
}

TEST_CASE("the schedule folds where a line says what the others below it do") {
  Wire wire(snapshot::analyze);
  wire.start();
  wire.open(uri,
      "import torch\nimport torch.distributed as dist\ndist.init_process_group('gloo')\nx = torch.zeros(3)\n"
      "for epoch in range(9):\n    for step in range(50):\n        dist.all_reduce(x)\n    dist.barrier()\ndist.destroy_process_group()\n");
  const auto answer = wire.ask(method::execute_command, command({{"uri", uri}}));
  REQUIRE(answer);
  std::vector<std::string> lines;
  std::istringstream text(answer.result->json().at("text").get<std::string>());
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::vector<std::string> folded;
  for (const auto& fold : answer.result->json().at("folds")) {
    const auto trimmed = [&](const char* key) {
      const std::string& line = lines.at(fold.at(key).get<std::size_t>());
      return line.substr(line.find_first_not_of(" 0123456789"));
    };
    folded.push_back(trimmed("startLine") + " … " + trimmed("endLine"));
  }
  INFO(answer.result->json().at("text").get<std::string>());
  CHECK(folded ==
      std::vector<std::string>{"train.py, 2 ranks, as it runs … barrier",
          "for epoch in range(9):  (9 iterations alike) … barrier",
          "for step in range(50):  (50 iterations alike) … all_reduce float32[3]"});
}

TEST_CASE("what the command cannot do it refuses") {
  Wire wire(snapshot::analyze);
  wire.start();
  const auto code = [&](const lsp::ExecuteCommandParams& params) {
    const auto answer = wire.ask(method::execute_command, params);
    REQUIRE_FALSE(answer);
    return answer.error.code;
  };
  CHECK(code(command({{"uri", uri}}, "stepzero.launch")) == protocol::error_code::invalid_params);
  CHECK(code({"stepzero.schedule", {}, std::nullopt}) == protocol::error_code::invalid_params);
  CHECK(code(command({{"uri", 3}})) == protocol::error_code::invalid_params);
  CHECK(code(command({{"uri", uri}, {"world", 0}})) == protocol::error_code::invalid_params);
  CHECK(code(command({{"uri", uri}, {"world", 1.5}})) == protocol::error_code::invalid_params);
  CHECK(code(command({{"uri", "file:///w/absent.py"}})) == protocol::error_code::request_failed);
}

TEST_CASE("hover shows the schedule of a function and of the job") {
  Wire wire(snapshot::analyze);
  wire.flags.hover_markdown = true;
  wire.start();
  wire.open(uri, training);
  const std::string of_function = hover_at(wire, 4, 5);
  CHECK(of_function.find("```text\n2 collectives, 1 only on rank 0 (2 ranks)\n") != std::string::npos);
  CHECK(of_function.find(">> hangs: rank 0 waits in broadcast (line 8); rank 1 waits in barrier (line 13)") !=
      std::string::npos);
  CHECK(hover_at(wire, 11, 2).find(of_function) !=
      std::string::npos);  // where it is called, below what it returns
  const std::string of_job = hover_at(wire, 10, 8);
  CHECK(of_job.find("as it runs\n") != std::string::npos);
  CHECK(of_job.find("all_reduce float32[3]") != std::string::npos);
  CHECK(hover_at(wire, 11, 8).find("```text") == std::string::npos);  // its argument
}

TEST_CASE("lenses are asked for again when a file that is imported changes") {
  Wire wire(snapshot::analyze);
  wire.flags.code_lens_refresh = true;
  wire.start();
  const std::string helper = "file:///w/helper.py";
  wire.open(helper, "def tell(value):\n    print(value)\n");
  wire.open(uri, "import torch\nfrom helper import tell\n\n\ndef report():\n    tell(torch.ones(3))\n");
  wire.idle();
  CHECK(wire.lens_refreshes == 0);
  wire.change(
      helper, 2, "import torch.distributed as dist\n\n\ndef tell(value):\n    dist.all_reduce(value)\n");
  wire.idle();
  CHECK(wire.lens_refreshes == 1);
  const auto lenses = wire.ask(method::code_lens, {{uri}, std::nullopt, std::nullopt});
  REQUIRE(lenses);
  REQUIRE(lenses.result->has_value());
  CHECK((*lenses.result)->size() == 1);
}

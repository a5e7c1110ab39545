// The ways through a program are explored by assuming one answer after the other: whoever asks next finds
// what the record knew before.
#include "rules/walk.hpp"
#include "interpreter/interpreter.hpp"
#include "libraries/table/table.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;

namespace {

const std::string file = "/train.py";

class OneFile : public program::Sources {
public:
  explicit OneFile(const std::string& text) : module_(syntax::Document(text).module()) {}
  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    return path == file ? module_ : nullptr;
  }
  bool is_file(const std::string& path) const override { return path == file; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::shared_ptr<const syntax::Module> module_;
  std::vector<std::string> roots_;
};

const std::string text = R"(import torch.distributed as dist


def train(x, first, second, third, fourth):
    if first > 1:
        dist.all_reduce(x)
    if second > 1:
        dist.all_reduce(x)
    if third > 1:
        dist.all_reduce(x)
    if fourth > 1:
        dist.all_reduce(x)
)";

// How many runs there are, where at most so many are explored, and whether that is all.
struct Explored {
  std::size_t runs = 0;
  bool all = false;
};
Explored explored(const interpreter::Record& record, std::size_t limit) {
  rules::Walk walk;
  walk.wanted = [](const interpreter::OperationEvent& event) {
    return event.row->operation == values::Operation::collective;
  };
  walk.limit = limit;
  Explored found;
  found.all = rules::explore(
      record, record.roots.back()->block, {{0, 2}, {1, 2}}, walk, [&](const rules::Run&) { ++found.runs; });
  return found;
}

}  // namespace

TEST_CASE("An exploration leaves no assumptions, whether it comes to its end or not") {
  const OneFile sources(text);
  interpreter::Record record;
  interpreter::Interpreter run(sources, libraries::table(), {}, record);
  run.run_file(file);
  REQUIRE_FALSE(record.roots.empty());
  const std::size_t before = record.symbols.mark();

  const Explored whole = explored(record, 512);
  CHECK(whole.all);
  CHECK(whole.runs == 16);
  CHECK(record.symbols.mark() == before);

  const Explored part = explored(record, 6);
  CHECK_FALSE(part.all);
  CHECK(part.runs < whole.runs);
  CHECK(record.symbols.mark() == before);

  CHECK(explored(record, 512).runs == whole.runs);
}

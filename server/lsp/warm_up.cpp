#include "server/lsp/warm_up.hpp"

#include "server/lsp/training_script.hpp"
#include "server/scheduler/background_core.hpp"
#include "server/scheduler/memory.hpp"
#include "snapshot/snapshot.hpp"

namespace stepzero::server {
namespace {

constexpr std::size_t memory_of_an_analysis = std::size_t{32} << 20;  // of a file of 1,500 lines

class Script final : public program::Sources {
public:
  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    return path == name ? module_ : nullptr;
  }
  bool is_file(const std::string& path) const override { return path == name; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return none_; }

  static constexpr const char* name = "/train.py";

private:
  std::shared_ptr<const syntax::Module> module_ = syntax::Document(training_script).module();
  std::vector<std::string> none_;
};

}  // namespace

void warm_up(const std::atomic<bool>& cancelled) {
  {
    const Script script;
    snapshot::RunCache memory;
    snapshot::Options options;
    options.want_facts = true;
    options.want_schedule = true;
    options.cancelled = &cancelled;
    options.memory = &memory;
    options.background = another_core();
    snapshot::analyze(script, Script::name, options);
  }
  prepare_memory(memory_of_an_analysis, cancelled);
}

}  // namespace stepzero::server

#include "snapshot/footprint_run.hpp"

#include "interpreter/interpreter.hpp"
#include "libraries/table/table.hpp"
#include "values/kept.hpp"

#include <unordered_set>

namespace stepzero::snapshot {

namespace {

constexpr std::uint64_t most_steps = 20'000'000;

// What programs ask of the machine, and what it answers.
struct Asked {
  std::string_view name;
  bool with_gpu;
};
constexpr Asked asked[] = {
    {"torch.cuda.is_available", true},
    {"torch.accelerator.is_available", true},
    {"torch.cuda.is_bf16_supported", true},
    {"torch.backends.mps.is_available", false},
    {"torch.xpu.is_available", false},
    {"transformers.utils.import_utils.is_torch_xpu_available", false},
    {"transformers.utils.import_utils.is_torch_mps_available", false},
    {"transformers.utils.import_utils.is_torch_npu_available", false},
    {"transformers.utils.import_utils.is_torch_mlu_available", false},
    {"transformers.utils.import_utils.is_torch_musa_available", false},
    {"transformers.utils.import_utils.is_torch_xla_available", false},
    {"transformers.utils.import_utils.is_torch_hpu_available", false},
};

}  // namespace

std::shared_ptr<const footprint::Footprint> footprint_of_file(
    const program::Sources& sources, const std::string& path, const footprint::Options& options) {
  if (!sources.module(path)) return nullptr;
  const std::unordered_set<const syntax::Stmt*> nothing;
  const auto run = [&](interpreter::Record& record, bool with_defaults) {
    interpreter::Limits limits;
    limits.steps = most_steps;
    record.conditions.emplace(values::RecordCondition::counted, record.symbols.boolean(true));
    limits.with_defaults = with_defaults;
    if (with_defaults) {
      limits.only = &nothing;
      // Of several processes what the first one has.
      if (options.world > 1)
        limits.as_rank = interpreter::OneRank{0, options.world};
      else
        record.conditions.emplace(values::RecordCondition::no_launcher, record.symbols.boolean(true));
      for (const Asked& each : asked)
        record.conditions.emplace(
            each.name, record.symbols.boolean(each.with_gpu && options.device == footprint::Device::cuda));
    }
    interpreter::Interpreter interpreter(sources, libraries::table(), limits, record);
    interpreter.run_file(path);
  };
  // Facts come of a run on symbols only.
  interpreter::Record whole, shown;
  run(whole, true);
  run(shown, false);
  return std::make_shared<footprint::Footprint>(footprint::footprint_of(whole, shown, options));
}

}  // namespace stepzero::snapshot

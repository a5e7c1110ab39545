#include "snapshot/footprint_run.hpp"

#include "interpreter/interpreter.hpp"
#include "libraries/table/table.hpp"
#include "snapshot/launched_run.hpp"
#include "values/absent_files.hpp"
#include "values/kept.hpp"
#include "values/sent_by_stages.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <optional>
#include <set>
#include <unordered_set>

namespace stepzero::snapshot {

namespace {

using footprint::Footprint;

constexpr std::uint64_t most_steps = 20'000'000;  // a footprint is asked for by hand, and may take seconds
constexpr std::int64_t most_processes = 65536;    // more is no job
constexpr std::int64_t most_stages = 64;  // of a pipeline, that are run in front of the one that is counted

// What programs ask of the machine, and what it answers.
struct Asked {
  std::string_view name;
  bool with_gpu;
};
constexpr Asked asked[] = {
    {"torch.cuda.is_available()", true},
    {"torch.accelerator.is_available()", true},
    {"torch.cuda.is_bf16_supported()", true},
    {"torch.backends.mps.is_available()", false},
    {"torch.xpu.is_available()", false},
    {"transformers.utils.import_utils.is_torch_xpu_available()", false},
    {"transformers.utils.import_utils.is_torch_mps_available()", false},
    {"transformers.utils.import_utils.is_torch_npu_available()", false},
    {"transformers.utils.import_utils.is_torch_mlu_available()", false},
    {"transformers.utils.import_utils.is_torch_musa_available()", false},
    {"transformers.utils.import_utils.is_torch_xla_available()", false},
    {"transformers.utils.import_utils.is_torch_hpu_available()", false},
};

// One run of the program that is counted, and one whose facts give the names.
class Counted {
public:
  Counted(const program::Sources& sources, const std::string& path, const footprint::Options& options,
      const Launch* launch)
      : sources_(sources), path_(path), options_(options), launch_(launch) {
    if (launch && options_.world <= 1 && launch->world)
      options_.world = static_cast<int>(std::clamp<std::int64_t>(*launch->world, 1, most_processes));
  }

  Footprint make(bool without_files) {
    std::optional<interpreter::Record> counted;
    run_whole(counted, without_files);
    const interpreter::Record& whole = *counted;
    // Facts come of a run on symbols only.
    if (!displayed_) run(displayed_.emplace(), false);
    followed_ += whole.steps;
    Footprint made = footprint::footprint_of(whole, *displayed_, options_);
    made.world = options_.world;
    made.followed = followed_ + displayed_->steps;
    if (launch_) made.launch = launch_->name;
    for (const auto& [name, condition] : whole.conditions)
      if (name.starts_with(values::AbsentFiles::asked)) {
        asks_for_files = true;
        if (without_files)
          made.assumed.push_back(assumed_text(name.substr(values::AbsentFiles::asked.size())));
      }
    return made;
  }

  bool asks_for_files = false;

private:
  // Of a stage of a pipeline, what the one before sends is known of a run of that process.
  void run_whole(std::optional<interpreter::Record>& whole, bool without_files) {
    std::set<std::string> sent;
    const auto run_as = [&](std::optional<interpreter::Record>& record, int rank) {
      record.emplace();
      if (without_files)
        record->conditions.emplace(values::AbsentFiles::taken, record->symbols.boolean(true));
      for (const std::string& each : sent) record->conditions.emplace(each, record->symbols.boolean(true));
      run(*record, true, rank);
      for (const auto& [name, condition] : record->conditions)
        if (name.starts_with(values::SentByStages::of_any)) sent.insert(name);
    };
    const int own = std::min(options_.rank, options_.world - 1);
    const auto knows = [&](std::int64_t stage) {
      const auto found = sent.lower_bound(values::SentByStages::sent(stage));
      return found != sent.end() && found->starts_with(values::SentByStages::sent(stage));
    };
    run_as(whole, own);
    for (std::int64_t at = -1; const auto asked = asked_stage(*whole);) {
      if (options_.world <= 1 || *asked <= at || *asked > most_stages) return;
      // Each after those before it; they go round the processes.
      for (at = 0; at <= *asked; ++at) {
        std::optional<interpreter::Record> other;
        if (!knows(at)) run_as(other, static_cast<int>(at % options_.world)), followed_ += other->steps;
        if (!knows(at)) return;
      }
      at = *asked;
      followed_ += whole->steps;
      run_as(whole, own);
    }
  }
  // The last one; nullopt: none.
  static std::optional<std::int64_t> asked_stage(const interpreter::Record& record) {
    const std::string_view prefix = values::SentByStages::asked;
    std::optional<std::int64_t> last;
    for (const auto& [name, condition] : record.conditions) {
      std::int64_t stage = 0;
      if (name.starts_with(prefix) &&
          std::from_chars(name.data() + prefix.size(), name.data() + name.size(), stage).ec == std::errc())
        last = std::max(last.value_or(stage), stage);
    }
    return last;
  }

  static std::string assumed_text(const std::string& file) {
    return file.empty() ? "no file where the program makes up its name" : "no file " + file;
  }

  void run(interpreter::Record& record, bool is_counted, int rank = 0) const {
    const std::unordered_set<const syntax::Stmt*> nothing;
    interpreter::Limits limits;
    limits.steps = most_steps;
    record.conditions.emplace(values::RecordCondition::counted, record.symbols.boolean(true));
    if (is_counted) {
      limits.only = &nothing;
      limits.launch = launch_;
      limits.with_defaults = !launch_;
      // Of several processes what one has.
      if (options_.world > 1)
        limits.as_rank = interpreter::OneRank{rank, options_.world};
      else if (!launch_ || launch_->environment.empty())
        record.conditions.emplace(values::RecordCondition::no_launcher, record.symbols.boolean(true));
      for (const Asked& each : asked)
        record.conditions.emplace(
            each.name, record.symbols.boolean(each.with_gpu && options_.device == footprint::Device::cuda));
    }
    interpreter::Interpreter interpreter(sources_, libraries::table(), limits, record);
    interpreter.run_file(path_);
  }

  const program::Sources& sources_;
  const std::string& path_;
  footprint::Options options_;
  const Launch* launch_;
  std::optional<interpreter::Record> displayed_;
  std::uint64_t followed_ = 0;
};

// How much of it is known.
struct Knowledge {
  std::size_t exact_steps = 0, steps = 0, exact_models = 0, models = 0;
  bool decides_sizes = false;
  auto operator<=>(const Knowledge&) const = default;
};
Knowledge known_of(const Footprint& footprint) {
  Knowledge known{0, footprint.steps.size(), 0, footprint.models.size(), footprint.open.empty()};
  for (const footprint::Step& step : footprint.steps)
    known.exact_steps += step.complete && !step.peak.at_least;
  for (const footprint::Model& model : footprint.models) {
    if (model.shares.empty()) continue;
    const footprint::Amount& parameters = model.shares.front().parameters;
    known.exact_models += !parameters.at_least;
    known.decides_sizes = known.decides_sizes && parameters.formula.empty();
  }
  return known;
}

}  // namespace

std::size_t number_of_runs(const LaunchesOfOne& launches) { return launches_to_run(launches).size(); }

std::shared_ptr<const Footprint> footprint_of_file(const program::Sources& sources, const std::string& path,
    const footprint::Options& options, const Started& started) {
  if (!sources.module(path)) return nullptr;
  const std::vector<Launch> launches = launches_to_run(started.launches);
  if (started.number > launches.size()) return nullptr;
  Counted counted(sources, path, options, started.number ? &launches[started.number - 1] : nullptr);
  Footprint made = counted.make(false);
  const Knowledge known = known_of(made);
  const bool is_whole = known.models > 0 && known.exact_steps == known.steps &&
      known.exact_models == known.models && known.decides_sizes;
  if (!is_whole && counted.asks_for_files)
    if (Footprint other = counted.make(true); known_of(other) > known) made = std::move(other);
  return std::make_shared<Footprint>(std::move(made));
}

}  // namespace stepzero::snapshot

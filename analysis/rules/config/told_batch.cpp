#include "rules/config/told_batch.hpp"

#include "interpreter/statements/from_file.hpp"
#include "libraries/table/class_roles.hpp"
#include "rules/config/framework_batch.hpp"
#include "rules/fact_index.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/loaders.hpp"
#include "rules/training/training_loops.hpp"
#include "rules/training/windows.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <charconv>

namespace stepzero::rules::config::told_batch {

using interpreter::Fact;
using libraries::FrameworkCall;
using values::Kind;
using values::Operation;

namespace {

// Names that configurations give to the batch of all processes and of all steps of accumulation; and one that
// means it where the batch of each process stands beside it.
constexpr std::string_view of_all[] = {"global_batch_size", "global_train_batch_size",
    "train_global_batch_size", "effective_batch_size", "effective_train_batch_size"};
constexpr std::string_view of_all_beside = "train_batch_size";
constexpr std::string_view of_each[] = {"micro_batch_size", "train_micro_batch_size",
    "train_micro_batch_size_per_gpu", "per_device_train_batch_size", "batch_size_per_gpu",
    "per_gpu_batch_size", "device_train_microbatch_size"};

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

struct WrittenSize {
  std::int64_t size = 0;
  std::string name, file;  // empty: the program reads it, at the place
  Place place;
};

// A dict that was read of a file, and those in it.
void look_in(const Record& record, const values::Dict& dict, std::vector<WrittenSize>& found, int depth = 0) {
  constexpr int deepest = 4;  // sections in sections
  const values::Instance* file = interpreter::file_of(dict);
  if (!file || depth > deepest) return;
  const Value path = file->attributes.value(syntax::Name(values::FileState::path));
  const auto& items = values::Heap::dict_state(Value::of(Kind::dict, &dict))->items;
  const bool has_each = std::ranges::any_of(items,
      [](const auto& item) { return item.first.is(Kind::string) && is_one_of(item.first.text(), of_each); });
  for (const auto& [key, value] : items) {
    if (!key.is(Kind::string)) continue;
    if (value.is(Kind::dict)) look_in(record, *value.as<values::Dict>(), found, depth + 1);
    const auto number = record.number(value);
    if (number && path.is(Kind::string) &&
        (is_one_of(key.text(), of_all) || (has_each && key.text() == of_all_beside)))
      found.push_back({*number, std::string(key.text()), std::string(path.text()), {}});
  }
}

// `config["global_batch_size"]`, `args.global_batch_size`, `global_batch_size`: the name; empty for all else.
std::string_view name_read(std::string_view text) {
  if (text.ends_with("\"]") || text.ends_with("']")) text.remove_suffix(2);
  std::size_t begin = text.size();
  while (begin > 0 && syntax::is_word(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin);
  return is_one_of(name, of_all) ? name : std::string_view();
}

std::vector<WrittenSize> written_sizes(const Record& record) {
  std::vector<WrittenSize> found;
  const FactIndex& facts = FactIndex::of(record);
  std::set<const Object*> seen;
  for (const auto* all : {&facts.dictionaries, &facts.displays})
    for (const Fact* fact : *all)
      if (seen.insert(fact->value.object()).second) look_in(record, *fact->value.as<values::Dict>(), found);
  // What the program reads besides.
  for (const Fact& fact : record.facts) {
    if (fact.role != Fact::Role::expression || !fact.value.is(Kind::integer)) continue;
    constexpr std::size_t shortest = 17;
    if (fact.place.span.end - fact.place.span.begin < shortest) continue;
    const std::string_view name = name_read(record.text(fact.place));
    const auto number = name.empty() ? std::nullopt : record.number(fact.value);
    if (number) found.push_back({*number, std::string(name), {}, fact.place});
  }
  return found;
}

// How many processes train on batches of their own.
struct Processes {
  std::int64_t count = 1;
  bool gives_parts = false;  // a framework that gives each its part of the data
};
// May some of the processes share a batch?
bool may_share(const Record& record) { return program_says(record, Says::parting_ranks); }
// The processes of a known launch.
std::optional<std::int64_t> launched_processes(const Record& record) {
  const std::string_view prefix = values::LaunchCondition::world;
  const auto known = record.conditions.lower_bound(prefix);
  if (known == record.conditions.end() || !known->first.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = std::string_view(known->first).substr(prefix.size());
  std::int64_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return count > 0 ? std::optional(count) : std::nullopt;
}
std::optional<Processes> processes_of(const Record& record) {
  const auto launched = launched_processes(record);
  std::optional<std::int64_t> said;
  bool makes_group = false, has_framework = false, by_accelerate = false, is_known = true;
  visit_operations(record, [&](const OperationEvent& event) {
    if (const FrameworkCall call = libraries::framework_call(*event.row);
        call == FrameworkCall::makes_group) {
      makes_group = true;
      const auto size = record.number(argument(event, "world_size"));
      if (size && *size > 0)
        said = size;
      else
        is_known = is_known && launched;
    } else if (event.row->operation == Operation::framework) {
      has_framework = true;
      by_accelerate = by_accelerate || call == FrameworkCall::makes_accelerator;
    }
  });
  if (by_accelerate && launched) return Processes{*launched, true};
  if (has_framework || !is_known) return std::nullopt;
  if (makes_group) return Processes{said ? *said : *launched, false};
  // Nothing joins processes, however many there are.
  if (record.roles[static_cast<int>(symbolic::Role::world_size)] || (launched && *launched > 1))
    return std::nullopt;
  return Processes{};
}

// In how many steps of accumulation a step of the optimizer is made; nothing if that is not known.
std::optional<std::int64_t> accumulated(
    const Record& record, const TrainingLoop& loop, const std::vector<Window>& all) {
  std::optional<std::int64_t> by_accelerate;
  bool has_accelerator = false;
  const auto is_accelerator = libraries::is_call(FrameworkCall::makes_accelerator);
  visit_operations(record, is_accelerator, [&](const OperationEvent& event) {
    has_accelerator = true;
    const auto keyword = [&](std::string_view name) {
      return event.expr ? number_given(record, *event.expr, event.place.chunk, name, 1) : std::nullopt;
    };
    by_accelerate = keyword("gradient_accumulation_steps");
    if (keyword("split_batches") != 1 || keyword("dataloader_config") != 1 ||
        keyword("gradient_accumulation_plugin") != 1)
      by_accelerate.reset();
  });
  if (loop.backward->loops.empty() || loop.backward->loops.back() != loop.loop) return std::nullopt;
  const auto window = std::ranges::find_if(
      all, [&](const Window& each) { return each.loop->stmt == loop.loop->stmt && !each.steps_always; });
  if (window != all.end()) return window->size_known ? std::optional(window->size) : std::nullopt;
  if (has_accelerator) {
    const bool divides = program_says(record, Says::accumulating);
    return divides ? by_accelerate : by_accelerate == 1 ? by_accelerate : std::nullopt;
  }
  return in_every_iteration(record, loop, *loop.step) ? std::optional<std::int64_t>(1) : std::nullopt;
}

// Does the loader give each process a part of its own?
bool deals_out(const Record& record, const Reading& reading) {
  const Value sampler = argument(*reading.made, "sampler");
  return sampler.is(Kind::instance) && sampler.as<Instance>()->native &&
      sampler.as<Instance>()->native->path.ends_with("DistributedSampler") &&
      record.heap.sharing(sampler) <= symbolic::Sharing::divergent;
}

struct TrainedBatch {
  Place place;  // where the size of a batch is given
  const interpreter::CallSite* calls = nullptr;
  Place trained;
  std::int64_t batch = 0, accumulation = 1, processes = 1;
  bool of_loader = true;  // else of a framework's own arguments
  std::int64_t all() const { return batch * accumulation * processes; }
};

std::string counted(const TrainedBatch& made) {
  std::string text = std::to_string(made.batch) +
      (made.of_loader ? " in a batch of the loader" : " in a batch");
  if (made.processes > 1) text += ", in each of " + std::to_string(made.processes) + " processes";
  if (made.accumulation > 1)
    text += ", in each of " + std::to_string(made.accumulation) + " steps of accumulation";
  return text;
}

// The batches of the program's own loops, and of the frameworks that it hands its training to; none where one
// of them is not known.
std::vector<TrainedBatch> made_by(const Record& record) {
  std::vector<TrainedBatch> found;
  const auto by_frameworks = framework_batches(record, launched_processes(record));
  if (!by_frameworks) return {};
  found.reserve(by_frameworks->size());
  for (const FrameworkBatch& each : *by_frameworks)
    found.push_back({each.place, each.calls, each.trained, each.batch, each.accumulation, each.processes,
        each.of_loader});
  const Training& training = Training::of(record);
  if (!found.empty() || training.training_roots().empty()) return found;
  const auto processes = processes_of(record);
  if (!processes) return {};
  const std::vector<TrainingLoop> loops = training_loops(training, true);
  const std::vector<Window> all = windows(record, training);
  for (const Reading& reading : readings(loops)) {
    const auto size = record.number(argument(*reading.made, "batch_size"));
    const auto steps = accumulated(record, *reading.training, all);
    const Value by_list = argument(*reading.made, "batch_sampler");
    if (!size || *size < 1 || !steps || *steps < 1 || (by_list && !by_list.is(Kind::none)) ||
        (processes->count > 1 && !processes->gives_parts && !deals_out(record, reading)))
      return {};
    found.push_back({reading.made->place, reading.made->calls, reading.training->step->event->place, *size,
        *steps, processes->count});
  }
  return found;
}

}  // namespace

void check(const Record& record, Report& report) {
  const std::vector<WrittenSize> sizes = written_sizes(record);
  if (sizes.empty() || may_share(record) ||
      std::ranges::any_of(sizes, [&](const WrittenSize& each) { return each.size != sizes.front().size; }))
    return;
  const std::vector<TrainedBatch> found = made_by(record);
  // Of several trainings one has the batch that was told.
  const WrittenSize& said = sizes.front();
  constexpr std::int64_t tokens = 16384, sequence = 128;  // a batch of texts may be counted in tokens
  if (found.empty() || std::ranges::any_of(found, [&](const TrainedBatch& each) {
        return each.all() == said.size || each.all() != found.front().all() ||
            (said.size >= tokens && said.size >= sequence * each.all());
      }))
    return;
  const TrainedBatch& made = found.front();
  Finding* finding = report.add(Severity::warning, made.place, made.calls,
      "A step learns from " + std::to_string(made.all()) + (made.all() == 1 ? " sample" : " samples") + " (" +
          counted(made) + "), but `" + said.name + "`" +
          (said.file.empty() ? "" : " of `" + said.file + "`") + ", by its name that number, is " +
          std::to_string(said.size) +
          ". The learning rate and the logs are then those of another batch. Make them equal.");
  if (!finding) return;
  if (said.place) report.relate(*finding, said.place, "`" + said.name + "` is read here");
  report.relate(*finding, made.trained, "the training is here");
}

namespace {

// `--name N`, `--name=N`, with `-` for `_`: the last one counts.
struct GivenNumber {
  std::int64_t number = 0;
  Span at;
  bool by_default = false;
};
std::optional<GivenNumber> given(const launch::LaunchLine& line, std::string_view name, bool& is_known) {
  std::optional<GivenNumber> found;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const documents::Word& word = line.arguments[i];
    if (!word.text.starts_with("--")) continue;
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    std::string flag = word.text.substr(2, equals - 2);
    std::ranges::replace(flag, '-', '_');
    if (flag != name) continue;
    documents::Word value = word;
    if (equals < word.text.size())
      value.text.erase(0, equals + 1);
    else if (i + 1 < line.arguments.size())
      value = line.arguments[i + 1];
    const auto number = value.is_known() ? launch::to_number(value.text) : std::nullopt;
    if (!number || *number < 1) return is_known = false, std::nullopt;
    found = GivenNumber{*number, value.written, value.by_default || word.by_default};
  }
  return found;
}

void check_launch(const DocumentInput& input, const launch::LaunchLine& line, DocumentReport& report) {
  bool is_known = line.is_whole && std::ranges::all_of(line.arguments, [](const documents::Word& word) {
    return word.text.find(documents::Chars::words) == std::string::npos;
  });
  std::optional<GivenNumber> all;
  std::string_view name;
  for (const std::string_view each : of_all)
    if (const auto one = given(line, each, is_known); one && !all) all = one, name = each;
  const auto each = given(line, "per_device_train_batch_size", is_known),
             steps = given(line, "gradient_accumulation_steps", is_known);
  const auto processes = line.processes_per_node(), nodes = line.nodes();
  if (!all || !each || !is_known || !processes || !nodes || *processes < 1 || *nodes < 1 ||
      !line.wrapper.empty() || !line.script || !line.script->is_known())
    return;
  const std::int64_t windows = steps ? steps->number : 1, world = *processes * *nodes,
                     made = each->number * windows * world;
  constexpr std::int64_t most = 1'000'000;  // samples: what is more counts tokens
  if (made == all->number || made > most || all->number > most) return;
  const auto script = launch::script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  // What reads the steps may set them by the number of all.
  if (!script || !launch::mentions(input.sources, *script, {"HfArgumentParser", "TrlParser"}, input.read) ||
      launch::mentions(
          input.sources, *script, {"gradient_accumulation_steps =", "parallel_size"}, input.read))
    return;
  Finding& finding = report.add(Severity::warning, all->at,
      "this launch trains on " + std::to_string(made) + " samples in a step (" +
          std::to_string(each->number) + " in a batch" +
          (world > 1 ? ", in each of " + std::to_string(world) + " processes" : "") +
          (windows > 1 ? ", in each of " + std::to_string(windows) + " steps of accumulation" : "") +
          "), but `--" + std::string(name) + "`, by its name that number, is " + std::to_string(all->number) +
          ". Make them equal");
  report.relate(finding, each->at, "a batch of each process");
}

}  // namespace

void check_launches(const DocumentInput& input, DocumentReport& report) {
  for (const launch::LaunchLine& line : launch::launch_lines(input.document.script))
    check_launch(input, line, report);
}

}  // namespace stepzero::rules::config::told_batch

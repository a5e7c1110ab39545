// TrainingArguments(…), and HfArgumentParser where it reads a file: what the Trainer refuses of them, and
// where they contradict the configuration of DeepSpeed that they name. Read in the source of
// transformers 5.23.
#include "libraries/frameworks/trainer_settings.hpp"

#include "interpreter/reasons.hpp"

#include "libraries/frameworks/counted_steps.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/frameworks/training_arguments.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

TrainingSetting training_setting(Call& call, std::string_view name, Value value) {
  TrainingSetting made{std::string(name)};
  value = call.run.resolve(value);
  if (value.is(Kind::none))
    made.kind = TrainingSetting::Kind::none;
  else if (value.is(Kind::string))
    made.kind = TrainingSetting::Kind::text, made.text = value.text();
  else if (value.is(Kind::real))
    made.kind = TrainingSetting::Kind::number, made.number = value.real();
  else if (const auto whole = value.is(Kind::integer) ? call.run.to_constant(value) : std::nullopt)
    made.kind = TrainingSetting::Kind::number, made.number = static_cast<double>(*whole);
  else if (value.is(Kind::boolean))
    if (const auto known = call.run.symbols().decide(value.condition()); known != Answer::unknown)
      made.kind = TrainingSetting::Kind::truth, made.truth = known == Answer::yes;
  return made;
}

void judge(Call& call, const std::vector<TrainingSetting>& settings, bool of_sequences, bool all_seen,
    bool names, ArgumentChecks& found, std::string_view file = {}) {
  for (const TrainingMisuse& misuse : misuses_of_training(settings, of_sequences, all_seen, names))
    found.add(settings[misuse.at].name,
        file.empty() ? misuse.refusal : why<Reason::of_file>(file, misuse.refusal), misuse.is_certain,
        call.row);
}

// ---------------------------------------------------------------- DeepSpeed's configuration

struct Pair {
  std::string_view argument;
  std::vector<std::string_view> keys;  // where the configuration has it
  double otherwise = 0;                // the argument's default
  bool only_given = false;             // the default is computed; so is what is not above 0
};
// As HfTrainerDeepSpeedConfig.trainer_config_process compares them.
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"per_device_train_batch_size", {"train_micro_batch_size_per_gpu"}, 8},
      {"gradient_accumulation_steps", {"gradient_accumulation_steps"}, 1},
      {"max_grad_norm", {"gradient_clipping"}, 1.0},
      {"learning_rate", {"optimizer", "params", "lr"}, 5e-5},
      {"weight_decay", {"optimizer", "params", "weight_decay"}, 0},
      {"adam_epsilon", {"optimizer", "params", "eps"}, 1e-8},
      {"fp16", {"fp16", "enabled"}},
      {"bf16", {"bf16", "enabled"}},
      {"learning_rate", {"scheduler", "params", "warmup_max_lr"}, 5e-5},
      {"warmup_steps", {"scheduler", "params", "warmup_num_steps"}, 0, true},
      {"max_steps", {"scheduler", "params", "total_num_steps"}, 0, true},
  };
  return all;
}
Value at(Call& call, Value table, const std::vector<std::string_view>& keys) {
  for (const std::string_view key : keys) {
    table = call.run.resolve(table);
    if (!table.is(Kind::dict)) return {};
    table = call.run.dict_get(table, call.run.heap().string(key), Value{});
  }
  return call.run.resolve(table);
}
std::string displayed(const TrainingSetting& one) {
  if (one.kind == TrainingSetting::Kind::truth) return one.truth ? "True" : "False";
  char text[32];
  std::snprintf(text, sizeof text, "%g", one.number);
  return text;
}

void judge_configuration(
    Call& call, const std::vector<TrainingSetting>& settings, bool all_seen, ArgumentChecks& found_in) {
  const Value named = call.run.resolve(option(call, "deepspeed"));
  const Value configured =
      named.is(Kind::string) ? call.run.data_of_file(named.text(), program::DataFormat::json) : named;
  if (!configured.is(Kind::dict)) return;
  const auto found = [&](std::string_view name) {
    return std::ranges::find(settings, name, &TrainingSetting::name);
  };
  // The batch may be made smaller until it fits.
  if (found("auto_find_batch_size") != settings.end()) return;
  for (const Pair& pair : pairs()) {
    const TrainingSetting there = training_setting(call, pair.argument, at(call, configured, pair.keys));
    const bool is_truth = pair.argument == "fp16" || pair.argument == "bf16";
    if (there.kind != (is_truth ? TrainingSetting::Kind::truth : TrainingSetting::Kind::number)) continue;
    const auto given = found(pair.argument);
    if (given == settings.end() && (!all_seen || pair.only_given)) continue;
    if (pair.only_given && (given->number < 1 || there.number < 1)) continue;
    if (is_truth && found(std::string(pair.argument) + "_full_eval") != settings.end()) continue;
    TrainingSetting here{std::string(pair.argument), there.kind, false, pair.otherwise};
    if (given != settings.end()) here = *given;
    if (here.kind != there.kind || (is_truth ? here.truth == there.truth : here.number == there.number))
      continue;
    std::string key;
    for (const std::string_view part : pair.keys) key += (key.empty() ? "" : ".") + std::string(part);

    found_in.add(given == settings.end() ? "deepspeed" : std::string(pair.argument),
        why<Reason::other_than_configured>(
            pair.argument, displayed(here), given == settings.end(), key, displayed(there)),
        true, *call.run.library().find("transformers.TrainingArguments.$deepspeed"));
  }
}

// A class of the program's own may have other arguments.
template <bool of_sequences> Value made(Call& call) {
  if (!call.self.is(Kind::instance) || object(call).cls) return {};
  std::vector<TrainingSetting> settings;
  settings.reserve(call.options.size());
  for (const auto& [name, value] : call.options)
    settings.push_back(training_setting(call, name.text(), value));
  const bool all_seen = !call.spread && call.rest.size() <= 1;
  ArgumentChecks found;
  judge(call, settings, of_sequences, all_seen, true, found);
  judge_configuration(call, settings, all_seen, found);
  found.tell(call);
  keep_training_arguments(call);
  return {};
}

// ---------------------------------------------------------------- files of arguments

// HfArgumentParser((ModelArguments, TrainingArguments))
Value parser_made(Call& call) {
  keep(call, values::ParserState::classes, call.at(0));
  return {};
}

struct Classes {
  std::vector<std::string> names;  // of the fields of the program's own
  bool trainer = false, of_sequences = false, all_seen = true;
};
void add_class(Call& call, Value given, Classes& into) {
  given = call.run.resolve(given);
  const auto add_native = [&](std::string_view path) {
    const bool plain = path == "transformers.TrainingArguments",
               of_sequences = path == "transformers.Seq2SeqTrainingArguments";
    into.trainer = into.trainer || plain || of_sequences;
    into.of_sequences = into.of_sequences || of_sequences;
    into.all_seen = into.all_seen && (plain || of_sequences);
  };
  if (given.is(Kind::library)) return add_native(given.as<values::LibrarySymbol>()->path);
  const auto* own = given.is(Kind::class_) ? given.as<values::Class>() : nullptr;
  if (!own || own->open || !own->is_dataclass) {
    into.all_seen = false;
    return;
  }
  if (own->native) add_native(own->native->path);
  for (const values::ClassField& field : own->fields)
    if (field.in_init) into.names.emplace_back(field.name.text());
}

// The file that a path names, which may be one that os.path.abspath made.
Value file_of_path(Call& call, Value path) {
  path = call.run.resolve(path);
  const values::Slot* slot = path.is(Kind::unknown)
      ? path.as<values::Unknown>()->attributes.find(Name(values::FileState::path))
      : nullptr;
  return slot ? call.run.resolve(slot->value) : path;
}

template <program::DataFormat format> Value parsed_file(Call& call) {
  const Value unknown = call.run.heap().unseen("", call.place);
  const Value file = file_of_path(call, call.at(0)),
              classes = call.self.is(Kind::instance)
      ? call.run.resolve(kept(call, values::ParserState::classes))
      : Value{};
  const Value data = file.is(Kind::string) && classes ? call.run.data_of_file(file.text(), format) : Value{};
  if (!data.is(Kind::dict)) return unknown;
  Classes all;
  if (const auto items = classes.is(Kind::tuple) || classes.is(Kind::list)
          ? call.run.elements(classes, call.place)
          : std::nullopt)
    for (const Value& each : *items) add_class(call, each, all);
  else
    add_class(call, classes, all);
  const bool strict = !call.spread &&
      (!call.given[1] || call.run.symbols().decide(call.run.truth(call.at(1))) == Answer::no);
  std::vector<TrainingSetting> settings;
  std::string unused;
  for (const auto& [key, value] : std::vector(values::Heap::dict_state(data)->items)) {
    if (!key.is(Kind::string) || std::ranges::find(all.names, key.text()) != all.names.end()) continue;
    const bool known = all.trainer && training_argument(key.text(), all.of_sequences);
    if (known)
      settings.push_back(training_setting(call, key.text(), value));
    else if (!(all.trainer && former_training_argument(key.text())))
      unused += (unused.empty() ? "`" : ", `") + std::string(key.text()) + "`";
  }
  const std::string name(file.text().substr(file.text().rfind('/') + 1));
  Call inner{call.run, *call.run.library().find("transformers.TrainingArguments"), call.self, call.arguments,
      call.rest, call.options, call.given, call.spread, call.expr, call.node, call.place, call.after};
  ArgumentChecks found;
  // The call fails over the first; what stands in the file beside it is told with it.
  if (strict && all.all_seen && !unused.empty()) {
    interpreter::Refusal refusal = why<Reason::unused_keys>(name, unused);
    for (const TrainingMisuse& misuse : misuses_of_training(settings, all.of_sequences, true, false))
      refusal = why<Reason::besides>(refusal, misuse.refusal);
    found.add({}, std::move(refusal), true, inner.row);
  } else {
    judge(inner, settings, all.of_sequences, true, false, found, name);
  }
  found.tell(inner);
  return unknown;
}

}  // namespace

std::vector<Row> trainer_setting_rows() {
  using enum RowKind;
  return {
      row("transformers.TrainingArguments", class_, "*arguments, **options", made<false>),
      row("transformers.Seq2SeqTrainingArguments", class_, "*arguments, **options", made<true>,
          "transformers.TrainingArguments"),
      row("transformers.TrainingArguments.$deepspeed", function, "*arguments, **options", nullptr),
      row("transformers.HfArgumentParser", class_, "dataclass_types=None, **options", parser_made),
      row("transformers.HfArgumentParser.parse_json_file", method, "json_file, allow_extra_keys=False",
          parsed_file<program::DataFormat::json>),
      row("transformers.HfArgumentParser.parse_yaml_file", method, "yaml_file, allow_extra_keys=False",
          parsed_file<program::DataFormat::yaml>),
  };
}

}  // namespace stepzero::libraries

// The arguments of the Trainer of transformers, as data: their names, what each takes, what older versions
// had, and what the Trainer refuses together. Knows no syntax: a program, a command line and a file all hand
// settings over.
#pragma once

#include "interpreter/refusals.hpp"
#include "program/value_type.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::libraries {

struct TrainingArgument {
  std::string_view flag;
  program::Takes takes;
  program::ValueType type;
  bool plain;                // not only of Seq2SeqTrainingArguments
  std::string_view choices;  // "no|steps|epoch"
};
std::span<const TrainingArgument> training_arguments();
// By its name without dashes; null if there is none.
const TrainingArgument* training_argument(std::string_view name, bool of_sequences);
// The name that was probably meant; empty if none is near. `among_others`: other names may be right where it
// stands.
std::string_view near_training_argument(std::string_view name, bool among_others = false);

// What older versions took.
struct FormerArgument {
  std::string_view name;
  std::string_view since = {};  // the version that has it no more; empty: it is one of several
  std::string_view instead = {};
};
const FormerArgument* former_training_argument(std::string_view name);
// A value that older versions took: `optim` of "adamw_hf".
bool is_former_training_choice(std::string_view name, std::string_view value);

struct TrainingSetting {
  enum class Kind : std::uint8_t { unknown, none, truth, number, text };
  std::string name;
  Kind kind = Kind::unknown;
  bool truth = false;
  double number = 0;
  std::string text = {};
};
struct TrainingMisuse {
  std::size_t at = 0;  // of the settings
  std::optional<std::size_t> other = {};
  interpreter::Refusal refusal = {};
  std::string_view meant = {};  // the name, or the value, that looks meant
  bool is_certain = true;       // in every version, whatever else is set
  bool is_of_several = false;   // none of the settings is wrong by itself
  bool is_former = false;       // right in older versions
};
// `all_seen`: what is not among the settings has its default. `names`: no others than those of the Trainer
// are taken.
std::vector<TrainingMisuse> misuses_of_training(
    std::span<const TrainingSetting> settings, bool of_sequences, bool all_seen, bool names);

}  // namespace stepzero::libraries

#include "libraries/frameworks/training_arguments.hpp"
#include "rules/launch/argument_reading.hpp"
#include "rules/launch/dataclasses.hpp"
#include "rules/launch/numbers.hpp"
#include "rules/launch/pins.hpp"
#include "rules/sentences.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using documents::Chars;
using documents::Word;
using program::ValueType;

void ArgumentReading::judge_value(const DeclaredOption& option, const Word& flag, const Word& value) {
  if (!value.is_known() || option.arity == Arity::unknown) return;
  std::string why, pass;
  const bool of_version =
      option.where.path.empty();  // an argument of the Trainer: another version may take more
  if (of_version && !option.choices.empty() && !is_choice(option, value.text)) {
    const std::string_view meant = documents::nearest(
        value.text, std::vector<std::string_view>(option.choices.begin(), option.choices.end()));
    if (!meant.empty())
      refuse(value,
          "the Trainer knows no `" + flag.text + "` of " + quoted(value.text) +
              ", and rejects it. Did you mean " + quoted(std::string(meant)) + "?",
          option, true);
    return;
  }
  if (!option.choices.empty() && !is_choice(option, value.text)) {
    why = "takes " + in_code(option.choices), pass = "Choose one of them";
  } else if (option.type == ValueType::integer && !reads_as_int(value.text)) {
    why = "takes an integer", pass = "Pass one";
  } else if (option.type == ValueType::number && !reads_as_float(value.text)) {
    why = "takes a number", pass = "Pass one";
  } else if (option.type == ValueType::truth && !reads_as_truth(value.text)) {
    why = "takes true or false", pass = "Choose one of the two";
  }
  if (!why.empty())
    refuse(value, "`" + flag.text + "` " + why + "; the script rejects " + quoted(value.text) + ". " + pass,
        option);
}

bool ArgumentReading::is_choice(const DeclaredOption& option, const std::string& text) {
  if (option.type != ValueType::integer && option.type != ValueType::text) return true;
  if (std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end()) return true;
  const auto number = option.type == ValueType::integer ? int_of(text) : std::nullopt;
  if (!number) return false;
  const std::int64_t value = *number;
  return std::any_of(option.choices.begin(), option.choices.end(),
      [value](const std::string& choice) { return int_of(choice).value_or(value + 1) == value; });
}

void ArgumentReading::judge_exclusive(const DeclaredOption& option, const Word& flag) {
  if (option.exclusive == 0 || !options_.one_parser || (option.arity != Arity::none && option.has_default))
    return;
  for (const auto& [other, word] : exclusive_) {
    if (other->exclusive != option.exclusive || other == &option) continue;
    refuse(flag,
        "`" + flag.text + "` and `" + word.text +
            "` exclude each other: the script ends with \"not allowed with argument\". Give one of them alone",
        option, word.by_default);
    return;
  }
  exclusive_.emplace_back(&option, flag);
}

std::vector<std::string_view> ArgumentReading::names() const {
  std::vector<std::string_view> all;
  for (const DeclaredOption& option : options_.options)
    for (const std::string& flag : option.flags)
      if (is_of(option) && flag.starts_with("--")) all.push_back(flag);
  return all;
}

const libraries::FormerArgument* ArgumentReading::former_of(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return libraries::former_training_argument(name);
}

void ArgumentReading::tell_former() {
  std::erase_if(
      former_, [&](const auto& each) { return is_kept_below(input_, "transformers", each.second->since); });
  if (former_.empty()) return;
  const std::string_view since = former_.front().second->since;
  const bool at_once = std::ranges::all_of(
      former_, [&](const auto& each) { return each.second->since == since; });
  std::string listed;
  for (const auto& [flag, old] : former_) {
    std::string more = at_once ? "" : "since " + std::string(old->since);
    if (!old->instead.empty())
      more += (more.empty() ? "today `" : ", today `") + std::string(old->instead) + "`";
    listed += (listed.empty() ? "`" : ", `") + flag.text + "`" + (more.empty() ? "" : " (" + more + ")");
  }
  Finding& finding = report_.add(Severity::information, former_.front().first.written,
      "The Trainer's arguments of " +
          (at_once ? "transformers " + std::string(since) + " and later"
                   : std::string("newer transformers")) +
          " have no " + listed + ": the script rejects " +
          (former_.size() > 1 ? "them. Rename or remove each" : "it. Rename or remove it"));
  for (std::size_t i = 1; i < former_.size(); ++i)
    report_.relate(finding, former_[i].first.written, "`" + former_[i].first.text + "` is given here");
}

void ArgumentReading::passed_over(const Word& flag) {
  constexpr std::size_t least = 6;
  const std::vector<std::string_view> known = names();
  const std::string_view meant = flag.text.size() < least ? std::string_view()
                                                          : documents::nearest(flag.text, known);
  if (meant.empty() ||
      (!documents::is_typo(flag.text, meant) && !documents::is_shortened(flag.text, meant)) ||
      flag.text.starts_with(meant) || meant.starts_with(flag.text))
    return;
  report_.add(Severity::warning, flag.written,
      "`" + file_of(path_) + "` declares no argument `" + flag.text +
          "` and ignores what it does not declare. Did you mean `" + std::string(meant) + "`?");
}

void ArgumentReading::other(const Seen& word) {
  // What follows may be its value, or have a place of its own.
  while (at_ < words_.size() && (seen(at_).kind == WordKind::value || seen(at_).kind == WordKind::unsure))
    ++at_, places_known_ = false;
  const Word& flag = word.flag;
  if (options_.takes_more) return passed_over(flag);
  if (const DeclaredOption* elsewhere = options_.find(flag.text);
      elsewhere && elsewhere->parser == 0 && parser_ != 0)
    return refuse(flag,
        "`" + flag.text +
            "` is an option of the script and none of this command: the script rejects it here. Write it before the command",
        *elsewhere);
  const std::string dashed = flag.text.starts_with("--") ? flag.text : "-" + flag.text;
  const std::vector<std::string_view> known = names();
  const bool is_one_dash = dashed != flag.text &&
      std::find(known.begin(), known.end(), dashed) != known.end();
  const std::string_view meant = is_one_dash
      ? std::string_view(*std::find(known.begin(), known.end(), dashed))
      : flag.text.size() < 4 ? std::string_view()
                             : documents::nearest(flag.text, known);
  // The Trainer's arguments are those of one version of transformers.
  const bool of_trainer = options_.of_dataclasses && options_.find("--per_device_train_batch_size");
  const libraries::FormerArgument* old = of_trainer ? former_of(flag.text) : nullptr;
  if (old && !old->since.empty()) {
    former_.emplace_back(flag, old);
    return;
  }
  if (of_trainer && (meant.empty() || old)) return;
  if (meant.empty()) {
    (flag.by_default ? unknown_by_default_ : unknown_).push_back(flag);
    return;
  }
  const DeclaredOption* there = nullptr;
  for (const DeclaredOption& option : options_.options)
    if (is_of(option) && std::find(option.flags.begin(), option.flags.end(), meant) != option.flags.end())
      there = &option;
  begun_.push_back(std::string(meant));
  const bool may_be_older = options_.of_dataclasses && there->where.path.empty();
  Finding& finding = report_.add(flag.by_default || may_be_older ? Severity::warning : Severity::error,
      flag.written,
      "`" + file_of(path_) + "` declares no argument `" + flag.text + "` and rejects it" + end_over(false) +
          ". Did you mean `" + std::string(meant) + "`?");
  if (!there->where.path.empty())
    report_.relate(finding, there->where, "`" + std::string(meant) + "` is declared here");
  const std::size_t whole = flag.text.size() + (word.attached ? 1 + word.attached->text.size() : 0);
  if (flag.written.end - flag.written.begin == whole)
    report_.fix(finding, "Rename to " + std::string(meant),
        is_one_dash || documents::is_typo(flag.text, meant),
        {flag.written.begin, flag.written.begin + static_cast<std::uint32_t>(flag.text.size())},
        std::string(meant));
}

std::string ArgumentReading::end_over(bool many) const {
  if (options_.of_fire)
    return std::string(", after the function has run without ") + (many ? "them" : "it") +
        ": \"Could not consume arg\"";
  return options_.of_dataclasses || options_.of_click ? ""
      : options_.of_tyro                              ? ": \"Unrecognized options\""
                                                      : ": \"unrecognized arguments\"";
}

void ArgumentReading::tell_ambiguous(const Word& flag) {
  if (!options_.one_parser || options_.takes_more || options_.of_dataclasses || options_.of_click ||
      options_.of_tyro || options_.of_fire || !options_.abbreviations || !flag.is_known() ||
      !flag.text.starts_with("--") || flag.text == "--help")
    return;
  std::vector<std::string_view> begun;
  for (const DeclaredOption& option : options_.options) {
    if (!is_of(option) || option.is_conditional) continue;
    const auto name = std::find_if(option.flags.begin(), option.flags.end(),
        [&](const std::string& each) { return each.starts_with(flag.text); });
    if (name == option.flags.end()) continue;
    // The name itself, of two declarations of which one counts.
    if (*name == flag.text) return;
    if (std::find(begun.begin(), begun.end(), *name) == begun.end()) begun.push_back(*name);
  }
  if (begun.size() < 2) return;
  constexpr std::size_t most_named = 4;  // options that one message names
  const bool more = begun.size() > most_named;
  if (more) begun.resize(most_named);
  report_.add(flag.by_default ? Severity::warning : Severity::error, flag.written,
      "`" + flag.text + "` is the beginning of " + in_code(begun, more ? "," : "and") +
          (more ? " and others" : "") +
          ", and the script rejects it: \"ambiguous option\". Write the whole name");
}

void ArgumentReading::tell_unknown(const std::vector<Word>& unknown) {
  if (unknown.empty()) return;
  std::vector<std::string_view> names;
  names.reserve(unknown.size());
  for (const Word& each : unknown) names.push_back(each.text);
  const bool many = unknown.size() > 1;
  Finding& finding = report_.add(unknown.front().by_default ? Severity::warning : Severity::error,
      unknown.front().written,
      "`" + file_of(path_) + "` declares no " + (many ? "arguments " : "argument ") + in_code(names, "and") +
          " and rejects " + (many ? "them" : "it") + end_over(many) + ". Declare " +
          (many ? "them, or leave them out" : "it, or leave it out"));
  for (std::size_t i = 1; i < unknown.size(); ++i)
    report_.relate(finding, unknown[i].written, "`" + unknown[i].text + "` is given here");
}

bool ArgumentReading::is_given(const DeclaredOption& option) const {
  if (given_.contains(&option)) return true;
  return std::any_of(begun_.begin(), begun_.end(), [&](const std::string& text) {
    return std::any_of(option.flags.begin(), option.flags.end(), [&](const std::string& name) {
      return name == text || (text.size() > 2 && name.starts_with(text)) ||
          (name.size() == 2 && text.starts_with(name));
    });
  });
}

bool ArgumentReading::gives_places() const {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto is_flag = [&](const Word& word) { return word.text.starts_with('-'); };
    if (!words_[i].is_known()) return true;
    if (!is_flag(words_[i]) &&
        (i == 0 || !is_flag(words_[i - 1]) || words_[i - 1].text.find('=') != std::string::npos))
      return true;
  }
  return false;
}

void ArgumentReading::tell_missing(bool before_command) {
  if (!options_.one_parser || (options_.of_fire && gives_places())) return;
  std::vector<std::string> missing;
  const Location* first = nullptr;
  const auto note = [&](const std::string& what, const Location& where) {
    missing.push_back(what);
    if (!first) first = &where;
  };
  for (const DeclaredOption& option : options_.options) {
    // What an imported module declares may belong to a program of its own.
    if (!is_of(option) || option.is_conditional || (option.where.path != path_ && !options_.of_dataclasses))
      continue;
    const bool placed = option.is_positional();
    if (placed ? !places_known_ || (option.arity != Arity::one && option.arity != Arity::some) ||
                (options_.of_click && !option.is_required)
               : !option.is_required)
      continue;
    if (!is_given(option)) note(option.flags.front(), option.where);
  }
  if (commands_ && !before_command && commands_->is_required && places_known_ &&
      commands_->where.path == path_)
    note("a command", commands_->where);
  if (first) {
    Finding& finding = report_.add(Severity::error, line_.script->written,
        "`" + file_of(path_) + "` requires " + in_code(missing, "and") + ", and this launch does not give " +
            (missing.size() > 1 ? "them" : "it") + ": the script ends with \"" +
            (options_.of_fire           ? "The function received no value for the required argument"
                    : options_.of_click ? "Missing option"
                    : options_.of_tyro  ? "Required options"
                                        : "the following arguments are required") +
            "\". Add " + (missing.size() > 1 ? "them" : "it"));
    report_.relate(finding, *first, "declared here");
  }
  tell_missing_groups();
}

void ArgumentReading::tell_missing_groups() {
  for (const int group : options_.required_groups) {
    std::vector<std::string_view> flags;
    const DeclaredOption* one = nullptr;
    bool is_any_given = false;
    for (const DeclaredOption& option : options_.options) {
      if (option.exclusive != group || !is_of(option)) continue;
      is_any_given = is_any_given || is_given(option) || option.is_conditional || option.where.path != path_;
      flags.push_back(option.flags.front());
      one = &option;
    }
    if (!one || is_any_given) continue;
    Finding& finding = report_.add(Severity::error, line_.script->written,
        "`" + file_of(path_) + "` requires " + in_code(flags) +
            ", and this launch gives none: the script ends with \"one of the arguments … is required\". Give one");
    report_.relate(finding, one->where, "declared here");
  }
}

void ArgumentReading::refuse(
    const Word& where, std::string message, const DeclaredOption& option, bool by_default) {
  Finding& finding = report_.add(where.by_default || by_default ? Severity::warning : Severity::error,
      where.written, std::move(message));
  if (!option.where.path.empty()) report_.relate(finding, option.where, "declared here");
}

}  // namespace stepzero::rules::launch

#include "rules/launch/argument_reading.hpp"

#include "rules/launch/numbers.hpp"
#include "rules/sentences.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using documents::Chars;
using documents::Word;

void ArgumentReading::run() {
  // HfArgumentParser: a file that holds the arguments.
  if (options_.of_dataclasses && words_.size() == 1 &&
      (words_[0].text.ends_with(".json") || words_[0].text.ends_with(".yaml") ||
          words_[0].text.ends_with(".yml")))
    return;
  read(0);
  if (options_.takes_more) return;
  tell_unknown(unknown_);
  tell_unknown(unknown_by_default_);
  tell_former();
}

void ArgumentReading::read(int parser) {
  parser_ = parser;
  find_positionals();
  while (at_ < words_.size() && !finished_) {
    const Seen word = seen(at_);
    switch (word.kind) {
    case WordKind::flag:
      ++at_;
      option(word);
      break;
    case WordKind::other_flag:
      ++at_;
      other(word);
      break;
    case WordKind::unsure_flag:
      tell_ambiguous(word.flag);
      // Which option it is may not matter for whether it is given.
      if (word.option) given_.insert(word.option);
      if (word.flag.text == "-h" || word.flag.text == "--help") finished_ = true;
      if (!word.option || !word.flag.is_known()) may_give_any_ = true;
      begun_.push_back(word.flag.text);
      places_known_ = false, ++at_;
      break;
    case WordKind::any:
      // The command may be among them.
      finished_ = commands_ != nullptr;
      may_give_any_ = true, places_known_ = false, ++at_;
      break;
    case WordKind::separator: finished_ = true; break;
    case WordKind::unsure: may_give_any_ = true; [[fallthrough]];
    case WordKind::value: place(word); break;
    }
  }
  if (!finished_ && !may_give_any_ && !options_.takes_more) tell_missing();
}

void ArgumentReading::find_positionals() {
  positionals_.clear();
  next_ = 0;
  places_known_ = options_.one_parser && !options_.takes_more && !options_.of_dataclasses &&
      !options_.of_tyro;
  commands_ = nullptr;
  for (const DeclaredOption& option : options_.options) {
    if (!is_of(option) || !option.is_positional()) continue;
    positionals_.push_back(&option);
    // What takes no certain number of words may take none at its first chance, or all at its last.
    const bool is_last_of_some = option.arity == Arity::some && &option == last_positional();
    if (option.is_conditional || (option.arity != Arity::one && !is_last_of_some)) places_known_ = false;
  }
  for (const Commands& each : options_.commands)
    if (each.of_parser == parser_) {
      if (commands_ || !positionals_.empty()) places_known_ = false;
      commands_ = &each;
    }
}

const DeclaredOption* ArgumentReading::last_positional() const {
  const DeclaredOption* last = nullptr;
  for (const DeclaredOption& option : options_.options)
    if (is_of(option) && option.is_positional()) last = &option;
  return last;
}

void ArgumentReading::option(const Seen& word) {
  const DeclaredOption& option = *word.option;
  given_.insert(&option);
  after_ = nullptr;
  if (option.ends) {
    finished_ = true;
    return;
  }
  judge_exclusive(option, word.flag);
  if (option.arity == Arity::unknown) places_known_ = false;
  if (word.attached) return attached(option, word.flag, *word.attached);
  if (option.arity == Arity::none) {
    after_ = &option;
    return;
  }
  if (options_.of_click && option.arity == Arity::one) {
    if (at_ < words_.size() && words_[at_].text.find(Chars::words) == std::string::npos)
      judge_value(option, word.flag, words_[at_++]);
    return;
  }
  take(option, word.flag);
}

void ArgumentReading::attached(const DeclaredOption& option, const Word& flag, const Word& value) {
  if (option.arity == Arity::none) {
    if (value.is_known() && !options_.of_click)
      refuse(value,
          "`" + flag.text + "` takes no value, and the script rejects " + quoted(value.text) +
              ": \"ignored explicit argument\". Leave the value out",
          option);
  } else if (option.arity == Arity::number && option.count != 1) {
    refuse(value,
        "`" + flag.text + "` takes " + std::to_string(option.count) +
            " values, and the script rejects one: \"expected " + std::to_string(option.count) +
            " arguments\". Write them after it, without `=`",
        option);
  } else {
    judge_value(option, flag, value);
  }
}

void ArgumentReading::take(const DeclaredOption& option, const Word& flag) {
  std::size_t there = 0;
  bool is_sure = true;  // that no more follow
  while (at_ + there < words_.size()) {
    const WordKind kind = seen(at_ + there).kind;
    if (kind != WordKind::value && kind != WordKind::unsure) {
      is_sure = kind == WordKind::flag || kind == WordKind::other_flag;
      break;
    }
    ++there;
  }
  std::size_t least = 1, most = there;
  if (option.arity == Arity::one)
    most = 1;
  else if (option.arity == Arity::number)
    least = most = static_cast<std::size_t>(option.count);
  else if (option.arity != Arity::some)
    least = 0, most = option.arity == Arity::optional ? 1 : there;
  if (there < least) {
    at_ += there;
    if (!is_sure || options_.of_click) {
      places_known_ = false;
      return;
    }
    const std::string wanted = least == 1 ? "a value" : std::to_string(least) + " values";
    refuse(flag,
        "`" + flag.text + "` takes " + wanted + ", and this launch gives " +
            (there == 0 ? "none" : std::to_string(there)) + ": the script ends with \"expected " +
            (option.arity == Arity::some ? "at least one argument"
                    : least == 1         ? "one argument"
                                         : std::to_string(least) + " arguments") +
            "\". Give " + (least == 1 ? "it one" : "it " + std::to_string(least)),
        option);
    return;
  }
  most = std::min(most, there);
  for (std::size_t i = 0; i < most; ++i) judge_value(option, flag, words_[at_ + i]);
  at_ += most;
  if (option.arity == Arity::number || option.arity == Arity::one) after_ = &option;
}

void ArgumentReading::place(const Seen& word) {
  const DeclaredOption* after = std::exchange(after_, nullptr);
  if (word.kind == WordKind::unsure) by_default_ = true;
  if (word.flag.by_default) by_default_ = true;
  if (commands_ && places_known_) return command(word);
  if (commands_) {
    // Which of the words it is, is not known.
    finished_ = true;
    return;
  }
  const Word& given = words_[at_++];
  if (!places_known_) return;
  if (next_ < positionals_.size()) {
    const DeclaredOption& option = *positionals_[next_++];
    judge_value(option, named(option), given);
    given_.insert(&option);
    while (option.arity == Arity::some && at_ < words_.size() &&
        (seen(at_).kind == WordKind::value || seen(at_).kind == WordKind::unsure))
      judge_value(option, named(option), words_[at_++]);
    return;
  }
  // Once for all that follow each other.
  const std::size_t first = at_ - 1;
  while (at_ < words_.size() && seen(at_).kind == WordKind::value) ++at_;
  if (given.is_known() && !given.text.empty()) left_over(first, after);
}

Word ArgumentReading::named(const DeclaredOption& option) {
  Word word;
  word.text = option.flags.front();
  return word;
}

void ArgumentReading::left_over(std::size_t place, const DeclaredOption* after) {
  if (options_.of_click) return;
  const Word& word = words_[place];
  std::string why = "`" + file_of(path_) + "` takes no " + (positionals_.empty() ? "" : "other ") +
      "argument without a flag";
  const bool of_flag = after && after->arity == Arity::none;
  if (of_flag)
    why = "`" + words_[place - 1].text + "` takes no value";
  else if (after && after->arity == Arity::number)
    why = "`" + after->flags.front() + "` takes " + std::to_string(after->count) + " values";
  Finding& finding = report_.add(word.by_default || by_default_ ? Severity::warning : Severity::error,
      word.written,
      why + ": " + quoted(word.text) +
          " is left over, and the script ends with \"unrecognized arguments\". Remove it");
  if (after) report_.relate(finding, after->where, "declared here");
  // What stood for yes says nothing.
  const auto stands_here = [](const Word& each) { return each.written == each.span; };
  if (of_flag && (word.text == "true" || word.text == "True" || word.text == "1") && stands_here(word) &&
      stands_here(words_[place - 1]) && place + 1 == at_)
    report_.fix(finding, "Remove " + word.text, true, {words_[place - 1].span.end, word.span.end}, "");
}

void ArgumentReading::command(const Seen& word) {
  const Word& given = words_[at_++];
  if (!given.is_known()) {
    finished_ = true;
    return;
  }
  const Commands& commands = *commands_;
  const auto named = std::find_if(commands.names.begin(), commands.names.end(),
      [&](const auto& each) { return each.first == given.text; });
  if (named != commands.names.end()) {
    if (!may_give_any_) tell_missing(true);
    read(named->second);
    finished_ = true;
    return;
  }
  finished_ = true;
  std::vector<std::string_view> names;
  names.reserve(commands.names.size());
  for (const auto& [name, parser] : commands.names) names.push_back(name);
  if (names.empty()) return;
  const std::string_view meant = documents::nearest(given.text, names);
  Finding& finding = report_.add(word.flag.by_default || by_default_ ? Severity::warning : Severity::error,
      given.written,
      "`" + file_of(path_) + "` has no command `" + given.text + "`, and rejects it" +
          (meant.empty() ? ". Choose " + in_code(names) : ". Did you mean `" + std::string(meant) + "`?"));
  report_.relate(finding, commands.where, "the commands are declared here");
  if (!meant.empty() && given.written.end - given.written.begin == given.text.size())
    report_.fix(finding, "Rename to " + std::string(meant), documents::is_typo(given.text, meant),
        given.written, std::string(meant));
}

void judge_arguments(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
    const std::string& path, DocumentReport& report) {
  ArgumentReading(input, line, options, path, report).run();
}

}  // namespace stepzero::rules::launch

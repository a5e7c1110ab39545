#include "rules/launch/arguments.hpp"

#include "libraries/frameworks/training_arguments.hpp"
#include "rules/launch/argument_words.hpp"
#include "rules/launch/dataclasses.hpp"
#include "rules/launch/numbers.hpp"
#include "rules/launch/pins.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace stepzero::rules::launch {

using documents::Chars;
using documents::Word;
using program::ValueType;

namespace {

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string quoted(const std::string& text) { return '"' + text + '"'; }

class ArgumentReading {
public:
  ArgumentReading(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
      const std::string& path, DocumentReport& report)
      : input_(input), line_(line), options_(options), path_(path), report_(report), words_(line.arguments) {}

  void run() {
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

private:
  bool is_of(const DeclaredOption& option) const { return option.parser == parser_; }
  Seen seen(std::size_t i) const { return see(words_[i], options_, parser_); }

  // ------------------------------------------------------------- the words of one parser
  void read(int parser) {
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

  void find_positionals() {
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
  const DeclaredOption* last_positional() const {
    const DeclaredOption* last = nullptr;
    for (const DeclaredOption& option : options_.options)
      if (is_of(option) && option.is_positional()) last = &option;
    return last;
  }

  // ------------------------------------------------------------- options
  void option(const Seen& word) {
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

  void attached(const DeclaredOption& option, const Word& flag, const Word& value) {
    if (option.arity == Arity::none) {
      if (value.is_known() && !options_.of_click)
        refuse(value,
            "`" + flag.text + "` takes no value, and the script rejects " + quoted(value.text) +
                ": \"ignored explicit argument\"",
            option);
    } else if (option.arity == Arity::number && option.count != 1) {
      refuse(value,
          "`" + flag.text + "` takes " + std::to_string(option.count) +
              " values, and the script rejects one: \"expected " + std::to_string(option.count) +
              " arguments\"",
          option);
    } else {
      judge_value(option, flag, value);
    }
  }

  // The values that follow.
  void take(const DeclaredOption& option, const Word& flag) {
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
              '"',
          option);
      return;
    }
    most = std::min(most, there);
    for (std::size_t i = 0; i < most; ++i) judge_value(option, flag, words_[at_ + i]);
    at_ += most;
    if (option.arity == Arity::number || option.arity == Arity::one) after_ = &option;
  }

  void judge_value(const DeclaredOption& option, const Word& flag, const Word& value) {
    if (!value.is_known() || option.arity == Arity::unknown) return;
    std::string why;
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
      why = "takes " + in_code(option.choices);
    } else if (option.type == ValueType::integer && !reads_as_int(value.text)) {
      why = "takes an integer";
    } else if (option.type == ValueType::number && !reads_as_float(value.text)) {
      why = "takes a number";
    } else if (option.type == ValueType::truth && !reads_as_truth(value.text)) {
      why = "takes true or false";
    }
    if (!why.empty())
      refuse(value, "`" + flag.text + "` " + why + "; the script rejects " + quoted(value.text), option);
  }
  static bool is_choice(const DeclaredOption& option, const std::string& text) {
    if (option.type != ValueType::integer && option.type != ValueType::text) return true;
    if (std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end()) return true;
    const auto number = option.type == ValueType::integer ? int_of(text) : std::nullopt;
    if (!number) return false;
    const std::int64_t value = *number;
    return std::any_of(option.choices.begin(), option.choices.end(),
        [value](const std::string& choice) { return int_of(choice).value_or(value + 1) == value; });
  }

  // A value that is the default itself does not count as given; which that is, only a flag says for sure.
  void judge_exclusive(const DeclaredOption& option, const Word& flag) {
    if (option.exclusive == 0 || !options_.one_parser || (option.arity != Arity::none && option.has_default))
      return;
    for (const auto& [other, word] : exclusive_) {
      if (other->exclusive != option.exclusive || other == &option) continue;
      refuse(flag,
          "`" + flag.text + "` and `" + word.text +
              "` exclude each other: the script ends with \"not allowed with argument\"",
          option, word.by_default);
      return;
    }
    exclusive_.emplace_back(&option, flag);
  }

  // ------------------------------------------------------------- what has no flag
  void place(const Seen& word) {
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
  static Word named(const DeclaredOption& option) {
    Word word;
    word.text = option.flags.front();
    return word;
  }

  // `after`: the option whose words stand right in front of it.
  void left_over(std::size_t place, const DeclaredOption* after) {
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
            " is left over, and the script ends with \"unrecognized arguments\"");
    if (after) report_.relate(finding, after->where, "declared here");
    // What stood for yes says nothing.
    const auto stands_here = [](const Word& each) { return each.written == each.span; };
    if (of_flag && (word.text == "true" || word.text == "True" || word.text == "1") && stands_here(word) &&
        stands_here(words_[place - 1]) && place + 1 == at_)
      report_.fix(finding, "Remove " + word.text, true, {words_[place - 1].span.end, word.span.end}, "");
  }

  void command(const Seen& word) {
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
            (meant.empty() ? ": it takes " + in_code(names)
                           : ". Did you mean `" + std::string(meant) + "`?"));
    report_.relate(finding, commands.where, "the commands are declared here");
    if (!meant.empty() && given.written.end - given.written.begin == given.text.size())
      report_.fix(finding, "Rename to " + std::string(meant), documents::is_typo(given.text, meant),
          given.written, std::string(meant));
  }

  // ------------------------------------------------------------- what is not known
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    for (const DeclaredOption& option : options_.options)
      for (const std::string& flag : option.flags)
        if (is_of(option) && flag.starts_with("--")) all.push_back(flag);
    return all;
  }

  static const libraries::FormerArgument* former_of(std::string name) {
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return libraries::former_training_argument(name);
  }
  // Scripts are written for one version: once for all of them.
  void tell_former() {
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
            " have no " + listed + ": the script rejects " + (former_.size() > 1 ? "them" : "it"));
    for (std::size_t i = 1; i < former_.size(); ++i)
      report_.relate(finding, former_[i].first.written, "`" + former_[i].first.text + "` is given here");
  }

  // The program takes what it knows and leaves the rest to others: a slip in a name is seen by nobody. One
  // name that begins like another may be that of another program.
  void passed_over(const Word& flag) {
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

  void other(const Seen& word) {
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

  // What the reader of the command line says of it. Fire calls the function first.
  std::string end_over(bool many) const {
    if (options_.of_fire)
      return std::string(", after the function has run without ") + (many ? "them" : "it") +
          ": \"Could not consume arg\"";
    return options_.of_dataclasses || options_.of_click ? ""
        : options_.of_tyro                              ? ": \"Unrecognized options\""
                                                        : ": \"unrecognized arguments\"";
  }

  // The beginning of several names is none of them.
  void tell_ambiguous(const Word& flag) {
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

  // argparse ends once, over all of them.
  void tell_unknown(const std::vector<Word>& unknown) {
    if (unknown.empty()) return;
    std::vector<std::string_view> names;
    names.reserve(unknown.size());
    for (const Word& each : unknown) names.push_back(each.text);
    const bool many = unknown.size() > 1;
    Finding& finding = report_.add(unknown.front().by_default ? Severity::warning : Severity::error,
        unknown.front().written,
        "`" + file_of(path_) + "` declares no " + (many ? "arguments " : "argument ") +
            in_code(names, "and") + " and rejects " + (many ? "them" : "it") + end_over(many));
    for (std::size_t i = 1; i < unknown.size(); ++i)
      report_.relate(finding, unknown[i].written, "`" + unknown[i].text + "` is given here");
  }

  // ------------------------------------------------------------- what is missing
  bool is_given(const DeclaredOption& option) const {
    if (given_.contains(&option)) return true;
    return std::any_of(begun_.begin(), begun_.end(), [&](const std::string& text) {
      return std::any_of(option.flags.begin(), option.flags.end(), [&](const std::string& name) {
        return name == text || (text.size() > 2 && name.starts_with(text)) ||
            (name.size() == 2 && text.starts_with(name));
      });
    });
  }

  // Fire takes what has no flag by its place: it is known to be missing where every word follows a flag.
  bool gives_places() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const auto is_flag = [&](const Word& word) { return word.text.starts_with('-'); };
      if (!words_[i].is_known()) return true;
      if (!is_flag(words_[i]) &&
          (i == 0 || !is_flag(words_[i - 1]) || words_[i - 1].text.find('=') != std::string::npos))
        return true;
    }
    return false;
  }
  void tell_missing(bool before_command = false) {
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
          "`" + file_of(path_) + "` requires " + in_code(missing, "and") +
              ", and this launch does not give " + (missing.size() > 1 ? "them" : "it") +
              ": the script ends with \"" +
              (options_.of_fire           ? "The function received no value for the required argument"
                      : options_.of_click ? "Missing option"
                      : options_.of_tyro  ? "Required options"
                                          : "the following arguments are required") +
              '"');
      report_.relate(finding, *first, "declared here");
    }
    tell_missing_groups();
  }
  void tell_missing_groups() {
    for (const int group : options_.required_groups) {
      std::vector<std::string_view> flags;
      const DeclaredOption* one = nullptr;
      bool is_any_given = false;
      for (const DeclaredOption& option : options_.options) {
        if (option.exclusive != group || !is_of(option)) continue;
        is_any_given = is_any_given || is_given(option) || option.is_conditional ||
            option.where.path != path_;
        flags.push_back(option.flags.front());
        one = &option;
      }
      if (!one || is_any_given) continue;
      Finding& finding = report_.add(Severity::error, line_.script->written,
          "`" + file_of(path_) + "` requires " + in_code(flags) +
              ", and this launch gives none: the script ends with \"one of the arguments … is required\"");
      report_.relate(finding, one->where, "declared here");
    }
  }

  void refuse(const Word& where, std::string message, const DeclaredOption& option, bool by_default = false) {
    Finding& finding = report_.add(where.by_default || by_default ? Severity::warning : Severity::error,
        where.written, std::move(message));
    if (!option.where.path.empty()) report_.relate(finding, option.where, "declared here");
  }

  const DocumentInput& input_;
  const LaunchLine& line_;
  const ScriptOptions& options_;
  const std::string& path_;
  DocumentReport& report_;
  const std::vector<Word>& words_;
  std::size_t at_ = 0, next_ = 0;
  int parser_ = 0;
  std::vector<const DeclaredOption*> positionals_;
  const Commands* commands_ = nullptr;
  std::set<const DeclaredOption*> given_;
  std::vector<std::string> begun_;  // beginnings of names that are given
  std::vector<std::pair<const DeclaredOption*, Word>> exclusive_;
  const DeclaredOption* after_ = nullptr;  // the option whose words end here
  bool places_known_ = false, may_give_any_ = false, finished_ = false, by_default_ = false;
  std::vector<std::pair<Word, const libraries::FormerArgument*>> former_;
  std::vector<Word> unknown_, unknown_by_default_;  // what a variable's default gives need not be given
};

}  // namespace

void judge_arguments(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
    const std::string& path, DocumentReport& report) {
  ArgumentReading(input, line, options, path, report).run();
}

}  // namespace stepzero::rules::launch

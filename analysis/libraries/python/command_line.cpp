// The arguments and the environment that a known launch gives a program.
#include "libraries/python/command_line.hpp"

#include "interpreter/launch.hpp"
#include "libraries/table/native.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace stepzero::libraries {

using interpreter::Launch;

namespace {

// One argument of the parser, read back from what the parser keeps of it.
struct Declared {
  std::string destination, action;
  std::vector<std::string> flags;  // none: it is given by its place
  Value type, many, constant;
};

std::vector<Declared> declared_in(Call& call) {
  std::vector<Declared> all;
  const Value list = kept(call, values::ParserState::flags);
  if (!list.is(Kind::list)) return all;
  for (const Value& item : values::Heap::list_state(list)->items) {
    const Value entry = call.run.resolve(item);
    if (!entry.is(Kind::tuple)) continue;
    const auto& parts = entry.as<values::Tuple>()->items;
    Declared& one = all.emplace_back();
    one.destination = parts[0].text();
    one.action = parts[1].text();
    one.type = parts[2], one.many = parts[3], one.constant = parts[4];
    for (std::size_t i = 5; i < parts.size(); ++i) one.flags.emplace_back(parts[i].text());
  }
  return all;
}

bool is_number(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
}
bool is_flag(std::string_view word) { return word.size() > 1 && word[0] == '-' && !is_number(word); }

class Reader {
public:
  Reader(Call& call, const Launch& launch)
      : call_(call), words_(launch.arguments), declared_(declared_in(call)) {}

  CommandLine read() {
    made_.is_known = true;
    bool only_places = false;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_];
      if (word.find(Launch::words) != std::string::npos) {
        made_.is_known = false, places_known_ = false, ++at_;
      } else if (!only_places && word == "--") {
        only_places = true, ++at_;
      } else if (!only_places && is_flag(word)) {
        option();
      } else {
        by_place();
      }
    }
    return std::move(made_);
  }

private:
  const Declared* find(std::string_view flag) const {
    const Declared* begun = nullptr;
    std::set<std::string_view> meant;
    for (const Declared& each : declared_)
      for (const std::string& name : each.flags) {
        if (name == flag) return &each;
        if (flag.starts_with("--") && name.starts_with(flag)) begun = &each, meant.insert(name);
      }
    return meant.size() == 1 ? begun : nullptr;
  }

  void option() {
    const std::string word = words_[at_++];
    const std::size_t equals = word.starts_with("--") ? std::min(word.find('='), word.size()) : word.size();
    const std::string flag = word.substr(0, equals);
    const Declared* one = flag.find(Launch::hole) == std::string::npos ? find(flag) : nullptr;
    if (!one) {
      // What follows is its, or stands for itself.
      if (flag.find(Launch::hole) != std::string::npos) made_.is_known = false;
      if (equals == word.size())
        while (at_ < words_.size() && !is_flag(words_[at_])) ++at_;
      return;
    }
    made_.given.insert(one->destination);
    made_.values.erase(one->destination);
    if (one->action == "store_true" || one->action == "store_false")
      return give(*one, call_.run.heap().boolean(one->action == "store_true"));
    if (one->action == "?") return give(*one, call_.run.heap().boolean(!flag.starts_with("--no-")));
    if (one->action == "store_const")
      return one->constant.is(Kind::none) ? void() : give(*one, one->constant);
    if (one->action != "store") {
      while (at_ < words_.size() && !is_flag(words_[at_])) ++at_;
      return;
    }
    if (equals < word.size()) return values_of(*one, {word.substr(equals + 1)});
    values_of(*one, take(*one));
  }

  // The words of one argument.
  std::vector<std::string> take(const Declared& one) {
    std::size_t least = 1, most = 1;
    if (one.many.is(Kind::string)) {
      least = one.many.text() == "+" ? 1 : 0;
      most = one.many.text() == "?" ? 1 : words_.size();
    } else if (const auto number = call_.run.to_constant(one.many); number && *number >= 0) {
      least = most = static_cast<std::size_t>(*number);
    }
    std::vector<std::string> taken;
    while (at_ < words_.size() && taken.size() < most && !is_flag(words_[at_]) &&
        words_[at_].find(Launch::words) == std::string::npos)
      taken.push_back(words_[at_++]);
    if (taken.size() < least) taken.assign(1, std::string(1, Launch::words));
    return taken;
  }

  void by_place() {
    const auto next = std::find_if(declared_.begin(), declared_.end(),
        [&](const Declared& each) { return each.flags.empty() && !made_.given.contains(each.destination); });
    if (next == declared_.end() || !places_known_) {
      ++at_;
      return;
    }
    made_.given.insert(next->destination);
    const std::size_t before = at_;
    values_of(*next, take(*next));
    if (at_ == before) ++at_;
  }

  void values_of(const Declared& one, const std::vector<std::string>& texts) {
    std::vector<Value> read;
    for (const std::string& text : texts) {
      if (text.find_first_of(std::string{Launch::hole, Launch::words}) != std::string::npos) return;
      Value value = call_.run.heap().string(text);
      if (one.type && !one.type.is(Kind::none))
        value = call_.run.call(one.type, {{value}, {}, false}, call_.place);
      read.push_back(value);
    }
    const bool single = one.many.is(Kind::none) || (one.many.is(Kind::string) && one.many.text() == "?");
    if (!single) return give(one, call_.run.heap().list(std::move(read)));
    if (!read.empty())
      give(one, read.front());
    else if (!one.constant.is(Kind::none))
      give(one, one.constant);
  }

  void give(const Declared& one, Value value) { made_.values[one.destination] = value; }

  Call& call_;
  const std::vector<std::string>& words_;
  const std::vector<Declared> declared_;
  CommandLine made_;
  std::size_t at_ = 0;
  bool places_known_ = true;
};

}  // namespace

void declare_flags(
    Call& call, std::string_view destination, std::string_view action, Value type, Value many) {
  values::Heap& heap = call.run.heap();
  const auto or_none = [](Value value) { return value ? value : Value::none(); };
  std::vector<Value> parts = {heap.string(destination), heap.string(action), or_none(type), or_none(many),
      or_none(option(call, "const"))};
  for (const Value& raw : call.rest)
    if (const Value name = call.run.resolve(raw); name.is(Kind::string) && name.text().starts_with('-')) {
      parts.push_back(name);
      if (action == "?" && name.text().starts_with("--"))
        parts.push_back(heap.string("--no-" + std::string(name.text().substr(2))));
    }
  Value known = kept(call, values::ParserState::flags);
  if (!known.is(Kind::list)) keep(call, values::ParserState::flags, known = heap.list({}));
  values::ListState state = *values::Heap::list_state(known);
  state.items.push_back(heap.tuple(std::move(parts)));
  heap.set_list(known, std::move(state));
}

CommandLine read_command_line(Call& call) {
  const Launch* launch = call.run.launch();
  return launch ? Reader(call, *launch).read() : CommandLine{};
}

Value words_of_launch(Runtime& run) {
  const Launch* launch = run.launch();
  if (!launch || !launch->keeps_arguments) return {};
  std::vector<Value> items = {launch->program.empty() ||
              launch->program.find_first_of(std::string{Launch::hole, Launch::words}) != std::string::npos
          ? run.heap().unknown("", Sharing::uniform)
          : run.heap().string(launch->program)};
  bool open = false;
  for (const std::string& word : launch->arguments) {
    open = word.find(Launch::words) != std::string::npos;
    if (open) break;
    items.push_back(word.find(Launch::hole) == std::string::npos ? run.heap().string(word)
                                                                 : run.heap().unknown("", Sharing::uniform));
  }
  const Value list = run.heap().list(std::move(items));
  if (!open) return list;
  values::ListState state = *values::Heap::list_state(list);
  state.open = true;
  state.rest = run.heap().unknown("", Sharing::uniform);
  run.heap().set_list(list, std::move(state));
  return list;
}

Value set_by_launch(Runtime& run, Value name) {
  if (const Launch* launch = run.launch(); launch && name.is(Kind::string))
    for (auto set = launch->environment.rbegin(); set != launch->environment.rend(); ++set)
      if (set->first == name.text()) return run.heap().string(set->second);
  return {};
}

}  // namespace stepzero::libraries

#include "rules/launch/line.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

namespace stepzero::rules::launch {

using documents::Chars;
using documents::ShellCommand;
using documents::Word;
using program::Takes;
using program::ValueType;

namespace {

// The words that a launch begins with.
struct LaunchWords {
  std::string_view program;
  std::string_view commands;  // what has to follow, as words
  Launcher launcher;
};
constexpr LaunchWords launch_words[] = {
    {"torchrun", "", Launcher::torchrun},
    {"deepspeed", "", Launcher::deepspeed},
    {"accelerate", "launch", Launcher::accelerate},
    {"accelerate-launch", "", Launcher::accelerate},
    {"fabric", "run", Launcher::fabric},
    {"lightning", "run model", Launcher::fabric},  // its name before lightning 2.3
    {"colossalai", "run", Launcher::colossalai},
};

// `python -m`
struct LaunchModule {
  std::string_view name;
  Launcher launcher;
};
constexpr LaunchModule launch_modules[] = {
    {"torch.distributed.run", Launcher::torchrun},
    {"torch.distributed.elastic.multiprocessing", Launcher::torchrun},
    {"torch.distributed.launch", Launcher::torch_launch},
    {"accelerate.commands.launch", Launcher::accelerate},
    {"deepspeed.launcher.runner", Launcher::deepspeed},
};

constexpr LauncherOption launcher_options[] = {
#include "rules/launch/launchers.inc"
#include "rules/launch/launchers_read.inc"
};

// Programs that run the program that follows on the line.
constexpr std::string_view wrappers[] = {"srun", "mpirun", "mpiexec", "nohup", "env", "time", "exec", "sudo",
    "numactl", "nsys", "taskset", "stdbuf", "unbuffer", "timeout", "nice", "singularity", "apptainer",
    "docker", "poetry", "uv", "pipenv", "conda", "pdsh", "aprun", "jsrun"};

std::string_view file_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }
bool is_python(std::string_view word) {
  const std::string_view name = file_name_of(word);
  return name == "python" || name == "python3" || (name.starts_with("python3.") && name.size() < 12);
}
bool is_unsure(const Word& word) { return word.text.find(Chars::words) != std::string::npos; }

std::string plain(std::string_view option) {
  while (option.starts_with('-')) option.remove_prefix(1);
  std::string text(option);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

const LauncherOption* find_option(Launcher launcher, std::string_view name) {
  const auto is = [&](const LauncherOption& option) {
    return option.launcher == launcher && option.name == name;
  };
  if (const auto found = std::find_if(std::begin(launcher_options), std::end(launcher_options), is);
      found != std::end(launcher_options))
    return found;
  // argparse takes the beginning of a name for the whole where only one has it; accelerate does not.
  if (launcher == Launcher::accelerate || launcher == Launcher::fabric || launcher == Launcher::colossalai ||
      !name.starts_with("--") || name.size() < 4)
    return nullptr;
  const LauncherOption* one = nullptr;
  std::set<std::string> meant;
  for (const LauncherOption& option : launcher_options)
    if (option.launcher == launcher && option.name.starts_with(name))
      one = &option, meant.insert(plain(option.name));
  return meant.size() == 1 ? one : nullptr;
}

struct BeginOfLaunch {
  const LaunchWords* words;
  std::size_t end;  // the first word after them
};
std::optional<BeginOfLaunch> begin_of_launch(const std::vector<Word>& words, std::size_t first) {
  const std::string_view program = file_name_of(words[first].text);
  for (const LaunchWords& each : launch_words) {
    if (each.program != program) continue;
    std::size_t at = first + 1;
    std::string_view rest = each.commands;
    for (; !rest.empty() && at < words.size(); ++at) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      if (words[at].text != rest.substr(0, space)) break;
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
    if (rest.empty()) return BeginOfLaunch{&each, at};
  }
  return std::nullopt;
}

class Reader {
public:
  Reader(const ShellCommand& command, std::size_t first) : words_(command.words), at_(first) {
    line_.command = &command;
    line_.first = first;
  }

  std::optional<LaunchLine> read() {
    if (const auto begun = begin_of_launch(words_, at_)) {
      line_.launcher = begun->words->launcher;
      at_ = begun->end;
      return launched();
    }
    return is_python(words_[at_++].text) ? of_python() : std::nullopt;
  }

private:
  std::optional<LaunchLine> of_python() {
    line_.launcher = Launcher::python;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_].text;
      if (word == "-m" && at_ + 1 < words_.size()) {
        const std::string& module = words_[at_ + 1].text;
        at_ += 2;
        const auto* known = std::ranges::find(launch_modules, module, &LaunchModule::name);
        if (known == std::end(launch_modules)) {
          line_.is_module = true;
          line_.script = words_[at_ - 1];
          rest();
          return std::move(line_);
        }
        line_.launcher = known->launcher;
        return launched();
      }
      if (word == "-c" || word == "-") return std::nullopt;
      if (word == "-W" || word == "-X")
        at_ += 2;
      else if (word.starts_with('-'))
        ++at_;
      else
        break;
    }
    if (at_ >= words_.size() || !words_[at_].text.ends_with(".py")) return std::nullopt;
    line_.script = words_[at_++];
    line_.is_whole = line_.script->is_known();
    rest();
    return std::move(line_);
  }

  std::optional<LaunchLine> launched() {
    while (at_ < words_.size()) {
      const Word& word = words_[at_];
      const bool is_script = word.text.ends_with(".py") && !word.text.starts_with('-');
      if (is_unsure(word) && !is_script) {
        line_.is_whole = false;
        ++at_;
      } else if (word.text.starts_with('-') && word.text.size() > 1) {
        option(word);
      } else {
        // What follows words that are not known may still be the value of an option.
        if (!line_.is_whole && !line_.is_module && !word.text.ends_with(".py")) {
          ++at_;
          continue;
        }
        line_.script = word;
        line_.is_whole = line_.is_whole && word.is_known();
        ++at_;
        rest();
        break;
      }
    }
    return std::move(line_);
  }

  void option(const Word& word) {
    ++at_;
    GivenOption given;
    given.flag = word;
    given.is_sure = line_.is_whole;
    const std::size_t equals = word.text.starts_with("--") ? word.text.find('=') : std::string::npos;
    if (equals != std::string::npos) {
      given.flag.text = word.text.substr(0, equals);
      Word value = word;
      value.text = word.text.substr(equals + 1);
      given.value = std::move(value);
    }
    given.option = find_option(line_.launcher, given.flag.text);
    if (!given.option) {
      line_.is_whole = false;
      // Whether it takes a value is not known: the next word is one unless it is the script.
      if (!given.value && at_ < words_.size() && !words_[at_].text.starts_with('-') &&
          !words_[at_].text.ends_with(".py"))
        ++at_;
    } else if (!given.value && given.option->takes != Takes::none && at_ < words_.size() &&
        (given.option->takes == Takes::one || !words_[at_].text.starts_with('-'))) {
      given.value = words_[at_++];
    }
    const std::string name = plain(given.option ? given.option->name : std::string_view(given.flag.text));
    if (name == "m" || name == "module") line_.is_module = true;
    line_.options.push_back(std::move(given));
  }

  void rest() { line_.arguments.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end()); }

  const std::vector<Word>& words_;
  std::size_t at_;
  LaunchLine line_;
};

bool begins_launch(const std::vector<Word>& words, std::size_t i) {
  // The name of a launcher may be the value of another program's option.
  if (i > 0 && words[i - 1].text.starts_with("--") && words[i - 1].text.ends_with("launcher")) return false;
  return is_python(words[i].text) || begin_of_launch(words, i);
}

}  // namespace

bool may_launch(std::string_view text) {
  // "py": python, and the ending of a script.
  constexpr std::string_view launchers[] = {
      "py", "torchrun", "accelerate", "deepspeed", "fabric", "colossalai", "lightning"};
  return std::ranges::any_of(
      launchers, [&](std::string_view each) { return text.find(each) != std::string_view::npos; });
}

std::string_view name(Launcher launcher) {
  constexpr std::string_view names[] = {"python", "torchrun", "torch.distributed.launch", "accelerate launch",
      "deepspeed", "fabric run", "colossalai run"};
  return names[static_cast<int>(launcher)];
}

std::vector<std::string_view> options_of(Launcher launcher) {
  std::vector<std::string_view> names;
  for (const LauncherOption& option : launcher_options)
    if (option.launcher == launcher) names.push_back(option.name);
  return names;
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && failure == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                                     : std::nullopt;
}

const Word* LaunchLine::value(std::string_view wanted) const {
  const Word* found = nullptr;
  for (const GivenOption& given : options)
    if (given.option && plain(given.option->name) == wanted && given.value) found = &*given.value;
  return found;
}
std::optional<std::int64_t> LaunchLine::number(std::string_view wanted) const {
  const Word* found = value(wanted);
  return found ? to_number(found->text) : std::nullopt;
}
bool LaunchLine::has(std::string_view wanted) const {
  return std::any_of(options.begin(), options.end(),
      [&](const GivenOption& given) { return given.option && plain(given.option->name) == wanted; });
}

std::optional<std::int64_t> LaunchLine::processes_per_node() const {
  switch (launcher) {
  case Launcher::torchrun:
  case Launcher::torch_launch:
    if (const Word* given = value("nproc_per_node")) return to_number(given->text);
    return is_whole ? std::optional<std::int64_t>(1) : std::nullopt;
  case Launcher::deepspeed: return number("num_gpus");
  case Launcher::accelerate: {
    const auto all_processes = number("num_processes"), machines = number("num_machines");
    if (!all_processes || (machines && (*machines <= 0 || *all_processes % *machines != 0)))
      return std::nullopt;
    return *all_processes / machines.value_or(1);
  }
  case Launcher::colossalai: return number("nproc_per_node");
  case Launcher::fabric: return number("devices");
  case Launcher::python: break;
  }
  return std::nullopt;
}
std::optional<std::int64_t> LaunchLine::nodes() const {
  const std::string_view option = launcher == Launcher::torchrun || launcher == Launcher::torch_launch
      ? "nnodes"
      : launcher == Launcher::accelerate ? "num_machines"
                                         : "num_nodes";
  if (value(option)) return number(option);
  if (launcher == Launcher::colossalai && (has("host") || has("H") || has("hostfile"))) return std::nullopt;
  return is_whole ? std::optional<std::int64_t>(1) : std::nullopt;
}

std::vector<LaunchLine> launch_lines(const documents::Script& script) {
  std::vector<LaunchLine> lines;
  for (const ShellCommand& command : script.commands) {
    if (command.is_broken) continue;
    std::size_t first = 0;
    std::string wrapper;
    if (!begins_launch(command.words, 0)) {
      const std::string_view program = file_name_of(command.words.front().text);
      if (std::find(std::begin(wrappers), std::end(wrappers), program) == std::end(wrappers)) continue;
      wrapper = program;
      first = 1;
      while (first < command.words.size() && !begins_launch(command.words, first)) ++first;
      if (first == command.words.size()) continue;
    }
    if (auto line = Reader(command, first).read(); line && (line->script || !line->options.empty())) {
      line->wrapper = wrapper.empty() ? std::string_view(command.within) : std::string_view(wrapper);
      lines.push_back(std::move(*line));
    }
  }
  return lines;
}

const documents::Setting* set_for(const ShellCommand& command, std::string_view name) {
  for (auto it = command.environment.rbegin(); it != command.environment.rend(); ++it)
    if (it->name == name) return &*it;
  return nullptr;
}

}  // namespace stepzero::rules::launch

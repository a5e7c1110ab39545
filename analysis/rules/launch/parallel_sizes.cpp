// launch/parallel-sizes: sizes that a launch hands to Megatron or torchtitan, and that these refuse together.
// What they ask of each other is data (parallel_demands); the numbers are those of the command line alone.
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/megatron.hpp"
#include "rules/launch/parallel_demands.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace stepzero::rules::launch::parallel_sizes {

namespace {

using documents::Word;

template <class Each> void each_word(std::string_view list, const Each& each) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) each(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

struct Given {
  Word flag;  // as it is written; of the processes: the number of them
  std::optional<Word> value;
  std::optional<double> number;
  bool by_default = false;
  std::optional<Location> in_file;  // it stands in the configuration that the launch names
};

// What the command line says, by the names of options; the last of each counts.
class Sizes {
public:
  Sizes(const DocumentInput& input, const LaunchLine& line) {
    const std::vector<Word>& words = line.arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
      is_open_ = is_open_ || words[i].text.find(documents::Chars::words) != std::string::npos;
      if (!words[i].text.starts_with("--")) continue;
      const std::size_t equals = std::min(words[i].text.find('='), words[i].text.size());
      Given made;
      made.flag = words[i];
      made.flag.text = words[i].text.substr(0, equals);
      std::string name = made.flag.text.substr(2);
      std::replace(name.begin(), name.end(), '_', '-');
      if (equals < words[i].text.size()) {
        made.value = words[i];
        made.value->text.erase(0, equals + 1);
      } else if (i + 1 < words.size() && !words[i + 1].text.starts_with("--")) {
        made.value = words[i + 1];
        // Several values are one for each kind of layer.
        if (i + 2 < words.size() && !words[i + 2].text.starts_with("--") &&
            words[i + 2].text.find(documents::Chars::words) == std::string::npos)
          made.value->text.clear();
      }
      made.by_default = made.flag.by_default || (made.value && made.value->by_default);
      if (made.value && made.value->is_known()) made.number = number_of(made.value->text);
      given_[std::move(name)] = std::move(made);
    }
    add_world(line);
    add_file(input, line);
  }

  const Given* find(std::string_view name) const {
    const std::size_t equals = std::min(name.find('='), name.size());
    const auto found = given_.find(std::string(name.substr(0, equals)));
    const bool fits = found != given_.end() &&
        (equals == name.size() ||
            (found->second.value && found->second.value->text == name.substr(equals + 1)));
    return fits ? &found->second : nullptr;
  }
  bool has_one_of(std::string_view beginnings) const {
    bool any = false;
    each_word(beginnings, [&](std::string_view begin) {
      any = any || std::any_of(given_.begin(), given_.end(), [&](const auto& each) {
        return each.first.starts_with(begin);
      });
    });
    return any;
  }
  bool is_open() const { return is_open_; }
  bool has_file() const { return has_file_; }  // all that the command line does not say

private:
  static std::optional<double> number_of(const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0' && std::isfinite(number) && std::abs(number) < 1e15
        ? std::optional(number)
        : std::nullopt;
  }

  void add_world(const LaunchLine& line) {
    if (line.launcher != Launcher::torchrun && line.launcher != Launcher::torch_launch) return;
    const auto nodes = line.nodes(), processes = line.processes_per_node();
    const Word *per_node = line.value("nproc_per_node"), *of_nodes = line.value("nnodes");
    if (!nodes || !processes || !per_node || *nodes < 1 || *processes < 1 ||
        (!line.wrapper.empty() && !of_nodes))
      return;
    Given made;
    made.flag = *per_node;
    made.number = static_cast<double>(*nodes) * static_cast<double>(*processes);
    made.by_default = per_node->by_default || (of_nodes && of_nodes->by_default);
    given_["world"] = std::move(made);
  }

  // `[parallelism]` of the TOML that torchtitan is launched with: the command line comes before it.
  void add_file(const DocumentInput& input, const LaunchLine& line) {
    const Given* named = find("job.config-file");
    if (!named || !named->value || !named->value->is_known() || !named->value->text.ends_with(".toml"))
      return;
    const Word file = *named->value;
    const auto path = script_file(
        input.sources, input.path, line.command->folder, file.text, false, input.read);
    const auto document = path ? input.other(*path) : std::nullopt;
    const Node* degrees = document && !document->is_broken ? document->root.at("parallelism") : nullptr;
    if (!degrees || !degrees->is(Node::Kind::table)) return;
    has_file_ = true;
    for (const Field& field : degrees->fields) {
      if (!field.value.is(Node::Kind::integer)) continue;
      std::string name = "parallelism." + field.key;
      std::replace(name.begin(), name.end(), '_', '-');
      Given made;
      made.flag = file;
      made.flag.text = field.key;
      made.value = file;
      made.value->text = std::to_string(field.value.integer);
      made.number = static_cast<double>(field.value.integer);
      made.by_default = file.by_default;
      made.in_file = Location{*path, field.value.span};
      given_.try_emplace(std::move(name), std::move(made));
    }
  }

  std::map<std::string, Given> given_;
  bool has_file_ = false;
  bool is_open_ = false;  // options may be given besides that are not known
};

std::string source_excerpt(double number) {
  if (number == std::floor(number)) return std::to_string(static_cast<std::int64_t>(number));
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}
// "`--fp16`", and with its value where that is what counts.
std::string spelled(std::string_view name, const Given& given) {
  return "`" + given.flag.text + (name.find('=') != std::string_view::npos ? " " + given.value->text : "") +
      "`";
}
std::string named(std::string_view name, const Given& given) {
  return name == "world" ? source_excerpt(*given.number) + " processes"
                         : "`" + given.flag.text +
          (given.number ? " " + (given.value ? given.value->text : source_excerpt(*given.number)) : "") + "`";
}

class Judgment {
public:
  Judgment(Trainer trainer, const Sizes& sizes, DocumentReport& report)
      : trainer_(trainer), sizes_(sizes), report_(report) {}

  void run() {
    for (const Demand& demand : demands) {
      // What lifts these demands is often among the words that are not known.
      const bool may_be_lifted = sizes_.is_open() &&
          (demand.unless == uneven || demand.unless == other_sizes);
      if (demand.trainer != trainer_ || may_be_lifted || sizes_.has_one_of(demand.unless)) continue;
      const Given* one = sizes_.find(demand.one);
      if (!one) continue;
      switch (demand.asks) {
      case Asks::multiple:
      case Asks::exactly: judge_multiple(demand, *one); break;
      case Asks::at_least:
        if (const Given* other = sizes_.find(demand.others);
            other && one->number && other->number && *one->number < *other->number)
          tell(demand, *one, {other},
              named(demand.one, *one) + " is less than " + named(demand.others, *other));
        break;
      case Asks::apart:
        if (const Given* other = sizes_.find(demand.others); other && !is_zero(*one) && !is_zero(*other))
          tell(demand, *one, {other},
              spelled(demand.one, *one) + " and `" + other->flag.text + "` exclude each other");
        break;
      case Asks::together:
        if (!sizes_.find(demand.others) && !sizes_.is_open() &&
            (!one->value || !one->number || *one->number > 1))
          tell(demand, *one, {},
              spelled(demand.one, *one) + " needs `--" + std::string(demand.others) +
                  "`, which this launch does not give");
        break;
      case Asks::gone:
        tell(demand, *one, {},
            "`" + one->flag.text + "` no longer exists, and `--" + std::string(demand.others) +
                "` takes its place");
        break;
      }
    }
  }

private:
  static bool is_zero(const Given& given) { return given.number && *given.number == 0; }
  static bool is_count(const Given* given) {
    return given && given->number && *given->number >= 1 && *given->number == std::floor(*given->number);
  }

  // Processes that hold the same part of the model; nothing if that is not known.
  std::optional<double> copies() const {
    const Given* world = sizes_.find("world");
    if (!is_count(world) || sizes_.is_open()) return std::nullopt;
    double of_model = 1;
    for (const std::string_view name :
        {"tensor-model-parallel-size", "pipeline-model-parallel-size", "context-parallel-size"})
      if (const Given* size = sizes_.find(name); size && !is_count(size))
        return std::nullopt;
      else if (size)
        of_model *= *size->number;
    return std::fmod(*world->number, of_model) == 0 ? std::optional(*world->number / of_model) : std::nullopt;
  }

  static std::string_view second_of(std::string_view list) {
    list.remove_prefix(std::min(list.find(' '), list.size() - 1) + 1);
    return list.substr(0, list.find(' '));
  }

  void judge_multiple(const Demand& demand, const Given& one) {
    if (!is_count(&one)) return;
    double product = 1;
    std::string factors, numbers;
    std::vector<const Given*> given;
    std::size_t count = 0;
    bool is_known = true;
    each_word(demand.others, [&](std::string_view name) {
      const auto take = [&](double number, const std::string& text) {
        product *= number;
        ++count;
        factors += (factors.empty() ? "" : " × ") + text;
        numbers += (numbers.empty() ? "" : " × ") + source_excerpt(number);
      };
      if (name == "2") return take(2, "2");
      if (name == "data") {
        const auto number = copies();
        is_known = is_known && number && *number > 1;
        if (number)
          given.push_back(sizes_.find("world")),
              take(*number, source_excerpt(*number) + " data-parallel processes");
        return;
      }
      const Given* size = sizes_.find(name);
      if (!size || !is_count(size)) return;
      given.push_back(size);
      if (*size->number > 1) take(*size->number, "`" + size->flag.text + "`");
    });
    // A factor of one divides everything; so does what an earlier demand has told of.
    const bool exactly = demand.asks == Asks::exactly;
    if (exactly &&
        (sizes_.is_open() || !sizes_.has_file() || !is_count(sizes_.find(second_of(demand.others)))))
      return;
    const bool fits = exactly ? *one.number == product : product <= 1 || std::fmod(*one.number, product) == 0;
    if (!is_known || given.empty() || fits ||
        (!exactly && count < 2 && demand.others.find(' ') != std::string_view::npos &&
            told_.contains(demand.one)))
      return;
    if (demand.one == "seq-length" && count < 2) return;
    if (!told_.insert(demand.one).second) return;
    if (exactly)
      return tell(demand, one, given,
          named(demand.one, one) + " are not the " + source_excerpt(product) +
              " that the degrees of parallelism multiply to");
    tell(demand, one, given,
        named(demand.one, one) + (demand.one == "world" ? " are" : " is") + " not divisible by " + factors +
            (count > 1 ? " = " + numbers + " = " + source_excerpt(product) : " = " + numbers));
  }

  static std::string_view what_to_do(const Demand& demand) {
    switch (demand.asks) {
    case Asks::multiple: return demand.one == "world" ? ". Make them a multiple" : ". Make it a multiple";
    case Asks::exactly: return ". Make the two equal";
    case Asks::at_least: return ". Make it at least as large";
    case Asks::apart: return ". Give one of them alone";
    case Asks::together: return ". Give both";
    case Asks::gone: return ". Rename it";
    }
    return "";
  }

  void tell(const Demand& demand, const Given& one, const std::vector<const Given*>& others,
      const std::string& what) {
    bool sure = !one.by_default && !sizes_.is_open() && demand.in_every_version;
    for (const Given* other : others) sure = sure && !other->by_default;
    const std::string who = trainer_ == Trainer::megatron ? "Megatron" : "torchtitan";
    const std::string answer = demand.answer == "AssertionError"
        ? who + " ends with an `AssertionError` before the first step"
        : who + " ends before the first step: \"" + std::string(demand.answer) + "\"";
    // Of two options, the one that is asked too much.
    const Given& at = demand.one == "world" && !others.empty() ? *others.back() : one;
    const Word& where = at.value ? *at.value : at.flag;
    Finding& finding = report_.add(sure ? Severity::error : Severity::warning, where.written,
        what + ". " + answer +
            (sizes_.is_open() ? ", unless arguments that are not known here say otherwise" : "") +
            std::string(what_to_do(demand)));
    const auto relate = [&](const Given& given, const std::string& text) {
      const Word& word = given.value ? *given.value : given.flag;
      if (given.in_file) return report_.relate(finding, *given.in_file, text);
      if (word.written != where.written) report_.relate(finding, word.written, text);
    };
    if (&at != &one) relate(one, "the processes of the job");
    for (const Given* other : others)
      relate(*other,
          other == sizes_.find("world") ? std::string("the processes of the job")
                                        : "`" + other->flag.text + "` is given here");
  }

  const Trainer trainer_;
  const Sizes& sizes_;
  DocumentReport& report_;
  std::set<std::string_view> told_;
};

std::optional<Trainer> trainer_of(const DocumentInput& input, const LaunchLine& line, const Sizes& sizes) {
  if (sizes.has_one_of("parallelism."))
    return is_of_package(input, line, "torchtitan") ? std::optional(Trainer::torchtitan) : std::nullopt;
  return is_megatron(input, line) ? std::optional(Trainer::megatron) : std::nullopt;
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    const Sizes sizes(input, line);
    if (const auto trainer = trainer_of(input, line, sizes)) Judgment(*trainer, sizes, report).run();
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/parallel-sizes",
    .severity = Severity::error,
    .summary =
        "sizes that a launch hands to Megatron or torchtitan do not divide each other, or options exclude each other",
    .why =
        "Megatron shares the processes of a job out over tensor, pipeline, context and data parallelism, the heads of attention over tensor parallelism, the "
        "layers over the stages of the pipeline, the experts over expert parallelism, and the global batch over micro batches and copies of the model. What does not divide "
        "ends the job with an `AssertionError` on all nodes, after the queue, the start of the containers and the rendezvous. The same holds for `--fp16` with `--bf16`, iterations with samples, "
        "a sequence that is longer than `--max-position-embeddings`. torchtitan multiplies its degrees to the number of processes. As Megatron-LM core 0.14 and torchtitan 0.2 ask it.",
    .wrong =
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 12 \\\n  --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 --tensor-model-parallel-size 8\n",
    .right =
        "#!/bin/bash\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 1024 --num-attention-heads 16 \\\n  --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 4 --tensor-model-parallel-size 8\n",
    .silent =
        "Numbers that the text does not decide; layouts of uneven pipelines, and DeepSpeed's pipeline, which takes any number of layers; batches that ramp up; programs of another kind with options "
        "of these names.",
    .fix = "None: which of the sizes was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::parallel_sizes

// config/precision-mismatch: a job asks its GPUs for a precision that they lack, or GPUs of several kinds
// for one. Reads scripts and configurations, which are text: nothing of them is run.
#include "rules/config/precision_mismatch.hpp"

#include "rules/amp/autocast.hpp"
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/named_configurations.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace stepzero::rules::config::precision_mismatch {

namespace {

using namespace launch;
using documents::Word;

// Kinds of GPUs as SLURM is asked for them, older than Ampere: NVIDIA's table of compute capabilities.
constexpr std::string_view without_bfloat16[] = {"k80", "m40", "m60", "p4", "p40", "p100", "v100", "v100s",
    "t4", "titanv", "titanxp", "titanrtx", "gtx1080", "gtx1080ti", "rtx2080", "rtx2080ti", "rtx5000",
    "rtx6000turing", "rtx8000", "quadrortx8000", "2080ti", "1080ti", "2080"};
constexpr std::string_view with_bfloat16[] = {"a2", "a10", "a10g", "a16", "a30", "a40", "a100", "a800",
    "a4000", "a5000", "a6000", "rtxa5000", "rtxa6000", "l4", "l40", "l40s", "h100", "h200", "h800", "h20",
    "gh200", "b100", "b200", "gb200", "rtx3090", "rtx4090", "3090", "4090"};

bool is_one_of(std::string_view kind, const auto& list) {
  return std::find(std::begin(list), std::end(list), kind) != std::end(list);
}

struct Kind {
  std::string name;
  Span where;
};
// "--gres=gpu:v100:4,gpu:a100:2", "--constraint=v100", "--gpus=a100:2", "-C v100"
void add_kinds(std::string_view line, Span span, std::vector<Kind>& found) {
  std::size_t at = std::string_view::npos;
  bool is_constraint = false;
  for (const std::string_view option : {"--gres", "--gpus", "--constraint", "-C "})
    if (at == std::string_view::npos && (at = line.find(option)) != std::string_view::npos)
      is_constraint = option == "--constraint" || option == "-C ";
  if (at == std::string_view::npos) return;
  // Either kind will do: which it is nobody knows.
  if (is_constraint && line.find_first_of("|!") != std::string_view::npos) return;
  std::string word;
  for (std::size_t i = line.find_first_of("= ", at); i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ' ';
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-') {
      if (c != '_' && c != '-') word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    if (c == '#') break;
    for (const std::string_view maker : {"nvidia", "tesla", "geforce"})
      if (word.starts_with(maker)) word.erase(0, maker.size());
    if (is_one_of(word, without_bfloat16) || is_one_of(word, with_bfloat16)) found.push_back({word, span});
    word.clear();
  }
}
// What the batch file asks for.
std::vector<Kind> kinds_of(const Document& document) {
  std::vector<Kind> found;
  for (const Span span : document.comments)
    if (const std::string_view line = document.text->slice(span); line.starts_with("#SBATCH"))
      add_kinds(line, span, found);
  return found;
}
// What the line asks for by itself: `srun --gres=gpu:v100:4 …`.
std::vector<Kind> kinds_of(const LaunchLine& line) {
  std::vector<Kind> found;
  const auto& words = line.command->words;
  for (std::size_t i = 1; i < line.first && i < words.size(); ++i) {
    const bool takes_next = i + 1 < words.size() &&
        (words[i].text == "-C" ||
            (words[i].text.starts_with("--") && words[i].text.find('=') == std::string::npos));
    add_kinds(words[i].text + " " + (takes_next ? words[i + 1].text : ""), words[i].written, found);
  }
  return found;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
      [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// The word that asks for bfloat16: an option of the launcher, or an argument of the script.
const Word* asks_for_bfloat16(const LaunchLine& line) {
  if (const Word* given = line.value(line.launcher == Launcher::fabric ? "precision" : "mixed_precision");
      given && given->text.starts_with("bf16"))
    return given;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    const std::string flag = word.text.substr(0, equals);
    const std::string value = equals < word.text.size() ? word.text.substr(equals + 1)
        : i + 1 < line.arguments.size()                 ? line.arguments[i + 1].text
                                                        : std::string();
    if (flag == "--bf16" && value != "False" && value != "false" && value != "0") return &word;
    const bool is_precision = flag.find("precision") != std::string::npos ||
        flag.find("dtype") != std::string::npos;
    if (is_precision && (value.starts_with("bf16") || value == "bfloat16")) return &word;
  }
  return nullptr;
}

// Where a file that the launch hands to Accelerate or DeepSpeed asks for bfloat16.
std::optional<Location> bfloat16_of_file(const DocumentInput& input, const LaunchLine& line) {
  for (const NamedConfiguration& named : configurations_of(line, {})) {
    if (named.role != Role::deepspeed && named.role != Role::accelerate) continue;
    const auto path = script_file(
        input.sources, input.path, line.command->folder, named.file, false, input.read);
    const auto document = path ? input.other(*path) : std::nullopt;
    if (!document || document->is_broken) continue;
    // The options of the launcher come before what its file says.
    if (named.role == Role::accelerate && line.has("mixed_precision")) continue;
    const Node* asked = document->root.at(named.role == Role::deepspeed ? "bf16" : "mixed_precision");
    if (asked && named.role == Role::deepspeed) asked = asked->at("enabled");
    if (asked &&
        (named.role == Role::deepspeed ? asked->is(Node::Kind::boolean) && asked->truth
                                       : asked->is(Node::Kind::text) && asked->text == "bf16"))
      return Location{*path, asked->span};
  }
  return std::nullopt;
}

// Words of a program that knows float16 as well: which of the two it computes in its run says.
constexpr std::initializer_list<std::string_view> of_float16 = {
    "is_bf16_supported", "get_device_capability", "torch.float16", "torch.half", "fp16", "\"float16\""};

// Anywhere in the program's files, in their comments too.
bool says_any(const Record& record, std::initializer_list<std::string_view> words) {
  std::set<const syntax::Module*> seen;
  for (const interpreter::ChunkOf& chunk : record.chunks) {
    if (!chunk.module || !seen.insert(chunk.module.get()).second) continue;
    const std::string_view text = chunk.module->text->bytes();
    if (std::ranges::any_of(
            words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; }))
      return true;
  }
  return false;
}

// Of a program that may compute in either: the regions that a launch leads to.
void check(const Record& record, Report& report) {
  const std::string_view prefix = values::LaunchCondition::gpus;
  const auto known = record.conditions.lower_bound(prefix);
  if (known == record.conditions.end() || !known->first.starts_with(prefix) || !says_any(record, of_float16))
    return;
  Once once;
  for (const Autocast& region : training_regions(record))
    if (region.enabled == symbolic::Answer::yes && region.dtype == values::Dtype::bfloat16 &&
        region.device == "cuda" && once(region.around->place))
      report.add(Severity::warning, region.around->place, nullptr,
          known->first.substr(prefix.size()) +
              " has no units for bfloat16, which this region computes in: PyTorch emulates it, several times slower than float16. Use float16 with a `GradScaler` there.");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const std::vector<Kind> of_batch = kinds_of(input.document);
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    std::vector<Kind> kinds = kinds_of(line);
    if (kinds.empty()) kinds = of_batch;
    if (kinds.empty()) continue;
    const auto older = std::find_if(
        kinds.begin(), kinds.end(), [](const Kind& each) { return is_one_of(each.name, without_bfloat16); });
    const auto other = std::find_if(
        kinds.begin(), kinds.end(), [&](const Kind& each) { return each.name != kinds.front().name; });
    const auto script = line.script && line.script->is_known()
        ? script_file(
              input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read)
        : std::nullopt;
    if (older != kinds.end()) {
      const Word* asked = asks_for_bfloat16(line);
      const auto in_file = asked ? std::nullopt : bfloat16_of_file(input, line);
      const bool by_script = !asked && !in_file && script &&
          mentions(input.sources, *script,
              {"dtype=torch.bfloat16", "bf16=True", "\"bf16-mixed\"", "mixed_precision=\"bf16\""},
              input.read) &&
          !mentions(input.sources, *script, of_float16, input.read);
      if (asked || in_file || by_script) {
        Finding& finding = report.add(Severity::warning,
            asked             ? asked->written
                : line.script ? line.script->written
                              : line.command->words[line.first].span,
            upper(older->name) + " has no units for bfloat16, which " +
                (asked            ? "this launch asks for"
                        : in_file ? "`" + in_file->path.substr(in_file->path.rfind('/') + 1) + "` asks for"
                                  : "`" + script->substr(script->rfind('/') + 1) + "` computes in") +
                ": PyTorch emulates it, several times slower than float16, and the Trainer of transformers may refuse it. Use fp16 with a loss scale there");
        report.relate(finding, older->where, "the job asks for " + upper(older->name) + " here");
        if (in_file) report.relate(finding, *in_file, "bfloat16 is asked for here");
        if (kinds_of(line).empty()) return;  // the batch file asks for all of its launches
        continue;
      }
    }
    const auto processes = line.processes_per_node();
    if (other == kinds.end() || line.launcher == Launcher::python || !processes || *processes < 2) continue;
    Finding& finding = report.add(Severity::information, line.command->words[line.first].span,
        "one job on " + upper(kinds.front().name) + " and " + upper(other->name) +
            ": every step waits for the slower kind, its memory limits the batch of all, and a precision that one of them lacks holds for all. Ask for one kind");
    report.relate(finding, kinds.front().where, "the kinds of GPUs are asked for here");
    return;
  }
}

}  // namespace

std::string gpus_without_bfloat16(const documents::Document& document, const launch::LaunchLine& line) {
  std::vector<Kind> kinds = kinds_of(line);
  if (kinds.empty()) kinds = kinds_of(document);
  return kinds.empty() ||
          !std::ranges::all_of(kinds, [](const Kind& each) { return is_one_of(each.name, without_bfloat16); })
      ? std::string()
      : upper(kinds.front().name);
}

extern constexpr Rule rule = complete({
    .id = "config/precision-mismatch",
    .severity = Severity::warning,
    .summary = "a job asks its GPUs for a precision that they lack",
    .why =
        "bfloat16 needs a GPU of Ampere or later. On V100, T4 and older ones PyTorch emulates it, several times slower than float16, and frameworks refuse it: \"Your setup doesn't support "
        "bf16/gpu\". A job of several kinds of GPUs goes at the pace of the slowest, with the precision that all of them have.",
    .wrong = "#!/bin/bash\n#SBATCH --gres=gpu:v100:4\ntorchrun --nproc_per_node 4 train.py --bf16\n",
    .right = "#!/bin/bash\n#SBATCH --gres=gpu:a100:4\ntorchrun --nproc_per_node 4 train.py --bf16\n",
    .silent =
        "Jobs that do not say which kind of GPU they get, or that take one of several; programs that ask the GPU what it has; of those that know float16 as well, launches that do not decide which of the two it is.",
    .fix = "None: another kind of GPU, or another precision.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::config::precision_mismatch

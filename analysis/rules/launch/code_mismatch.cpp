// launch/code-mismatch: what a launch says and what the program's own call says are two things, and one of
// them is passed over or refused.
#include "rules/documents/check.hpp"
#include "rules/launch/declarations.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::rules::launch::code_mismatch {

namespace {

using documents::Word;
using syntax::Expr;
using syntax::ExprKind;

// code: the program's argument counts. launch: that of the launch does under DeepSpeed, else the program's.
// refused: the constructor raises.
enum class Then : std::uint8_t { code, launch, refused };

struct Pair {
  Launcher launcher;
  std::string_view option;  // of the launcher, and of its configuration
  std::string_view maker;   // the class whose constructor takes the same
  std::string_view argument;
  std::string_view otherwise;  // the default, which says nothing
  Then then;
};
// AcceleratorState of accelerate 1.15; _argument_from_env of lightning.fabric 2.6.
constexpr Pair pairs[] = {
    {Launcher::accelerate, "mixed_precision", "Accelerator", "mixed_precision", "", Then::code},
    // Under DeepSpeed the launch writes it into the environment, which Accelerator reads before its argument.
    {Launcher::accelerate, "gradient_accumulation_steps", "Accelerator", "gradient_accumulation_steps", "",
        Then::launch},
    {Launcher::fabric, "precision", "Fabric", "precision", "", Then::refused},
    {Launcher::fabric, "devices", "Fabric", "devices", "auto", Then::refused},
    {Launcher::fabric, "num_nodes", "Fabric", "num_nodes", "1", Then::refused},
    {Launcher::fabric, "strategy", "Fabric", "strategy", "auto", Then::refused},
    {Launcher::fabric, "accelerator", "Fabric", "accelerator", "auto", Then::refused},
};

struct Said {
  std::string text;
  Location where;
  bool by_default = false;
};

// As a text the literal says; nothing if it is none.
std::optional<std::string> written(const Expr& expr) {
  switch (expr.kind) {
  case ExprKind::string: return std::string(static_cast<const syntax::StringExpr&>(expr).value);
  case ExprKind::integer: return std::to_string(static_cast<const syntax::IntegerExpr&>(expr).value);
  default: return std::nullopt;
  }
}

// The argument of the only call of that class in the program's file.
std::optional<Said> said_in_code(const DocumentInput& input, const std::string& script, const Pair& pair) {
  input.read.insert(script);
  const auto module = input.sources.module(script);
  if (!module || module->text->bytes().find(pair.maker) == std::string::npos) return std::nullopt;
  std::optional<Said> found;
  int calls = 0;
  for (const syntax::Item& item : module->items) {
    if (!item.chunk->stmt) continue;
    for_each_expression(*item.chunk->stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call ||
          last_name(*static_cast<const syntax::CallExpr&>(expr).function) != pair.maker)
        return;
      ++calls;
      for (const syntax::Keyword& each : static_cast<const syntax::CallExpr&>(expr).keywords)
        if (each.name.text() == pair.argument)
          if (const auto text = written(*each.value))
            found = Said{*text, {script, {each.span.begin + item.offset, each.span.end + item.offset}}};
    });
  }
  return calls == 1 ? found : std::nullopt;
}

// The option on the command line, or in the configuration that the launch names.
std::optional<Said> said_by_launch(
    const DocumentInput& input, const LaunchLine& line, std::string_view option) {
  if (const Word* given = line.value(option))
    return given->is_known()
        ? std::optional(Said{given->text, {input.path, given->written}, given->by_default})
        : std::nullopt;
  const Word* file = line.launcher == Launcher::accelerate ? line.value("config_file") : nullptr;
  if (!file || !file->is_known() || !line.is_whole) return std::nullopt;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, file->text, false, input.read);
  const auto document = path ? input.other(*path) : std::nullopt;
  if (!document || document->is_broken) return std::nullopt;
  const Node* of_deepspeed = document->root.at("deepspeed_config");
  const Field* field = document->root.find(option);
  if (!field && of_deepspeed) field = of_deepspeed->find(option);
  if (!field) return std::nullopt;
  Said said{field->value.text, {*path, field->value.span}, file->by_default};
  if (field->value.is(Node::Kind::integer)) said.text = std::to_string(field->value.integer);
  return field->value.is(Node::Kind::text) || field->value.is(Node::Kind::integer) ? std::optional(said)
                                                                                   : std::nullopt;
}

// Does the launch, or the configuration that it names, ask accelerate for DeepSpeed? Without either, a
// configuration of the user's own may.
std::optional<bool> uses_deepspeed(const DocumentInput& input, const LaunchLine& line) {
  if (line.has("use_deepspeed")) return true;
  if (line.has("multi_gpu") || line.has("use_fsdp")) return false;
  const auto type = said_by_launch(input, line, "distributed_type");
  return type ? std::optional(type->text == "DEEPSPEED") : std::nullopt;
}

void tell(const LaunchLine& line, const Pair& pair, std::optional<bool> with_deepspeed, const Said& launch,
    const Said& code, const std::string& script, const std::string& path, DocumentReport& report) {
  const std::string call = pair.maker.data() + std::string("(") + std::string(pair.argument) + "=" +
      code.text + ")",
                    name = script.substr(script.rfind('/') + 1);
  const Span at = launch.where.path == path ? launch.where.span : line.command->words[line.first].span;
  const std::string what = "the launch asks for `" + std::string(pair.option) + "` " + launch.text +
      ", and `" + name + "` makes `" + call + "`";
  Finding& finding = report.add(
      pair.then == Then::refused && !launch.by_default ? Severity::error : Severity::warning, at,
      pair.then == Then::refused ? what +
              ": Fabric refuses two values, \"it conflicts with the value set through the CLI\". Remove one of them"
          : pair.then == Then::launch && !with_deepspeed ? what +
              ": without DeepSpeed the program's number counts, with DeepSpeed that of the launch. Use one number in both"
          : pair.then == Then::launch && !*with_deepspeed ? what +
              ": only DeepSpeed reads that of the launch, and the program's counts. Use one number in both"
          : pair.then == Then::launch
          ? what +
              ": with DeepSpeed the number of the launch counts, and the program's is ignored. Use one number in both"
          : what + ": the argument in the program counts, and the launch's is ignored. Remove one of them");
  report.relate(finding, code.where, "the program says it here");
  if (launch.where.path != path)
    report.relate(finding, launch.where, "the configuration of the launch says it here");
}

// DeepSpeed's own file, which the launch or its configuration names, asks for the other precision:
// DeepSpeedPlugin.set_mixed_precision of accelerate 1.15 raises.
void judge_deepspeed_file(const DocumentInput& input, const LaunchLine& line, DocumentReport& report) {
  const auto launch = line.launcher == Launcher::accelerate ? said_by_launch(input, line, "mixed_precision")
                                                            : std::nullopt;
  const auto file = launch ? said_by_launch(input, line, "deepspeed_config_file") : std::nullopt;
  if (!file || (launch->text != "fp16" && launch->text != "bf16")) return;
  const auto path = script_file(
      input.sources, input.path, line.command->folder, file->text, false, input.read);
  const auto document = path ? input.other(*path) : std::nullopt;
  if (!document || document->is_broken) return;
  const std::string other = launch->text == "fp16" ? "bf16" : "fp16";
  const Node* section = document->root.at(other);
  const Field* enabled = section ? section->find("enabled") : nullptr;
  if (!enabled || !enabled->value.is(Node::Kind::boolean) || !enabled->value.truth) return;
  const Span at = launch->where.path == input.path ? launch->where.span
                                                   : line.command->words[line.first].span;
  Finding& finding = report.add(Severity::warning, at,
      "the launch asks for `mixed_precision` " + launch->text + ", and `" +
          path->substr(path->rfind('/') + 1) + "` enables `" + other +
          "`: Accelerator refuses both, \"cannot be set to `" + launch->text + "` when `" + other +
          "` is set in the DeepSpeed config file\". Use one precision in both");
  report.relate(finding, {*path, enabled->value.span}, "DeepSpeed is asked for " + other + " here");
  if (launch->where.path != input.path)
    report.relate(finding, launch->where, "the configuration of the launch says it here");
}

// Arguments of transformers' Trainer count before the precision of accelerate's configuration.
void judge_trainer(
    const DocumentInput& input, const LaunchLine& line, const std::string& script, DocumentReport& report) {
  if (line.launcher != Launcher::accelerate ||
      !mentions(input.sources, script, {"TrainingArguments"}, input.read))
    return;
  const auto launch = said_by_launch(input, line, "mixed_precision");
  if (!launch || (launch->text != "fp16" && launch->text != "bf16")) return;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    const std::string flag = word.text.substr(0, word.text.find('='));
    if (flag != "--fp16" && flag != "--bf16") continue;
    const std::string value = flag.size() < word.text.size() ? word.text.substr(flag.size() + 1)
        : i + 1 < line.arguments.size() && !line.arguments[i + 1].text.starts_with('-')
        ? line.arguments[i + 1].text
        : "true";
    if ((value != "true" && value != "True" && value != "1") || flag.substr(2) == launch->text) continue;
    Finding& finding = report.add(Severity::warning, word.written,
        "the launch asks accelerate for `mixed_precision` " + launch->text + ", and the Trainer is given `" +
            flag + "`: the Trainer's argument counts. Use one precision in both");
    report.relate(finding, launch->where, "accelerate is asked for " + launch->text + " here");
    return;
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  for (const LaunchLine& line : launch_lines(input.document.script)) {
    if ((line.launcher != Launcher::accelerate && line.launcher != Launcher::fabric) || !line.script ||
        !line.script->is_known())
      continue;
    const auto script = script_file(
        input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
    if (!script) continue;
    for (const Pair& pair : pairs) {
      if (pair.launcher != line.launcher) continue;
      const auto code = said_in_code(input, *script, pair);
      const auto launch = code ? said_by_launch(input, line, pair.option) : std::nullopt;
      if (launch && launch->text != code->text && code->text != pair.otherwise)
        tell(line, pair, uses_deepspeed(input, line), *launch, *code, *script, input.path, report);
    }
    judge_trainer(input, line, *script, report);
    judge_deepspeed_file(input, line, report);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "launch/code-mismatch",
    .severity = Severity::error,
    .summary = "the launch and the program's own call ask for two different things",
    .why =
        "`Accelerator(mixed_precision=\"bf16\")` takes what the program hands over, and passes over `accelerate launch --mixed_precision fp16` and its configuration without a word; so does the "
        "Trainer with `--bf16`. Who reads the launch believes that the run was another one. `Fabric(devices=4)` under `fabric run --devices 2` raises \"it conflicts with the value set through the "
        "CLI\". Where accelerate is given a file of DeepSpeed's that enables bf16, `--mixed_precision fp16` raises. As accelerate 1.15 and lightning 2.6 read them.",
    .wrong = "#!/bin/bash\n# train.py: fabric = Fabric(devices=4)\nfabric run --devices 2 train.py\n",
    .right = "#!/bin/bash\n# train.py: fabric = Fabric()\nfabric run --devices 2 train.py\n",
    .silent = "Values that are not literals; programs that make several; arguments that have their default.",
    .fix = "None: which of the two was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::code_mismatch

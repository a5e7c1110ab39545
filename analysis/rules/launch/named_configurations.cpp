#include "rules/launch/named_configurations.hpp"

#include "rules/launch/declarations.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::launch {

using namespace syntax;
using documents::Word;

namespace {

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view each) { return text.ends_with(each); });
}
bool is_json(std::string_view file) { return ends_with_any(file, {".json", ".jsonc"}); }
bool is_yaml(std::string_view file) { return ends_with_any(file, {".yaml", ".yml"}); }

// Arguments of scripts that name a configuration of DeepSpeed: `deepspeed.add_config_arguments` and the
// Trainer of transformers declare the first two, the others are usual.
constexpr std::string_view of_deepspeed[] = {
    "--deepspeed_config", "--deepspeed", "--ds_config", "--deepspeed_config_file", "--ds_config_file"};

// The argument of a call that names the file. DeepSpeed 0.19, transformers 5, accelerate 1.15, lightning 2.6.
struct Naming {
  std::string_view function, argument;
  int place;  // of the argument; -1: only by its name
  Role role;
};
constexpr Naming namings[] = {
    {"initialize", "config", 7, Role::deepspeed},
    {"initialize", "config_params", -1, Role::deepspeed},
    {"TrainingArguments", "deepspeed", -1, Role::deepspeed},
    {"Seq2SeqTrainingArguments", "deepspeed", -1, Role::deepspeed},
    {"SFTConfig", "deepspeed", -1, Role::deepspeed},
    {"DeepSpeedPlugin", "hf_ds_config", 0, Role::deepspeed},
    {"HfDeepSpeedConfig", "config_file_or_dict", 0, Role::deepspeed},
    {"HfTrainerDeepSpeedConfig", "config_file_or_dict", 0, Role::deepspeed},
    {"DeepSpeedStrategy", "config", -1, Role::deepspeed},
    {"parse_json_file", "json_file", 0, Role::training_arguments},
    {"parse_yaml_file", "yaml_file", 0, Role::training_arguments},
};
bool is_of(const Naming& naming, const CallExpr& call) {
  if (last_name(*call.function) != naming.function) return false;
  // Many things are called `initialize`.
  return naming.function != "initialize" ||
      (call.function->kind == ExprKind::attribute &&
          last_name(*as<AttributeExpr>(*call.function).object) == "deepspeed");
}

}  // namespace

std::vector<NamedConfiguration> configurations_of(const LaunchLine& line, std::string_view program) {
  std::vector<NamedConfiguration> found;
  const auto add = [&](Role role, const Word* word) {
    if (word && word->is_known() && !word->text.empty()) found.push_back({role, word->text});
  };
  if (line.launcher == Launcher::accelerate) {
    add(Role::accelerate, line.value("config_file"));
    if (const Word* file = line.value("deepspeed_config_file"); file && is_json(file->text))
      add(Role::deepspeed, file);
  }
  const bool of_lightning = program.find("LightningCLI") != std::string_view::npos;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    if (!word.is_known() || !word.text.starts_with('-')) continue;
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    std::string flag = word.text.substr(0, equals);
    std::replace(flag.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, flag.size())),
        flag.end(), '-', '_');
    Word value;
    if (equals < word.text.size())
      value = word, value.text.erase(0, equals + 1);
    else if (i + 1 < line.arguments.size())
      value = line.arguments[i + 1];
    if (is_json(value.text) && std::ranges::find(of_deepspeed, flag) != std::end(of_deepspeed))
      add(Role::deepspeed, &value);
    else if ((flag == "--job.config_file" || flag == "--job.config-file") && value.text.ends_with(".toml"))
      add(Role::torchtitan, &value);
    else if (of_lightning && is_yaml(value.text) && (flag == "--config" || flag == "-c"))
      add(Role::lightning, &value);
  }
  return found;
}

bool may_name_configurations(std::string_view text) {
  if (text.find(".json") == std::string_view::npos && text.find(".y") == std::string_view::npos) return false;
  return std::ranges::any_of(namings, [&](const Naming& each) {
    return text.find(each.function) != std::string_view::npos &&
        (each.function != "initialize" || text.find("deepspeed.initialize") != std::string_view::npos) &&
        // Of the classes that are read the Trainer's is one.
        (each.role != Role::training_arguments || text.find("TrainingArguments") != std::string_view::npos);
  });
}

std::vector<NamedConfiguration> configurations_of(const Module& module) {
  std::vector<NamedConfiguration> found;
  std::map<std::string_view, const Expr*> constants;  // null: given more than once
  for (const Item& item : module.items)
    if (item.chunk->stmt && item.chunk->stmt->kind == StmtKind::assign)
      for (const Expr* target : as<AssignStmt>(*item.chunk->stmt).targets)
        if (target->kind == ExprKind::name) {
          const auto [known, is_new] = constants.try_emplace(
              as<NameExpr>(*target).id.text(), as<AssignStmt>(*item.chunk->stmt).value);
          if (!is_new) known->second = nullptr;
        }
  const auto file = [&](const Expr* expr) -> std::string_view {
    if (expr && expr->kind == ExprKind::name)
      if (const auto known = constants.find(as<NameExpr>(*expr).id.text()); known != constants.end())
        expr = known->second;
    return literal(expr);
  };
  for (const Item& item : module.items) {
    if (!item.chunk->stmt) continue;
    for_each_expression(*item.chunk->stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const auto& call = as<CallExpr>(expr);
      for (const Naming& naming : namings) {
        if (!is_of(naming, call)) continue;
        const Expr* given = keyword(call, naming.argument);
        if (!given && naming.place >= 0 && static_cast<int>(call.arguments.size()) > naming.place)
          given = call.arguments[static_cast<std::size_t>(naming.place)];
        const std::string_view name = file(given);
        if (is_json(name) || (naming.role == Role::training_arguments && is_yaml(name)))
          found.push_back({naming.role, std::string(name)});
      }
    });
  }
  return found;
}

}  // namespace stepzero::rules::launch

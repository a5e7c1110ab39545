#include "rules/config/lightning_files.hpp"

#include "libraries/frameworks/lightning_arguments.hpp"

#include <algorithm>

namespace stepzero::rules::lightning {

namespace {

bool is_target(const Node& table) {
  const Node* target = table.at("_target_");
  return target && target->is(Node::Kind::text) && target->text.ends_with(".Trainer") &&
      target->text.find("lightning") != std::string::npos;
}

// Most of the names are those of the Trainer.
bool has_names_of_trainer(const Node& table, std::ptrdiff_t enough) {
  const auto known = std::count_if(table.fields.begin(), table.fields.end(),
      [](const Field& field) { return libraries::is_lightning_argument(field.key); });
  return known >= enough && 2 * known > static_cast<std::ptrdiff_t>(table.fields.size());
}

// jsonargparse makes an object of what names its class.
bool names_class(const Node* table) {
  return table && table->is(Node::Kind::table) && table->find("class_path");
}

void collect(const Node& root, bool is_of_cli, std::vector<const Node*>& into) {
  if (is_target(root)) return into.push_back(&root);
  const Node* trainer = root.at("trainer");
  if (!trainer || !trainer->is(Node::Kind::table)) return;
  if (is_target(*trainer)) return into.push_back(trainer);
  if (trainer->find("_target_")) return;
  // LightningCLI names the model and the data beside it.
  const bool by_classes = names_class(root.at("model")) || names_class(root.at("data"));
  const bool of_cli = (root.find("model") || root.find("data")) &&
      (root.find("seed_everything") || root.find("ckpt_path") || root.find("optimizer") || by_classes);
  if (is_of_cli || (of_cli && has_names_of_trainer(*trainer, by_classes ? 2 : 3))) into.push_back(trainer);
}

}  // namespace

std::vector<const Node*> trainer_tables(const Node& root, bool of_cli) {
  std::vector<const Node*> found;
  if (!root.is(Node::Kind::table)) return found;
  collect(root, of_cli, found);
  // One table for each command.
  for (const std::string_view command : {"fit", "validate", "test", "predict"})
    if (const Node* table = root.at(command); table && table->is(Node::Kind::table)) {
      const Node* trainer = table->at("trainer");
      collect(*table, of_cli || (trainer && has_names_of_trainer(*trainer, 2)), found);
    }
  return found;
}

}  // namespace stepzero::rules::lightning

#include "rules/launch/hydra.hpp"

#include "rules/source.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::launch {

using namespace syntax;
using documents::Word;

namespace {

constexpr int deepest_key = 8;  // groups in groups: one that names itself ends here

// Where the configuration of a script lies.
struct Main {
  std::string folder, name;
};

std::string_view text_of(const Expr& expr) {
  return expr.kind == ExprKind::string ? static_cast<const StringExpr&>(expr).value : std::string_view();
}

// @hydra.main(config_path="conf", config_name="config")
std::optional<Main> main_of(
    const program::Sources& sources, const std::string& script, std::set<std::string>& read) {
  read.insert(script);
  const auto module = sources.module(script);
  // What the program registers itself, or sets open, is not in the files.
  if (!module || module->text->bytes().find("hydra") == std::string::npos ||
      module->text->bytes().find("ConfigStore") != std::string::npos)
    return std::nullopt;
  std::optional<Main> found;
  for (const Item& item : module->items) {
    if (!item.chunk->stmt) continue;
    const auto look = [&](const Expr& expr) {
      if (expr.kind != ExprKind::call) return;
      const auto& call = static_cast<const CallExpr&>(expr);
      if (call.function->kind != ExprKind::attribute ||
          static_cast<const AttributeExpr&>(*call.function).attribute.text() != "main")
        return;
      const Expr* object = static_cast<const AttributeExpr&>(*call.function).object;
      if (object->kind != ExprKind::name || static_cast<const NameExpr&>(*object).id.text() != "hydra")
        return;
      Main made;
      for (const Keyword& each : call.keywords) {
        if (each.name.text() == "config_path") made.folder = text_of(*each.value);
        if (each.name.text() == "config_name") made.name = text_of(*each.value);
      }
      if (!made.name.empty() && !made.folder.empty() && made.folder.find("..") == std::string::npos &&
          !made.folder.starts_with('/'))
        found = std::move(made);
    };
    for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::function)
        for (const Expr* decorator : static_cast<const FunctionStmt&>(stmt).decorators) look(*decorator);
    });
  }
  if (!found) return std::nullopt;
  while (found->folder.starts_with("./")) found->folder.erase(0, 2);
  found->folder = script.substr(0, script.rfind('/')) +
      (found->folder == "." || found->folder.empty() ? "" : "/" + found->folder);
  if (found->name.ends_with(".yaml")) found->name.erase(found->name.size() - 5);
  return found;
}

struct Leaf {
  bool is_table = false, is_open = false;  // open: an interpolation, which may be any table
  bool is_missing = false;                 // "???"
  Location where;
};

class Composition {
public:
  Composition(const DocumentInput& input, std::string folder) : input_(input), folder_(std::move(folder)) {}

  bool is_known = true;
  std::map<std::string, Leaf> keys;  // by their dotted names

  // Chosen on the command line: "model" is "large".
  std::map<std::string, std::string> chosen;

  bool is_group(const std::string& name) const { return input_.sources.is_folder(folder_ + "/" + name); }
  bool has_option(const std::string& group, const std::string& option) const {
    return input_.sources.is_file(file_of(group, option));
  }

  void add(const std::string& group, const std::string& name, std::string package, int depth = 0) {
    const std::string path = file_of(group, name);
    const auto document = input_.other(path);
    if (!document || document->is_broken || depth > deepest_key) {
      is_known = false;
      return;
    }
    if (const std::string said = package_in(document->text->bytes()); !said.empty()) {
      if (said != "_global_" && said.find('_') == 0) is_known = false;
      package = said == "_global_" ? "" : said;
    }
    if (const Node* defaults = document->root.at("defaults"); defaults && defaults->is(Node::Kind::list)) {
      for (const Node& item : defaults->items) add_default(group, item, package, depth);
    } else if (defaults) {
      is_known = false;
    }
    if (document->root.is(Node::Kind::table)) add_table(document->root, package, path, true);
  }

private:
  std::string file_of(const std::string& group, const std::string& name) const {
    return folder_ + "/" + (group.empty() ? "" : group + "/") + name + ".yaml";
  }

  // "# @package model.small"
  static std::string package_in(std::string_view text) {
    const std::size_t at = text.substr(0, 400).find("@package");
    if (at == std::string_view::npos) return {};
    std::string_view rest = text.substr(at + 8);
    rest = rest.substr(0, rest.find('\n'));
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) rest.remove_prefix(1);
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
    return std::string(rest);
  }

  void add_default(const std::string& group, const Node& item, const std::string& package, int depth) {
    if (item.is(Node::Kind::text)) {
      if (item.text == "_self_") return;
      if (item.text.find('@') != std::string::npos || item.text.starts_with('/') ||
          item.text.find("${") != std::string::npos)
        is_known = false;
      else
        add(group, item.text, package, depth + 1);
      return;
    }
    if (!item.is(Node::Kind::table) || item.fields.size() != 1) return void(is_known = false);
    std::string name = item.fields.front().key;
    bool is_optional = false;
    for (const std::string_view prefix : {"optional ", "override "})
      if (name.starts_with(prefix))
        is_optional = is_optional || prefix == "optional ", name.erase(0, prefix.size());
    // Hydra's own groups, and plugins.
    if (name.starts_with("hydra") || name.starts_with("/hydra")) return;
    std::string under;
    bool is_placed = false;
    if (const std::size_t at = name.find('@'); at != std::string::npos)
      under = name.substr(at + 1), name.erase(at), is_placed = true;
    if (name.starts_with('/'))
      name.erase(0, 1);
    else if (!group.empty())
      name = group + "/" + name;
    const Node& value = item.fields.front().value;
    std::string option = value.is(Node::Kind::text) ? value.text : "";
    if (const auto given = chosen.find(name); given != chosen.end()) option = given->second;
    if (option.ends_with(".yaml")) option.erase(option.size() - 5);
    if (value.is(Node::Kind::list) || option.find("${") != std::string::npos ||
        item.fields.front().key.starts_with("override "))
      return void(is_known = false);
    if (option.empty() || option == "???" || option == "null") return;
    if (is_optional && !has_option(name, option)) return;
    std::string where = name;
    std::replace(where.begin(), where.end(), '/', '.');
    if (is_placed) {
      if (under == "_global_")
        where.clear();
      else if (under == "_here_" || under.find('_') == 0)
        is_known = false;
      else
        where = (package.empty() ? "" : package + ".") + under;
    }
    add(name, option, where, depth + 1);
  }

  void add_table(const Node& table, const std::string& prefix, const std::string& path, bool is_top) {
    if (!prefix.empty()) {
      // The tables around it.
      for (std::size_t dot = prefix.find('.');; dot = prefix.find('.', dot + 1)) {
        keys[prefix.substr(0, dot)].is_table = true;
        if (dot == std::string::npos) break;
      }
    }
    for (const Field& field : table.fields) {
      if (is_top && field.key == "defaults") continue;
      Leaf& leaf = keys[(prefix.empty() ? "" : prefix + ".") + field.key];
      leaf.where = {path, field.value.span};
      leaf.is_missing = field.value.is_text("???");
      leaf.is_open = leaf.is_open ||
          (field.value.is(Node::Kind::text) && field.value.text.find("${") != std::string::npos) ||
          field.value.is(Node::Kind::unknown);
      if (!field.value.is(Node::Kind::table)) continue;
      leaf.is_table = true;
      add_table(field.value, (prefix.empty() ? "" : prefix + ".") + field.key, path, false);
    }
  }

  const DocumentInput& input_;
  const std::string folder_;
};

struct Override {
  const Word* word = nullptr;
  std::string key, value;
};

// Plain overrides, "key=value"; nothing where another form decides what the configuration is.
std::optional<std::vector<Override>> overrides_of(
    const LaunchLine& line, Main& main, std::set<std::string>& added) {
  std::vector<Override> found;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    if (word.text.find(documents::Chars::words) != std::string::npos) return std::nullopt;
    if (word.text == "--config-name" || word.text == "-cn") {
      if (i + 1 >= line.arguments.size() || !line.arguments[i + 1].is_known()) return std::nullopt;
      main.name = line.arguments[++i].text;
      continue;
    }
    if (word.text.starts_with("--config-name=")) {
      main.name = word.text.substr(14);
      if (!word.is_known()) return std::nullopt;
      continue;
    }
    if (word.text == "-m" || word.text == "--multirun") continue;
    if (word.text.starts_with('-')) return std::nullopt;
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    Override one{&word, word.text.substr(0, equals), word.text.substr(equals + 1)};
    if (one.key.find(documents::Chars::hole) != std::string::npos) return std::nullopt;
    if (one.key.front() == '+' || one.key.front() == '~') {
      one.key.erase(0, one.key.find_first_not_of("+~"));
      added.insert(one.key);
      continue;
    }
    found.push_back(std::move(one));
  }
  if (main.name.ends_with(".yaml")) main.name.erase(main.name.size() - 5);
  return found;
}

}  // namespace

void judge_overrides(
    const DocumentInput& input, const LaunchLine& line, const std::string& script, DocumentReport& report) {
  auto main = main_of(input.sources, script, input.read);
  if (!main) return;
  std::set<std::string> added;
  const auto overrides = overrides_of(line, *main, added);
  if (!overrides) return;
  Composition composition(input, main->folder);
  const auto is_choice = [&](const Override& each) {
    return composition.is_group(each.key) || each.key.find('@') != std::string::npos;
  };
  for (const Override& each : *overrides)
    if (is_choice(each)) {
      // Several, or one that is not known: which keys there are depends on it.
      if (each.value.find_first_of(",[\x01") != std::string::npos || each.key.find('@') != std::string::npos)
        return;
      composition.chosen[each.key] = each.value;
      const bool is_named = each.value != "null" && !each.value.empty();
      if (!is_named ||
          composition.has_option(each.key,
              each.value.ends_with(".yaml") ? each.value.substr(0, each.value.size() - 5) : each.value))
        continue;
      report.add(each.word->by_default ? Severity::warning : Severity::error, each.word->written,
          "there is no `" + each.key + "/" + each.value + ".yaml` beside the configuration of `" +
              script.substr(script.rfind('/') + 1) + "`: Hydra ends with \"Could not find '" + each.key +
              "/" + each.value + "'\". Choose one that is there");
      return;
    }
  composition.add("", main->name, "");
  for (const std::string& key : added)
    if (composition.is_group(key)) composition.is_known = false;
  if (!composition.is_known || composition.keys.empty()) return;
  const auto& keys = composition.keys;
  for (const Override& each : *overrides) {
    if (is_choice(each) || each.key.starts_with("hydra.") || each.key.find('/') != std::string::npos ||
        keys.contains(each.key))
      continue;
    // A part of what an interpolation or `+key` puts there.
    bool may_be = false;
    for (std::size_t dot = each.key.find('.'); dot != std::string::npos; dot = each.key.find('.', dot + 1)) {
      const auto around = keys.find(each.key.substr(0, dot));
      may_be = may_be || added.contains(each.key.substr(0, dot)) ||
          (around != keys.end() && around->second.is_open);
      may_be = may_be ||
          (dot + 1 < each.key.size() && std::isdigit(static_cast<unsigned char>(each.key[dot + 1])));
    }
    if (may_be || each.key.find('[') != std::string::npos) continue;
    const std::string around =
        each.key.rfind('.') == std::string::npos ? "" : each.key.substr(0, each.key.rfind('.') + 1);
    std::vector<std::string_view> beside;
    for (const auto& [key, leaf] : keys)
      if (key.starts_with(around) && key.find('.', around.size()) == std::string::npos) beside.push_back(key);
    const std::string meant(documents::nearest(each.key, beside));
    Finding& finding = report.add(each.word->by_default ? Severity::warning : Severity::error,
        each.word->written,
        "the configuration of `" + script.substr(script.rfind('/') + 1) + "` has no key `" + each.key +
            "`, and Hydra refuses to override it: \"Could not override '" + each.key + "'\". " +
            (meant.empty() ? "Write `+" + each.key + "=…` to add one" : "Did you mean `" + meant + "`?"));
    const Span written = each.word->written;
    if (!meant.empty() && written.end - written.begin == each.word->text.size())
      report.fix(finding, "Rename to " + meant, documents::is_typo(each.key, meant),
          {written.begin, written.begin + static_cast<std::uint32_t>(each.key.size())}, meant);
  }
  for (const auto& [key, leaf] : keys) {
    const auto gives = [&](const Override& each) {
      return each.key == key || key.starts_with(each.key + ".");
    };
    if (!leaf.is_missing || std::any_of(overrides->begin(), overrides->end(), gives) || added.contains(key))
      continue;
    Finding& finding = report.add(Severity::warning, line.script->written,
        "`" + key +
            "` is `???` in the configuration, and this launch does not give it: reading it fails with \"Missing mandatory value: " +
            key + "\". Give it one");
    report.relate(finding, leaf.where, "it has to be given");
    break;
  }
}

}  // namespace stepzero::rules::launch

// The options that LightningCLI makes of the classes of a program, for the scripts that start it. Reads the
// text of the program: the signatures say all that the options are made of, and nothing is run for a script.
#include "rules/launch/lightning_cli.hpp"

#include "rules/shape/refusal_text.hpp"

#include "libraries/frameworks/lightning_arguments.hpp"
#include "rules/launch/declarations.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace stepzero::rules::launch {

using namespace syntax;
using documents::Word;
using libraries::LightningMisuse;
using libraries::LightningSetting;
using program::ValueType;

namespace {

constexpr std::size_t most_modules_of_cli = 200;  // files that are read to find the classes of one program

// A class that the command line makes, with the parameters of its `__init__`.
struct Part {
  std::string name;
  bool is_known = false;
  std::vector<std::string> parameters;
  std::map<std::string, ValueType> types;  // of those that are annotated
  Location where;
};
struct Cli {
  bool has_own_trainer = false;
  std::map<std::string, Part> parts;  // "model", "data"
};

struct FoundClass {
  const ClassStmt* cls = nullptr;  // null: there are several of the name
  std::string path;
  std::uint32_t offset = 0;
};

class Program {
public:
  Program(const program::Sources& sources, std::set<std::string>& read) : sources_(sources), read_(read) {}

  std::optional<Cli> cli(const std::string& script) {
    const auto module = sources_.module(script);
    if (!module || module->text->bytes().find("LightningCLI") == std::string::npos) return std::nullopt;
    const CallExpr* found = nullptr;
    bool is_only = true;
    for (const Item& item : module->items)
      if (item.chunk->stmt)
        for_each_expression(*item.chunk->stmt, [&](const Expr& expr) {
          if (expr.kind != ExprKind::call || last_name(*as<CallExpr>(expr).function) != "LightningCLI")
            return;
          is_only = is_only && !found;
          found = &as<CallExpr>(expr);
        });
    if (!found || !is_only || keyword(*found, "args") || spreads(*found)) return std::nullopt;
    collect(script);
    Cli made;
    made.has_own_trainer = keyword(*found, "trainer_class") != nullptr;
    part(*found, 0, "model_class", "subclass_mode_model", made.parts["model"]);
    part(*found, 1, "datamodule_class", "subclass_mode_data", made.parts["data"]);
    return made;
  }

private:
  // The classes of the script and of the program's own modules that it imports.
  void collect(const std::string& script) {
    std::set<std::string> seen;
    std::vector<std::string> waiting = {script};
    while (!waiting.empty() && seen.size() < most_modules_of_cli) {
      const std::string path = std::move(waiting.back());
      waiting.pop_back();
      if (!seen.insert(path).second) continue;
      read_.insert(path);
      const auto module = sources_.module(path);
      if (!module) continue;
      kept_.push_back(module);
      for (const Item& item : module->items) {
        if (!item.chunk->stmt) continue;
        for_each_statement(*item.chunk->stmt, [&](const Stmt& stmt) {
          for (std::string& each : imported_by(sources_, stmt, path, read_))
            waiting.push_back(std::move(each));
          if (stmt.kind != StmtKind::class_) return;
          const auto& cls = as<ClassStmt>(stmt);
          const auto [known, is_new] = classes_.try_emplace(
              std::string(cls.name.text()), FoundClass{&cls, path, item.offset});
          if (!is_new) known->second.cls = nullptr;
        });
      }
    }
  }

  void part(const CallExpr& call, std::size_t place, std::string_view name, std::string_view subclasses,
      Part& into) const {
    const Expr* given = keyword(call, name);
    if (!given && place < call.arguments.size()) given = call.arguments[place];
    if (!given || given->kind != ExprKind::name || keyword(call, subclasses)) return;
    into.name = last_name(*given);
    into.is_known = add_parameters(into.name, into, 0);
  }

  bool add_parameters(const std::string& name, Part& into, int depth) const {
    constexpr int deepest = 4;  // base classes, one above the other: one that is its own base ends here
    const auto found = classes_.find(name);
    if (found == classes_.end() || !found->second.cls || depth > deepest) return false;
    const FoundClass& known = found->second;
    for (const Stmt* stmt : known.cls->body) {
      if (stmt->kind != StmtKind::function || as<FunctionStmt>(*stmt).name.text() != "__init__") continue;
      const auto& function = as<FunctionStmt>(*stmt);
      if (!function.decorators.empty()) return false;
      into.where = {known.path, {function.span.begin + known.offset, function.span.begin + known.offset + 3}};
      bool is_self = true;
      for (const syntax::Parameter& each : function.parameters->list) {
        if (each.kind == ParameterKind::var_keyword || each.kind == ParameterKind::var_positional)
          return false;
        if (!is_self) into.parameters.emplace_back(each.name.text());
        if (!is_self && each.annotation && each.annotation->kind == ExprKind::name)
          into.types[std::string(each.name.text())] = program::type_named(last_name(*each.annotation));
        is_self = false;
      }
      return true;
    }
    // Decorators and metaclasses may make another one.
    if (!known.cls->decorators.empty() || known.cls->bases.size() != 1) return false;
    const std::string_view base = last_name(*known.cls->bases[0]);
    if (base == "LightningModule" || base == "LightningDataModule") {
      into.where = {
          known.path, {known.cls->span.begin + known.offset, known.cls->span.begin + known.offset + 5}};
      return true;
    }
    return add_parameters(std::string(base), into, depth + 1);
  }

  const program::Sources& sources_;
  std::set<std::string>& read_;
  std::vector<std::shared_ptr<const Module>> kept_;
  std::map<std::string, FoundClass> classes_;
};

// A word of the command line as YAML reads it.
LightningSetting setting(std::string name, const Word* value) {
  using Kind = LightningSetting::Kind;
  LightningSetting made;
  made.name = std::move(name);
  if (!value || !value->is_known() || value->text.empty()) return made;
  const std::string& text = value->text;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), made.number);
  if (text == "null") {
    made.kind = Kind::none;
  } else if (text == "true" || text == "false") {
    made.kind = Kind::truth, made.truth = text == "true";
  } else if (failure == std::errc() && end == text.data() + text.size()) {
    made.kind = text.find_first_of(".eE") == std::string::npos ? Kind::whole : Kind::real;
  } else if (std::isalpha(static_cast<unsigned char>(text.front()))) {
    made.kind = Kind::text, made.text = text;
  }
  return made;
}

struct Given {
  const Word* flag;
  std::string name;  // "trainer.max_epochs"
  std::optional<Word> value;
};
std::vector<Given> given_by(const LaunchLine& line) {
  std::vector<Given> found;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    if (!word.text.starts_with("--")) continue;
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    Given& one = found.emplace_back(Given{&word, word.text.substr(2, equals - 2), {}});
    if (one.name.ends_with('+')) one.name.pop_back();
    if (equals < word.text.size()) {
      one.value = word;
      one.value->text.erase(0, equals + 1);
    } else if (i + 1 < line.arguments.size() && !line.arguments[i + 1].text.starts_with("--")) {
      one.value = line.arguments[i + 1];
    }
  }
  return found;
}

// "trainer", "max_epochs" of "trainer.max_epochs"; what lies deeper is of no matter here.
std::pair<std::string, std::string> parted(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1, name.find('.', dot + 1) - dot - 1)};
}

class Judgment {
public:
  Judgment(const DocumentInput& input, const LaunchLine& line, const Cli& cli, DocumentReport& report)
      : input_(input), line_(line), cli_(cli), report_(report), given_(given_by(line)) {}

  void run() {
    if (!cli_.has_own_trainer) trainer();
    for (const auto& [section, part] : cli_.parts)
      if (part.is_known) {
        flags_of(section, part);
        judge_types(section, part);
        for (const Given& each : given_)
          if (each.name == "config" && each.value && each.value->is_known()) file(*each.value, section, part);
      }
  }

private:
  void rename(Finding& finding, const Word& flag, const std::string& from, const std::string& to) {
    const std::size_t at = flag.text.find(from);
    if (flag.written.end - flag.written.begin < flag.text.size() || at == std::string::npos) return;
    const auto begin = flag.written.begin + static_cast<std::uint32_t>(at);
    report_.fix(finding, "Rename to " + to, documents::is_typo(from, to),
        {begin, begin + static_cast<std::uint32_t>(from.size())}, to);
  }

  void trainer() {
    std::vector<LightningSetting> settings;
    std::vector<const Given*> flags;
    for (const Given& each : given_) {
      const auto [section, name] = parted(each.name);
      if (section != "trainer" || name.empty() || name == "help" || !each.flag->is_known()) continue;
      const bool is_plain = each.name.find('.', section.size() + 1) == std::string::npos;
      settings.push_back(setting(name, is_plain && each.value ? &*each.value : nullptr));
      flags.push_back(&each);
    }
    for (const LightningMisuse& misuse : libraries::misuses_of_lightning(settings)) {
      const Given& flag = *flags[misuse.at];
      const std::string& name = settings[misuse.at].name;
      const Severity severity = misuse.is_former        ? Severity::information
          : misuse.is_certain && !flag.flag->by_default ? Severity::error
                                                        : Severity::warning;
      std::string message = rules::text_of(misuse.refusal);
      if (misuse.of_name && !misuse.is_former)
        message = "LightningCLI makes its options of the Trainer's arguments, and the Trainer has no `" +
            name + "`: it rejects `--trainer." + name + "`" +
            (misuse.meant.empty() ? ". Remove it" : ". Did you mean `" + std::string(misuse.meant) + "`?");
      Finding& finding = report_.add(
          severity, misuse.of_name || !flag.value ? flag.flag->written : flag.value->written, message + ".");
      if (misuse.other) report_.relate(finding, flags[*misuse.other]->flag->written, "it is set here");
      if (misuse.of_name && !misuse.meant.empty())
        rename(finding, *flag.flag, name, std::string(misuse.meant));
    }
  }

  bool takes(const Part& part, const std::string& name) const {
    return name.empty() || name == "help" || name == "class_path" || name == "init_args" ||
        name == "dict_kwargs" ||
        std::find(part.parameters.begin(), part.parameters.end(), name) != part.parameters.end();
  }
  static std::string near(const Part& part, const std::string& name) {
    const std::vector<std::string_view> known(part.parameters.begin(), part.parameters.end());
    return std::string(documents::nearest(name, known));
  }

  void flags_of(const std::string& section, const Part& part) {
    for (const Given& each : given_) {
      const auto [own, name] = parted(each.name);
      if (own != section || !each.flag->is_known() || takes(part, name)) continue;
      const std::string meant = near(part, name);
      Finding& finding = report_.add(each.flag->by_default ? Severity::warning : Severity::error,
          each.flag->written,
          "LightningCLI makes its options of the arguments of `" + part.name + "`, which takes no `" + name +
              "`: it rejects `--" + section + "." + name + "`" +
              (meant.empty() ? ". Remove it." : ". Did you mean `" + meant + "`?"));
      report_.relate(finding, part.where, "the arguments of `" + part.name + "`");
      if (!meant.empty()) rename(finding, *each.flag, name, meant);
    }
  }

  // A value that jsonargparse does not take for the type; of texts it takes those that YAML reads as numbers.
  static std::string_view refused(const Part& part, const std::string& name, const LightningSetting& given) {
    using Kind = LightningSetting::Kind;
    const auto type = part.types.find(name);
    if (type == part.types.end()) return {};
    const auto is_any_of = [&](auto... kinds) { return ((given.kind == kinds) || ...); };
    const bool is_refused = type->second == ValueType::integer
        ? is_any_of(Kind::text, Kind::real, Kind::truth)
        : type->second == ValueType::number ? is_any_of(Kind::text, Kind::truth)
        : type->second == ValueType::truth  ? is_any_of(Kind::whole, Kind::real)
                                            : false;
    return is_refused ? program::in_words(type->second) : std::string_view();
  }
  void judge_types(const std::string& section, const Part& part) {
    for (const Given& each : given_) {
      const auto [own, name] = parted(each.name);
      if (own != section || !each.flag->is_known() ||
          each.name.find('.', own.size() + 1) != std::string::npos)
        continue;
      const std::string_view wants = refused(part, name, setting(name, each.value ? &*each.value : nullptr));
      if (wants.empty()) continue;
      Finding& finding = report_.add(
          each.flag->by_default || each.value->by_default ? Severity::warning : Severity::error,
          each.value->written,
          "`--" + each.name + "` takes " + std::string(wants) + "; LightningCLI refuses \"" +
              each.value->text.substr(each.value->text.find('=') + 1) + "\". Pass one.");
      report_.relate(finding, part.where, "the arguments of `" + part.name + "`");
    }
  }
  static LightningSetting setting_of(const Field& field) {
    using Kind = LightningSetting::Kind;
    LightningSetting made;
    made.name = field.key;
    switch (field.value.kind) {
    case Node::Kind::boolean: made.kind = Kind::truth; break;
    case Node::Kind::integer: made.kind = Kind::whole; break;
    case Node::Kind::real: made.kind = Kind::real; break;
    case Node::Kind::text:
      // "1e-3" is a text to YAML 1.1, and a number to jsonargparse; what refers to others is not known.
      if (!field.value.text.empty() && std::isalpha(static_cast<unsigned char>(field.value.text.front())) &&
          field.value.text != "inf" && field.value.text != "nan" && field.value.text != "null")
        made.kind = Kind::text;
      break;
    default: break;
    }
    return made;
  }

  // `model:` of the file, or of one of its commands.
  void file(const Word& named, const std::string& section, const Part& part) {
    const auto path = script_file(
        input_.sources, input_.path, line_.command->folder, named.text, false, input_.read);
    const auto document = path ? input_.other(*path) : std::nullopt;
    if (!document || document->is_broken) return;
    std::vector<const Node*> tables = {document->root.at(section)};
    for (const std::string_view command : {"fit", "validate", "test", "predict"})
      if (const Node* of_command = document->root.at(command)) tables.push_back(of_command->at(section));
    for (const Node* table : tables) {
      if (!table || !table->is(Node::Kind::table) || table->has_other_keys) continue;
      for (const Field& field : table->fields) {
        if (const std::string_view wants = refused(part, field.key, setting_of(field));
            !wants.empty() && !field.is_merged) {
          Finding& finding = report_.add(named.by_default ? Severity::warning : Severity::error,
              named.written,
              "`" + section + "." + field.key + "` of `" + path->substr(path->rfind('/') + 1) + "` takes " +
                  std::string(wants) + "; LightningCLI refuses this value. Write one there.");
          report_.relate(finding, {*path, field.value.span}, "the value");
          report_.relate(finding, part.where, "the arguments of `" + part.name + "`");
        }
        if (field.is_merged || takes(part, field.key)) continue;
        const std::string meant = near(part, field.key);
        Finding& finding = report_.add(named.by_default ? Severity::warning : Severity::error, named.written,
            "`" + section + "." + field.key + "` of `" + path->substr(path->rfind('/') + 1) +
                "` is no argument of `" + part.name + "`, and LightningCLI rejects it" +
                (meant.empty() ? ". Remove it." : ". Did you mean `" + meant + "`?"));
        report_.relate(finding, {*path, field.key_span}, "the key");
        report_.relate(finding, part.where, "the arguments of `" + part.name + "`");
        if (!meant.empty())
          finding.fixes.push_back({"Rename the key to " + meant, documents::is_typo(field.key, meant),
              {{{*path, field.key_span}, meant}}});
      }
    }
  }

  const DocumentInput& input_;
  const LaunchLine& line_;
  const Cli& cli_;
  DocumentReport& report_;
  const std::vector<Given> given_;
};

}  // namespace

void judge_lightning_cli(
    const DocumentInput& input, const LaunchLine& line, const std::string& script, DocumentReport& report) {
  if (const auto cli = Program(input.sources, input.read).cli(script))
    Judgment(input, line, *cli, report).run();
}

}  // namespace stepzero::rules::launch

#include "rules/launch/dataclasses.hpp"

#include "libraries/frameworks/training_arguments.hpp"
#include "rules/launch/declarations.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::launch {

using namespace syntax;
using program::Takes;
using program::ValueType;

namespace {

std::string_view slice(std::string_view text, Span span, std::uint32_t offset) {
  return text.substr(span.begin + offset, span.end - span.begin);
}

// "Optional[int]", "int | None" as "int".
std::string plain_type(std::string type) {
  std::erase(type, ' ');
  if (type.starts_with("Optional[") || type.starts_with("typing.Optional["))
    type = type.substr(type.find('[') + 1), type.pop_back();
  if (type.ends_with("|None")) type.erase(type.size() - 5);
  return type;
}

// The texts of `Literal["a", "b"]`; none if something else stands in it.
std::vector<std::string> literals_of(std::string_view type) {
  std::vector<std::string> found;
  if (type.starts_with("typing.")) type.remove_prefix(7);
  if (!type.starts_with("Literal[") || !type.ends_with(']')) return found;
  std::string_view rest = type.substr(8, type.size() - 9);
  while (!rest.empty()) {
    const char quote = rest.front();
    const std::size_t end = quote == '"' || quote == '\'' ? rest.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) return {};
    found.emplace_back(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    if (rest.starts_with(',')) rest.remove_prefix(1);
  }
  return found;
}

// The texts under "choices" of `metadata={…}`; none if something else stands there.
std::vector<std::string> choices_in(const Expr* metadata) {
  std::vector<std::string> found;
  if (!metadata || metadata->kind != ExprKind::dict) return found;
  for (const DictItem& item : static_cast<const DictExpr&>(*metadata).items) {
    if (!item.key || item.key->kind != ExprKind::string ||
        static_cast<const StringExpr&>(*item.key).value != "choices")
      continue;
    const List<const Expr*> elements = item.value->kind == ExprKind::list
        ? static_cast<const ListExpr&>(*item.value).elements
        : item.value->kind == ExprKind::tuple ? static_cast<const TupleExpr&>(*item.value).elements
                                              : List<const Expr*>();
    for (const Expr* each : elements) {
      if (each->kind != ExprKind::string) return {};
      found.emplace_back(static_cast<const StringExpr&>(*each).value);
    }
  }
  return found;
}

void add_field(const DataField& field, ScriptOptions& into) {
  const std::string type = plain_type(field.type);
  DeclaredOption& made = into.options.emplace_back();
  made.flags = {"--" + field.name};
  if (field.name.find('_') != std::string::npos) {
    std::string dashed = field.name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    made.flags.push_back("--" + dashed);
  }
  made.where = field.where;
  const ValueType known = program::type_named(type);
  made.type = known == ValueType::unknown ? ValueType::text : known;
  made.arity = known == ValueType::unknown ? Arity::unknown
      : known == ValueType::truth          ? Arity::optional
                                           : Arity::one;
  if (made.choices = literals_of(type); !made.choices.empty()) made.arity = Arity::one;
  if (made.choices.empty() && made.type == ValueType::text) made.choices = field.choices;
  made.has_default = field.has_default;
  made.is_required = !field.has_default && made.takes_one();
  if (known != ValueType::truth || !field.is_true) return;
  const std::string written = made.flags.front().substr(2);
  DeclaredOption& negated = into.options.emplace_back();
  negated.flags = {"--no_" + written, "--no-" + written};
  negated.arity = Arity::none;
  negated.where = field.where;
}

void add_training_arguments(bool of_sequences, ScriptOptions& into) {
  for (const libraries::TrainingArgument& each : libraries::training_arguments()) {
    if (!each.plain && !of_sequences) continue;
    DeclaredOption& made = into.options.emplace_back();
    made.flags = {std::string(each.flag)};
    std::string dashed(each.flag.substr(2));
    if (dashed.find('_') != std::string::npos) {
      std::replace(dashed.begin(), dashed.end(), '_', '-');
      made.flags.push_back("--" + dashed);
    }
    made.type = each.type;
    for (std::string_view rest = each.choices; !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      made.choices.emplace_back(rest.substr(0, bar));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    made.arity = each.takes == Takes::one ? Arity::one
        : each.takes == Takes::none       ? Arity::none
        : each.takes == Takes::optional   ? Arity::optional
                                          : Arity::unknown;
  }
}

bool add_class(
    const DataClasses& classes, const std::string& name, ScriptOptions& into, std::set<std::string>& seen) {
  if (!seen.insert(name).second) return true;
  if (const auto found = classes.find(name); found != classes.end()) {
    for (const DataField& field : found->second.fields) add_field(field, into);
    return std::all_of(found->second.bases.begin(), found->second.bases.end(), [&](const std::string& base) {
      return base == "object" ||
          add_class(classes,
              base == name && base.ends_with("TrainingArguments") ? "transformers." + base : base, into,
              seen);
    });
  }
  const std::string last = name.substr(name.rfind('.') + 1);
  if (last != "TrainingArguments" && last != "Seq2SeqTrainingArguments") return false;
  add_training_arguments(last != "TrainingArguments", into);
  return true;
}

// Names with hyphens and with underscores are the same to tyro.
std::vector<std::string> spellings(const std::string& prefix, const std::string& name) {
  std::string dashed = prefix + name;
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  std::vector<std::string> all = {"--" + dashed};
  if (dashed != prefix + name) all.push_back("--" + prefix + name);
  return all;
}

bool add_tyro_field(const DataClasses& classes, const DataField& field, const std::string& prefix,
    bool has_default, ScriptOptions& into, int depth) {
  const std::string type = plain_type(field.type);
  DeclaredOption made;
  made.flags = spellings(prefix, field.name);
  made.where = field.where;
  made.has_default = has_default || field.has_default;
  const bool is_optional = type.size() + 6 < field.type.size() || field.type.find('|') != std::string::npos ||
      field.type.find("Optional") != std::string::npos;
  const auto nested = classes.find(type);
  const ValueType known = program::type_named(type);
  if (known == ValueType::truth && !is_optional) {
    made.arity = Arity::none;
    DeclaredOption negated = made;
    negated.flags = spellings(prefix, "no-" + field.name);
    if (!prefix.empty()) negated.flags = spellings("", prefix + "no-" + field.name);
    into.options.push_back(std::move(negated));
  } else if (is_number(known)) {
    made.type = is_optional ? ValueType::unknown : known;
  } else if (known == ValueType::text || type == "Path" || type == "pathlib.Path") {
    made.arity = Arity::one;
  } else if (made.choices = literals_of(type); !made.choices.empty()) {
    if (is_optional) made.choices.clear();
  } else if (nested != classes.end() &&
      std::any_of(nested->second.bases.begin(), nested->second.bases.end(),
          [](const std::string& base) { return base.ends_with("Enum"); })) {
    made.arity = Arity::unknown;
  } else if (nested != classes.end() && !is_optional && !nested->second.fields.empty()) {
    return add_tyro_options(classes, type, prefix + field.name + ".", made.has_default, into, depth + 1);
  } else {
    constexpr std::string_view several[] = {
        "list[", "List[", "tuple[", "Tuple[", "Sequence[", "set[", "Set[", "typing.List[", "typing.Tuple["};
    if (std::none_of(std::begin(several), std::end(several),
            [&](std::string_view each) { return type.starts_with(each); }))
      return false;
    made.arity = Arity::unknown;
  }
  made.is_required = !made.has_default && made.arity == Arity::one;
  into.options.push_back(std::move(made));
  return true;
}

}  // namespace

bool add_tyro_options(const DataClasses& classes, const std::string& name, const std::string& prefix,
    bool has_default, ScriptOptions& into, int depth) {
  constexpr int deepest = 5;  // data classes in data classes: one that holds itself ends here
  const auto found = classes.find(name);
  if (found == classes.end() || depth > deepest) return false;
  for (const std::string& base : found->second.bases)
    if (base != "object" && !add_tyro_options(classes, base, prefix, has_default, into, depth + 1))
      return false;
  return std::all_of(found->second.fields.begin(), found->second.fields.end(), [&](const DataField& field) {
    return add_tyro_field(classes, field, prefix, has_default, into, depth);
  });
}

bool add_simple_options(const DataClasses& classes, const std::string& name, ScriptOptions& into, int depth) {
  constexpr int deepest = 5;  // data classes in data classes: one that holds itself ends here
  const auto found = classes.find(name);
  if (found == classes.end() || depth > deepest) return false;
  for (const std::string& base : found->second.bases)
    if (base != "object" && base != "transformers.Serializable" && base != "Serializable" &&
        !add_simple_options(classes, base, into, depth + 1))
      return false;
  for (const DataField& field : found->second.fields) {
    const std::string type = plain_type(field.type), flag = "--" + field.name;
    if (type.starts_with("ClassVar")) continue;
    const auto nested = classes.find(type);
    if (nested != classes.end() && !nested->second.fields.empty()) {
      if (!add_simple_options(classes, type, into, depth + 1)) return false;
      continue;
    }
    if (into.find(flag)) return false;  // of two classes the names are told apart by prefixes
    DeclaredOption made;
    made.flags = {flag};
    made.where = field.where;
    made.has_default = field.has_default;
    const bool is_optional = type.size() + 6 < field.type.size();
    const ValueType known = program::type_named(type);
    made.type = is_number(known) && !is_optional ? known : ValueType::unknown;
    made.arity = is_number(known) || known == ValueType::text ? Arity::one : Arity::unknown;
    if (made.choices = literals_of(type); !made.choices.empty())
      made.arity = Arity::one, made.type = ValueType::text;
    made.is_required = !field.has_default && made.arity == Arity::one && !is_optional;
    if (known == ValueType::truth) made.flags.push_back("--no" + field.name);
    into.options.push_back(std::move(made));
  }
  return true;
}

void collect_class(const ClassStmt& cls, const std::string& path, std::string_view text, std::uint32_t offset,
    DataClasses& into) {
  DataClass made;
  for (const Expr* base : cls.bases) {
    if (base->kind == ExprKind::name)
      made.bases.emplace_back(static_cast<const NameExpr&>(*base).id.text());
    else if (base->kind == ExprKind::attribute)
      made.bases.push_back(
          "transformers." + std::string(static_cast<const AttributeExpr&>(*base).attribute.text()));
    else
      made.bases.emplace_back("?");
  }
  for (const Stmt* stmt : cls.body) {
    if (stmt->kind != StmtKind::ann_assign) continue;
    const auto& declared = static_cast<const AnnAssignStmt&>(*stmt);
    if (declared.target->kind != ExprKind::name) continue;
    DataField& field = made.fields.emplace_back();
    field.name = static_cast<const NameExpr&>(*declared.target).id.text();
    field.type = slice(text, declared.annotation->span, offset);
    field.where = {path, {declared.target->span.begin + offset, declared.target->span.end + offset}};
    const Expr* value = declared.value;
    if (value && value->kind == ExprKind::call) {
      const auto& call = static_cast<const CallExpr&>(*value);
      const Expr* given = keyword(call, "default");
      const bool spread = std::any_of(call.keywords.begin(), call.keywords.end(),
          [](const Keyword& each) { return each.name.text().empty(); });
      // A function of the program's own may pass a default on.
      const bool is_field = call.function->kind == ExprKind::name
          ? static_cast<const NameExpr&>(*call.function).id.text() == "field"
          : call.function->kind == ExprKind::attribute &&
              static_cast<const AttributeExpr&>(*call.function).attribute.text() == "field";
      field.has_default = given || keyword(call, "default_factory") || spread || !is_field;
      field.choices = choices_in(keyword(call, "metadata"));
      value = given;
    } else {
      field.has_default = value != nullptr;
    }
    field.is_true = value && value->kind == ExprKind::boolean &&
        static_cast<const BooleanExpr&>(*value).value;
  }
  into[std::string(cls.name.text())] = std::move(made);
}

bool add_options(const DataClasses& classes, const std::vector<std::string>& names, ScriptOptions& into) {
  std::set<std::string> seen;
  return std::all_of(names.begin(), names.end(),
      [&](const std::string& name) { return add_class(classes, name, into, seen); });
}

}  // namespace stepzero::rules::launch

// Annotations that give shapes, jaxtyping's `Float[Tensor, "batch seq 768"]` and `Tensor["B", "T", 768]`, and
// comments such as
// `# [batch, seq, hidden]` after an assignment. Annotations tell what an unknown is, and a value that
// contradicts one is a problem; comments only give names to sizes that have none.
#include "interpreter/roots/annotations.hpp"

#include "interpreter/reasons.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "interpreter/statements/module_loader.hpp"
#include "syntax/walk.hpp"
#include "values/internal_rows.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <charconv>

namespace stepzero::interpreter {

using namespace syntax;
using symbolic::Answer;
using values::Dim;
using values::Kind;
using values::Shape;

namespace {

// The dimensions from the left; behind them, if `open`, any number of further ones and then those of `tail`.
struct Annotated {
  struct Size {
    std::string_view name;  // empty: not said
    std::optional<std::int64_t> number;
  };
  std::vector<Size> dims, tail;
  bool open = false;
};

bool is_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, is_word);
}

// One word of a description: a name, a number, `_`, `...`, `*batch`, `#broadcasts`, `name=4`. What is none of
// them is a size of which nothing is said.
void add_word(Annotated& into, std::string_view word) {
  if (word == "..." || word.starts_with('*')) {
    into.open = true;
    return;
  }
  Annotated::Size size;
  const bool broadcasts = word.starts_with('#');
  if (const auto equals = word.find('='); equals != std::string_view::npos) word.remove_prefix(equals + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (broadcasts) {
  } else if (error == std::errc{} && end == word.data() + word.size() && number >= 0)
    size.number = number;
  else if (is_name(word) && word != "_")
    size.name = word;
  (into.open ? into.tail : into.dims).push_back(size);
}

void add_words(Annotated& into, std::string_view text) {
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    // A sum that is written with blanks: how many sizes are meant cannot be told.
    if (const std::string_view word = text.substr(0, space);
        word == "+" || word == "-" || word == "/" || word == "//" || word == "%") {
      into = {};
      into.open = true;
      return;
    }
    if (space > 0) add_word(into, text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
}

std::optional<Annotated> annotated(const Library& library, const Expr& annotation) {
  if (annotation.kind != ExprKind::subscript) return std::nullopt;
  const auto& access = as<SubscriptExpr>(annotation);
  const std::string_view name = last_name(*access.object);
  if (access.index->kind != ExprKind::tuple) return std::nullopt;
  const auto parts = as<TupleExpr>(*access.index).elements;
  Annotated made;
  if (library.find(values::InternalRow::shape_annotation + name)) {
    if (parts.size() != 2 || last_name(*parts[0]) != values::last_name(library.types().tensor) ||
        parts[1]->kind != ExprKind::string)
      return std::nullopt;
    add_words(made, as<StringExpr>(*parts[1]).value);
    return made;
  }
  if (!library.find(values::InternalRow::sized + name)) return std::nullopt;
  for (const Expr* part : parts) {
    if (part->kind == ExprKind::string)
      add_word(made, as<StringExpr>(*part).value);
    else if (part->kind == ExprKind::integer && as<IntegerExpr>(*part).value > 0)
      made.dims.push_back({{}, as<IntegerExpr>(*part).value});
    else
      return std::nullopt;
  }
  return made;
}

}  // namespace

std::optional<Shape> Annotations::annotated_shape(
    const Expr* annotation, Place where, std::map<std::string, Int, std::less<>>& names) {
  const auto given = annotation ? annotated(run_.library_, *annotation) : std::nullopt;
  if (!given) return std::nullopt;
  Shape shape;
  shape.ndim_known = !given->open;
  for (const Annotated::Size& size : given->open ? given->tail : given->dims) {
    Int known = size.number ? symbols().constant(*size.number) : nullptr;
    if (!known && !size.name.empty()) {
      Int& named = names[std::string(size.name)];
      if (!named) {
        symbolic::AtomInfo info;
        info.name = std::string(size.name);
        info.lower = 0;
        named = symbols().fresh(info);
      }
      known = named;
    }
    auto* origin = heap().make<values::Origin>();
    origin->place = where;
    origin->what = "annotation";
    shape.dims.push_back(known ? Dim{known, origin, nullptr} : Dim{});
  }
  return shape;
}

void Annotations::judge_annotation(
    const Expr* annotation, std::uint32_t chunk, Value value, Place where, std::string_view what) {
  value = run_.resolve(value);
  if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
  if (!annotation || annotation->kind != ExprKind::subscript || run_.dry_runs_ > 0 || !value.is(Kind::tensor))
    return;
  const auto given = annotated(run_.library_, *annotation);
  if (!given) return;
  const Shape& shape = value.as<values::Tensor>()->now()->shape;
  const std::size_t count = given->dims.size() + given->tail.size();
  bool fits = shape.ndim_known ? (given->open ? shape.dims.size() >= count : shape.dims.size() == count)
                               : given->open || shape.dims.size() <= count;
  const auto differs = [&](const Annotated::Size& size, const Dim& dim) {
    return size.number && dim.size &&
        symbols().compare(symbolic::Compare::eq, dim.size, symbols().constant(*size.number)) == Answer::no;
  };
  const auto& last = given->open ? given->tail : given->dims;
  for (std::size_t i = 0; fits && i < last.size() && i < shape.dims.size(); ++i)
    fits = !differs(last[last.size() - 1 - i], shape.dims[shape.dims.size() - 1 - i]);
  if (given->open && shape.ndim_known)
    for (std::size_t i = 0; fits && i < given->dims.size(); ++i)
      fits = !differs(given->dims[i], shape.dims[i]);
  if (fits) return;

  auto* event = record_.event<ProblemEvent>();
  event->problem = values::ProblemKind::annotation;
  event->place = where;
  event->calls = run_.site_;
  event->guarded = run_.may_not_fail();
  event->assumption = run_.assumption();
  const Place declared{chunk, annotation->span};
  explain(*event,
      why<Reason::annotated>(
          what.starts_with("The ") ? std::string(what) : values::code(what), record_.text(declared), shape));
  event->evidence.emplace_back(declared, "annotated here");
  run_.append(event);
}

// `x = f(y)  # [batch, seq, hidden]`
void Annotations::name_by_comment(Value value, const Stmt& stmt) {
  value = run_.resolve(value);
  if (!value.is(Kind::tensor)) return;
  const auto* state = value.as<values::Tensor>()->now();
  if (!state->shape.ndim_known ||
      std::all_of(
          state->shape.dims.begin(), state->shape.dims.end(), [](const Dim& dim) { return dim.size; }))
    return;
  const ChunkOf& chunk = record_.chunks[run_.chunk_];
  const std::string_view all = chunk.module->text->bytes();
  std::string_view line = all.substr(std::min<std::size_t>(chunk.absolute(stmt.span).end, all.size()));
  line = line.substr(0, std::min(line.find('\n'), line.size()));
  while (!line.empty() && (line.front() == ' ' || line.front() == '#')) line.remove_prefix(1);
  if (line.empty() || (line.front() != '[' && line.front() != '(')) return;
  const auto end = line.find(line.front() == '[' ? ']' : ')');
  if (end == std::string_view::npos) return;
  line = line.substr(1, end - 1);
  std::vector<std::string_view> names;
  for (;;) {
    const auto comma = std::min(line.find(','), line.size());
    std::string_view word = line.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    names.push_back(word);
    if (comma == line.size()) break;
    line.remove_prefix(comma + 1);
  }
  if (names.size() != state->shape.dims.size()) return;
  values::TensorState named = *state;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (named.shape.dims[i].size || !is_name(names[i])) continue;
    symbolic::AtomInfo info;
    info.name = std::string(names[i]);
    info.lower = 0;
    info.sharing = state->sharing;
    named.shape.dims[i].size = symbols().fresh(info);
  }
  named.shape_value = {};
  heap().set(value.as<values::Tensor>()->state, Value::of(Kind::state, heap().state(named)));
}

Value Interpreter::named_in(const values::Scope* scope, Name name) {
  const values::Scope* globals = scope ? scope->globals : nullptr;
  for (; scope; scope = scope->parent)
    if (const values::Slot* slot = scope->names.find(name); slot && slot->value) {
      note_used(scope, name);
      return resolve(slot->value);
    }
  note_used(globals, name);
  ModuleRun* const module = globals ? loader_->installed_module(globals) : nullptr;
  return module ? loader_->lazy_name(*module, name) : Value{};
}

// The class of a library that an annotation names, as far as it tells what an object of it is; `optional`, if
// it may be None.
const values::LibrarySymbol* RootRunner::annotated_class(
    const Expr* annotation, const values::Function& function, bool& optional) {
  const std::function<Value(const Expr&)> named = [&](const Expr& expr) -> Value {
    if (expr.kind == ExprKind::name || expr.kind == ExprKind::string) {
      std::string_view text = expr.kind == ExprKind::name ? as<NameExpr>(expr).id.text()
                                                          : as<StringExpr>(expr).value;
      // "pl.Trainer", as an annotation that stands before its import is run
      const auto dot = text.find('.');
      const std::string rest(dot == std::string_view::npos ? std::string_view{} : text.substr(dot));
      const Name name(text.substr(0, dot));
      const auto member = [&](Value found) -> Value {
        if (rest.empty()) return found;
        return found.is(Kind::library)
            ? Value(run_.library_symbol(std::string(found.as<values::LibrarySymbol>()->path) + rest))
            : Value{};
      };
      const Value found = run_.named_in(function.closure, name);
      return found ? member(found) : Value{};
    }
    if (expr.kind != ExprKind::attribute) return {};
    const Value object = named(*as<AttributeExpr>(expr).object);
    if (!object.is(Kind::library)) return {};
    return run_.library_symbol(std::string(object.as<values::LibrarySymbol>()->path) + "." +
        std::string(as<AttributeExpr>(expr).attribute.text()));
  };
  if (!annotation) return nullptr;
  if (annotation->kind == ExprKind::subscript &&
      last_name(*as<SubscriptExpr>(*annotation).object) == "Optional") {
    optional = true;
    return annotated_class(as<SubscriptExpr>(*annotation).index, function, optional);
  }
  if (annotation->kind == ExprKind::binary && as<BinaryExpr>(*annotation).op == BinaryOp::bit_or) {
    const auto& either = as<BinaryExpr>(*annotation);
    if (either.right->kind != ExprKind::none && either.left->kind != ExprKind::none) return nullptr;
    optional = true;
    return annotated_class(
        either.right->kind == ExprKind::none ? either.left : either.right, function, optional);
  }
  const Value found = named(*annotation);
  const auto* cls = found.is(Kind::library) ? found.as<values::LibrarySymbol>() : nullptr;
  return cls && cls->row && cls->row->kind == values::RowKind::class_ && cls->row->by_annotation ? cls
                                                                                                 : nullptr;
}

}  // namespace stepzero::interpreter

#include "interpreter/roots/required_ndims.hpp"

#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using values::Kind;

namespace {

constexpr std::int64_t most_dimensions = 8;  // that a program asks for: images and videos have up to six

// The number that len(x.shape) and x.dim() answer for a tensor of which nobody knows it; null if nobody
// asked.
Int asked_ndim(const values::TensorState& state) {
  if (state.shape.ndim_known || !state.shape_value.is(Kind::unknown)) return nullptr;
  const values::Slot* length = state.shape_value.as<values::Unknown>()->attributes.find(
      syntax::Name(values::UnknownState::len));
  return length && length->value.is(Kind::integer) ? length->value.integer() : nullptr;
}

void learn_one(Interpreter& run, const values::Table& variables, Int ndim, std::int64_t count) {
  for (const auto& [name, slot] : variables.entries()) {
    Value value = run.resolve(slot->value);
    if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value)
      value = value.as<values::Unknown>()->state.value;
    if (!value.is(Kind::tensor) || !value.as<values::Tensor>()->now()) continue;
    values::TensorState learned = *value.as<values::Tensor>()->now();
    const auto dims = static_cast<std::size_t>(count);
    if (asked_ndim(learned) != ndim || learned.shape.dims.size() > dims || learned.first.size() > dims)
      continue;
    learned.shape.ndim_known = true;
    learned.shape.dims.insert(learned.shape.dims.begin(), dims - learned.shape.dims.size(), values::Dim{});
    for (std::size_t i = 0; i < learned.first.size(); ++i)
      if (!learned.shape.dims[i].size) learned.shape.dims[i] = learned.first[i];
    if (run.policy().names_sizes && run.in_roots())
      for (std::size_t i = 0; i < dims; ++i)
        if (!learned.shape.dims[i].size)
          learned.shape.dims[i].size = run.stand_in(
              std::string(name.text()) + ".shape[" + std::to_string(i) + "]");
    learned.first.clear();
    learned.shape_value = {};
    run.heap().set(
        value.as<values::Tensor>()->state, Value::of(Kind::state, run.heap().state(std::move(learned))));
  }
}

// Kept with the variables: it is forgotten with the path.
syntax::Name mark_of(syntax::Name variable) {
  return syntax::Name(values::UnknownState::asked + std::string(variable.text()));
}

// The number of dimensions in `ndim == 3`; null in any other condition.
Int ndim_in(const symbolic::Context& symbols, Cond condition) {
  const auto found = symbols.form(condition) == symbolic::Context::Form::compare
      ? symbols.comparison(condition)
      : std::nullopt;
  if (!found || found->op != symbolic::Compare::eq) return nullptr;
  const Int ndim = symbols.value(found->left) ? found->right : found->left;
  const symbolic::AtomInfo* atom = symbols.atom_info(ndim);
  return atom && atom->name.empty() ? ndim : nullptr;
}
}  // namespace

void note_required_ndims(Interpreter& run, values::Scope& scope, Cond holds) {
  const auto& symbols = run.symbols();
  const bool is_so = symbols.form(holds) != symbolic::Context::Form::negation;
  const Int ndim = ndim_in(symbols, is_so ? holds : symbols.operands(holds).front());
  if (!ndim) return;
  std::vector<syntax::Name> asked;
  for (const auto& [name, slot] : scope.names.entries()) {
    Value value = run.resolve(slot->value);
    if (value.is(Kind::unknown) && value.as<values::Unknown>()->state.value)
      value = value.as<values::Unknown>()->state.value;
    if (value.is(Kind::tensor) && value.as<values::Tensor>()->now() &&
        asked_ndim(*value.as<values::Tensor>()->now()) == ndim)
      asked.push_back(mark_of(name));
  }
  for (const syntax::Name mark : asked)
    run.heap().set(run.heap().slot_of(scope.names, mark), run.heap().boolean(is_so));
}

bool asked_for_ndim(const values::Scope& scope, syntax::Name variable) {
  const values::Slot* asked = scope.names.find(mark_of(variable));
  return asked && asked->value.is(Kind::boolean);
}

namespace {
constexpr std::size_t most_answers = 8;  // each is one run of the function more
const syntax::Name answered{
    values::UnknownState::answered};  // of a method that nobody saw: what its calls without arguments gave

bool asks_for_ndim(const Library& library, std::string_view method) {
  return library.find(values::InternalRow::asks_ndim + method) != nullptr;
}

// What arrays of every library call it: an attribute, methods, the length of the shape, which makes an array
// of it.
std::vector<Value> ndims_of(const Library& library, const values::Unknown& array) {
  std::vector<Value> ndims{array.attributes.value(syntax::Name(library.types().ndim))};
  if (array.state.value.is(Kind::tensor))
    if (const Int ndim = asked_ndim(*array.state.value.as<values::Tensor>()->now()))
      ndims.push_back(Value::of(ndim));
  for (const auto& [name, slot] : array.attributes.entries()) {
    if (!slot->value.is(Kind::unknown)) continue;
    const values::Table& within = slot->value.as<values::Unknown>()->attributes;
    if (const Value answers = asks_for_ndim(library, name.text()) ? within.value(answered) : Value{};
        answers.is(Kind::tuple))
      ndims.insert(
          ndims.end(), answers.as<values::Tuple>()->items.begin(), answers.as<values::Tuple>()->items.end());
  }
  return ndims;
}
}  // namespace

void note_asked_ndim(Runtime& run, Value method, Value answer) {
  values::Heap& heap = run.heap();
  const std::string_view name = method.is(Kind::unknown) ? method.as<values::Unknown>()->name
                                                         : std::string_view{};
  const auto dot = name.rfind('.');
  if (dot == name.npos || !asks_for_ndim(run.library(), name.substr(dot + 1))) return;
  const Value before = method.as<values::Unknown>()->attributes.value(answered);
  std::vector<Value> answers = before.is(Kind::tuple) ? before.as<values::Tuple>()->items
                                                      : std::vector<Value>{};
  if (answers.size() >= most_answers) return;
  answers.push_back(answer);
  heap.set(heap.slot_of(method.as<values::Unknown>()->attributes, answered), heap.tuple(std::move(answers)));
}

bool asked_for_ndim(Interpreter& run, const OpenQuestions& questions, const values::Scope& scope,
    syntax::Name variable, std::span<const Cond> taken) {
  const values::Slot* slot = scope.names.find(variable);
  const Value value = slot ? run.resolve(slot->value) : Value{};
  if (!value.is(Kind::unknown)) return false;
  const auto is_asked = [&](Value ndim) {
    const auto asked = ndim.is(Kind::unknown) ? questions.all(ndim.as<values::Unknown>())
                                              : std::span<const OpenQuestions::Asked>{};
    const Int number = ndim.is(Kind::unknown) ? ndim.as<values::Unknown>()->integer
        : ndim.is(Kind::integer)              ? ndim.integer()
                                              : nullptr;
    return std::any_of(taken.begin(), taken.end(), [&](Cond condition) {
      bool any = false;
      run.symbols().parts(
          condition, [&](Int atom) { any = any || atom == number; },
          [&](Cond part) {
            any = any || std::any_of(asked.begin(), asked.end(), [&](const OpenQuestions::Asked& each) {
              return each.answer == part;
            });
          });
      return any;
    });
  };
  return std::ranges::any_of(ndims_of(run.library(), *value.as<values::Unknown>()), is_asked);
}

void learn_ndims(Interpreter& run, const values::Table& variables, Cond holds) {
  auto& symbols = run.symbols();
  if (run.guarded()) return;
  if (symbols.form(holds) == symbolic::Context::Form::conjunction) {
    for (const Cond part : symbols.operands(holds)) learn_ndims(run, variables, part);
    return;
  }
  const auto found = symbols.form(holds) == symbolic::Context::Form::compare ? symbols.comparison(holds)
                                                                             : std::nullopt;
  if (!found || found->op != symbolic::Compare::eq) return;
  const bool number_first = symbols.value(found->left).has_value();
  const Int ndim = number_first ? found->right : found->left;
  const auto count = symbols.value(number_first ? found->left : found->right);
  const symbolic::AtomInfo* atom = symbols.atom_info(ndim);
  if (atom && atom->name.empty() && count && *count > 0 && *count <= most_dimensions)
    learn_one(run, variables, ndim, *count);
}

}  // namespace stepzero::interpreter

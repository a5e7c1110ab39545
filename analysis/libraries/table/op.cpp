// The call as shape functions see it: its arguments. See op.hpp.
#include "libraries/table/op.hpp"
#include "interpreter/calls/unseen.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <array>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {
constexpr std::size_t most_items = 64;  // of a list that are looked at

const Shape unknown_shape;

// Other spellings that PyTorch takes for NumPy's sake.
struct Synonym {
  std::string_view written, meant;
};
constexpr std::array synonyms = {
    Synonym{"axis", "dim"},
    Synonym{"keepdims", "keepdim"},
    Synonym{"x", "input"},
    Synonym{"a", "input"},
    Synonym{"x1", "input"},
    Synonym{"x2", "other"},
    Synonym{"axes", "dim"},
    // torch.linalg names its matrices A in the documentation and input in some of its functions.
    Synonym{"A", "input"},
    Synonym{"input", "A"},
    Synonym{"b", "B"},
    // What is a word of the language since Python 3.7.
    Synonym{"async", "non_blocking"},
};

}  // namespace

Op::Op(Call& made) : call(made), run(made.run), s(made.run.symbols()) {
  for (auto it = call.options.begin(); it != call.options.end();) {
    std::ptrdiff_t at = -1;
    for (const Synonym& synonym : synonyms)
      if (it->first.text() == synonym.written && at < 0) at = index(synonym.meant);
    if (at >= 0 && !call.given[static_cast<std::size_t>(at)]) {
      call.arguments[static_cast<std::size_t>(at)] = it->second;
      call.given[static_cast<std::size_t>(at)] = true;
      it = call.options.erase(it);
    } else {
      ++it;
    }
  }
}

// ---------------------------------------------------------------- arguments

std::ptrdiff_t Op::index(std::string_view name) const {
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

Value Op::argument(std::string_view name) const {
  if (const auto at = index(name); at >= 0) {
    const Value value = run.resolve(call.at(static_cast<std::size_t>(at)));
    return value.is(Kind::none) ? Value{} : value;
  }
  for (const auto& [key, value] : call.options)
    if (key.text() == name) {
      const Value found = run.resolve(value);
      return found.is(Kind::none) ? Value{} : found;
    }
  return {};
}
bool Op::given(std::string_view name) const {
  const auto at = index(name);
  return at >= 0 && call.given[static_cast<std::size_t>(at)];
}

namespace {
// What an operator made of something that is not known: `target.long()`, `scores.argmax(1).view(-1)`. If it
// is a tensor, its dtype is the one that the operator always gives; unknown where it hangs on the operands.
Dtype dtype_by_making(Runtime& run, const values::Unknown& made) {
  const values::Unknown* at = &made;
  for (int depth = 0; depth < values::deepest_source; ++depth) {
    const Value source = at->attributes.value(Name(values::UnknownState::made_of));
    if (!source.is(Kind::unknown)) break;
    // It is named by the call that gave it.
    const std::string_view call = at->name, function = call.substr(0, call.rfind('('));
    const values::Row* row = run.method_row(
        run.library().types().tensor, Name(function.substr(function.rfind('.') + 1)));
    if (!row || !row->op) break;
    if (row->op->type == Type::int64) return Dtype::int64;
    if (row->op->type == Type::boolean) return Dtype::boolean;
    if (row->op->type != Type::input) break;
    at = source.as<values::Unknown>();
  }
  return Dtype::unknown;
}
}  // namespace

const TensorState* Op::expect(std::string_view name) {
  const Value value = argument(name);
  const bool anew = value.is(Kind::unknown) && !value.as<values::Unknown>()->state.value;
  const TensorState* state = require_tensor(run, value);
  const values::Device* device = nullptr;
  if (value.is(Kind::unknown) && state && !state->device) {
    const auto& unknown = *value.as<values::Unknown>();
    device = interpreter::lies_on(unknown);
    if (!device && call.expr) device = interpreter::left_on(unknown);
  }
  const Dtype dtype = anew && state && state->dtype == Dtype::unknown
      ? dtype_by_making(run, *value.as<values::Unknown>())
      : Dtype::unknown;
  if (!device && dtype == Dtype::unknown) return state;
  TensorState placed = *state;
  if (device) placed.device = device;
  if (dtype != Dtype::unknown) placed.dtype = dtype;
  set_state(run, value, placed);
  return tensor(value);
}
const Shape& Op::shape(std::string_view name) const {
  const TensorState* state = tensor(name);
  return state ? state->shape : unknown_shape;
}
bool Op::is_number(std::string_view name) const {
  const Value value = argument(name);
  if (value.is(Kind::unknown)) return !tensor(value) && values::is_number(value);
  // The truth of a comparison with something unknown may as well be a tensor of truths.
  if (value.is(Kind::boolean)) return s.form(value.condition()) == symbolic::Context::Form::constant;
  return value.is(Kind::integer) || value.is(Kind::real);
}
std::optional<std::int64_t> Op::integer(std::string_view name) const {
  const Value value = argument(name);
  return value ? run.to_constant(value) : std::nullopt;
}
Int Op::size(std::string_view name) const {
  const Value value = argument(name);
  if (!value.is(Kind::integer) && !value.is(Kind::unknown)) return nullptr;
  return run.to_int(value);
}
std::optional<double> Op::real(std::string_view name) const {
  const Value value = argument(name);
  if (value.is(Kind::real)) return value.real();
  if (const auto constant = value.is(Kind::integer) ? s.value(value.integer()) : std::nullopt)
    return static_cast<double>(*constant);
  return std::nullopt;
}
std::optional<std::string_view> Op::text(std::string_view name) const {
  const Value value = argument(name);
  return value.is(Kind::string) ? std::optional(value.text()) : std::nullopt;
}
Known Op::flag(std::string_view name) const {
  const Value value = argument(name);
  if (!value) return Known::no;
  const Answer answer = s.decide(run.truth(value));
  return answer == Answer::yes ? Known::yes : answer == Answer::no ? Known::no : Known::unknown;
}
Dtype Op::dtype(std::string_view name, Dtype otherwise) const {
  const Value value = argument(name);
  if (!value) return otherwise;
  return to_dtype(value);
}
std::optional<std::vector<Int>> Op::sizes(std::string_view name) const {
  const auto at = index(name);
  if (at < 0) return std::nullopt;
  const Value value = argument(name);
  if (!value) return given(name) ? std::nullopt : std::optional<std::vector<Int>>(std::in_place);
  const bool last = static_cast<std::size_t>(at) + 1 >= call.row.positional;
  return libraries::sizes(
      run, value, last && call.row.takes_rest ? call.rest : std::vector<Value>{}, call.place);
}
std::optional<std::vector<std::int64_t>> Op::integers(std::string_view name) const {
  const auto known = sizes(name);
  if (!known) return std::nullopt;
  std::vector<std::int64_t> found;
  for (const Int size : *known) {
    const auto constant = s.value(size);
    if (!constant) return std::nullopt;
    found.push_back(*constant);
  }
  return found;
}
std::optional<std::vector<Value>> Op::sequence(std::string_view name) const {
  const Value value = argument(name);
  if (!value.is(Kind::list) && !value.is(Kind::tuple)) return std::nullopt;
  return run.elements(value, call.place);
}

bool Op::must_be_tensor(std::string_view name) {
  const Value value = argument(name);
  using Has = interpreter::WrongKind::Has;
  std::optional<Has> has;
  switch (value.kind) {
  case Kind::integer:
  case Kind::real:
  case Kind::boolean:
    if (is_number(name)) has = Has::number;
    break;
  case Kind::string: has = Has::text; break;
  case Kind::list: has = Has::list; break;
  case Kind::tuple: has = Has::tuple; break;
  // Who gives back a dict for one kind of input, and a tensor for another, is asked by those who know what
  // they give.
  case Kind::dict:
    if (!run.assumption()) has = Has::dict;
    break;
  default: break;
  }
  if (!has) return true;
  fail(ProblemKind::argument,
      interpreter::WrongKind{interpreter::WrongKind::Need::tensor, *has, taker(), this->name(name), {}});
  return false;
}

const std::vector<Value>& Op::tensors() const {
  if (gathered_) return tensors_;
  gathered_ = true;
  const auto add = [&](Value value) {
    value = run.resolve(value);
    if (value.is(Kind::tensor) || value.is(Kind::unknown) || value.is(Kind::choice))
      tensors_.push_back(value);
    else if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto& items = value.is(Kind::list) ? values::Heap::list_state(value)->items
                                               : value.as<values::Tuple>()->items;
      more_ = more_ || items.size() > most_items ||
          (value.is(Kind::list) && values::Heap::list_state(value)->open);
      for (std::size_t i = 0; i < items.size() && i < most_items; ++i) {
        const Value item = run.resolve(items[i]);
        if (item.is(Kind::tensor) || item.is(Kind::unknown))
          tensors_.push_back(item);
        else
          more_ = more_ || item.is(Kind::choice) || item.is(Kind::list) || item.is(Kind::tuple) ||
              item.is(Kind::instance);
      }
      // One stands for those that are not known one by one.
      if (value.is(Kind::list) && values::Heap::list_state(value)->rest)
        if (const Value rest = run.resolve(values::Heap::list_state(value)->rest);
            rest.is(Kind::tensor) || rest.is(Kind::unknown))
          tensors_.push_back(rest);
    } else {
      more_ = more_ || value.is(Kind::dict) || value.is(Kind::iterator) || value.is(Kind::instance);
    }
  };
  more_ = call.spread || !call.options.empty();
  for (const Value& value : call.arguments) add(value);
  for (const Value& value : call.rest) add(value);
  return tensors_;
}
bool Op::takes_more() const {
  static_cast<void>(tensors());
  return more_;
}

}  // namespace stepzero::libraries

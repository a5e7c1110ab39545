// shape/unlike-sizes: an operation whose operands fit only where two dimensions of one tensor, which the
// program calls by different names, are equal. Usually a transposition is missing, or one too many.
#include "libraries/torch/meaning/op_form.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace stepzero::rules::shape::unlike_sizes {

using values::code;

using libraries::OpForm;
using symbolic::Int;
using values::Shape;

namespace {

bool is_known(const TensorState* state) { return state && state->shape.ndim_known && !state->poisoned; }

// Sizes that the program has names for, by the tensors of which they are different dimensions.
class NamedSizes {
public:
  explicit NamedSizes(const Record& record) : record_(record) {
    for (const interpreter::Fact& fact : record.facts)
      if (fact.tensor) add(*fact.tensor);
    for (const Origin& each : Provenance::of(record).all())
      for (const TensorState* state : inputs(*each.made))
        if (state) add(*state);
  }

  struct Pair {
    Int one = nullptr, other = nullptr;
  };
  // Dimensions of one tensor of which the first size and the second are made.
  std::optional<Pair> apart(Int a, Int b) const {
    const std::vector<Int> mine = atoms(a), theirs = atoms(b);
    for (const Int one : mine)
      if (std::ranges::find(theirs, one) != theirs.end()) return std::nullopt;
    for (const Int one : mine)
      for (const Int other : theirs)
        if (are_of_one(one, other)) return Pair{one, other};
    return std::nullopt;
  }

private:
  const Record& record_;
  std::unordered_map<Int, std::vector<std::size_t>> tensors_;
  std::unordered_set<const TensorState*> seen_;

  std::vector<Int> atoms(Int size) const {
    std::vector<Int> found;
    record_.symbols.atoms(size, [&](Int atom) { found.push_back(atom); });
    return found;
  }
  // Two sizes alone are a matrix, which is square as often as not.
  void add(const TensorState& state) {
    constexpr std::size_t fewest = 3;  // dimensions
    if (state.made || !state.shape.ndim_known || state.shape.dims.size() < fewest ||
        !seen_.insert(&state).second)
      return;
    for (const Dim& dim : state.shape.dims) {
      const symbolic::AtomInfo* info = dim.size ? record_.symbols.atom_info(dim.size) : nullptr;
      // Sizes that the program chooses, as those of its weights, it may choose equal.
      if (info && !info->name.empty() && !info->stand_in && info->sharing != values::Sharing::uniform)
        tensors_[dim.size].push_back(seen_.size());
    }
  }
  bool are_of_one(Int one, Int other) const {
    const auto mine = tensors_.find(one), theirs = tensors_.find(other);
    return mine != tensors_.end() && theirs != tensors_.end() &&
        std::ranges::any_of(mine->second, [&](std::size_t tensor) {
          return std::ranges::find(theirs->second, tensor) != theirs->second.end();
        });
  }
};

// Sizes that have to be equal, of which one may be 1 where `broadcasts`.
struct Meeting {
  Dim left, right;
};

std::vector<Meeting> broadcast(const Shape& a, const Shape& b, std::size_t kept = 0) {
  std::vector<Meeting> all;
  for (std::size_t i = kept; i < std::min(a.dims.size(), b.dims.size()); ++i)
    all.push_back({a.dims[a.dims.size() - 1 - i], b.dims[b.dims.size() - 1 - i]});
  return all;
}

std::vector<Meeting> of_product(const Producer& made, const Shape& a, const Shape& b) {
  constexpr std::size_t matrix = 2;  // dimensions
  if (a.dims.size() < matrix || b.dims.size() < matrix || argument(made, "dims")) return {};
  // Of two that are alike attention/head-dims and shape/matmul tell that one is not transposed.
  if (std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
          [](const Dim& mine, const Dim& other) { return mine.size == other.size; }))
    return {};
  std::vector<Meeting> all = broadcast(a, b, matrix);
  all.push_back({a.dims.back(), b.dims[b.dims.size() - matrix]});
  return all;
}

// Of an equation without `...`: the sizes that share a letter.
std::vector<Meeting> of_equation(std::string_view equation, const std::vector<const TensorState*>& operands) {
  if (equation.find("...") != equation.npos) return {};
  equation = equation.substr(0, equation.find("->"));
  std::unordered_map<char, Dim> sizes;
  std::vector<Meeting> all;
  std::size_t operand = 0, at = 0;
  for (const char letter : equation) {
    if (letter == ',') {
      if (operand >= operands.size() || at != operands[operand]->shape.dims.size()) return {};
      ++operand;
      at = 0;
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(letter))) continue;
    if (operand >= operands.size() || at >= operands[operand]->shape.dims.size()) return {};
    const Dim& size = operands[operand]->shape.dims[at++];
    const auto [known, is_new] = sizes.emplace(letter, size);
    if (!is_new) all.push_back({known->second, size});
  }
  return all;
}

// All tensors that went in, each as often as it was given.
std::vector<const TensorState*> operands_of(const Producer& made) {
  std::vector<const TensorState*> found;
  for (const auto& list : {made.states, made.listed})
    for (const TensorState* state : list)
      if (state) found.push_back(state);
  return found;
}

std::vector<Meeting> meetings(const Record& record, const Producer& made) {
  const std::vector<const TensorState*> operands = operands_of(made);
  if (operands.size() < 2 || !std::ranges::all_of(operands, is_known)) return {};
  const Shape &a = operands[0]->shape, &b = operands[1]->shape;
  switch (semantics(made)) {
  case OpSemantics::add:
  case OpSemantics::sub:
  case OpSemantics::mul:
  case OpSemantics::div:
  case OpSemantics::masked:
  case OpSemantics::ordered:
  case OpSemantics::equals:
    return libraries::form_of(*made.row) == OpForm::added_to ? std::vector<Meeting>{} : broadcast(a, b);
  case OpSemantics::product:
    switch (libraries::form_of(*made.row)) {
    case OpForm::none: return operands.size() == 2 ? of_product(made, a, b) : std::vector<Meeting>{};
    case OpForm::by_pattern:
      if (const Value equation = argument(made, "equation"); equation.is(values::Kind::string))
        return of_equation(equation.text(), operands);
      return {};
    default: return {};
    }
  case OpSemantics::joined: {
    const auto dim = number(record, argument(made, "dim"));
    std::vector<Meeting> all;
    if (!dim) return all;
    for (const TensorState* each : operands) {
      const auto count = static_cast<double>(a.dims.size());
      if (each->shape.dims.size() != a.dims.size()) return {};
      for (std::size_t i = 0; i < a.dims.size(); ++i)
        if (a.dims.size() > 1 && static_cast<double>(i) != (*dim < 0 ? *dim + count : *dim))
          all.push_back({a.dims[i], each->shape.dims[i]});
    }
    return all;
  }
  default: return {};
  }
}

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report), sizes_(record) {
    for (const Origin& each : Provenance::of(record).all()) first_.emplace(each.made, each.state);
    // What is told of the operation itself says more.
    for (const auto& event : record.events)
      if (event->kind == interpreter::EventKind::problem) static_cast<void>(once_(event->place));
  }

  // Without `tells` the places are only noted at which all is well once.
  void look_at(const Producer& made, bool tells) {
    if (!record_.in_file(made.born)) return;
    const std::vector<Meeting> all = meetings(record_, made);
    bool wrong = false;
    for (const Meeting& each : all) {
      if (!each.left.size || !each.right.size || each.left.size == each.right.size) continue;
      const auto pair = sizes_.apart(each.left.size, each.right.size);
      if (!pair || is_compared(made, *pair)) continue;
      wrong = true;
      if (!tells || !once_(made.born)) continue;
      tell(made, each);
      return;
    }
    if (!tells && !wrong && !all.empty()) static_cast<void>(once_(made.born));
  }

  // What a layer computes along the last dimension is of a size that the input has along another one, and its
  // last had another, or one that nobody knows, before the layer asked for this one.
  void look_at_layer(const Producer& made, bool tells) {
    const TensorState* given = input(made);
    if (!made.self.is(values::Kind::instance) || !is_known(given) || !record_.in_file(made.born)) return;
    const std::size_t rank = given->shape.dims.size();
    constexpr std::size_t least = 3;  // dimensions: a batch, and two that may be exchanged
    const Int size = rank < least ? nullptr : given->shape.dims.back().size;
    if (!size || record_.symbols.value(size)) return;
    const auto& dims = given->shape.dims;
    const auto other = std::find_if(
        dims.begin() + 1, dims.end() - 1, [&](const Dim& dim) { return dim.size == size; });
    if (other == dims.end() - 1) {
      if (!tells) static_cast<void>(once_(made.born));
      return;
    }
    const auto at = static_cast<std::size_t>(other - dims.begin());
    const TensorState* before = before_it_was_asked(given, at, size);
    if (!before || !tells || !once_(made.born)) return;
    const std::string words = values::size_words(record_.symbols, *other);
    Finding* finding = report_.add(Severity::warning, made.born, made.calls,
        "This layer takes " + words + " features along the last dimension, and its input " +
            code(values::shape_text(record_.symbols, before->shape)) + " has them along dimension " +
            std::to_string(at) + ": it fits only where both are equal. Transpose the input first.");
    if (finding && before->made->born) report_.relate(*finding, before->made->born, "the input is made here");
  }

private:
  const Record& record_;
  Report& report_;
  NamedSizes sizes_;
  std::unordered_map<const Producer*, const TensorState*> first_;  // as each operation left its result
  Once once_;

  // The input, or what it came from by operations that keep the two dimensions, as it was before.
  const TensorState* before_it_was_asked(const TensorState* state, std::size_t at, Int size) const {
    constexpr int longest_way = 8;  // operations back
    const std::size_t rank = state->shape.dims.size();
    if (const auto first = first_.find(state->made); first != first_.end()) {
      const auto& dims = first->second->shape.dims;
      if (is_known(first->second) && dims.size() == rank && dims[at].size == size && dims.back().size != size)
        return first->second;
    }
    for (int way = 0; state && state->made && way < longest_way; ++way) {
      const std::vector<const TensorState*> from = inputs(*state->made);
      state = from.empty() ? nullptr : from.front();
      if (!is_known(state) || state->shape.dims.size() != rank || state->shape.dims[at].size != size)
        return nullptr;
      if (state->shape.dims.back().size != size) return state->made ? state : nullptr;
    }
    return nullptr;
  }

  // Does the program hold the two against each other itself, anywhere on the way there?
  bool is_compared(const Producer& made, const NamedSizes::Pair& pair) const {
    const auto compares = [&](Place place) {
      const syntax::FunctionStmt* around = function_around(record_, place);
      bool found = false;
      if (around)
        syntax::for_each_expression(*around, [&](const syntax::Expr& expr) {
          found = found || (expr.kind == syntax::ExprKind::compare && names_both(place.chunk, expr, pair));
        });
      return found;
    };
    bool found = compares(made.born);
    for (const auto* site = made.calls; site && !found; site = site->outer) found = compares(site->place);
    return found;
  }
  bool names_both(std::uint32_t chunk, const syntax::Expr& expr, const NamedSizes::Pair& pair) const {
    const std::string_view text = record_.text({chunk, expr.span});
    const auto holds = [&](Int size) {
      const std::string_view name = record_.symbols.atom_info(size)->name;
      const auto is_part = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
      };
      for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
        if ((at == 0 || !is_part(text[at - 1])) &&
            (at + name.size() == text.size() || !is_part(text[at + name.size()])))
          return true;
      return false;
    };
    return holds(pair.one) && holds(pair.other);
  }

  void tell(const Producer& made, const Meeting& meeting) {
    std::string shapes;
    for (const TensorState* each : inputs(made)) {
      constexpr std::size_t most_shapes = 3;  // that a sentence names
      if (std::ranges::count(shapes, '[') >= static_cast<std::ptrdiff_t>(most_shapes)) break;
      shapes += (shapes.empty() ? "" : " and ") + code(values::shape_text(record_.symbols, each->shape));
    }
    report_.add(Severity::warning, made.born, made.calls,
        "The shapes " + shapes + " fit only where " + code(record_.symbols.text(meeting.left.size)) +
            " equals " + code(record_.symbols.text(meeting.right.size)) +
            ", two dimensions of one tensor. Transpose or permute one of them so that like meets like.");
  }
};

// What is so on one way to a place and not on another, or of one call and not of another, is not told: who
// takes the one does not take the other.
void check(const Record& record, Report& report) {
  Check look(record, report);
  const Provenance& provenance = Provenance::of(record);
  for (const bool tells : {false, true}) {
    for (const Origin& each : provenance.all()) look.look_at(*each.made, tells);
    for (const OpSemantics by : {OpSemantics::normalized, OpSemantics::linear})
      for (const Origin& each : provenance.of_semantics(by)) look.look_at_layer(*each.made, tells);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "shape/unlike-sizes",
    .severity = Severity::warning,
    .summary = "an operation fits only where two dimensions of one tensor are equal",
    .why =
        "`B, N, C = x.shape` gives three sizes three names. Where an operation then needs `N` and `C` to be equal, as `x + x.transpose(1, 2)` does, it fails for all tensors but those that happen to be square, and where they are, it combines positions with channels. A transposition is missing, or there is one too many. The same of a layer: what a convolution gives, `[batch, channels, length]`, has its channels in the middle, and `LayerNorm(channels)` takes them last.",
    .wrong = "B, N, C = x.shape\n"
             "scores = q @ k.transpose(-2, -1)  # [B, N, N]\n"
             "out = scores.softmax(-1) @ v.transpose(-2, -1)\n",
    .right = "B, N, C = x.shape\n"
             "scores = q @ k.transpose(-2, -1)  # [B, N, N]\n"
             "out = scores.softmax(-1) @ v\n",
    .silent =
        "Matrices of two dimensions, which are square as often as not; sizes without a name (`_`); sizes of different tensors, which their callers may keep equal; sizes that the program compares with each other or chooses itself, as those of its weights; places that are right on another way or in another call.",
    .fix = "None: which of the two is in the wrong order is not known.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::shape::unlike_sizes

// einops: patterns of named axes, and what they make of a shape.
#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/views.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <map>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- patterns

struct Axis {
  enum class What : std::uint8_t { name, number, ellipsis } what;
  std::string name;  // also of a number, as it is written
  std::int64_t number = 0;
};
// What one dimension of the tensor is made of: one axis, or several in parentheses.
struct Group {
  std::vector<Axis> axes;
  bool composed = false;
};
struct Side {
  std::vector<Group> groups;
  std::ptrdiff_t ellipsis = -1;  // the group that is one or, in parentheses, holds it
  bool ellipsis_inside = false;
  bool has(std::string_view name) const {
    for (const Group& group : groups)
      for (const Axis& axis : group.axes)
        if (axis.what == Axis::What::name && axis.name == name) return true;
    return false;
  }
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Nullopt with a reason if the text is no side of a pattern.
std::optional<Side> read_side(std::string_view text, std::string& wrong) {
  Side side;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      ++i;
    } else if (c == '(') {
      if (inside) {
        wrong = "parentheses cannot be nested";
        return std::nullopt;
      }
      inside = true;
      side.groups.push_back({{}, true});
      ++i;
    } else if (c == ')') {
      if (!inside) {
        wrong = "a parenthesis is closed that was not opened";
        return std::nullopt;
      }
      inside = false;
      ++i;
    } else {
      Axis axis{Axis::What::name, {}, 0};
      if (text.substr(i).starts_with("...") || text.substr(i).starts_with("…")) {
        axis.what = Axis::What::ellipsis;
        i += 3;
        if (side.ellipsis >= 0) {
          wrong = "there are two ellipses on one side";
          return std::nullopt;
        }
        side.ellipsis = static_cast<std::ptrdiff_t>(inside ? side.groups.size() - 1 : side.groups.size());
        side.ellipsis_inside = inside;
      } else {
        std::size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == i) {
          wrong = std::string("'") + c + "' stands for no axis";
          return std::nullopt;
        }
        axis.name = text.substr(i, end - i);
        i = end;
        if (axis.name.find_first_not_of("0123456789") == std::string::npos) {
          axis.what = Axis::What::number;
          if (axis.name.size() > 15) return std::nullopt;
          axis.number = std::stoll(axis.name);
          if (axis.number == 0) {
            wrong = "an axis cannot have the size 0";
            return std::nullopt;
          }
        } else if (axis.name[0] >= '0' && axis.name[0] <= '9') {
          wrong = "'" + axis.name + "' is no name of an axis";
          return std::nullopt;
        } else if (side.has(axis.name)) {
          wrong = "'" + axis.name + "' comes twice on one side";
          return std::nullopt;
        }
      }
      if (inside)
        side.groups.back().axes.push_back(std::move(axis));
      else
        side.groups.push_back({{std::move(axis)}, false});
    }
  }
  if (inside) {
    wrong = "a parenthesis is not closed";
    return std::nullopt;
  }
  return side;
}

std::string words_of(const Group& group) {
  std::string text = group.composed ? "(" : "";
  for (std::size_t i = 0; i < group.axes.size(); ++i)
    text += (i ? " " : "") + (group.axes[i].what == Axis::What::ellipsis ? "..." : group.axes[i].name);
  return text + (group.composed ? ")" : "");
}

// ---------------------------------------------------------------- what a pattern does to a shape

enum class Deed : std::uint8_t { rearrange, reduce, repeat };

using Lengths = std::vector<std::pair<std::string, Value>>;

struct Transform {
  Op& op;
  const Shape& from;
  std::string_view pattern;
  const Lengths& given;
  Deed deed;
  std::map<std::string, Dim, std::less<>> sizes = {};  // of the axes
  std::vector<Dim> between = {};                       // what the ellipsis stands for
  bool between_known = false;
  std::vector<Dim> first = {};  // the first dimensions of a tensor whose rank is not known
  bool names_sizes =
      false;  // sizes of the tensor that are not known are called as the pattern calls them, from here on

  std::nullopt_t wrong(std::string text, std::initializer_list<Dim> because = {}) {
    op.fail(ProblemKind::reshape, "In '" + std::string(pattern) + "' " + std::move(text), because);
    return std::nullopt;
  }

  bool agree(const Side& left, const Side& right);
  bool take(const Group& group, const Dim& dim);
  void name_sizes(const Group& group, Dim& dim);
  std::optional<Shape> run(Shape* learned);
};

// Do the axes of both sides go together?
bool Transform::agree(const Side& left, const Side& right) {
  const auto each = [](const Side& side, auto&& visit) {
    for (const Group& group : side.groups)
      for (const Axis& axis : group.axes) visit(axis);
  };
  std::string text;
  each(left, [&](const Axis& axis) {
    if (axis.what == Axis::What::name && deed != Deed::reduce && !right.has(axis.name) && text.empty())
      text = "'" + axis.name + "' stands on the left only";
    if (axis.what == Axis::What::number && axis.number != 1 && deed != Deed::reduce && text.empty())
      text = "the size " + axis.name + " stands on the left without a name, where only 1 can";
  });
  each(right, [&](const Axis& axis) {
    if (axis.what == Axis::What::name && !left.has(axis.name) && text.empty()) {
      if (deed != Deed::repeat)
        text = "'" + axis.name + "' stands on the right only";
      else if (std::none_of(
                   given.begin(), given.end(), [&](const auto& length) { return length.first == axis.name; }))
        text = "'" + axis.name + "' is new and its size is not given";
    }
    if (axis.what == Axis::What::number && axis.number != 1 && deed != Deed::repeat && text.empty())
      text = "the size " + axis.name + " stands on the right without a name, where only 1 can";
  });
  if (text.empty() && left.ellipsis_inside) text = "the ellipsis stands in parentheses on the left";
  if (text.empty() && right.ellipsis >= 0 && left.ellipsis < 0) text = "an ellipsis stands on the right only";
  if (text.empty() && left.ellipsis >= 0 && right.ellipsis < 0 && deed != Deed::reduce)
    text = "the ellipsis stands on the left only";
  for (const auto& [name, value] : given)
    if (text.empty() && !left.has(name) && !right.has(name))
      text = "there is no '" + name + "', and its size is given";
  if (!text.empty()) (void)wrong(text);
  return text.empty();
}

// What the dimension says about the axes that it is made of.
bool Transform::take(const Group& group, const Dim& dim) {
  Int known = op.s.constant(1);
  const Axis* open = nullptr;
  for (const Axis& axis : group.axes) {
    if (axis.what == Axis::What::number) {
      known = op.mul(known, op.s.constant(axis.number));
    } else if (const auto it = sizes.find(axis.name); it != sizes.end()) {
      known = op.mul(known, it->second.size);
    } else if (open) {
      (void)wrong("only one axis of " + words_of(group) + " can be worked out, and the sizes of '" +
          open->name + "' and '" + axis.name + "' are not given");
      return false;
    } else {
      open = &axis;
    }
  }
  if (!open) {
    if (known && op.equal(dim, op.dim(known)) == Answer::no) {
      (void)wrong(words_of(group) + " is " + op.words(op.dim(known)) + ", and the dimension has the size " +
              op.words(dim),
          {dim});
      return false;
    }
    // A plain axis whose size was given keeps what is known of the dimension.
    if (group.axes.size() == 1 && group.axes[0].what == Axis::What::name && dim.size && known &&
        op.equal(dim, op.dim(known)) == Answer::yes)
      sizes[group.axes[0].name] = dim;
    return true;
  }
  Dim& solved = sizes[open->name];
  if (group.axes.size() == 1) {
    solved = dim;
    return true;
  }
  if (!known || !dim.size || op.s.value(known) == 0) return true;
  if (op.s.divides(known, dim.size) == Answer::no) {
    (void)wrong(
        words_of(group) + " is " + op.words(dim) + ", which " + op.words(op.dim(known)) + " does not divide",
        {dim});
    return false;
  }
  const auto exact = op.s.exact_quotient(dim.size, known);
  solved = op.made(exact ? *exact : op.s.floordiv(dim.size, known));
  return true;
}

void Transform::name_sizes(const Group& group, Dim& dim) {
  if (dim.size && group.axes.size() == 1 && group.axes[0].what == Axis::What::name)
    op.s.rename(dim.size, group.axes[0].name);
  if (dim.size) return;
  Int whole = op.s.constant(1);
  for (const Axis& axis : group.axes) {
    if (axis.what == Axis::What::number) {
      whole = op.s.mul(whole, op.s.constant(axis.number));
      continue;
    }
    Dim& size = sizes[axis.name];
    if (!size.size)
      size = op.made(
          op.s.fresh({.name = axis.name, .lower = 0, .upper = {}, .sharing = symbolic::Sharing::local}));
    whole = op.s.mul(whole, size.size);
  }
  dim = group.axes.size() == 1 && group.axes[0].what == Axis::What::name ? sizes[group.axes[0].name]
                                                                         : op.made(whole);
}

std::optional<Shape> Transform::run(Shape* learned) {
  const auto arrow = pattern.find("->");
  if (arrow == std::string_view::npos) return wrong("there is no '->'");
  if (pattern.find("->", arrow + 2) != std::string_view::npos) return wrong("there are two '->'");
  std::string reason;
  const auto left = read_side(pattern.substr(0, arrow), reason);
  const auto right = left ? read_side(pattern.substr(arrow + 2), reason) : std::nullopt;
  if (!left || !right) {
    if (!reason.empty()) (void)wrong(reason);
    return std::nullopt;
  }
  if (!agree(*left, *right)) return std::nullopt;
  for (const auto& [name, value] : given) {
    const Value size = op.run.resolve(value);
    Dim dim;
    if (size.is(Kind::integer) || size.is(Kind::unknown))
      if (const Int length = op.run.to_int(size)) dim = op.made(length);
    // Repeated no times, a tensor is empty; what there is cannot be divided by 0.
    const auto is_it = [&](const Axis& axis) { return axis.what == Axis::What::name && axis.name == name; };
    const bool divides = std::ranges::any_of(
        left->groups, [&](const Group& group) { return std::ranges::any_of(group.axes, is_it); });
    if (const auto constant = op.value(dim); constant && (*constant < 0 || (*constant == 0 && divides)))
      return wrong("'" + name + "' has the impossible size " + std::to_string(*constant));
    sizes[name] = dim;
  }
  // The dimensions, one for each group; the ellipsis takes what is left.
  const std::size_t named = left->groups.size() - (left->ellipsis >= 0 ? 1 : 0);
  Shape shape = from;
  if (shape.rank_known ? (left->ellipsis < 0 ? shape.dims.size() != named : shape.dims.size() < named)
                       : left->ellipsis < 0 && shape.dims.size() > named)
    return wrong("the left side has " + std::string(left->ellipsis >= 0 ? "at least " : "") +
        count_of(named, "dimension") + ", and the tensor is " + op.words(shape));
  if (!shape.rank_known && left->ellipsis < 0) {
    shape.dims.insert(shape.dims.begin(), named - shape.dims.size(), Dim{});
    shape.rank_known = true;
    for (std::size_t i = 0; i < first.size() && i < named; ++i)
      if (!shape.dims[i].size) shape.dims[i] = first[i];
    if (learned) *learned = shape;
  }
  const auto count = static_cast<std::ptrdiff_t>(left->groups.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Group& group = left->groups[static_cast<std::size_t>(i)];
    if (i == left->ellipsis) continue;
    Dim dim;
    const std::size_t behind = static_cast<std::size_t>(count - 1 - i);
    if (left->ellipsis < 0 || i > left->ellipsis)
      dim = from_right(shape, behind);
    else if (shape.rank_known)
      dim = shape.dims[static_cast<std::size_t>(i)];
    if (!take(group, dim)) return std::nullopt;
    if (!names_sizes || dim.size || (!shape.rank_known && behind >= shape.dims.size())) continue;
    if (left->ellipsis >= 0 && i < left->ellipsis && !shape.rank_known) continue;
    name_sizes(group,
        left->ellipsis < 0 || i > left->ellipsis ? shape.dims[shape.dims.size() - 1 - behind]
                                                 : shape.dims[static_cast<std::size_t>(i)]);
    if (learned) *learned = shape;
  }
  if (left->ellipsis >= 0 && shape.rank_known) {
    between_known = true;
    between.assign(shape.dims.begin() + left->ellipsis, shape.dims.end() - (count - 1 - left->ellipsis));
  }
  // The right side.
  Shape out{true, {}};
  for (const Group& group : right->groups) {
    if (!group.composed && group.axes[0].what == Axis::What::ellipsis) {
      if (!between_known)
        out = Shape{};  // only what follows is known
      else
        out.dims.insert(out.dims.end(), between.begin(), between.end());
      continue;
    }
    std::vector<Dim> parts;
    bool known = true;
    for (const Axis& axis : group.axes) {
      if (axis.what == Axis::What::ellipsis) {
        known = known && between_known;
        parts.insert(parts.end(), between.begin(), between.end());
      } else {
        parts.push_back(axis.what == Axis::What::number ? op.dim(axis.number) : sizes[axis.name]);
      }
    }
    if (!known)
      out.dims.push_back({});
    else if (parts.empty())
      out.dims.push_back(op.dim(1));
    else
      out.dims.push_back(joined_dim(op, parts));
  }
  return out;
}

// ---------------------------------------------------------------- the operators

// The shape of the first argument, which may be a list of tensors of one shape.
std::optional<Shape> subject(Op& op, const TensorState*& state) {
  const std::string_view name =
      op.call.row.parameters[op.call.row.parameters[0].text() == "self" ? 1 : 0].text();
  const Value given = op.argument(name);
  if (given.is(Kind::list) || given.is(Kind::tuple)) {
    state = nullptr;
    const auto items = op.run.elements(given, op.call.place);
    if (!items || items->empty()) return std::nullopt;
    Shape all{true, {op.dim(static_cast<std::int64_t>(items->size()))}};
    state = op.tensor((*items)[0]);
    if (!state || !state->shape.rank_known) return std::nullopt;
    all.dims.insert(all.dims.end(), state->shape.dims.begin(), state->shape.dims.end());
    return all;
  }
  // It may be an array of another library.
  state = op.tensor(given);
  return state ? std::optional(state->shape) : std::nullopt;
}

Dtype reduced_type(Op& op, Dtype input, Value how) {
  (void)op;
  if (values::is_floating(input)) return input;
  if (how.is(Kind::string) && (how.text() == "max" || how.text() == "min")) return input;
  return Dtype::unknown;
}

Value transform(Op& op, Value pattern, const Lengths& lengths, Deed deed, Value how = {}) {
  const TensorState* input = nullptr;
  const auto from = subject(op, input);
  if (!pattern.is(Kind::string))
    return op.result({}, input && deed != Deed::reduce ? input->dtype : Dtype::unknown);
  // Even of a tensor that is not known the rank of the result is.
  const Shape shape = from ? *from : Shape{};
  Shape learned;
  const std::string_view first = op.call.row.parameters[0].text();
  const bool learns = input && op.tensor(first) == input && !op.run.guarded();
  Transform change{op, shape, pattern.text(), lengths, deed};
  change.names_sizes = learns;
  if (input && op.tensor(first) == input) change.first = input->first;
  const auto out = change.run(&learned);
  if (op.failed()) return op.unknown();
  if (learned.rank_known && learns) op.learn(first, learned);
  const Dtype before = input ? input->dtype : Dtype::unknown;
  return op.result(out ? *out : Shape{}, deed == Deed::reduce ? reduced_type(op, before, how) : before);
}

Lengths options_of(Op& op) {
  Lengths lengths;
  for (const auto& [name, value] : op.call.options) lengths.emplace_back(std::string(name.text()), value);
  return lengths;
}

Value rearrange(Op& op) { return transform(op, op.argument("pattern"), options_of(op), Deed::rearrange); }
Value reduce(Op& op) {
  return transform(op, op.argument("pattern"), options_of(op), Deed::reduce, op.argument("reduction"));
}
Value repeat(Op& op) { return transform(op, op.argument("pattern"), options_of(op), Deed::repeat); }

// einsum(a, b, 'i j, j k -> i k')
Value einsum(Op& op) {
  std::vector<Value> operands{op.argument("tensor")};
  operands.insert(operands.end(), op.call.rest.begin(), op.call.rest.end());
  const Value pattern = op.run.resolve(operands.back());
  operands.pop_back();
  if (!pattern.is(Kind::string)) return op.result({}, Dtype::unknown);
  const std::string_view text = pattern.text();
  const auto wrong = [&](const std::string& what, std::initializer_list<Dim> because = {}) {
    return op.fail(ProblemKind::product, "In '" + std::string(text) + "' " + what, because);
  };
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos) return wrong("there is no '->'");
  std::string reason;
  std::vector<Side> inputs;
  std::string_view rest = text.substr(0, arrow);
  for (;;) {
    const auto comma = rest.find(',');
    // An axis may come twice: a diagonal is summed over.
    const auto side = read_side(rest.substr(0, comma), reason);
    if (!side) return op.result({}, Dtype::unknown);
    inputs.push_back(*side);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  const auto output = read_side(text.substr(arrow + 2), reason);
  if (!output) return op.result({}, Dtype::unknown);
  if (inputs.size() != operands.size())
    return wrong("there are " + count_of(inputs.size(), "operand") + ", and " +
        count_of(operands.size(), "tensor") + (operands.size() == 1 ? " is" : " are") + " given");
  std::map<std::string, Dim, std::less<>> sizes;
  bool open = false;
  Dtype dtype = Dtype::unknown;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorState* state = op.tensor(operands[i]);
    if (state)
      dtype = i == 0 ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
    else
      dtype = Dtype::unknown;
    const Side& side = inputs[i];
    if (side.ellipsis >= 0) open = true;
    if (!state || side.ellipsis >= 0) continue;
    const Shape& shape = state->shape;
    if (shape.rank_known ? shape.dims.size() != side.groups.size() : shape.dims.size() > side.groups.size())
      return wrong("an operand has " + count_of(side.groups.size(), "axis") + ", and its tensor is " +
          op.words(shape));
    for (std::size_t k = 0; k < side.groups.size(); ++k) {
      const Group& group = side.groups[k];
      if (group.composed || group.axes[0].what != Axis::What::name) return op.result({}, dtype);
      const Dim dim = from_right(shape, side.groups.size() - 1 - k);
      auto [it, inserted] = sizes.try_emplace(group.axes[0].name, dim);
      if (inserted) continue;
      if (op.equal(it->second, dim) == Answer::no && op.equal(it->second, 1) == Answer::no &&
          op.equal(dim, 1) == Answer::no)
        return wrong(
            "'" + group.axes[0].name + "' would be both " + op.words(it->second) + " and " + op.words(dim),
            {it->second, dim});
      if (op.equal(it->second, 1) != Answer::no && op.equal(dim, 1) == Answer::no)
        it->second = dim;
      else if (op.equal(it->second, dim) == Answer::unknown && op.equal(it->second, 1) != Answer::no)
        it->second = Dim{};
    }
  }
  if (open) return op.result({}, dtype);
  Shape out{true, {}};
  for (const Group& group : output->groups) {
    if (group.composed || group.axes[0].what != Axis::What::name) return op.result({}, dtype);
    if (!sizes.contains(group.axes[0].name) &&
        std::none_of(
            inputs.begin(), inputs.end(), [&](const Side& side) { return side.has(group.axes[0].name); }))
      return wrong("'" + group.axes[0].name + "' stands on the right only");
    out.dims.push_back(sizes[group.axes[0].name]);
  }
  return op.result(out, dtype);
}

// The axes in front of the `*` of a pattern and behind it.
std::optional<std::pair<std::size_t, std::size_t>> star_of(std::string_view pattern) {
  std::size_t before = 0, behind = 0;
  bool seen = false;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] == ' ') {
      ++i;
    } else if (pattern[i] == '*') {
      if (seen) return std::nullopt;
      seen = true;
      ++i;
    } else if (is_word(pattern[i])) {
      while (i < pattern.size() && is_word(pattern[i])) ++i;
      ++(seen ? behind : before);
    } else {
      return std::nullopt;
    }
  }
  return seen ? std::optional(std::pair(before, behind)) : std::nullopt;
}

// pack(tensors, 'b * c'): what stands at the star is flattened and joined.
Value pack(Op& op) {
  const auto pattern = op.text("pattern");
  const auto star = pattern ? star_of(*pattern) : std::nullopt;
  const auto items = op.sequence("tensors");
  if (!star || !items || items->empty()) return op.run.heap().external("", op.call.place);
  const auto [before, behind] = *star;
  Shape out{true, std::vector<Dim>(before + 1 + behind)};
  Int total = op.s.constant(0);
  std::vector<Value> shapes;
  Dtype dtype = Dtype::unknown;
  bool first = true;
  for (const Value& item : *items) {
    const TensorState* state = op.tensor(item);
    if (!state || !state->shape.rank_known) {
      total = nullptr;
      dtype = Dtype::unknown;
      shapes.push_back(op.run.heap().unknown("", values::Sharing::local, op.call.place));
      first = false;
      continue;
    }
    const auto& dims = state->shape.dims;
    if (dims.size() < before + behind)
      return op.fail(ProblemKind::reshape,
          "'" + std::string(*pattern) + "' needs at least " + count_of(before + behind, "dimension") +
              ", and a tensor is " + op.words(state->shape));
    const std::span<const Dim> middle(
        dims.begin() + static_cast<std::ptrdiff_t>(before), dims.size() - before - behind);
    total = op.add(total, op.product(middle));
    std::vector<Value> sizes;
    for (const Dim& d : middle)
      sizes.push_back(
          d.size ? Value::of(d.size) : op.run.heap().unknown("", values::Sharing::local, op.call.place));
    shapes.push_back(op.tuple(std::move(sizes)));
    for (std::size_t i = 0; i < out.dims.size(); ++i) {
      if (i == before) continue;
      const Dim given = i < before ? dims[i] : from_right(state->shape, out.dims.size() - 1 - i);
      if (op.equal(out.dims[i], given) == Answer::no)
        return op.fail(ProblemKind::concat,
            "'" + std::string(*pattern) + "' joins tensors whose other sizes agree, and " +
                op.words(out.dims[i]) + " is not " + op.words(given),
            {out.dims[i], given});
      out.dims[i] = op.better(out.dims[i], given);
    }
    dtype = first ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
    first = false;
  }
  out.dims[before] = total ? op.made(total) : Dim{};
  return op.tuple({op.result(out, dtype), op.run.heap().list(std::move(shapes))});
}

// unpack(packed, shapes, 'b * c')
Value unpack(Op& op) {
  const TensorState* input = op.tensor("tensor");
  const auto pattern = op.text("pattern");
  const auto star = pattern ? star_of(*pattern) : std::nullopt;
  const auto shapes = op.sequence("packed_shapes");
  if (!star || !shapes) return op.run.heap().open_list(op.unknown());
  const auto [before, behind] = *star;
  const Dtype dtype = input ? input->dtype : Dtype::unknown;
  if (input && input->shape.rank_known && input->shape.dims.size() != before + 1 + behind)
    return op.fail(ProblemKind::reshape,
        "'" + std::string(*pattern) + "' has " + count_of(before + 1 + behind, "dimension") +
            ", and the tensor is " + op.words(input->shape));
  std::vector<Value> made;
  for (const Value& item : *shapes) {
    const Value one = op.run.resolve(item);
    // What is not known need not be one size.
    const bool listed = one.is(Kind::tuple) || one.is(Kind::list) || one.is(Kind::integer);
    const auto sizes = listed ? libraries::sizes(op.run, one, {}, op.call.place) : std::nullopt;
    if (!sizes || !input || !input->shape.rank_known) {
      made.push_back(op.result({}, dtype));
      continue;
    }
    Shape out{
        true, {input->shape.dims.begin(), input->shape.dims.begin() + static_cast<std::ptrdiff_t>(before)}};
    for (const Int size : *sizes) out.dims.push_back(op.s.value(size) == -1 ? Dim{} : op.dim(size));
    out.dims.insert(out.dims.end(), input->shape.dims.end() - static_cast<std::ptrdiff_t>(behind),
        input->shape.dims.end());
    made.push_back(op.result(out, dtype));
  }
  return op.run.heap().list(std::move(made));
}

// parse_shape(x, 'b c h w'): the sizes by name.
Value parse_shape(Op& op) {
  const TensorState* input = op.tensor("x");
  const auto pattern = op.text("pattern");
  std::string reason;
  std::string names = pattern ? std::string(*pattern) : std::string();
  // `_` may come more than once: nobody asks for it.
  std::size_t anonymous = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == '_' && (i == 0 || !is_word(names[i - 1])) &&
        (i + 1 == names.size() || !is_word(names[i + 1])))
      names.insert(i + 1, "_" + std::to_string(anonymous++));
  const auto side = pattern ? read_side(names, reason) : std::nullopt;
  if (!side || side->ellipsis >= 0)
    return op.run.heap().dict({}, true, op.run.heap().external("", op.call.place));
  if (input && input->shape.rank_known && input->shape.dims.size() != side->groups.size())
    return op.fail(ProblemKind::reshape,
        "'" + std::string(*pattern) + "' names " + count_of(side->groups.size(), "dimension") +
            ", and the tensor is " + op.words(input->shape));
  std::vector<std::pair<Value, Value>> items;
  for (std::size_t i = 0; i < side->groups.size(); ++i) {
    const Axis& axis = side->groups[i].axes.empty() ? Axis{Axis::What::ellipsis, {}, 0}
                                                    : side->groups[i].axes[0];
    if (axis.what != Axis::What::name || axis.name.starts_with("__")) continue;
    const Dim d = input ? from_right(input->shape, side->groups.size() - 1 - i) : Dim{};
    items.push_back({op.run.heap().string(axis.name),
        d.size
            ? Value::of(d.size)
            : op.run.heap().unknown(op.run.heap().keep(axis.name), values::Sharing::local, op.call.place)});
  }
  return op.run.heap().dict(std::move(items));
}

// ---------------------------------------------------------------- layers

void keep_lengths(Op& op) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, value] : op.call.options)
    items.push_back({op.run.heap().string(name.text()), value});
  op.keep(values::ModuleState::lengths, op.run.heap().dict(std::move(items)));
}
Value transform_layer(Op& op, Deed deed, Value reduction = {}) {
  const Value kept = op.kept(values::ModuleState::lengths);
  if (!kept.is(Kind::dict)) return op.result({}, Dtype::unknown);  // one of several layers
  Lengths lengths;
  for (const auto& [name, value] : values::Heap::dict_state(kept)->items)
    if (name.is(Kind::string)) lengths.emplace_back(std::string(name.text()), value);
  return transform(op, op.kept("pattern"), lengths, deed, reduction);
}
Value rearrange_layer(Op& op) { return transform_layer(op, Deed::rearrange); }
Value reduce_layer(Op& op) { return transform_layer(op, Deed::reduce, op.kept("reduction")); }

constexpr Operator operators[] = {
    {"rearrange", "tensor, pattern, **axes_lengths", "einops.rearrange", rearrange, Type::own},
    {"reduce", "tensor, pattern, reduction, **axes_lengths", "einops.reduce", reduce, Type::own},
    {"repeat", "tensor, pattern, **axes_lengths", "einops.repeat", repeat, Type::own},
    {"einsum", "tensor, *tensors_and_pattern", "einops.einsum", einsum, Type::own},
    {"pack", "tensors, pattern", "einops.pack", pack, Type::own},
    {"unpack", "tensor, packed_shapes, pattern", "einops.unpack", unpack, Type::own},
    {"parse_shape", "x, pattern", "einops.parse_shape", parse_shape, Type::own},
};

constexpr Layer layers[] = {
    {"einops.layers.torch.Rearrange", "pattern, **axes_lengths", keep_lengths, "input", rearrange_layer,
        Type::own, false},
    {"einops.layers.torch.Reduce", "pattern, reduction, **axes_lengths", keep_lengths, "input", reduce_layer,
        Type::own, false},
};

}  // namespace

std::vector<Row> einops_rows() { return rows_of(layers, operators); }

}  // namespace stepzero::libraries

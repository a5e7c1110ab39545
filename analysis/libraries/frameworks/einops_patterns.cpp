#include "libraries/frameworks/einops_patterns.hpp"

#include "libraries/torch/ops/views.hpp"
#include "syntax/text.hpp"

#include <algorithm>

namespace stepzero::libraries::einops {

std::optional<Side> read_side(
    std::string_view text, std::string_view pattern, std::optional<interpreter::Refusal>& wrong) {
  Side side;
  bool inside = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      ++i;
    } else if (c == '(') {
      if (inside) {
        wrong = why<Reason::pattern_nested>(pattern);
        return std::nullopt;
      }
      inside = true;
      side.groups.push_back({{}, true});
      ++i;
    } else if (c == ')') {
      if (!inside) {
        wrong = why<Reason::pattern_not_opened>(pattern);
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
          wrong = why<Reason::pattern_two_ellipses>(pattern);
          return std::nullopt;
        }
        side.ellipsis = static_cast<std::ptrdiff_t>(inside ? side.groups.size() - 1 : side.groups.size());
        side.ellipsis_inside = inside;
      } else {
        std::size_t end = i;
        while (end < text.size() && syntax::is_word(text[end])) ++end;
        if (end == i) {
          wrong = why<Reason::pattern_sign>(pattern, std::string(1, c));
          return std::nullopt;
        }
        axis.name = text.substr(i, end - i);
        i = end;
        if (axis.name.find_first_not_of("0123456789") == std::string::npos) {
          axis.what = Axis::What::number;
          constexpr std::size_t most_digits = 15;  // of a size that fits into 64 bits
          if (axis.name.size() > most_digits) return std::nullopt;
          axis.number = std::stoll(axis.name);
          if (axis.number == 0) {
            wrong = why<Reason::pattern_size_zero>(pattern);
            return std::nullopt;
          }
        } else if (axis.name[0] >= '0' && axis.name[0] <= '9') {
          wrong = why<Reason::pattern_name>(pattern, axis.name);
          return std::nullopt;
        } else if (side.has(axis.name)) {
          wrong = why<Reason::pattern_twice>(pattern, axis.name);
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
    wrong = why<Reason::pattern_not_closed>(pattern);
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

// Do the axes of both sides go together?
bool Transform::agree(const Side& left, const Side& right) {
  const auto each = [](const Side& side, auto&& visit) {
    for (const Group& group : side.groups)
      for (const Axis& axis : group.axes) visit(axis);
  };
  std::optional<interpreter::Refusal> found;
  each(left, [&](const Axis& axis) {
    if (axis.what == Axis::What::name && action != Action::reduce && !right.has(axis.name) && !found)
      found = why<Reason::pattern_left_only>(pattern, axis.name);
    if (axis.what == Axis::What::number && axis.number != 1 && action != Action::reduce && !found)
      found = why<Reason::pattern_number_left>(pattern, axis.number);
  });
  each(right, [&](const Axis& axis) {
    if (axis.what == Axis::What::name && !left.has(axis.name) && !found) {
      if (action != Action::repeat)
        found = why<Reason::pattern_right_only>(pattern, axis.name);
      else if (std::none_of(
                   given.begin(), given.end(), [&](const auto& length) { return length.first == axis.name; }))
        found = why<Reason::pattern_new>(pattern, axis.name);
    }
    if (axis.what == Axis::What::number && axis.number != 1 && action != Action::repeat && !found)
      found = why<Reason::pattern_number_right>(pattern, axis.number);
  });
  if (!found && left.ellipsis_inside) found = why<Reason::pattern_ellipsis_in_parentheses>(pattern);
  if (!found && right.ellipsis >= 0 && left.ellipsis < 0)
    found = why<Reason::pattern_ellipsis_right>(pattern);
  if (!found && left.ellipsis >= 0 && right.ellipsis < 0 && action != Action::reduce)
    found = why<Reason::pattern_ellipsis_left>(pattern);
  for (const auto& [name, value] : given)
    if (!found && !left.has(name) && !right.has(name))
      found = why<Reason::pattern_size_of_none>(pattern, name);
  if (found) (void)wrong(*found);
  return !found;
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
      (void)wrong(why<Reason::pattern_two_open>(pattern, words_of(group), open->name, axis.name));
      return false;
    } else {
      open = &axis;
    }
  }
  if (!open) {
    if (known && op.equal(dim, op.dim(known)) == Answer::no) {
      (void)wrong(why<Reason::pattern_other_size>(pattern, words_of(group), op.dim(known), dim), {dim});
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
    (void)wrong(why<Reason::pattern_not_divided>(pattern, words_of(group), dim, op.dim(known)), {dim});
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
  if (arrow == std::string_view::npos) return wrong(why<Reason::pattern_without_arrow>(pattern));
  if (pattern.find("->", arrow + 2) != std::string_view::npos)
    return wrong(why<Reason::pattern_two_arrows>(pattern));
  std::optional<interpreter::Refusal> reason;
  const auto left = read_side(pattern.substr(0, arrow), pattern, reason);
  const auto right = left ? read_side(pattern.substr(arrow + 2), pattern, reason) : std::nullopt;
  if (!left || !right) {
    if (reason) (void)wrong(std::move(*reason));
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
      return wrong(why<Reason::pattern_impossible_size>(pattern, name, *constant));
    sizes[name] = dim;
  }
  // The dimensions, one for each group; the ellipsis takes what is left.
  const std::size_t named = left->groups.size() - (left->ellipsis >= 0 ? 1 : 0);
  Shape shape = from;
  if (shape.ndim_known ? (left->ellipsis < 0 ? shape.dims.size() != named : shape.dims.size() < named)
                       : left->ellipsis < 0 && shape.dims.size() > named)
    return wrong(why<Reason::pattern_left_side>(pattern, left->ellipsis >= 0, named, shape));
  if (!shape.ndim_known && left->ellipsis < 0) {
    shape.dims.insert(shape.dims.begin(), named - shape.dims.size(), Dim{});
    shape.ndim_known = true;
    for (std::size_t i = 0; i < first.size() && i < named; ++i)
      if (!shape.dims[i].size) shape.dims[i] = first[i];
    if (learned) *learned = shape;
  }
  const auto count = static_cast<std::ptrdiff_t>(left->groups.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Group& group = left->groups[static_cast<std::size_t>(i)];
    if (i == left->ellipsis) continue;
    Dim dim;
    const std::size_t after = static_cast<std::size_t>(count - 1 - i);
    if (left->ellipsis < 0 || i > left->ellipsis)
      dim = from_right(shape, after);
    else if (shape.ndim_known)
      dim = shape.dims[static_cast<std::size_t>(i)];
    if (!take(group, dim)) return std::nullopt;
    if (!names_sizes || dim.size || (!shape.ndim_known && after >= shape.dims.size())) continue;
    if (left->ellipsis >= 0 && i < left->ellipsis && !shape.ndim_known) continue;
    name_sizes(group,
        left->ellipsis < 0 || i > left->ellipsis ? shape.dims[shape.dims.size() - 1 - after]
                                                 : shape.dims[static_cast<std::size_t>(i)]);
    if (learned) *learned = shape;
  }
  if (left->ellipsis >= 0 && shape.ndim_known) {
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

}  // namespace stepzero::libraries::einops

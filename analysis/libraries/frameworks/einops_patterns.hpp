// Patterns of named axes, as einops writes them, and what they make of a shape.
#pragma once

#include "libraries/table/op.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::libraries::einops {

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

// Nullopt, with a reason in `wrong`, if the text is no side of a pattern.
// `pattern`: the whole that `text` is a side of.
std::optional<Side> read_side(
    std::string_view text, std::string_view pattern, std::optional<interpreter::Refusal>& wrong);
std::string words_of(const Group& group);

enum class Action : std::uint8_t { rearrange, reduce, repeat };

using Lengths = std::vector<std::pair<std::string, Value>>;

struct Transform {
  Op& op;
  const Shape& from;
  std::string_view pattern;
  const Lengths& given;
  Action action;
  std::map<std::string, Dim, std::less<>> sizes = {};  // of the axes
  std::vector<Dim> between = {};                       // what the ellipsis stands for
  bool between_known = false;
  std::vector<Dim> first = {};  // the first dimensions of a tensor whose rank is not known
  bool names_sizes =
      false;  // sizes of the tensor that are not known are called as the pattern calls them, from here on

  std::nullopt_t wrong(interpreter::Refusal refusal, std::initializer_list<Dim> because = {}) {
    op.fail(ProblemKind::reshape, std::move(refusal), because);
    return std::nullopt;
  }

  bool agree(const Side& left, const Side& right);
  bool take(const Group& group, const Dim& dim);
  void name_sizes(const Group& group, Dim& dim);
  std::optional<Shape> run(Shape* learned);
};

}  // namespace stepzero::libraries::einops

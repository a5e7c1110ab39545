#include "footprint/rearranged.hpp"

#include <map>

namespace stepzero::footprint {

namespace {

using Axes = std::vector<std::string_view>;  // that are one dimension
using Side = std::vector<Axes>;

// "b (h p) w". Nullopt: it has an ellipsis, or is none.
std::optional<Side> side_of(std::string_view text) {
  Side made;
  bool inside = false;
  while (!text.empty()) {
    const char first = text.front();
    if (first == ' ') {
      text.remove_prefix(1);
    } else if (first == '(' || first == ')') {
      if (inside == (first == '(')) return std::nullopt;
      inside = !inside;
      if (inside) made.emplace_back();
      text.remove_prefix(1);
    } else {
      const std::string_view name = text.substr(0, text.find_first_of(" ()"));
      if (name.find('.') != std::string_view::npos) return std::nullopt;
      if (!inside) made.emplace_back();
      if (name != "1") made.back().push_back(name);
      text.remove_prefix(name.size());
    }
  }
  return inside ? std::nullopt : std::optional(std::move(made));
}

class PartSizes {
public:
  explicit PartSizes(symbolic::Context& s) : s_(s) {}
  // Of the axes of a dimension the one that is not known follows from the others.
  void learn(const Side& side, const Shape& shape) {
    for (std::size_t i = 0; i < side.size() && i < shape.dims.size(); ++i) {
      Int known = s_.constant(1);
      std::string_view open;
      std::size_t count = 0;
      for (const std::string_view axis : side[i])
        if (const Int size = of(axis))
          known = s_.mul(known, size);
        else
          open = axis, ++count;
      if (count != 1 || !shape.dims[i].size) continue;
      if (const auto size = s_.exact_quotient(shape.dims[i].size, known)) sizes_[open] = *size;
    }
  }
  Int of(std::string_view axis) const {
    const auto found = sizes_.find(axis);
    return found == sizes_.end() ? nullptr : found->second;
  }

private:
  symbolic::Context& s_;
  std::map<std::string_view, Int> sizes_;
};

}  // namespace

std::optional<std::vector<Int>> strides_of_rearranged(symbolic::Context& s, std::string_view pattern,
    const Shape& from, const std::vector<Int>& strides, const Shape& to) {
  const auto arrow = pattern.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto given = side_of(pattern.substr(0, arrow)), wanted = side_of(pattern.substr(arrow + 2));
  if (!given || !wanted || given->size() != from.dims.size() || wanted->size() != to.dims.size() ||
      strides.size() != from.dims.size())
    return std::nullopt;
  PartSizes sizes(s);
  for (int pass = 0; pass < 4; ++pass) {
    sizes.learn(*given, from);
    sizes.learn(*wanted, to);
  }
  std::map<std::string_view, Int> steps;
  for (std::size_t i = 0; i < given->size(); ++i) {
    Int step = strides[i];
    for (std::size_t k = (*given)[i].size(); k-- > 0;) {
      const std::string_view axis = (*given)[i][k];
      steps[axis] = step;
      const Int size = sizes.of(axis);
      if (!size) return std::nullopt;
      step = s.mul(step, size);
    }
  }
  std::vector<Int> made;
  for (const Axes& axes : *wanted) {
    Int innermost = nullptr, expected = nullptr;
    for (std::size_t k = axes.size(); k-- > 0;) {
      const Int size = sizes.of(axes[k]);
      if (!size || !steps.contains(axes[k])) return std::nullopt;
      if (s.value(size) == 1) continue;
      if (expected && steps[axes[k]] != expected) return std::nullopt;
      if (!innermost) innermost = steps[axes[k]];
      expected = s.mul(steps[axes[k]], size);
    }
    made.push_back(innermost ? innermost : s.constant(1));
  }
  return made;
}

}  // namespace stepzero::footprint

// What several runs of one place have in common, to be shown there.
#include "snapshot/display_value.hpp"

#include "syntax/text.hpp"

#include <algorithm>

namespace stepzero::snapshot {

namespace {

bool same(const DisplayValue::Dim& a, const DisplayValue::Dim& b) {
  return a.is_int == b.is_int && a.value == b.value && a.text == b.text;
}
bool open(const DisplayValue::Dim& dim) { return !dim.is_int && dim.text == "?"; }
bool rest(const DisplayValue::Dim& dim) { return !dim.is_int && dim.text == "..."; }
bool whole(const DisplayValue& value) {
  return value.shape && std::none_of(value.shape->begin(), value.shape->end(), rest);
}
bool is_name(const DisplayValue::Dim& dim) {
  return !dim.is_int && !dim.text.empty() && !open(dim) && !rest(dim) &&
      std::all_of(dim.text.begin(), dim.text.end(), [](char c) { return syntax::is_word(c) || c == '.'; });
}

constexpr std::size_t program = 1;  // the run of the program itself, with what it has

// The names of two runs on symbols stand for whatever is given there; those of one run mean something each.
bool only_named_differently(const Seen& a, const Seen& b) {
  return a.root != b.root && a.root > program && b.root > program && (!a.owner || a.owner != b.owner);
}

// Takes from `into` what is not so of `other`, too. `names` has the function's own names of the sizes; it may
// be null.
bool take_common(Seen& into, const Seen& other, const DisplayValue* names) {
  DisplayValue& left = into.value;
  const DisplayValue& right = other.value;
  if (left.kind != right.kind) return false;
  left.optional = left.optional || right.optional;
  if (left.kind != "tensor") {
    if (left.short_text() == right.short_text()) return true;
    if ((left.kind == "tuple" || left.kind == "list") && left.items.size() == right.items.size()) {
      const bool named = names && names->kind == left.kind && names->items.size() == left.items.size();
      for (std::size_t i = 0; i < left.items.size(); ++i) {
        Seen mine = into, theirs = other;
        mine.value = std::move(left.items[i]);
        theirs.value = right.items[i];
        left.items[i] = !mine.value.kind.empty() &&
                take_common(mine, theirs, named ? &names->items[i] : nullptr)
            ? std::move(mine.value)
            : DisplayValue{};
      }
      return true;
    }
    // A number that differs is one all the same.
    if (left.kind != "int" && left.kind != "float" && left.kind != "bool") return false;
    left.value = names && names->kind == left.kind ? names->value : "?";
    return true;
  }
  if (left.dtype != right.dtype) left.dtype.clear();
  if (left.device != right.device) left.device.clear();
  if (!left.shape || !right.shape) {
    left.shape.reset();
    return true;
  }
  if (whole(left) && whole(right) && left.shape->size() == right.shape->size()) {
    const bool named = names && whole(*names) && names->shape->size() == left.shape->size();
    for (std::size_t d = 0; d < left.shape->size(); ++d) {
      auto& dim = (*left.shape)[d];
      const auto& theirs = (*right.shape)[d];
      if (same(dim, theirs)) continue;
      if (named && !(*names->shape)[d].is_int)
        dim = (*names->shape)[d];
      else if (!(is_name(dim) && is_name(theirs) && only_named_differently(into, other)))
        dim = {false, 0, "?"};
    }
    return true;
  }
  std::vector<DisplayValue::Dim> last;
  for (std::size_t i = 1; i <= std::min(left.shape->size(), right.shape->size()); ++i) {
    const auto& dim = (*left.shape)[left.shape->size() - i];
    if (rest(dim) || open(dim) || !same(dim, (*right.shape)[right.shape->size() - i])) break;
    last.insert(last.begin(), dim);
  }
  if (last.empty()) {
    left.shape.reset();
  } else {
    last.insert(last.begin(), {false, 0, "..."});
    left.shape = std::move(last);
  }
  return true;
}

// What is true of every call is true of this one. With `own_names`, sizes go by the names that the function
// has for them.
void add(DisplayValue& value, const DisplayValue& general, bool own_names) {
  if (value.dtype.empty()) value.dtype = general.dtype;
  if (value.device.empty()) value.device = general.device;
  if (!general.shape ||
      (value.shape && whole(value) && (!whole(general) || general.shape->size() != value.shape->size())))
    return;
  if (!value.shape || (!whole(value) && whole(general))) {
    value.shape = general.shape;
    return;
  }
  for (std::size_t d = 0; whole(value) && d < value.shape->size(); ++d) {
    const auto& own = (*general.shape)[d];
    if (open((*value.shape)[d]) || (own_names && !(*value.shape)[d].is_int && is_name(own)))
      (*value.shape)[d] = own;
  }
}

}  // namespace

std::optional<DisplayValue> common_value(std::vector<Seen> seen) {
  // What is true of every call, then what each call adds.
  Seen general, common;
  bool has_general = false, general_holds = true, has_common = false;
  for (const Seen& each : seen) {
    if (!each.general) continue;
    if (has_general)
      general_holds = general_holds && take_common(general, each, nullptr);
    else
      general = each;
    has_general = true;
  }
  has_general = has_general && general_holds && !general.value.kind.empty();
  const bool tensor = has_general && general.value.kind == "tensor";
  const DisplayValue own = general.value;
  for (Seen& each : seen) {
    if (each.general) continue;
    if (tensor && each.value.kind.empty())
      each.value = general.value;
    else if (tensor && each.value.kind == "tensor")
      add(each.value, general.value, each.root > program);
    if (each.value.kind.empty()) return std::nullopt;
    if (has_common && !take_common(common, each, has_general ? &own : nullptr)) return std::nullopt;
    if (!has_common) common = std::move(each);
    has_common = true;
  }
  if (has_common) return std::move(common.value);
  if (has_general) return std::move(general.value);
  return std::nullopt;
}

}  // namespace stepzero::snapshot

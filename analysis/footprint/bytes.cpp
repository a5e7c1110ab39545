#include "footprint/bytes.hpp"

#include <algorithm>

namespace stepzero::footprint {

void Bytes::add(symbolic::Context& s, Int size, std::int64_t times) {
  if (!size) {
    at_least_ = true;
    return;
  }
  if (const auto known = s.value(size)) {
    whole_ += *known * times;
    return;
  }
  const Int term = s.mul(size, s.constant(times));
  if (!terms_.empty()) {
    const Int sum = s.add(terms_.back(), term);
    // A sum that grew too large is an atom of its own.
    if (const auto* atom = s.atom_info(sum); !atom || !atom->name.empty()) {
      terms_.back() = sum;
      if (const auto known = s.value(sum)) {
        whole_ += *known;
        terms_.pop_back();
      }
      return;
    }
  }
  terms_.push_back(term);
}

void Bytes::add(symbolic::Context& s, const Bytes& other, std::int64_t times) {
  whole_ += other.whole_ * times;
  for (const Int term : std::vector(other.terms_)) add(s, term, times);
  at_least_ = at_least_ || other.at_least_;
}

namespace {
std::vector<symbolic::Assignment> assignments(
    symbolic::Context& s, Int size, const std::vector<Setting>& settings, bool all) {
  std::vector<symbolic::Assignment> found;
  s.atoms(size, [&](Int atom) {
    const auto* info = s.atom_info(atom);
    if (!info || std::any_of(found.begin(), found.end(), [&](const auto& each) { return each.atom == atom; }))
      return;
    const auto set = std::find_if(
        settings.begin(), settings.end(), [&](const Setting& each) { return each.name == info->name; });
    if (set != settings.end())
      found.push_back({atom, set->value});
    else if (info->usual)
      found.push_back({atom, *info->usual});
    else if (all)
      found.push_back({atom, std::max<std::int64_t>(1, info->lower.value_or(1))});
  });
  return found;
}
}  // namespace

Int substituted(symbolic::Context& s, Int size, const std::vector<Setting>& settings) {
  const auto values = assignments(s, size, settings, false);
  return values.empty() ? size : s.substitute(size, values);
}

std::int64_t Bytes::number(symbolic::Context& s, const std::vector<Setting>& settings) const {
  std::int64_t sum = whole_;
  for (const Int term : terms_) {
    const Int put = s.substitute(term, assignments(s, term, settings, true));
    sum += std::max<std::int64_t>(0, s.value(put).value_or(s.lower(put).value_or(0)));
  }
  return sum;
}

std::string Bytes::text(symbolic::Context& s, const std::vector<Setting>& settings) const {
  std::int64_t whole = whole_;
  std::string made;
  for (const Int term : terms_) {
    const Int put = substituted(s, term, settings);
    if (const auto known = s.value(put))
      whole += *known;
    else
      made += (made.empty() ? "" : " + ") + s.text(put);
  }
  if (made.empty()) return made;
  return whole ? made + " + " + std::to_string(whole) : made;
}

std::vector<std::string> Bytes::open_names(symbolic::Context& s, const std::vector<Setting>& settings) const {
  std::vector<std::string> names;
  for (const Int term : terms_)
    s.atoms(substituted(s, term, settings), [&](Int atom) {
      if (const auto* info = s.atom_info(atom); info && std::ranges::find(names, info->name) == names.end())
        names.push_back(info->name);
    });
  return names;
}

Int elements(symbolic::Context& s, const Shape& shape) {
  if (!shape.ndim_known) return nullptr;
  Int product = s.constant(1);
  for (const values::Dim& dim : shape.dims) {
    if (!dim.size) return nullptr;
    product = s.mul(product, dim.size);
  }
  return product;
}

Int bytes_of(symbolic::Context& s, const Shape& shape, Dtype dtype) {
  const int width = values::width(dtype);
  const Int count = elements(s, shape);
  return width && count ? s.mul(count, s.constant(width)) : nullptr;
}

}  // namespace stepzero::footprint

// Dtypes, and tables of names.
#include "values/value.hpp"

namespace stepzero::values {

std::string_view name(Dtype dtype) {
  constexpr std::string_view names[] = {"", "float64", "float32", "float16", "bfloat16", "int64", "int32",
      "int16", "int8", "uint8", "bool", "complex64", "complex128", "complex32", "uint16", "uint32", "uint64",
      "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
      "float4_e2m1fn_x2"};
  return names[static_cast<int>(dtype)];
}

int width(Dtype dtype) {
  using enum Dtype;
  switch (dtype) {
  case complex128: return 16;
  case float64:
  case int64:
  case uint64:
  case complex64: return 8;
  case float32:
  case int32:
  case uint32:
  case complex32: return 4;
  case float16:
  case bfloat16:
  case int16:
  case uint16: return 2;
  case int8:
  case uint8:
  case boolean:
  case float8_e4m3fn:
  case float8_e4m3fnuz:
  case float8_e5m2:
  case float8_e5m2fnuz:
  case float8_e8m0fnu:
  case float4_e2m1fn_x2: return 1;
  case unknown: break;
  }
  return 0;
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::float64 || dtype == Dtype::float32 || dtype == Dtype::float16 ||
      dtype == Dtype::bfloat16;
}

std::string_view Value::text() const { return as<Str>()->text; }

constexpr std::size_t indexed_from = 12;

Table& Table::operator=(const Table& other) {
  birth = other.birth;
  entries_ = other.entries_;
  index_ = other.index_ ? std::make_unique<std::unordered_map<Name, Slot*>>(*other.index_) : nullptr;
  return *this;
}

void Table::add(Name name, Slot* slot) {
  entries_.push_back({name, slot});
  if (entries_.size() == indexed_from)
    index_ = std::make_unique<std::unordered_map<Name, Slot*>>(entries_.begin(), entries_.end());
  else if (index_)
    index_->emplace(name, slot);
}

Slot* Table::find(Name name) const {
  if (index_) {
    const auto it = index_->find(name);
    return it == index_->end() ? nullptr : it->second;
  }
  for (const auto& [key, slot] : entries_)
    if (key == name) return slot;
  return nullptr;
}

Value Table::value(Name name) const {
  const Slot* slot = find(name);
  return slot ? slot->value : Value{};
}

}  // namespace stepzero::values

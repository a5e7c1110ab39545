#include "interpreter/library_names.hpp"

namespace stepzero::interpreter {

using values::Row;

namespace {
constexpr int most_bases = 8;  // of a library class, up to object: a cycle in the table ends here
}  // namespace

values::LibrarySymbol* LibraryNames::symbol(std::string_view path) {
  if (const auto known = spellings_.find(path); known != spellings_.end()) return known->second;
  const std::string canonical(library_.canonical(path));
  auto it = symbols_.find(canonical);
  if (it == symbols_.end()) {
    auto* made = heap_.make<values::LibrarySymbol>();
    made->path = heap_.keep(canonical);
    made->row = library_.find(canonical);
    it = symbols_.emplace(canonical, made).first;
  }
  spellings_.emplace(path, it->second);
  return it->second;
}

values::LibrarySymbol* LibraryNames::member(const values::LibrarySymbol& of, syntax::Name name) {
  values::LibrarySymbol*& found = members_[{&of, name}];
  if (!found) found = symbol(std::string(of.path) + "." + std::string(name.text()));
  return found;
}

const Row* LibraryNames::method_row(std::string_view class_path, syntax::Name method) const {
  const auto [known, fresh] = method_rows_.try_emplace({class_path.data(), method}, nullptr);
  if (!fresh) return known->second;
  for (int i = 0; i < most_bases && !class_path.empty(); ++i) {
    if (const Row* row = library_.find(std::string(class_path) + "." + std::string(method.text())))
      return known->second = row;
    const Row* cls = library_.find(class_path);
    if (!cls) break;
    class_path = cls->base;
  }
  return nullptr;
}

const Row* LibraryNames::constructor_row(std::string_view class_path) const {
  const Row* first = library_.find(class_path);
  for (int i = 0; i < most_bases && !class_path.empty(); ++i) {
    if (const Row* init = library_.find(std::string(class_path) + ".__init__")) return init;
    const Row* cls = library_.find(class_path);
    if (!cls || cls->run) return cls;
    class_path = cls->base;
  }
  return first;
}

bool LibraryNames::is_a(values::Value object, std::string_view class_path) const {
  if (!object.is(values::Kind::instance)) return false;
  const auto* instance = object.as<values::Instance>();
  const values::LibrarySymbol* native = instance->native ? instance->native
      : instance->cls                                    ? instance->cls->native
                                                         : nullptr;
  if (!native) return false;
  if (native->path == class_path) return true;
  const Row* row = native->row;
  for (int i = 0; i < most_bases && row; ++i, row = row->base_row)
    if (row->path == class_path || row->base == class_path) return true;
  return false;
}

}  // namespace stepzero::interpreter

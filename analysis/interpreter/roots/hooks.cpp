// See hooks.hpp.
#include "interpreter/roots/hooks.hpp"

#include "values/internal_rows.hpp"

namespace stepzero::interpreter {

using syntax::Name;
using values::RowKind;

namespace {
Name beside(std::string_view kind, Name name) { return Name(std::string(kind) + std::string(name.text())); }
}  // namespace

Value given_to_hook(Interpreter& run, const values::Function& function, Name parameter, Place born) {
  const values::LibrarySymbol* native = function.owner ? function.owner->native : nullptr;
  if (!native || !run.method_row(native->path, function.name)) return {};
  const Row* row = run.method_row(native->path, beside(values::InternalRow::given, parameter));
  if (!row || row->kind != RowKind::class_) return {};
  values::Instance* given = run.make_native(row->base, born);
  given->symbolic = given->open = true;
  given->name = run.heap().keep(std::string(parameter.text()));
  return Value::of(values::Kind::instance, given);
}

const Row* setter_row(const Interpreter& run, std::string_view class_path, Name attribute) {
  const Row* row = run.method_row(class_path, attribute);
  // One may be set that cannot be read.
  return row && row->kind != RowKind::property
      ? nullptr
      : run.method_row(class_path, beside(values::InternalRow::set, attribute));
}

}  // namespace stepzero::interpreter

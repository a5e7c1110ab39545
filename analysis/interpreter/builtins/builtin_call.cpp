// Finding the row of a call, and what rows ask of it.
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/library_calls.hpp"

#include "interpreter/incremental/incremental_run.hpp"

#include <stdexcept>

namespace stepzero::interpreter {

Value BuiltinCall::keyword(std::string_view wanted) const {
  for (const auto& [key, value] : arguments.keywords)
    if (key.text() == wanted) return run.resolve(value);
  return {};
}

void BuiltinCall::open_up(values::Instance& object) const { run.incremental_->open_up(object); }

Value BuiltinCall::as(std::string_view other, std::vector<Value> given) const {
  const Arguments passed{std::move(given), {}, false};
  const BuiltinCall call{run, other, self, passed, where};
  for (const BuiltinTable* table : {&number_functions(), &sequence_functions(), &object_functions()})
    if (const Value made = table->run(call)) return made;
  return {};
}

void BuiltinCall::note_iterator(std::size_t begin, Value of, Value iterator) const {
  for (std::size_t i = begin; i < events(); ++i) {
    Event& event = *run.record_.events[i];
    if (event.kind != EventKind::operation || !(event.place == where)) continue;
    if (auto& read = static_cast<OperationEvent&>(event); read.self.object() == of.object())
      read.result = iterator;
  }
}

Value BuiltinCall::call_row(std::string_view path) const {
  const Value row = run.library_symbol(path);
  return row.is(values::Kind::library)
      ? run.library_calls_->call_library(*row.as<values::LibrarySymbol>(), {}, arguments, where, nullptr)
      : Value{};
}

BuiltinTable::BuiltinTable(std::initializer_list<BuiltinRow> rows) {
  for (const BuiltinRow& row : rows)
    for (std::string_view rest = row.names; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (!rows_.emplace(rest.substr(0, end), row.run).second)
        throw std::logic_error("two rows for " + std::string(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

Value BuiltinTable::run(const BuiltinCall& call) const {
  const auto found = rows_.find(call.name);
  return found == rows_.end() ? Value{} : found->second(call);
}

}  // namespace stepzero::interpreter

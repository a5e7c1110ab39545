// A call of a function or method that Python itself has, as its row sees it, and the tables of such rows. A
// row gives names, blanks between them, and what they do; it answers an absent value where the call is none
// that it knows.
#pragma once

#include "interpreter/builtins/builtins.hpp"
#include "interpreter/builtins/texts.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/object_model.hpp"
#include "interpreter/classes/records.hpp"
#include "interpreter/expressions/iterables.hpp"
#include "interpreter/interpreter.hpp"

#include <initializer_list>

namespace stepzero::interpreter {

struct BuiltinCall {
  Interpreter& run;
  std::string_view name;
  Value self;  // of a method
  const Arguments& arguments;
  Place where;

  const std::vector<Value>& positional = arguments.positional;
  std::size_t count = positional.size();
  Value first = count > 0 ? positional[0] : Value{};
  Value second = count > 1 ? positional[1] : Value{};

  values::Heap& heap() const { return run.heap(); }
  symbolic::Context& symbols() const { return run.symbols(); }
  Value keyword(std::string_view wanted) const;  // absent if it was not given
  Value mixed() const { return run.heap().unknown_from(positional, where); }
  Value number(std::size_t value) const { return heap().integer(static_cast<std::int64_t>(value)); }
  Value fails(std::string_view exception) const { return run.raise_builtin(exception, where); }
  Value call(Value function, std::vector<Value> given) const {
    return run.call(function, {std::move(given), {}, false}, where);
  }
  // Does what another row does.
  Value as(std::string_view other, std::vector<Value> given) const;

  // Of the interpreter, for rows only.
  bool left() const { return run.killed_; }  // does the expression not return?
  void pay(std::uint64_t steps) const { run.step(steps); }
  void escape(Value value) const { run.unseen_->escape(value); }
  void open_up(values::Instance& object) const;
  void note_asked(Value object, Value attribute, Cond when) const {
    run.builtins_->note_asked(object, attribute, when);
  }
  bool is_known_there(Value object, Value attribute) const {
    return run.builtins_->is_known_there(object, attribute);
  }
  void dict_delete(Value dict, Value key) const { run.builtins_->dict_delete(dict, key); }
  void note_kept(const values::Slot& slot, Value added) const { run.noted_->note_kept(slot, added, where); }
  void record_read(Value value) const { run.noted_->record_read(value, where); }
  void delete_attribute(Value object, syntax::Name attribute) const {
    run.object_model_->delete_attribute(object, attribute, where);
  }
  Int known_length(Value iterable) const { return run.iterables_->known_length(iterable); }
  Sharing trips_of(Value iterable) const { return run.iterables_->trips_of(iterable); }
  Value plain_member(Value value) const { return run.builtins_->plain_member(value); }
  Value make_named(values::Class& cls, const Arguments& given) const {
    return run.records_->make_named(cls, given, where);
  }
  std::optional<std::string> formatted(Value value, std::string_view specification) const {
    return run.texts_->formatted(value, specification);
  }
  std::optional<std::string> format_braces(std::string_view pattern) const {
    return run.texts_->format_braces(pattern, arguments);
  }
  // The operations since then by which this call read the object say which iterator that gave.
  std::size_t events() const { return run.record_.events.size(); }
  void note_iterator(std::size_t begin, Value of, Value iterator) const;
  Value call_row(std::string_view path) const;  // absent if the library has none
  Value make_type() const;                      // type(name, bases, dict)
  Value names_around() const;                   // locals(), globals(), vars()
  // A dict of the names of a scope: what it is asked for beyond them is unseen.
  static Value names_in(Interpreter& run, const values::Scope* scope);
  Value is_instance() const;
};

struct BuiltinRow {
  std::string_view names;
  Value (*run)(const BuiltinCall& call);
};

class BuiltinTable {
public:
  BuiltinTable(std::initializer_list<BuiltinRow> rows);
  // What the row of the call's name answers; absent if there is none, or it does not know the call.
  Value run(const BuiltinCall& call) const;
  // The names, each once; tests ask for it.
  const std::unordered_map<std::string_view, Value (*)(const BuiltinCall&)>& rows() const { return rows_; }

private:
  std::unordered_map<std::string_view, Value (*)(const BuiltinCall&)> rows_;
};

// Python's own functions, by what they are about.
const BuiltinTable& number_functions();
const BuiltinTable& sequence_functions();
const BuiltinTable& object_functions();

}  // namespace stepzero::interpreter

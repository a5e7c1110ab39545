// A class as a root: an object of it is made on symbols, what its methods may have set by then is not known,
// and the methods run on it.
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/root_runner.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <unordered_set>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

struct RootRunner::ClassRoot {
  ClassRoot(Interpreter& interpreter, values::Class& of) : run(interpreter), cls(of) {}
  void run_methods(const std::vector<values::Function*>& methods, const Speculation& since);

private:
  void construct(Root& root);
  void run_constructor(const values::Function& function, Root& root);
  void lose_what_methods_set();
  void lose_set_by(const FunctionStmt& method, bool inherited);
  void lose_changed_containers(const Changes& changes);
  void lose_changed_parts(const Changes& changes);
  void lose_attribute(Name name, bool inherited);
  void free_placeholders();
  bool is_placeholder(Value value) const;
  void note_object(const Speculation& since, std::size_t known);
  void call_row_of(std::string_view class_path, std::string_view row);
  values::Slot* set_attribute(Name name) const {
    values::Slot* slot = object->attributes.find(name);
    return slot && slot->value ? slot : nullptr;
  }

  Interpreter& run;
  values::Class& cls;
  values::Instance* object = nullptr;
  Value self = {};
  const values::Function* constructor = nullptr;   // what has run
  std::unordered_set<const FunctionStmt*> called;  // by it
};

void RootRunner::run_class(values::Class& cls, const std::vector<values::Function*>& methods) {
  Speculation root_run(run_);
  ClassRoot(run_, cls).run_methods(methods, root_run);
  root_run.keep_new_objects();
}

void RootRunner::ClassRoot::run_methods(
    const std::vector<values::Function*>& methods, const Speculation& since) {
  const std::size_t known = run.symbols().mark();
  run.note_used(run.globals_, cls.name);
  Root& root = run.roots_->begin_root(std::string(cls.name.text()) + ".__init__", nullptr, &cls);
  run.defaults_.clear();
  run.stand_ins_.clear();
  run.any_use_ = true;
  construct(root);
  const bool refused = run.with_defaults_ && run.killed_;  // nobody has an object with these defaults
  run.killed_ = false;
  run.block_ = nullptr;
  run.path_.clear();
  run.called_ = nullptr;
  lose_what_methods_set();
  // What the library class sees to itself, whatever the methods change.
  if (cls.native) {
    run.block_ = &root.block;
    call_row_of(cls.native->path, values::InternalRow::seen_to);
    run.block_ = nullptr;
  }
  free_placeholders();
  if (run.incremental_->unit() && !run.with_defaults_ && !refused) note_object(since, known);
  const bool prepared = run.roots_->prepares_tests(cls);
  run.casts_ += prepared;
  for (values::Function* method : methods) {
    if (run.roots_->reached(method->stmt) || run.record_.cancelled || method == constructor || refused)
      continue;
    run.roots_->run_method(cls, *method, self);
  }
  run.casts_ -= prepared;
  run.any_use_ = false;
}

void RootRunner::ClassRoot::call_row_of(std::string_view class_path, std::string_view method) {
  if (const Row* row = run.method_row(class_path, method))
    run.library_calls_->call_library(
        *run.library_symbol(row->path).as<values::LibrarySymbol>(), self, {}, {}, nullptr);
}

void RootRunner::ClassRoot::construct(Root& root) {
  ++run.incremental_->replay().objects_made;
  object = run.heap().make<values::Instance>();
  object->cls = &cls;
  object->symbolic = true;
  object->open = cls.open;
  self = Value::of(Kind::instance, object);
  run.called_ = &called;
  if (const Value init = run.find_in_order(cls.order, Name("__init__")); init.is(Kind::function)) {
    if (init.as<values::Function>()->stmt) run_constructor(*init.as<values::Function>(), root);
  } else if (cls.is_dataclass) {
    run.fill_dataclass(*object, {{}, {}, true}, object->born);
  }
  // Others have the object before its methods are called: they may freeze parts of it.
  const std::string_view module = run.library_.types().module;
  if (run.is_a(self, module)) call_row_of(module, values::InternalRow::may_be_frozen);
  if (constructor && run.record_.steps >= run.step_limit_) lose_half_built(run.heap(), *object, *constructor);
}

void RootRunner::ClassRoot::run_constructor(const values::Function& function, Root& root) {
  auto* scope = run.heap().make<values::Scope>();
  scope->parent = function.closure;
  scope->globals = function.closure ? function.closure->globals : nullptr;
  scope->info = &function.stmt->scope;
  const auto& list = function.parameters->list;
  for (std::size_t i = 0; i < list.size(); ++i)
    run.heap().set(run.heap().slot_of(scope->names, list[i].name),
        i == 0 ? self : run.roots_->symbolic_parameter(function, list[i], i));
  run.incremental_->note_reached(function.stmt);
  constructor = &function;
  if (run.with_defaults_)
    root.defaults = values::code(cls.name.text()) +
        (run.defaults_.empty() ? "" : ": " + values::code(run.defaults_));
  run.function_calls_->run_function(function, scope, {cls.chunk, cls.stmt->name_span}, nullptr);
}

// What a method may set that the constructor does not call is not known in the others. Those of the bases
// have not run on this object, though they may have on others. A base that lets others put a module in the
// place of one is there for all its classes: they put one that does the same.
void RootRunner::ClassRoot::lose_what_methods_set() {
  for (const values::Class* each : cls.order)
    each_method(*each, [&](const FunctionStmt& method) { lose_set_by(method, each != &cls); });
}

void RootRunner::ClassRoot::lose_set_by(const FunctionStmt& method, bool inherited) {
  if (called.contains(&method) || method.name.text() == "__init__" || method.name.text() == "__new__") return;
  Changes changes;
  collect_self_writes(method.body, method.parameters->list[0].name, changes);
  lose_changed_containers(changes);
  lose_changed_parts(changes);
  for (const Name name : changes.set) lose_attribute(name, inherited);
  if (changes.registers || changes.any)
    for (const Name name : may_be_registered(*object)) lose_attribute(name, inherited);
}

void RootRunner::ClassRoot::lose_changed_containers(const Changes& changes) {
  for (const Name name : changes.changed)
    if (const values::Slot* slot = set_attribute(name)) run.unseen_->escape(slot->value);
  for (const Name name : changes.changed_within)
    if (const values::Slot* slot = object->attributes.find(name);
        slot && run.resolve(slot->value).is(Kind::dict))
      for (const auto& [key, item] : std::vector(values::Heap::dict_state(run.resolve(slot->value))->items))
        run.unseen_->escape(item);
  for (const auto& [outer, inner] : changes.changed_in)
    if (const values::Slot* slot = set_attribute(outer))
      if (const Value part = run.resolve(slot->value); part.is(Kind::instance))
        if (const values::Slot* held = part.as<values::Instance>()->attributes.find(inner);
            held && held->value)
          run.unseen_->escape(held->value);
}

// So may the method of a part that it calls: self.data.load(path).
void RootRunner::ClassRoot::lose_changed_parts(const Changes& changes) {
  const auto lose = [&](const auto& each, Value part, Name method, int depth) -> void {
    if (part.is(Kind::choice) && depth < values::most_choices) {
      each(each, part.as<values::Choice>()->yes, method, depth + 1);
      each(each, part.as<values::Choice>()->no, method, depth + 1);
    }
    if (!part.is(Kind::instance) || !part.as<values::Instance>()->cls) return;
    auto& held = *part.as<values::Instance>();
    const FunctionStmt* own = method_named(*held.cls, method);
    if (!own || called.contains(own)) return;
    const Changes within = set_by_method(*held.cls, method);
    lose_set(run, held, within);
    for (const Name name : within.changed)
      if (const values::Slot* inner = held.attributes.find(name); inner && inner->value)
        run.unseen_->escape(inner->value);
  };
  for (const auto& [outer, part_method] : changes.calls_in)
    if (const values::Slot* slot = set_attribute(outer))
      lose(lose, run.resolve(slot->value),
          part_method.text().empty() ? Name(run.library_.types().forward) : part_method, 0);
}

void RootRunner::ClassRoot::lose_attribute(Name name, bool inherited) {
  values::Slot* slot = set_attribute(name);
  if (!slot) return;
  const Value held = run.resolve(slot->value);
  if (inherited && run.is_a(held, run.library_.types().module)) return;
  const bool contains = held.is(Kind::tuple) || held.is(Kind::list) || held.is(Kind::dict);
  // A rank that a method reads when the job starts: `self.rank = 0` in the constructor is only its value
  // until then.
  const auto presumed = run.library_.presume(name.text());
  const bool of_rank = presumed && presumed->class_path.empty() && !presumed->of_each &&
      (held.is(Kind::none) || held.is(Kind::boolean) || held.is(Kind::integer) || held.is(Kind::unknown));
  if (of_rank)
    run.heap().set(*slot, run.symbol(name.text(), Sharing::uniform, {cls.chunk, cls.stmt->name_span}));
  else
    run.heap().set(*slot,
        inherited && contains ? another_of_its_kind(run.heap(), held)
                              : set_at_some_time(run.heap(), held, name));
}

// An empty tensor holds the place of one that somebody else puts there.
bool RootRunner::ClassRoot::is_placeholder(Value value) const {
  value = run.resolve(value);
  if (!value.is(Kind::tensor)) return false;
  const auto& dims = value.as<values::Tensor>()->now()->shape.dims;
  return std::ranges::any_of(
      dims, [&](const values::Dim& dim) { return dim.size && run.symbols().value(dim.size) == 0; });
}

void RootRunner::ClassRoot::free_placeholders() {
  // Also one in an object that it holds.
  for (const auto& [held, slot] : object->attributes.entries())
    if (const Value part = run.resolve(slot->value);
        part.is(Kind::instance) && part.as<values::Instance>()->cls && part.as<values::Instance>() != object)
      for (const auto& [name, inner] : part.as<values::Instance>()->attributes.entries())
        if (inner->value && !values::is_kept(name.text()) && is_placeholder(inner->value))
          run.heap().set(
              *inner, run.heap().unseen("self." + std::string(held.text()) + "." + std::string(name.text())));
  for (const auto& [name, slot] : object->attributes.entries()) {
    const Value value = run.resolve(slot->value);
    const bool in_tuple = value.is(Kind::tuple) &&
        std::ranges::any_of(
            value.as<values::Tuple>()->items, [&](const Value& item) { return is_placeholder(item); });
    // And so does None that no method replaces.
    if (is_placeholder(value) || in_tuple || value.is(Kind::none))
      run.heap().set(*slot, run.heap().unseen("self." + std::string(name.text())));
  }
}

// What methods that run again begin from.
void RootRunner::ClassRoot::note_object(const Speculation& since, std::size_t known) {
  run.incremental_->unit()->object = object;
  run.incremental_->unit()->learned = run.symbols().assumed_since(known);
  for (const auto& [slot, value] : since.writes())
    if (slot->birth <= run.incremental_->part_begin())
      run.incremental_->unit()->made.emplace_back(slot, value);
}

}  // namespace stepzero::interpreter

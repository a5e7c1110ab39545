// Where runs start: the file as a program; then, on symbols, the functions and methods that it did not reach.
#include "interpreter/calls/function_calls.hpp"
#include "interpreter/calls/library_calls.hpp"
#include "interpreter/incremental/incremental_run.hpp"
#include "interpreter/interpreter.hpp"
#include "interpreter/paths/speculation.hpp"
#include "interpreter/roots/annotated_objects.hpp"
#include "interpreter/roots/built_runs.hpp"
#include "interpreter/roots/default_object.hpp"
#include "interpreter/roots/hooks.hpp"
#include "interpreter/roots/model_inputs.hpp"
#include "interpreter/roots/root_runner.hpp"

#include "interpreter/calls/unseen_code.hpp"
#include "interpreter/classes/self_writes.hpp"
#include "interpreter/roots/annotations.hpp"
#include "syntax/text.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <bitset>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

// How often each of the names stands in a text: a function named once is called by nobody here.
std::unordered_map<std::string_view, int> counts(
    const std::string& text, const std::vector<std::string_view>& names) {
  static const std::array<bool, 256> letters = [] {
    std::array<bool, 256> made{};
    for (int c = 0; c < 256; ++c) made[static_cast<std::size_t>(c)] = syntax::is_word(static_cast<char>(c));
    return made;
  }();
  std::unordered_map<std::string_view, int> found;
  // Few identifiers begin and end like one of the names, and are as long.
  std::bitset<1 << 12> hashes;
  const auto likeness = [&](std::string_view name) {
    if (name.empty()) return std::size_t{0};  // of a definition that is broken off
    return (static_cast<unsigned char>(name.front()) * 31U + static_cast<unsigned char>(name.back()) * 7U +
               name.size() * 257U) %
        hashes.size();
  };
  if (names.empty()) return found;
  for (const std::string_view name : names) {
    found.emplace(name, 0);
    hashes.set(likeness(name));
  }
  const char* const last = text.data() + text.size();
  const auto letter = [table = letters.data()](
                          const char* at) { return table[static_cast<unsigned char>(*at)]; };
  for (const char* at = text.data(); at < last;) {
    if (!letter(at)) {
      ++at;
      continue;
    }
    const char* const begin = at;
    while (at < last && letter(at)) ++at;
    const std::string_view name(begin, static_cast<std::size_t>(at - begin));
    if (hashes[likeness(name)])
      if (const auto it = found.find(name); it != found.end()) ++it->second;
  }
  return found;
}

bool annotated_as_tensor(const Library& library, const Expr* annotation) {
  if (!annotation) return false;
  const std::string_view tensor = values::last_name(library.types().tensor);
  if (annotation->kind == ExprKind::name) return as<NameExpr>(*annotation).id.text() == tensor;
  return annotation->kind == ExprKind::attribute && as<AttributeExpr>(*annotation).attribute.text() == tensor;
}

}  // namespace

bool RootRunner::reached(const FunctionStmt* stmt) {
  return !run_.policy_.runs_called_functions && reached_[stmt];
}

bool RootRunner::wanted(const Stmt* stmt) const {
  return !run_.limits_.only || run_.limits_.only->contains(record_.as_written(stmt));
}

// The root of a run with the defaults of the command line goes to where rules look for such, and back for the
// next run.
void RootRunner::tell_as_defaults() {
  if (!run_.limits_.with_defaults) return;
  record_.roots.swap(record_.default_roots);
  for (const auto& root : record_.default_roots) root->defaults = "the command line";
}

void RootRunner::tell_root() {
  if (!run_.incremental_->replay().replaying && record_.on_root && !record_.cancelled) record_.on_root();
}

// What the statements of the file did not reach.
void RootRunner::run_roots(ModuleRun& run_of, const std::shared_ptr<const syntax::Module>& module) {
  run_.incremental_->replay().possible = run_.incremental_->replay().possible && !record_.cancelled;
  if (!run_of.object->globals || record_.cancelled) return;
  record_.open_to_defaults = record_.open_to_defaults ||
      symbols().doubts() != run_.incremental_->replay().doubts || run_.chosen_by_text_;
  run_.incremental_->replay().end = run_.incremental_->moments();
  if (record_.on_statements) record_.on_statements();
  run_.in_roots_ = true;
  run_.unseen_->forget_set_by_functions();
  ran_.clear();
  for (const auto& [function, reached] : reached_)
    if (reached) ran_.insert(static_cast<const FunctionStmt*>(function));
  run_.incremental_->replay().built = built_;
  run_.incremental_->replay().objects_made = 0;
  run_.incremental_->run_focus();
  run_.incremental_->run_unit({nullptr, false}, {}, [this] { run_built(0); });
  std::vector<values::Function*> functions;
  std::vector<std::string_view> names;
  for (values::Function* function : run_.function_order_)
    if (function->closure && function->closure->globals == function->closure && !reached(function->stmt) &&
        wanted(function->stmt)) {
      functions.push_back(function);
      names.push_back(function->name.text());
    }
  const auto named = counts(module->text->bytes(), names);
  const auto classes = run_.classes_;
  for (const bool named_elsewhere : {false, true}) {
    for (values::Function* function : functions) {
      if (reached(function->stmt) || (named.at(function->name.text()) > 1) != named_elsewhere) continue;
      const auto run = [this, function] { run_root(*function, {}, nullptr); };
      if (run_.incremental_->run_unit({function->stmt, false}, {}, run))
        doubtful_.push_back({{function->stmt, true}, {}, run});
      tell_root();
    }
    if (!named_elsewhere)
      for (values::Class* cls : classes) {
        run_class_roots(*cls);
        tell_root();
      }
  }
  run_closures_of_statements();
  if (!run_.limits_.only)
    for (std::size_t i = 0; i < doubtful_.size(); ++i)
      run_defaults([&, i] {
        run_.incremental_->run_unit(doubtful_[i].key, doubtful_[i].condition, doubtful_[i].run);
      });
  values::Writes writes = run_.incremental_->replay().end.writes;
  run_.incremental_->replay().units_run = static_cast<std::size_t>(
      std::count_if(run_.incremental_->replay().units.begin(), run_.incremental_->replay().units.end(),
          [](const auto& each) { return !each.second.taken_over; }));
  for (const auto& [key, unit] : run_.incremental_->replay().units) writes.widen(unit.writes);
  heap().set_writes(writes);  // who reads what any of them left
  doubtful_.clear();
}

// Absent: its constructor refuses.
Value RootRunner::made_by_default(values::Class& cls, Place born) {
  const bool killed = std::exchange(run_.killed_, false);
  ++run_.guards_;
  const Value made = run_.call(Value::of(Kind::class_, &cls), {}, born);
  --run_.guards_;
  const bool refused = std::exchange(run_.killed_, killed);
  return refused || !made.is(Kind::instance) ? Value{} : made;
}

DefaultNumbers RootRunner::find_default_numbers(values::Class& cls, Place born) {
  DefaultNumbers found;
  Block dropped;
  Block* const block = std::exchange(run_.block_, &dropped);
  Used* const used = std::exchange(run_.used_, &found.used);
  std::unordered_set<const FunctionStmt*> called;
  auto* const outer_called = std::exchange(run_.called_, &called);
  const std::uint64_t begin = record_.steps;
  {
    Speculation trial(run_, Speculation::Of::trial);
    if (const Value made = made_by_default(cls, born); made.is(Kind::instance))
      for (const auto& [name, slot] : made.as<values::Instance>()->attributes.entries())
        if (slot->value.is(Kind::integer))
          if (const auto number = symbols().value(slot->value.integer()))
            found.numbers.emplace_back(name, *number);
    trial.discard();
  }
  found.steps = record_.steps - begin;
  run_.block_ = block;
  run_.used_ = used;
  run_.called_ = outer_called;
  if (run_.called_) run_.called_->insert(called.begin(), called.end());
  // A class of this file, and what runs functions of it, may be edited.
  found.stands = record_.steps < run_.limits_.steps && !record_.cancelled &&
      std::ranges::none_of(
          cls.order, [&](const values::Class* each) { return record_.in_file({each->chunk, {}}); }) &&
      std::ranges::none_of(called, [&](const FunctionStmt* stmt) { return run_.functions_.contains(stmt); });
  return found;
}

Value RootRunner::numbers_by_default(values::Class& cls, Place born) {
  DefaultNumbers made;
  const auto known = default_numbers_.find(&cls);
  if (known == default_numbers_.end())
    made = find_default_numbers(cls, born);
  else
    record_.steps += known->second.steps;
  const DefaultNumbers& found = known == default_numbers_.end()
      ? made.stands ? default_numbers_[&cls] = std::move(made) : made
      : known->second;
  if (run_.used_) run_.used_->add(found.used);
  if (found.numbers.empty()) return {};
  auto* held = heap().make<values::Instance>();
  for (const auto& [name, number] : found.numbers)
    heap().slot_of(held->attributes, name).value = heap().integer(number);
  return Value::of(Kind::instance, held);
}

Value RootRunner::symbolic_parameter(
    const values::Function& function, const Parameter& parameter, std::size_t index) {
  const Place born{function.chunk, parameter.span};
  if (run_.with_defaults_ && index < function.defaults.size()) {
    const Value value = function.defaults[index];
    if (value.is(Kind::integer) || value.is(Kind::real) || value.is(Kind::boolean) ||
        value.is(Kind::string) || value.is(Kind::none) || value.is(Kind::tuple)) {
      if (value.is(Kind::integer))
        run_.defaults_ += (run_.defaults_.empty() ? "" : ", ") + std::string(parameter.name.text()) + "=" +
            symbols().text(value.integer());
      return value;
    }
  }
  const bool has_default = index < function.defaults.size() && function.defaults[index];
  if (run_.with_defaults_ && !has_default && parameter.kind != ParameterKind::var_positional &&
      parameter.kind != ParameterKind::var_keyword)
    if (values::Class* cls = class_by_default(run_, function, parameter))
      if (const Value made = made_by_default(*cls, born)) {
        run_.defaults_ += (run_.defaults_.empty() ? "" : ", ") + std::string(parameter.name.text()) + "=" +
            std::string(cls->name.text()) + "()";
        return made;
      }
  if (parameter.kind == ParameterKind::var_positional)
    return heap().open_list(heap().unseen("", born), nullptr, values::ListKind::tuple);
  if (parameter.kind == ParameterKind::var_keyword) return heap().dict({}, true, heap().unseen("", born));
  const auto annotated = run_.annotations_->annotated_shape(parameter.annotation,
      {function.chunk, parameter.annotation ? parameter.annotation->span : parameter.span},
      run_.annotated_names_);
  const auto known = annotated ? annotated : given_shape(function, parameter);
  bool or_none = false;
  if (known ||
      annotated_as_tensor(run_.library_,
          run_.policy_.believes_annotations ? annotation_without_none(parameter.annotation, or_none)
                                            : parameter.annotation)) {
    values::TensorState state;
    if (known) state.shape = *known;
    state.sharing = Sharing::unseen;
    state.unseen = true;
    const Value given = heap().tensor(state, born);
    const bool optional = or_none ||
        (index < function.defaults.size() && function.defaults[index].is(Kind::none));
    if (!optional) return given;
    return heap().choose(
        symbols().opaque(std::string(parameter.name.text()) + " is not None", Sharing::uniform), given,
        Value::none());
  }
  bool optional = index < function.defaults.size() && function.defaults[index].is(Kind::none);
  if (const auto* cls = annotated_class(parameter.annotation, function, optional)) {
    values::Instance* object = run_.make_native(cls->row->path, born);
    object->symbolic = object->open = true;
    object->name = heap().keep(std::string(parameter.name.text()));
    const Value given = Value::of(Kind::instance, object);
    return optional ? heap().choose(symbols().opaque(std::string(parameter.name.text()) + " is not None",
                                        Sharing::uniform),
                          given, Value::none())
                    : given;
  }
  if (const Value given = given_to_hook(run_, function, parameter.name, born)) return given;
  if (run_.policy_.believes_annotations && parameter.annotation &&
      (index >= function.defaults.size() || !function.defaults[index])) {
    const values::Scope* scope = function.owner && function.owner->body ? function.owner->body
                                                                        : function.closure;
    if (const Value declared = annotated_object(
            run_, scope, parameter.annotation, parameter.name.text(), born))
      return declared;
  }
  // Who may leave it out does not mean the process that runs: `rank=0` is the one that sends, or that a file
  // is of. Beside the size of the job it is the own one, where it is given.
  const auto presumed = run_.library_.presume(parameter.name.text());
  const bool by_default = presumed && presumed->role == symbolic::Role::rank && !presumed->is_main &&
      index < function.defaults.size() && run_.resolve(function.defaults[index]).is(Kind::integer);
  const auto is_world_size = [&](const Parameter& each) {
    const auto meant = run_.library_.presume(each.name.text());
    return meant && meant->role == symbolic::Role::world_size;
  };
  if (by_default && std::ranges::any_of(function.parameters->list, is_world_size))
    return heap().choose(
        symbols().opaque(values::code(parameter.name.text()) + " is given", Sharing::uniform),
        run_.symbol(parameter.name.text(), Sharing::uniform, born), run_.resolve(function.defaults[index]));
  const bool of_another = by_default;
  const Value made = of_another ? heap().unknown(parameter.name.text(), Sharing::unseen, born)
                                : run_.symbol(parameter.name.text(), Sharing::uniform, born);
  const bool may_be_none = index < function.defaults.size() && function.defaults[index].is(Kind::none);
  if (made.is(Kind::instance) && may_be_none) {
    const std::string given = std::string(parameter.name.text()) + " is not None";
    return heap().choose(symbols().opaque(given, Sharing::uniform), made, Value::none());
  }
  if (made.is(Kind::unknown) && has_default)
    made.as<values::Unknown>()->default_value = function.defaults[index];
  // Where what its numbers have to be is not so with the defaults, the root is run with these once more.
  if (made.is(Kind::unknown) && !has_default && !run_.with_defaults_ && !run_.limits_.as_rank &&
      !run_.limits_.given)
    if (values::Class* cls = class_by_default(run_, function, parameter))
      made.as<values::Unknown>()->default_value = numbers_by_default(*cls, born);
  // Of what is declared to be something else its name says nothing.
  if (made.is(Kind::unknown) && parameter.annotation)
    heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::UnknownState::annotated)).value =
        class_of_annotation(run_, function.closure, parameter.annotation);
  return made;
}

std::optional<values::Shape> RootRunner::given_shape(
    const values::Function& function, const Parameter& parameter) {
  if (!run_.limits_.given || !record_.in_file({function.chunk, parameter.span})) return std::nullopt;
  const auto found = run_.limits_.given->find(
      std::string(function.qualified) + " " + std::string(parameter.name.text()));
  if (found == run_.limits_.given->end()) return std::nullopt;
  values::Shape shape;
  shape.ndim_known = !found->second.open;
  for (const Given::Size& size : found->second.sizes) {
    values::Dim dim;
    Int* same = size.same ? &given_sizes_[size.same] : nullptr;
    if (size.number) {
      dim.size = symbols().constant(*size.number);
    } else if (same && *same) {
      dim.size = *same;
    } else if (size.only_said && !size.name.empty()) {
      dim.size = run_.stand_in(size.name);
      if (same) *same = dim.size;
    } else if (!size.later && !(found->second.open && size.name.empty())) {
      symbolic::AtomInfo info;
      info.name = size.name;
      info.lower = 0;
      info.sharing = Sharing::local;
      dim.size = size.name.empty() ? run_.stand_in(std::string(parameter.name.text()) + ".shape[" +
                                         std::to_string(shape.dims.size()) + "]")
                                   : symbols().fresh(info);
      if (same) *same = dim.size;
    }
    shape.dims.push_back(dim);
  }
  return shape;
}

Root& RootRunner::begin_root(
    std::string name, values::Function* function, values::Class* owner, bool of_built) {
  auto& list = run_.with_defaults_ ? record_.default_roots : record_.roots;
  list.push_back(std::make_unique<Root>());
  Root& root = *list.back();
  root.name = std::move(name);
  root.function = function;
  root.owner = owner;
  RootRun run;
  run.function = function ? function->stmt : nullptr;
  run.called = function;
  run.owner = owner ? owner->stmt : nullptr;
  run.of_built = of_built;
  run_.incremental_->begin_root_run(std::move(run));
  run_.block_ = &root.block;
  run_.step_limit_ = record_.steps + run_.incremental_->steps_of_root(record_.steps);
  return root;
}

void RootRunner::run_defaults(const std::function<void()>& again) {
  const bool out_of_budget = record_.out_of_budget;
  run_.with_defaults_ = true;
  again();
  run_.with_defaults_ = false;
  record_.out_of_budget = out_of_budget;
}

void RootRunner::run_root(
    values::Function& function, Value self, values::Class* owner, std::optional<Cond> made_under) {
  if (record_.cancelled || !wanted(function.stmt)) return;
  if (!made_under) run_.note_used(run_.globals_, owner ? owner->name : function.name);
  const bool of_built = made_under || (self.is(Kind::instance) && !self.as<values::Instance>()->symbolic);
  Root& root = begin_root(std::string(function.qualified), &function, owner, of_built);
  const std::string outer_defaults = run_.defaults_;
  const std::size_t built_before = built_.size();
  run_.annotated_names_.clear();
  given_sizes_.clear();
  run_.stand_ins_.clear();
  Speculation root_run(run_);
  std::vector<values::Function*> outer_closures = std::exchange(closures_, {});
  std::unordered_set<const FunctionStmt*> called;
  auto* const outer_called = std::exchange(run_.called_, &called);
  const auto& list = function.parameters->list;
  auto* scope = heap().make<values::Scope>();
  scope->parent = function.closure;
  scope->globals = function.closure ? function.closure->globals : nullptr;
  scope->info = &function.stmt->scope;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Value value = i == 0 && self ? self : symbolic_parameter(function, list[i], i);
    heap().set(heap().slot_of(scope->names, list[i].name), value);
  }
  note_model_inputs(run_, self, function, *scope);
  run_.incremental_->note_reached(function.stmt);
  if (run_.with_defaults_)
    root.defaults = values::code(owner ? owner->name.text() : function.qualified) +
        (run_.defaults_.empty() ? "" : ": " + values::code(run_.defaults_));
  run_.defaults_ = outer_defaults;
  std::function<Value(Value)> ignore = [&](Value) { return heap().unseen(""); };
  // A test that is marked as one that fails.
  const bool fails = std::any_of(
      function.stmt->decorators.begin(), function.stmt->decorators.end(), [](const Expr* marked) {
        if (marked->kind == ExprKind::call) marked = as<CallExpr>(*marked).function;
        const std::string_view name = marked->kind == ExprKind::attribute
            ? as<AttributeExpr>(*marked).attribute.text()
            : marked->kind == ExprKind::name ? as<NameExpr>(*marked).id.text()
                                             : "";
        return name == "xfail" || name == "expectedFailure";
      });
  run_.expected_ += fails;
  const auto body = [&] {
    return run_.function_calls_->run_function(function, scope, {function.chunk, function.stmt->name_span},
        function.stmt->scope.is_generator ? &ignore : nullptr);
  };
  Cond when = made_under.value_or(nullptr);
  if (function.wrapped_guard) {
    const Cond guard = run_.truth(function.wrapped_guard);
    when = when ? symbols().logical_and(when, guard) : guard;
  }
  if (when)
    run_.fork_value(when, {function.chunk, function.stmt->name_span}, body, [] { return Value::none(); });
  else
    body();
  // Whoever enters it leaves it again: what one part waits for may come in the other.
  if (function.name.text() == "__enter__" && self.is(Kind::instance) && !run_.killed_)
    if (const Value leave = run_.find_method(self.as<values::Instance>(), Name("__exit__")))
      run_.call(leave, {{Value::none(), Value::none(), Value::none()}, {}, false},
          {function.chunk, function.stmt->name_span});
  run_.expected_ -= fails;
  run_.killed_ = false;
  run_.path_.clear();
  run_built(built_before, true);
  run_.called_ = outer_called;
  if (outer_called) outer_called->insert(called.begin(), called.end());
  std::vector<values::Function*> made = std::exchange(closures_, std::move(outer_closures));
  std::erase_if(made, [&](const values::Function* each) { return called.contains(each->stmt); });
  run_closures(made);
  root_run.keep_new_objects();
  run_.block_ = nullptr;
}

void RootRunner::note_built(values::Instance& object) {
  const bool plain = run_.path_.empty() && run_.dry_runs_ == 0 && run_.guards_ == 0 && run_.expected_ == 0 &&
      !run_.killed_ && !run_.with_defaults_;
  // What `type(name, bases, names)` makes has no statement.
  if (!plain || !object.cls->stmt || !record_.in_file({object.cls->chunk, object.cls->stmt->name_span}))
    return;
  if (run_.is_a(Value::of(Kind::instance, &object), run_.library_.types().module)) built_.push_back(&object);
}

void RootRunner::run_built(std::size_t from, bool by_function) {
  std::vector<values::Instance*> built(built_.begin() + static_cast<std::ptrdiff_t>(from), built_.end());
  built_.resize(from);
  if (run_.incremental_->unit() && !built.empty()) run_.incremental_->unit()->built = true;
  // A part of another model is run by it.
  std::unordered_set<const values::Object*> held;
  const std::function<void(Value, int)> hold_parts = [&](Value value, int depth) {
    constexpr int deepest_part =
        8;  // modules in modules: what lies deeper is run by itself, which finds the same
    value = run_.resolve(value);
    if (depth > deepest_part) return;
    if (value.is(Kind::instance)) {
      if (!held.insert(value.object()).second) return;
      for (const auto& [name, slot] : value.as<values::Instance>()->attributes.entries())
        hold_parts(slot->value, depth + 1);
    } else if (value.is(Kind::list)) {
      for (const Value& item : values::Heap::list_state(value)->items) hold_parts(item, depth + 1);
    } else if (value.is(Kind::dict)) {
      for (const auto& [key, item] : values::Heap::dict_state(value)->items) hold_parts(item, depth + 1);
    }
  };
  for (values::Instance* object : built)
    if (!held.contains(object))
      for (const auto& [name, slot] : object->attributes.entries()) hold_parts(slot->value, 0);
  for (values::Instance* object : built) {
    if (held.contains(object) || run_models_.contains(object) || built_runs_ >= most_built_runs ||
        record_.cancelled)
      continue;
    const Value forward = run_.find_in_order(object->cls->order, Name(run_.library_.types().forward));
    if (!forward.is(Kind::function) || !forward.as<values::Function>()->stmt ||
        ran_.contains(forward.as<values::Function>()->stmt))
      continue;
    ++built_runs_;
    // Who calls the function that made it has it, and may give it attributes.
    if (by_function)
      heap().set(
          heap().slot_of(object->attributes, Name(values::ModuleState::in_hands)), heap().boolean(true));
    const Value self = Value::of(Kind::instance, object);
    // Whoever calls a model that this file does not call has his own, which may lie elsewhere.
    Speculation elsewhere(run_);
    if (const Row* row = run_.method_row(run_.library_.types().module, values::InternalRow::may_lie_on_gpu))
      run_.library_calls_->call_library(
          *run_.library_symbol(row->path).as<values::LibrarySymbol>(), self, {}, {}, nullptr);
    run_root(*forward.as<values::Function>(), self, object->cls);
    elsewhere.keep_new_objects();
  }
}

void RootRunner::run_class_roots(values::Class& cls) {
  std::vector<values::Function*> methods;
  bool any = false;
  for (const auto& [name, slot] : cls.body->names.entries()) {
    const Value value = slot->value;
    if (!value.is(Kind::function) || value.as<values::Function>()->owner != &cls) continue;
    auto* function = value.as<values::Function>();
    if (!function->stmt) continue;
    methods.push_back(function);
    any = any || !reached(function->stmt);
  }
  any = any && (wanted(cls.stmt) || std::any_of(methods.begin(), methods.end(), [&](const auto* method) {
    return wanted(method->stmt);
  }));
  if (!any) return;
  // What calls other methods comes first: those are then reached with the values of that call. What only the
  // class itself calls comes last.
  const auto turn = [&](const values::Function* function) {
    const std::string_view name = function->name.text();
    if (name.starts_with('_') && !name.starts_with("__")) return 2;
    return run_.library_.find(values::InternalRow::calls_others + name) ? 0 : 1;
  };
  std::stable_sort(
      methods.begin(), methods.end(), [&](const auto* a, const auto* b) { return turn(a) < turn(b); });
  std::vector<bool> reached_before;
  std::vector<values::Function*> ran;
  for (values::Function* method : methods) {
    const bool was_reached = reached(method->stmt);
    if (!was_reached) ran.push_back(method);
    reached_before.push_back(was_reached || !wanted(method->stmt));
  }
  if (!run_.incremental_->run_unit({cls.stmt, false}, reached_before, [&] { run_class(cls, methods); }, &cls))
    return;
  doubtful_.push_back({{cls.stmt, true}, reached_before, [this, &cls, ran] {
                         for (const values::Function* method : ran) reached_[method->stmt] = false;
                         run_class(cls, ran);
                       }});
}

bool RootRunner::prepares_tests(const values::Class& cls) const {
  constexpr std::string_view preparing[] = {"setUp", "setUpClass", "setup_method", "setup_class"};
  return std::any_of(std::begin(preparing), std::end(preparing),
      [&](std::string_view name) { return run_.find_in_order(cls.order, Name(name)).is(Kind::function); });
}

void RootRunner::run_method(values::Class& cls, values::Function& method, Value self) {
  run_root(method,
      method.is_static             ? Value{}
          : method.is_class_method ? Value::of(Kind::class_, &cls)
                                   : self,
      &cls);
}

}  // namespace stepzero::interpreter

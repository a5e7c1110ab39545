// The abstract run: statements, expressions, calls, branches and loops over abstract values. Leaves a Record.
// Knows Python, and what ranks are; library names mean what the Library's rows say.
//
// A branch on an unknown condition is run on both sides and joined; a loop over something unknown is run to a
// state that holds for every iteration; a function is run at each call with the values of that call.
// Everything is counted in steps: out of budget, calls and loops answer "unknown".
#pragma once

#include "interpreter/run_state.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

namespace stepzero::interpreter {

class Annotations;
class Assertions;
class Assignments;
class Builtins;
class CallCheck;
class Contexts;
class FunctionCalls;
class IncrementalRun;
class Iterables;
class LibraryCalls;
class LoopRunner;
class ModuleLoader;
class NotedEvents;
class ObjectModel;
class Records;
class RootRunner;
class Speculation;
class Texts;
class UnseenCode;
struct BuiltinCall;

class Interpreter final : public RunState {
public:
  Interpreter(const program::Sources& sources, const Library& library, const Limits& limits, Record& record);
  ~Interpreter() override;

  // Runs the file as a program, then every function and method that was not reached, on symbols.
  void run_file(const std::string& path);
  // After run_file, when the file changed and nothing else that was read: the record becomes what run_file
  // would leave, with what the change does not touch taken over. False: that cannot be done, and this run and
  // its record are of no use any more. Where it was cancelled, as the record says, the record lacks some
  // roots, and can be run again. `only`: see Limits.
  bool run_again(
      const std::atomic<bool>* cancelled, const std::unordered_set<const syntax::Stmt*>* only = nullptr);
  // Of the last run: functions that nobody calls, and classes, as far as they were not taken over.
  std::size_t units_run() const;
  std::size_t objects_made() const;
  void tell(syntax::PhaseClock* clock) { clock_ = clock; }  // what is imported meanwhile; may be null
  // The roots that took the most steps, by name, with those steps; the statements of the file, without a
  // name, among them.
  std::vector<std::pair<std::string, std::uint64_t>> costly_roots(std::size_t most) const;
  // Was it a run_again after which all stands, because comments alone were edited?
  bool only_comments_changed() const;
  // Can there be a run_again? A run that was cancelled among the functions that nobody calls has left those
  // that it finished.
  bool can_run_again() const;

  // Something was stored under a key for the first time: see LoopRunner.
  void note_keyed(const KeyedItem& item);

  // ------------------------------------------------------------ see Runtime
  Value named_in(const values::Scope* scope, syntax::Name name) override;
  Value call(
      Value function, Arguments arguments, Place place, const syntax::CallExpr* expr = nullptr) override;
  Value attribute(Value object, syntax::Name name, Place place) override;
  Value data_of_file(std::string_view path, program::DataFormat format) override;
  Value attribute_or_none(Value object, syntax::Name name, Place place) override;
  symbolic::Answer has_attribute(Value value, syntax::Name name) override;
  void set_attribute(Value object, syntax::Name name, Value value, Place where = {}) override;
  Value find_method(values::Instance* object, syntax::Name name) override;
  Value import_named(std::string_view dotted) override;
  values::Instance* make_native(std::string_view class_path, Place place) override;
  Cond truth(Value value) override;
  Int to_int(Value value) override;
  std::optional<std::int64_t> to_constant(Value value) override;
  Value binary(syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node) override;
  Value compare(syntax::CompareOp op, Value left, Value right) override;
  std::optional<std::vector<Value>> elements(Value iterable, Place place) override;
  Value one_of_many(Value element) override;
  Value any_element(Value iterable, Place where) override;
  std::optional<std::vector<Value>> take(Value iterable, Place place, bool any_order = false) override;
  Value element(Value iterable, Place place) override;
  Value subscript(Value object, Value index, const syntax::Expr& node) override;
  Value length_of(Value value, Place place) override;
  Value next_of(Value iterator, Value otherwise, Place place) override;
  Value zip_of(const std::vector<Value>& iterables, bool longest, Value fill, Place place) override;
  Value make_set(std::vector<Value> items) override;
  bool sort_values(std::vector<Value>& items, Value key, bool descending, Place place) override;
  bool known_key(Value key) const override;
  bool same_key(Value a, Value b) const override;
  std::optional<int> order(Value a, Value b) const override;
  Value dict_get(Value dict, Value key, Value otherwise) override;
  void dict_set(Value dict, Value key, Value value) override;
  void dict_extend(Value dict, std::vector<std::pair<Value, Value>> items);
  bool dict_update(Value dict, Value other, Place place) override;
  void count_items(Value counter, Value iterable, Place place) override;
  std::optional<std::string> text_of(Value value, bool as_repr, int depth = 0) override;
  symbolic::Answer is_instance(Value value, Value type) override;
  symbolic::Answer is_subclass(Value cls, Value of) override;
  Value type_of(Value value, Place place) override;
  void make_dataclass(values::Class& cls, bool keyword_only, bool with_init) override;
  void fill_dataclass(values::Instance& object, Arguments arguments, Place place) override;
  std::vector<std::pair<syntax::Name, Value>> field_values(const values::Instance& object) override;
  Value named_tuple_class(
      std::string_view name, std::vector<values::ClassField> fields, Place place) override;
  void hold(values::Instance& object, const Arguments& arguments, Place place) override;
  Value find_in_order(
      const std::vector<values::Class*>& order, syntax::Name name, std::size_t from = 0) const override;
  Value raise_builtin(std::string_view exception, Place place) override;
  Value refined(Value value) override;
  Value decided(Value choice) override;
  Value over_choices(Value value, const std::function<Value(Value)>& each, Place place = {}) override;
  Int role(symbolic::Role role) override;
  Cond named_condition(std::string_view name, Sharing sharing) override;
  Value symbol(std::string_view name, Sharing sharing, Place born) override;
  void record_operation(const Call& call, Value result, Value extra_self = {}) override;
  ProblemEvent* problem(
      values::ProblemKind kind, const Call& call, Cond when = nullptr, std::string_view raises = {}) override;
  ProblemEvent* problem_at(values::ProblemKind kind, Place where, const syntax::Expr* node) override;
  void poison(const Call& call) override;
  Cond assumption() override;
  void note_choice_by_text(Value word) override;
  values::Known records_gradients() const override;
  Int stand_in(std::string_view name) override;
  void note_gradient_written(Value of, Place place, const Row* by = nullptr) override;
  void note_weights_written(Value weights, Value numbers, Place place) override;
  void note_seed(Value seed, std::optional<Stream> stream = {}, bool partly = false) override;
  void note_fit(Int a, Int b, bool broadcasts, Place where) override;

private:
  // Parts that are classes of their own.
  friend class RunPart;
  friend class Annotations;
  friend class Assertions;
  friend class Assignments;
  friend class Builtins;
  friend class CallCheck;
  friend class Contexts;
  friend class FunctionCalls;
  friend class IncrementalRun;
  friend class Iterables;
  friend class LibraryCalls;
  friend class LoopRunner;
  friend class ModuleLoader;
  friend class NotedEvents;
  friend class ObjectModel;
  friend class Records;
  friend class RootRunner;
  friend class Texts;
  friend class UnseenCode;
  std::unique_ptr<Annotations> annotations_;
  std::unique_ptr<Assertions> assertions_;
  std::unique_ptr<Assignments> assignments_;
  std::unique_ptr<Builtins> builtins_;
  std::unique_ptr<CallCheck> call_check_;
  std::unique_ptr<Contexts> contexts_;
  std::unique_ptr<FunctionCalls> function_calls_;
  std::unique_ptr<IncrementalRun> incremental_;
  std::unique_ptr<Iterables> iterables_;
  std::unique_ptr<LibraryCalls> library_calls_;
  std::unique_ptr<LoopRunner> loops_;
  std::unique_ptr<ModuleLoader> loader_;
  std::unique_ptr<NotedEvents> noted_;
  std::unique_ptr<ObjectModel> object_model_;
  std::unique_ptr<Records> records_;
  std::unique_ptr<RootRunner> roots_;
  std::unique_ptr<Texts> texts_;
  std::unique_ptr<UnseenCode> unseen_;

  friend class Speculation;
  friend struct BuiltinCall;

  // Components that take several steps, each defined in its file.
  struct Arithmetic;
  struct Comparison;
  struct Evaluation;
  struct Matching;
  struct Subscript;

  // statements.cpp
  Flow run_block(syntax::Block block);
  Flow run(const syntax::Stmt& stmt);
  Flow after_expression(const syntax::Stmt& stmt);
  Flow run_return(const syntax::ReturnStmt& stmt);
  void run_parts(const syntax::ErrorStmt& stmt);
  Flow run_if(const syntax::IfStmt& stmt);
  Flow run_match(const syntax::MatchStmt& stmt, std::size_t from, Value subject);
  void run_delete(const syntax::Expr& target);
  Flow leave(ExitKind kind, const syntax::Stmt& stmt, Value value);

  // paths.cpp
  Flow fork(Cond condition, const syntax::Stmt* stmt, Place place, const std::function<Flow()>& yes,
      const std::function<Flow()>& no);
  Value fork_value(
      Cond condition, Place place, const std::function<Value()>& yes, const std::function<Value()>& no);
  // Brings the exits together with the present path (dead or not) and answers whether any path goes on. With
  // `loose`, it is not known which of the paths is taken. Facts found since then are forgotten where paths
  // meet.
  Flow merge_exits(Speculation& since, std::vector<Exit>& exits, Flow flow, Value* value, bool loose);
  Exit make_exit(values::Mark mark, std::size_t depth, Value value);
  Cond path_since(std::size_t depth);

  // expressions.cpp
  Value evaluate(const syntax::Expr& expr);
  Value evaluate_inner(const syntax::Expr& expr);
  Value evaluate_compare(const syntax::CompareExpr& expr);
  Value evaluate_bool(const syntax::BooleanOpExpr& expr, std::size_t from);
  Value unary(syntax::UnaryOp op, Value operand, const syntax::Expr& node);
  // Of the arguments of a call it also notes how many are unknown (`rest_length`) and how many follow
  // them (`after`).
  std::vector<Value> evaluate_elements(
      syntax::List<const syntax::Expr*> elements, bool& open, Value& rest, Arguments* of_call = nullptr);
  Value lookup(syntax::Name name, const syntax::Expr& node);
  values::Slot& variable(syntax::Name name);
  void exclude_others(Cond holds);
  // The same question about the same object has the same answer.
  Cond asked(std::string_view question, Value object, Value of, Sharing sharing);
  void note_used(const values::Scope* scope, syntax::Name name) {
    if (used_ && scope == globals_) used_->names.insert(name);
  }
  void note_all_used(const values::Scope* scope) {
    if (used_ && scope == globals_) used_->all = true;
  }
  Value frozen(Value value, int depth = 0);
  void note(Fact::Role role, Place place, Value value);
  bool step(std::uint64_t cost = 1);  // false: out of budget
  // Is what fails here caught, or expected? Where a callee was broken off, it may have gone another way, too.
  bool may_not_fail() const {
    return guards_ > 0 || expected_ > 0 || (handling_ && handling_->calls != site_) ||
        record_.steps >= std::min(step_limit_, trial_limit_);
  }
  void append(const Event* event) { block_->events.push_back(event); }
  Cond mark_unseen(Cond condition, bool unseen) {
    if (unseen) record_.unseen.insert(condition);
    return condition;
  }
  Place here(const syntax::Expr& expr) const { return {chunk_, expr.span}; }

  // Where it holds, an object is of a class that was not seen, and may be other than what is known of it.
  bool says_unseen_class(Cond condition);
};

}  // namespace stepzero::interpreter

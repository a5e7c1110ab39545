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
class CallCheck;
class IncrementalRun;
class ModuleLoader;
class NotedEvents;
class Records;
class RootRunner;
class Speculation;
class UnseenCode;
struct BuiltinCall;
struct LoopShape;

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

  // Something was stored under a key for the first time: see Fixpoint.
  void note_keyed(const KeyedItem& item) {
    if (generic_depth_ > 0) keyed_.push_back(item);
  }

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
  ProblemEvent* problem_at(
      values::ProblemKind kind, Place place, const syntax::Expr* node, std::string text) override;
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
  friend class CallCheck;
  friend class IncrementalRun;
  friend class ModuleLoader;
  friend class NotedEvents;
  friend class Records;
  friend class RootRunner;
  friend class UnseenCode;
  std::unique_ptr<Annotations> annotations_;
  std::unique_ptr<Assertions> assertions_;
  std::unique_ptr<CallCheck> call_check_;
  std::unique_ptr<NotedEvents> noted_;
  std::unique_ptr<Records> records_;
  std::unique_ptr<UnseenCode> unseen_;
  std::unique_ptr<ModuleLoader> loader_;
  std::unique_ptr<RootRunner> roots_;
  std::unique_ptr<IncrementalRun> incremental_;

  friend class Speculation;
  friend struct BuiltinCall;

  // Components that take several steps, each defined in its file.
  struct AnyOf;
  struct Arithmetic;
  struct Assignment;
  struct Attribute;
  struct Comparison;
  struct Comprehension;
  struct Elements;
  struct Evaluation;
  class Fixpoint;
  struct ForLoop;
  struct InstanceOf;
  struct KnownIterations;
  struct LibraryCall;
  struct Matching;
  struct Subscript;
  struct TryRun;
  struct WithItem;

  // statements.cpp
  Flow run_block(syntax::Block block);
  Flow run(const syntax::Stmt& stmt);
  Flow after_expression(const syntax::Stmt& stmt);
  Flow run_return(const syntax::ReturnStmt& stmt);
  void run_parts(const syntax::ErrorStmt& stmt);
  Flow run_if(const syntax::IfStmt& stmt);
  Flow run_with(const syntax::WithStmt& stmt, std::size_t item);
  void enter(Value manager, Place where);
  Flow run_try(const syntax::TryStmt& stmt);
  Flow run_match(const syntax::MatchStmt& stmt, std::size_t from, Value subject);
  void run_assignment(const syntax::Stmt& stmt);
  void run_assign(const syntax::Expr& target, Value value);
  void run_unpack(const syntax::Expr& target, syntax::List<const syntax::Expr*> targets, Value value);
  void unpack_choice(const syntax::Expr& target, syntax::List<const syntax::Expr*> targets, Value value);
  void store_subscript(Value object, Value index, Value value, const syntax::Expr& target);
  void run_delete(const syntax::Expr& target);
  Flow leave(ExitKind kind, const syntax::Stmt& stmt, Value value);
  symbolic::Answer catches(Value type, Value raised);
  symbolic::Answer is_instance_of_raised(std::string_view exception);

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

  // loops.cpp, fixpoint.cpp, widening.cpp, comprehensions.cpp
  Flow run_for(const syntax::ForStmt& stmt);
  bool building() const;
  // Would the iterations of an unrolled loop after the first `ran` do what the last of these did, since
  // `before`, to other objects? Asked only where no rule looks at the single iteration: in dry runs, for one
  // rank, to show.
  bool rest_is_equivalent(const syntax::ForStmt& stmt, const std::vector<Value>& items, std::size_t ran,
      values::Mark before, const Block& iteration);
  bool skips_equal_iterations() const;
  Flow run_while(const syntax::WhileStmt& stmt);
  Flow run_else(
      syntax::Block body, syntax::Block orelse, Flow flow);  // of a loop of which not all rounds are known
  std::optional<Flow> run_known_iterations(const syntax::WhileStmt& stmt, std::vector<Block>& first);
  Flow run_generic_loop(const LoopShape& shape, const std::function<Flow()>& iteration);
  IterationCounts iteration_counts(Int length);
  std::string length_name(Place born) const;
  Int length_of_slice(Int size, const values::SliceObject& slice);
  // How many elements of so many, which are numbered by an atom, fulfill a condition that deals them out in
  // turn; null if it does not.
  Int length_of_share(Int size, Int number, Cond condition);
  bool run_unrolled(
      const syntax::ForStmt& stmt, const std::vector<Value>& items, std::uint64_t budget, Flow& flow);
  Flow run_generator_loop(const syntax::ForStmt& stmt, Value generator);
  Flow run_iteration(LoopTarget& target, const std::function<Flow()>& body, bool loose);
  bool covers(Value wide, Value value) const;
  Value without_made(Value state, std::uint64_t since);
  Value any_of_wide(Value wide);
  Value run_comprehension(const syntax::ComprehensionExpr& expr);
  // alike.cpp
  Value any_of(std::span<const Value> items, int depth = 0);
  Sharing trips_of(Value iterable);
  Int known_length(Value iterable);

  // noted_events.cpp
  bool in_loop() const;  // does a statement's loop run, here or in a caller?
  bool matters(const Call& call) const;
  OperationEvent* record_implied(
      std::string_view row, Value self, std::vector<Value> arguments, Value result, Place where);

  // expressions.cpp
  Value evaluate(const syntax::Expr& expr);
  Value evaluate_inner(const syntax::Expr& expr);
  Value evaluate_call(const syntax::CallExpr& expr);
  Value evaluate_compare(const syntax::CompareExpr& expr);
  Value evaluate_bool(const syntax::BooleanOpExpr& expr, std::size_t from);
  Value evaluate_format(const syntax::FormatExpr& expr);
  Value unary(syntax::UnaryOp op, Value operand, const syntax::Expr& node);
  std::optional<std::vector<Value>> iterated(Value iterator, Place place);
  std::optional<std::vector<Value>> counted(Value sequence, Place place);
  std::optional<std::vector<Value>> until_raised(
      std::string_view exception, const std::function<Value(std::int64_t)>& next);
  std::optional<std::vector<std::int64_t>> slice_of(std::int64_t size, const values::SliceObject& slice);

  // texts.cpp
  std::optional<std::string> formatted(Value value, std::string_view specification);
  std::optional<std::string> format_percent(std::string_view pattern, Value argument);
  std::optional<std::string> format_braces(std::string_view pattern, const Arguments& arguments);
  Arguments evaluate_arguments(const syntax::CallExpr& expr);
  const syntax::Expr* read_to_its_end(Value function, const syntax::CallExpr& expr) const;
  // Of the arguments of a call it also notes how many are unknown (`rest_length`) and how many follow
  // them (`after`).
  std::vector<Value> evaluate_elements(
      syntax::List<const syntax::Expr*> elements, bool& open, Value& rest, Arguments* of_call = nullptr);
  Value lookup(syntax::Name name, const syntax::Expr& node);
  values::Slot& variable(syntax::Name name);
  Value make_function(const syntax::FunctionStmt& stmt);
  Value make_lambda(const syntax::LambdaExpr& expr);
  std::vector<Value> evaluate_defaults(const syntax::Parameters& parameters);

  // calls.cpp
  // `expr`: the call, where the program itself makes it.
  Value call_function(const values::Function& function, Arguments arguments, Place place, Value bound_self,
      const syntax::CallExpr* expr = nullptr);
  Value run_function(const values::Function& function, values::Scope* scope, Place place,
      std::function<Value(Value)>* on_yield);
  bool recurs_too_far(const values::Function& function);
  // Gives the parameters their values. False: what is given is not what the function takes.
  bool bind(const values::Function& function, Arguments& arguments, values::Scope& scope);

  // library_calls.cpp
  int tries_for_others(std::string_view raised);
  void qualify(ProblemEvent& event, Cond when, bool again, std::string_view raises);
  Value call_wrapped(Value either, Value wrapper, Value module, Arguments arguments, Place place,
      const syntax::CallExpr* expr);
  Value call_library(const values::LibrarySymbol& symbol, Value self, Arguments arguments, Place place,
      const syntax::CallExpr* expr);
  // Does a callee ask whether it was given None, and was it given something of which nothing is known?
  bool asked_by_callee() const;
  bool is_about_option(Cond given) const;
  void exclude_others(Cond holds);
  // The same question about the same object has the same answer.
  Cond asked(std::string_view question, Value object, Value of, Sharing sharing);
  Value decorate(Value function, const syntax::FunctionStmt& stmt);
  // Runs a generator's body; each value it yields goes to `consume`.
  static bool is_pending(Value value) {  // a generator that has not run yet
    return value.is(values::Kind::iterator) && value.as<values::Iterator>()->pending &&
        !value.as<values::Iterator>()->state.value;
  }
  Value drain(Value generator, Place place, std::function<Value(Value)>& consume);

  // classes.cpp
  Value make_class(const syntax::ClassStmt& stmt);
  Value instantiate(values::Class& cls, Arguments arguments, Place place, const syntax::CallExpr* expr);
  bool decorates(Value decorator);
  Value held(const values::Instance& object) const;
  Value native_fallback(const values::LibrarySymbol& native, Value self, syntax::Name name, Place place);
  Value bind_method(Value found, Value self, values::Class* cls, Place place);
  Value native_attribute(const values::LibrarySymbol& native, Value self, syntax::Name name, Place place);

  // types.cpp
  void add_bases(values::Class& cls, const std::vector<Value>& bases, std::vector<values::Class*>& parents);
  void delete_attribute(Value object, syntax::Name name, Place where);
  // `x.grad = …` of a tensor, or of something that may be one; absent value: it is deleted.
  void store_in_tensor(Value object, syntax::Name name, Value value, Place where);

  // builtins.cpp
  Value builtin(syntax::Name name);
  Value call_builtin(std::string_view name, Arguments& arguments, Place place);
  Value call_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value value_attribute(Value object, syntax::Name name, Place place);

  // containers.cpp, strings.cpp
  Value list_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value sequence_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value dict_method(Value self, std::string_view name, Arguments& arguments, Place place);
  Value string_method(Value self, std::string_view name, Arguments& arguments, Place place);
  void dict_delete(Value dict, Value key);
  Value plain_member(Value value) const;  // of an enum whose members are numbers or text: the number or text

  void note_used(const values::Scope* scope, syntax::Name name) {
    if (used_ && scope == globals_) used_->names.insert(name);
  }
  void note_all_used(const values::Scope* scope) {
    if (used_ && scope == globals_) used_->all = true;
  }
  void each_operand(const Call& called, const std::function<void(Value)>& look);

  Value frozen(Value value, int depth = 0);
  void note(Fact::Role role, Place place, Value value);
  bool step(std::uint64_t cost = 1);  // false: out of budget
  // Is what fails here caught, or expected? Where a callee was broken off, it may have gone another way, too.
  bool may_not_fail() const {
    return guards_ > 0 || expected_ > 0 || (handling_ && handling_->calls != site_) ||
        record_.steps >= step_limit_;
  }
  void append(const Event* event) { block_->events.push_back(event); }
  Cond mark_unseen(Cond condition, bool unseen) {
    if (unseen) record_.unseen.insert(condition);
    return condition;
  }
  Place here(const syntax::Expr& expr) const { return {chunk_, expr.span}; }

  // Where it holds, a layer of the library is of a class that was not seen, and not what it is known to be.
  bool says_unseen_class(Cond condition);
};

}  // namespace stepzero::interpreter

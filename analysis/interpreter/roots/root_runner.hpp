// What nobody in the file calls is run by itself, on symbols: functions, classes with their methods, models
// that the file makes and does not call, functions that functions make and hand out. Where an equality stays
// open that defaults decide, once more with the defaults.
#pragma once

#include "interpreter/run_part.hpp"

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::interpreter {

class RootRunner : private RunPart {
public:
  explicit RootRunner(Interpreter& run) : RunPart(run) {}

  // What the statements of the file did not reach.
  void run_roots(ModuleRun& run_of, const std::shared_ptr<const syntax::Module>& module);
  // `made_under`: the condition under which a function that another one made is there.
  void run_root(
      values::Function& function, Value self, values::Class* owner, std::optional<Cond> made_under = {});
  void run_method(values::Class& cls, values::Function& method, Value self);
  // Builds an object of the class on symbols and runs the methods on it.
  void run_class(values::Class& cls, const std::vector<values::Function*>& methods);
  // What was run before on symbols, and left an equality open that the defaults decide, is run with the
  // defaults.
  void run_defaults(const std::function<void()>& again);
  void tell_as_defaults();
  // Models that the program makes and does not call are run on symbols, as they were made.
  void note_built(values::Instance& object);
  // A function of the file's that another one makes, under the path of now.
  void note_closure(values::Function& function);
  bool ran(const syntax::FunctionStmt* stmt) const { return ran_.contains(stmt); }  // by the program itself
  // The forward of the model runs. False: it is known.
  bool note_model(const values::Object* object) { return run_models_.insert(object).second; }

private:
  void tell_root();
  friend class IncrementalRun;  // takes over what an edit leaves standing
  friend class Speculation;
  struct ClassRoot;

  // What holds of every call of a function is shown, whatever else calls it.
  bool reached(const syntax::FunctionStmt* stmt);
  bool wanted(const syntax::Stmt* stmt) const;
  void run_class_roots(values::Class& cls);
  bool prepares_tests(const values::Class& cls) const;
  Root& begin_root(std::string name, values::Function* function, values::Class* owner, bool of_built = false);
  void run_built(std::size_t from, bool by_function = false);
  // Those that were made, and that nobody called: whoever was given one may.
  void run_closures(const std::vector<values::Function*>& made);
  void run_closures_of_statements();
  Value made_by_default(values::Class& cls, Place born);
  // The numbers that such an object holds, as an object of its own. Nothing of its constructor has happened.
  Value numbers_by_default(values::Class& cls, Place born);
  DefaultNumbers find_default_numbers(values::Class& cls, Place born);
  Value symbolic_parameter(
      const values::Function& function, const syntax::Parameter& parameter, std::size_t index);
  std::optional<values::Shape> given_shape(
      const values::Function& function, const syntax::Parameter& parameter);
  const values::LibrarySymbol* annotated_class(
      const syntax::Expr* annotation, const values::Function& function, bool& optional);

  struct Doubtful {
    UnitKey key;
    std::vector<bool> condition;
    std::function<void()> run;
  };
  std::vector<Doubtful> doubtful_;          // what is to be run with the defaults
  std::map<const void*, Int> given_sizes_;  // of the parameters of the root that begins, by Given::Size::same
  std::unordered_set<const syntax::FunctionStmt*> ran_;  // the functions that the program itself reached
  std::unordered_map<const void*, bool> reached_;        // FunctionStmt
  std::vector<values::Instance*> built_;  // models that were made without condition, not run yet as such
  std::size_t built_runs_ = 0;
  std::vector<values::Function*> closures_;                       // that the root which runs has made
  std::unordered_map<const values::Function*, Cond> made_under_;  // of functions made on a path
  std::unordered_set<const values::Object*> run_models_;          // objects whose forward ran
  std::unordered_map<const values::Class*, DefaultNumbers> default_numbers_;  // that roots asked for
};

}  // namespace stepzero::interpreter

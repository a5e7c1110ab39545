// The state of a run, and what functions of rows are answered from it alone.
#pragma once

#include "interpreter/frame.hpp"
#include "interpreter/incremental/replay.hpp"
#include "interpreter/library.hpp"
#include "interpreter/library_names.hpp"
#include "interpreter/limits.hpp"
#include "interpreter/one_rank.hpp"
#include "interpreter/paths/open_questions.hpp"
#include "interpreter/record.hpp"
#include "interpreter/runtime.hpp"
#include "interpreter/statements/module_run.hpp"
#include "program/imports.hpp"
#include "syntax/phase.hpp"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace stepzero::interpreter {

// What was first stored under a key of an unknown thing.
struct KeyedItem {
  values::Unknown* of = nullptr;
  std::size_t item = 0;  // among its items
  const values::Slot* slot = nullptr;
};

class RunState : public Runtime {
public:
  static constexpr std::uint64_t unlimited_steps = ~std::uint64_t{0};  // of steps

  void note_asked_attribute(std::string_view name) override {
    if (used_) used_->attributes.emplace(name);
  }
  void note_body_read(const syntax::FunctionStmt& function) override {
    if (used_) used_->bodies.insert(&function);
  }
  // The same of what asks no more of the text than which names it calls.
  void note_calls_read(const syntax::FunctionStmt& function) {
    if (used_) used_->calls.insert(&function);
  }
  Value library_symbol(std::string_view path) override {
    return Value::of(values::Kind::library, names_.symbol(path));
  }
  bool is_a(Value object, std::string_view class_path) const override {
    return names_.is_a(object, class_path);
  }
  const Row* method_row(std::string_view class_path, std::string_view method) const override {
    return names_.method_row(class_path, syntax::Name(method));
  }
  const Row* method_row(std::string_view class_path, syntax::Name method) const override {
    return names_.method_row(class_path, method);
  }
  const Row* constructor_row(std::string_view class_path) const override {
    return names_.constructor_row(class_path);
  }
  bool of_any_use() const override { return any_use_; }
  const OneRank* as_rank() const override { return limits_.as_rank ? &*limits_.as_rank : nullptr; }
  values::Instance* heard() const override { return in_roots_ ? nullptr : heard_; }
  void exit_process() override { killed_ = true; }
  const CallSite* site() const override { return site_; }
  bool guarded() const override { return guards_ > 0; }
  const Launch* launch() const override { return limits_.launch; }
  bool with_defaults() const override { return with_defaults_; }
  bool knows_default_device() const override {
    return !in_roots_ && device_contexts_ == 0 && !default_device_set_;
  }
  void set_default_device() override { default_device_set_ = true; }
  values::Dtype default_dtype() const override {
    return default_dtype_.value.is(values::Kind::dtype) ? default_dtype_.value.dtype()
        : default_dtype_.value                          ? values::Dtype::unknown
                                                        : values::Dtype::float32;
  }
  bool default_dtype_set() const override { return static_cast<bool>(default_dtype_.value); }
  void set_default_dtype(Value dtype) override { heap().set(default_dtype_, dtype); }
  const Around* around() const override { return around_; }
  void note_gradient_switch(const values::Instance* manager) override {
    switches_ += unentered_ != nullptr;
    unentered_ = manager;
  }
  bool in_roots() const override { return in_roots_; }
  void note_gradients(std::optional<Sharing> own) override {
    gradients_.own = own && gradients_.own ? symbolic::mix(*gradients_.own, *own) : own;
  }
  void lose_gradients() override { gradients_.lost = true; }
  std::optional<Sharing> own_gradients() const override {
    return gradients_.lost ? std::nullopt : gradients_.own;
  }
  Sharing drawn_sharing(Stream stream) const override {
    const Seeds seeds = seeds_[static_cast<std::size_t>(stream)];
    return limits_.as_rank || seeds == Seeds::never || seeds == Seeds::by_rank ? Sharing::local
                                                                               : Sharing::uniform;
  }
  bool casting() const override {
    return casts_ > 0;
  }  // inside a `with` that may have operators choose their results' types
  Place place(syntax::Span span) const override { return {chunk_, span}; }
  Place place(const syntax::Expr& expr) const override { return {chunk_, expr.span}; }

protected:
  RunState(const program::Sources& sources, const Library& library, const Limits& limits, Record& record)
      : Runtime(record, record.heap, record.symbols, library, limits.given ? showing : proving),
        sources_(sources), limits_(limits) {}
  ~RunState() override = default;

  const program::Sources& sources_;
  Limits limits_;
  LibraryNames names_{library_, record_.heap};
  OpenQuestions questions_;
  std::unordered_set<Cond> of_unseen_class_;  // conditions: what is known of some class is asked whether it
                                              // is an object of one that is not seen

  Frame* frame_ = nullptr;
  std::uint32_t chunk_ = 0;  // of the code that runs now
  Block* block_ = nullptr;   // receives events
  const CallSite* site_ = nullptr;
  std::vector<Cond> path_;  // conditions taken, outermost first
  std::vector<Cond>
      assumed_;  // those of them that no statement makes: an operand is run for each of its values
  std::uint64_t step_limit_ = 0;
  std::uint64_t trial_limit_ = unlimited_steps;  // see StepAllowance
  int nesting_ = 0;                              // see Nested
  int depth_ = 0;                                // of calls
  int generic_depth_ = 0;                        // loops around that stand for any number of iterations
  int dry_runs_ = 0;                             // iterations whose events and facts are thrown away
  int guards_ = 0;                               // try bodies around
  int branches_ = 0;                             // forks around of which nothing decides which side is taken
  // While the test of an assert is evaluated: the values of its parts, and the frame that they belong to.
  std::vector<std::pair<const syntax::Expr*, Value>>* traced_ = nullptr;
  const Frame* traced_frame_ = nullptr;
  std::unordered_set<const values::Slot*>* attributes_read_ =
      nullptr;  // while iterations are watched that may come to the same: those that were asked for
  bool with_defaults_ = limits_.with_defaults;  // parameters are their defaults
  std::string defaults_;                        // those that were taken
  bool chosen_by_text_ = false;  // the command line may give a word instead of a default that is one
  std::map<std::string, Int, std::less<>> annotated_names_;  // of the parameters of the root that begins
  std::map<std::string, int, std::less<>> stand_ins_;        // how often the names were given in the root
  int device_contexts_ = 0;  // `with torch.device(…)`, or something that is not known
  bool default_device_set_ = false;
  values::Slot default_dtype_;
  int casts_ = 0;                                     // see casting()
  int forwards_ = 0;                                  // modules around whose forward runs
  std::pair<const values::Object*, Value> answered_;  // see call_wrapped()
  int switches_ = 0;                                  // see note_gradient_switch()
  const values::Instance* unentered_ = nullptr;
  const Around* around_ = nullptr;  // the managers around
  int expected_ = 0;                // with bodies around whose failure is expected: a test of it
  std::set<std::string, std::less<>>
      resized_;  // "len(files)" of what the program appends to without that being seen
  Gradients gradients_;
  std::array<Seeds, 3> seeds_{};              // of each stream
  int catching_ = 0;                          // try bodies with handlers around, in this module
  bool any_use_ = false;                      // see of_any_use()
  std::uint64_t may_raise_ = 0;               // calls so far that may fail
  Value raised_;                              // by what killed the path; absent if that is not known
  Value caught_;                              // the exception that is handled
  AttemptEvent* handling_ = nullptr;          // whose handler runs: of what is not known
  const syntax::Expr* callee_ = nullptr;      // the expression that is about to be called
  const syntax::Expr* read_whole_ = nullptr;  // the argument of what reads it to its end
  bool calling_ = false;                      // the attribute that is looked up is called
  bool in_roots_ = false;                     // the program itself has run
  values::Instance* heard_ = nullptr;         // see heard()
  int quiet_ = 0;                             // calls around whose facts the program itself has told
  bool killed_ = false;                       // the expression that was evaluated does not return
  std::unordered_map<const values::Function*, int> active_;
  std::unordered_map<const syntax::FunctionStmt*, values::Function*>
      functions_;  // of the analyzed file, last made
  std::vector<values::Function*> function_order_;
  std::vector<values::Class*> classes_;  // of the analyzed file
  std::unordered_set<const syntax::FunctionStmt*>* called_ =
      nullptr;  // by the constructor that runs as a root
  syntax::PhaseClock* clock_ = nullptr;
  Int roles_[6] = {};  // the atoms made for roles so far: see Record::roles
  std::string main_path_;
  const values::Scope* globals_ = nullptr;  // of the analyzed file
  Used* used_ = nullptr;                    // of the part that runs
  bool following_ = false;                  // the statements of the analyzed file run
};

}  // namespace stepzero::interpreter

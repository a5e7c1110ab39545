// The events of a run: operations, problems, branches, loops, calls and exits, each a node of a tree. What a
// reader asks of the whole run is in record.hpp; which library operation an event means is its Row's data.
#pragma once

#include "interpreter/library.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::interpreter {

using values::Cond;
using values::Int;
using values::Place;
using values::Sharing;
using values::Value;

// The calls that led somewhere, innermost first.
struct CallSite {
  Place place;                                 // of the call
  const values::Function* function = nullptr;  // what was called
  const CallSite* outer = nullptr;
};

enum class EventKind : std::uint8_t { operation, problem, branch, loop, call, exit, attempt };
constexpr std::size_t event_kinds = 7;

struct Event {
  EventKind kind;
  std::uint32_t number = 0;  // among the record's events
  Place place;
  const CallSite* calls = nullptr;
  virtual ~Event() = default;

protected:
  explicit Event(EventKind k) : kind(k) {}
};

struct Block {
  std::vector<const Event*> events;
};

struct Around;
struct RefusalBox;  // refusals.hpp

// A call of something that its Row says to record: a collective, a backward, an optimizer step…
struct OperationEvent : Event {
  OperationEvent() : Event(EventKind::operation) {}
  const values::Row* row = nullptr;
  const syntax::CallExpr* expr = nullptr;  // null for operators, properties and implied operations
  Value self;
  std::vector<Value> arguments;  // in the order of the row's signature; absent where not given
  // For tensors (self first, then the arguments): their state at this moment; null for the others.
  std::vector<const values::TensorState*> tensors;
  // For lists among the arguments: the same.
  std::vector<const values::ListState*> lists;
  Value result;
  const values::TensorState* made = nullptr;  // the state of the result, if it is a tensor
  bool expected = false;                      // to fail: it stands in a test of the failure
  const Around* around = nullptr;
  // Of what the last batch does not fit: why.
  std::shared_ptr<const RefusalBox> refusal;
  const values::Row* by = nullptr;  // of a gradient that an operator writes in place: which
  const values::TensorState* self_state() const { return tensors.empty() ? nullptr : tensors[0]; }
  const values::ListState* list_state(std::size_t i) const { return i < lists.size() ? lists[i] : nullptr; }
  const values::TensorState* argument_state(std::size_t i) const {
    return i + 1 < tensors.size() ? tensors[i + 1] : nullptr;
  }
};

// The library's context managers around a place, innermost first: autocast, no_grad…
struct Around {
  Value manager;
  Place place;  // of the `with` or the decorator
  const Around* outer = nullptr;
  values::Known gradients = values::Known::yes;  // are they recorded inside?
  const values::Instance* casts =
      nullptr;  // the region in which operators choose their types, if one is known
};

// An edit that would mend a problem; rules offer it as a quick-fix.
struct SuggestedEdit {
  enum class How : std::uint8_t {
    constructor,  // the argument `parameter` of the constructor call that made the layer becomes `text`
    replace,      // `expr` becomes `text`
    append,       // `text` is put after `expr`: ".long()"
  };
  How how{};
  std::string_view parameter;
  const syntax::Expr* expr = nullptr;  // in the chunk of the problem's place
  std::string text;
  std::string title;  // "Set in_features to 800"
  bool sure = false;  // always right: no decision is needed
};

// An operation that cannot succeed. The operator tables say what is wrong; rules say it to the user.

struct ProblemEvent : Event {
  ProblemEvent() : Event(EventKind::problem) {}
  values::ProblemKind problem{};
  const values::Row* row = nullptr;  // null for statements: assert, an annotation
  const syntax::CallExpr* expr = nullptr;
  const syntax::Expr* node = nullptr;
  Value self;  // the layer, for layers
  std::vector<Value> operands;
  std::vector<const values::TensorState*> states;  // of the operands
  values::Dim left, right;                         // the two sizes that do not agree
  // What is wrong, in types; rules word it (rules/shape/refusal_text.hpp). Null: a rule looks at the
  // operands.
  std::shared_ptr<const RefusalBox> refusal;
  // Places that explain it: where these sizes were decided, and others.
  std::vector<values::Dim> sizes;
  std::vector<std::pair<Place, std::string>> evidence;
  std::vector<SuggestedEdit> suggested_edits;
  // The operation fails only where this holds, because an operand has other values elsewhere. Null: always.
  Cond assumption = nullptr;
  bool guarded = false;  // inside a try that may catch it, or a test that expects it
  // It happens where two choices of the program come together, which nobody need make at once: told only
  // where it happens with each answer to them.
  bool of_two_choices = false;
  bool overridable =
      false;  // an object of a derived class may have another method there: not every run fails
};

struct BranchEvent : Event {
  BranchEvent() : Event(EventKind::branch) {}
  Cond condition = nullptr;
  Block yes, no;
  const syntax::Stmt* stmt = nullptr;  // the if or the assert, where it is one
  // Of an assert that is about the rank: who takes the other side ends there, though that side is empty, as
  // no program is written for it.
  bool is_assertion() const { return stmt && stmt->kind == syntax::StmtKind::assert_; }
};

// How many iterations a loop has by sizes that the program does not tell: "len(files)".
struct IterationCounts {
  std::vector<std::string> sizes;        // one, or two
  std::vector<std::int64_t> iterations;  // for each of 1, 2… up to so many, the last size running fastest;
                                         // `never` where that cannot be
  static constexpr std::int64_t never = -1;
  static std::int64_t most(std::size_t sizes) { return sizes == 1 ? 12 : 5; }
  friend bool operator==(const IterationCounts&, const IterationCounts&) = default;
};

struct LoopEvent : Event {
  LoopEvent() : Event(EventKind::loop) {}
  Sharing trips = Sharing::uniform;  // do all ranks make as many iterations?
  // One iteration that stands for any number of them or, if `unrolled`, every iteration.
  std::vector<Block> iterations;
  bool unrolled = false;
  bool any_order = false;              // each process makes them in an order of its own: over a set of texts
  const syntax::Stmt* stmt = nullptr;  // for or while; null for a comprehension
  Int length = nullptr;                // of what it iterates over, where that is known
  IterationCounts counts;              // the same where it is not; of one rank's run
  std::vector<Block> first;            // the first iterations, which are known one by one; of one rank's run
};

struct CallEvent : Event {
  CallEvent() : Event(EventKind::call) {}
  const values::Function* function = nullptr;
  Block body;
};

enum class ExitKind : std::uint8_t { return_, break_, continue_, raise };
struct ExitEvent : Event {
  ExitEvent() : Event(EventKind::exit) {}
  ExitKind exit{};
  bool fails = false;  // an exception that says that something is wrong, raised here
};

struct AttemptEvent : Event {  // try
  AttemptEvent() : Event(EventKind::attempt) {}
  Block body, orelse, finally;
  std::vector<Block> handlers;
  bool caught = false;    // the body fails for certain, and the only handler here takes it
  Cond raised = nullptr;  // that something in the body fails; null where it cannot, or does for certain
  // The handler for what one process runs out of by itself, its memory; and what it asks its exception then.
  int exhausted = -1;
  std::vector<Cond> exhausted_when;
};

}  // namespace stepzero::interpreter

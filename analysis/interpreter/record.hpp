// What one run leaves behind: the events in order, under their conditions, and what is known of each
// expression. Rules, hover and hints are readers of it. Knows no rule; which library operation an event means
// is its Row's data.
#pragma once

#include "interpreter/library.hpp"
#include "syntax/document.hpp"
#include "syntax/moves.hpp"
#include "values/heap.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stepzero::interpreter {

struct OneRank;

using values::Cond;
using values::Int;
using values::Place;
using values::Sharing;
using values::Value;

// One chunk that the run read; a Place's `chunk` is its index. Index 0 is nowhere.
struct ChunkOf {
  std::string path;
  std::shared_ptr<const syntax::Module> module;
  std::shared_ptr<const syntax::Chunk> chunk;
  std::uint32_t offset = 0;
  // Where the chunk's bytes stand now, if edits left standing what was run of it: see body_edit.hpp. Another
  // chunk then holds the text as it is.
  syntax::Moves moves;

  // A span of the chunk in bytes of the file.
  syntax::Span absolute(syntax::Span span) const {
    if (!moves.empty()) span = moves.now(span);
    return {span.begin + offset, span.end + offset};
  }
  // The statement, where it stands in the text as it is; null if another chunk has that. Who goes through all
  // that the program says asks for this.
  const syntax::Stmt* statement() const { return chunk && moves.empty() ? chunk->stmt : nullptr; }
  std::string_view text() const { return module->text->slice(absolute({0, chunk->size})); }
};

// The calls that led somewhere, innermost first.
struct CallSite {
  Place place;                                 // of the call
  const values::Function* function = nullptr;  // what was called
  const CallSite* outer = nullptr;
};

enum class EventKind : std::uint8_t { operation, problem, branch, loop, call, exit, attempt };

struct Event {
  EventKind kind;
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
    append,       // `text` is put behind `expr`: ".long()"
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
  // What is wrong, in the user's names, for the kinds that the operator itself words; and places that explain
  // it.
  std::string text;
  std::vector<std::pair<Place, std::string>> evidence;
  std::vector<SuggestedEdit> cures;
  // The operation fails only where this holds, because an operand has other values elsewhere. Null: always.
  Cond assumption = nullptr;
  bool guarded = false;  // inside a try that may catch it, or a test that expects it
  bool overridable =
      false;  // an object of a derived class may have another method there: not every run fails
};

struct BranchEvent : Event {
  BranchEvent() : Event(EventKind::branch) {}
  Cond condition = nullptr;
  Block yes, no;
  const syntax::Stmt* stmt = nullptr;  // the if, where it is one
};

// How many rounds a loop has by sizes that the program does not tell: "len(files)".
struct RoundCounts {
  std::vector<std::string> sizes;  // one, or two
  std::vector<std::int64_t>
      rounds;  // for each of 1, 2… up to so many, the last size running fastest; `never` where that cannot be
  static constexpr std::int64_t never = -1;
  static std::int64_t most(std::size_t sizes) { return sizes == 1 ? 12 : 5; }
  friend bool operator==(const RoundCounts&, const RoundCounts&) = default;
};

struct LoopEvent : Event {
  LoopEvent() : Event(EventKind::loop) {}
  Sharing trips = Sharing::uniform;  // do all ranks make as many rounds?
  // One round that stands for any number of them or, if `unrolled`, every round.
  std::vector<Block> rounds;
  bool unrolled = false;
  bool any_order = false;              // each process makes them in an order of its own: over a set of texts
  const syntax::Stmt* stmt = nullptr;  // for or while; null for a comprehension
  Int length = nullptr;                // of what it iterates over, where that is known
  RoundCounts counts;                  // the same where it is not; of one rank's run
  std::vector<Block> first;            // the first rounds, which are known one by one; of one rank's run
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

struct Root {
  std::string name;                            // "module", "Trainer.validate"
  const values::Function* function = nullptr;  // null for a module's own code
  values::Class* owner = nullptr;
  bool truncated = false;  // out of budget: the block ends too early
  std::string defaults;    // of a root that ran with the defaults of its parameters: whose, and which
  Block block;
};

struct Fact {
  enum class Role : std::uint8_t { expression, assignment, parameter, attribute, statement };
  Place place;
  Role role = Role::expression;
  Value value;
  const values::TensorState* tensor = nullptr;  // of a tensor: its state then
  std::uint32_t root = 0;                       // the run that it comes from: roots begun until then
  bool general = false;  // true of every call of the function: it runs by itself, on symbols
  const values::Function* function = nullptr;  // of a parameter: whose
};

class Record {
public:
  explicit Record() : heap(symbols) { chunks.emplace_back(); }
  mutable symbolic::Context symbols;  // a reader may ask about new combinations of conditions
  values::Heap heap;
  std::vector<ChunkOf> chunks;
  std::vector<std::unique_ptr<Root>> roots;
  // Functions and methods that nobody calls, once more with the defaults of their parameters. Of interest is
  // only what cannot succeed.
  std::vector<std::unique_ptr<Root>> default_roots;
  std::vector<Fact> facts;
  Int roles[6] =
      {};  // by symbolic::Role: the atoms that stand for the rank, the world size…; null if never asked for
  std::map<std::string, Cond, std::less<>> conditions;  // by name: "torch.distributed.is_initialized"
  const values::Object* earlier =
      nullptr;  // in the graph of a tensor that was computed from one that an earlier round of a loop left
  std::set<Cond>
      external;  // conditions that come from code that was not seen: nothing is known of their sharing
  std::vector<std::unique_ptr<Event>> events;
  std::unordered_map<const syntax::Stmt*, syntax::BinaryExpr>
      augmented;  // `x += y` as the expression that it computes; events point here
  std::vector<std::unique_ptr<CallSite>> sites;
  std::vector<std::unique_ptr<Around>> arounds;
  mutable std::map<std::type_index, std::shared_ptr<const void>>
      derived;                    // what readers have found out and share
  std::string path;               // of the analysed file
  std::vector<std::string> read;  // other files looked at, found or not
  bool out_of_budget = false;
  bool cancelled = false;
  std::uint64_t steps = 0;
  // Runs the same file again as one process of a small job does; of the functions that nobody calls, and of
  // classes, only those among `roots`. Null if it cannot. For readers, while the run's sources live.
  std::function<std::shared_ptr<Record>(
      const OneRank& rank, const std::unordered_set<const syntax::Stmt*>& roots)>
      as_rank;
  std::map<std::string, std::int64_t> by_defaults;  // see OneRank: those that were asked for, by name
  bool open_to_defaults =
      false;  // the statements of the file leave something open that the defaults of the command line decide
  // Called when the statements of the file have been run, before what they did not reach. For readers that
  // begin early; may be null.
  std::function<void()> on_statements;
  // Called when a run after an edit has run, before all else that nobody calls, the roots that show what the
  // edit did to one function: these, by the qualified names of their functions, and the statements of the
  // file are all that the record holds then. For readers that answer early; may be null.
  std::function<void(const std::vector<std::string>& roots)> on_focus;
  // Statements of an older text that were run, and stand: the same ones of the text as it is, by which other
  // runs of the file know them.
  std::unordered_map<const syntax::Stmt*, const syntax::Stmt*> written;
  // Where such a statement's parts stand in the record, by the chunk of the text as it is; the smallest parts
  // come first.
  std::unordered_map<std::uint32_t, std::vector<Place>> parts;
  // The place of a span of a chunk of the text as it is, as the record's own events have it.
  Place as_run(Place place) const {
    const auto found = parts.find(place.chunk);
    if (found == parts.end()) return place;
    const syntax::Span now = span(place);
    for (const Place part : found->second)
      if (span(part).holds(now))
        return {part.chunk,
            chunks[part.chunk].moves.then(
                {now.begin - chunks[part.chunk].offset, now.end - chunks[part.chunk].offset})};
    return place;
  }
  const syntax::Stmt* as_written(const syntax::Stmt* stmt) const {
    if (written.empty()) return stmt;
    const auto found = written.find(stmt);
    return found == written.end() ? stmt : found->second;
  }
  mutable std::shared_ptr<void> compared;  // what comparing the ranks came to: the readers' own

  template <class T> T* event() {
    auto owned = std::make_unique<T>();
    T* raw = owned.get();
    events.push_back(std::move(owned));
    return raw;
  }
  const ChunkOf& chunk(Place place) const { return chunks[place.chunk]; }
  // Absolute bytes in the place's file.
  syntax::Span span(Place place) const { return chunks[place.chunk].absolute(place.span); }
  // Of an integer whose value is known.
  std::optional<std::int64_t> number(Value value) const {
    return value.is(values::Kind::integer) ? symbols.value(value.integer()) : std::nullopt;
  }
  bool in_file(Place place) const { return place && chunks[place.chunk].path == path; }
  std::string_view text(Place place) const {
    return place ? chunks[place.chunk].module->text->slice(span(place)) : std::string_view{};
  }
};

}  // namespace stepzero::interpreter

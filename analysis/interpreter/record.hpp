// What one run leaves after: the events in order, under their conditions, and what is known of each
// expression. Rules, hover and hints are readers of it. Knows no rule.
#pragma once

#include "interpreter/events.hpp"
#include "syntax/document.hpp"
#include "syntax/moves.hpp"
#include "values/heap.hpp"

#include <atomic>
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

struct Root {
  // Of no other root of any run: what was found out of a root holds while an edit lets it stand.
  const std::uint64_t serial = next_serial();
  std::string name;                            // "module", "Trainer.validate"
  const values::Function* function = nullptr;  // null for a module's own code
  values::Class* owner = nullptr;
  bool truncated = false;  // out of budget: the block ends too early
  std::string defaults;    // of a root that ran with the defaults of its parameters: whose, and which
  Block block;
  // What readers have found out of the block; kept with it where a call began it, and made anew for the code
  // of a module, which goes on growing.
  mutable std::shared_ptr<const void> index;

private:
  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
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
  const values::Object* earlier = nullptr;  // in the graph of a tensor that was computed from one that an
                                            // earlier iteration of a loop left
  std::set<Cond>
      unseen;  // conditions that come from code that was not seen: nothing is known of their sharing
  std::vector<std::unique_ptr<Event>> events;
  std::unordered_map<const syntax::Stmt*, syntax::BinaryExpr>
      augmented;  // `x += y` as the expression that it computes; events point here
  std::vector<std::unique_ptr<CallSite>> sites;
  std::vector<std::unique_ptr<Around>> arounds;
  mutable std::map<std::type_index, std::shared_ptr<const void>>
      derived;                    // what readers have found out and share
  std::string path;               // of the analyzed file
  std::vector<std::string> read;  // other files looked at, found or not
  bool out_of_budget = false;
  bool cancelled = false;
  std::uint64_t steps = 0;
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
  // Called when a run from the beginning has run one more of what nobody calls: the record then holds whole
  // roots alone. For readers that answer early; may be null.
  std::function<void()> on_root;
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

  template <class T> T* event() {
    auto owned = std::make_unique<T>();
    T* raw = owned.get();
    raw->number = static_cast<std::uint32_t>(events.size());
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

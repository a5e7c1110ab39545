// The text of one file as typed syntax, kept up to date incrementally. The text is first cut into top-level
// statements by its lines alone; each is parsed and lowered by itself, and again only when its bytes change.
// So what a statement is read as never depends on the edits before or on errors elsewhere. Knows no file
// system.
#pragma once

#include "syntax/ast.hpp"
#include "syntax/attribute_writes.hpp"
#include "syntax/background.hpp"
#include "syntax/text.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stepzero::syntax {

// One top-level statement: its text's hash, and its tree in an arena of its own. Immutable and position-free,
// so it is shared by all snapshots in which its text stands unchanged.
struct Chunk {
  Chunk() = default;
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  virtual ~Chunk() {
    delete attribute_writes_.load(std::memory_order_relaxed);
  }  // the arena belongs to the implementation
  const Stmt* stmt = nullptr;
  std::uint64_t hash = 0;  // of the chunk's bytes, a trailing comment included
  std::uint32_t size = 0;  // how many bytes those are
  bool has_error = false;  // something in it is not Python (yet)

  // Found when first asked for, by any thread. `text`: the chunk's bytes.
  const AttributeWrites& attribute_writes(std::string_view text) const;

private:
  mutable std::atomic<const AttributeWrites*> attribute_writes_ = nullptr;  // owned
};

struct Item {
  std::shared_ptr<const Chunk> chunk;
  std::uint32_t offset = 0;  // where the chunk's byte 0 lies in the text
};

// `# …` with its hash, in absolute bytes. `trailing`: code stands before it on the same line.
struct Comment {
  Span span;
  bool trailing = false;
};

// A parsed file: immutable, shared between threads.
struct Module {
  std::shared_ptr<const Text> text;
  std::vector<Item> items;  // in the order of the text
  std::vector<Comment> comments;
  bool has_error = false;
};

// Replaces the bytes of `span` by `text`.
struct Edit {
  Span span;
  std::string text;
};

// A file being edited. Belongs to one thread at a time; the modules it hands out are free.
class Document {
public:
  explicit Document(std::string text);
  ~Document();
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;

  // Applies the edits in order, each to the result of the ones before it; a span outside the text is clamped
  // to it.
  void apply(const std::vector<Edit>& edits);
  const std::string& bytes() const;

  // The module of the present text. Parses only what changed since the last call. Nesting deeper than 500
  // levels is lowered as error nodes; texts over 8 MiB give a module without items.
  std::shared_ptr<const Module> module(const BackgroundRunner& background = {});

private:
  struct State;
  friend std::shared_ptr<const Module> parse(std::string text, const BackgroundRunner& background);
  std::unique_ptr<State> state_;
};

// Parses a text that is not edited.
std::shared_ptr<const Module> parse(std::string text, const BackgroundRunner& background = {});

}  // namespace stepzero::syntax

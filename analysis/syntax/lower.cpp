#include "syntax/lower_common.hpp"

namespace stepzero::syntax {
namespace {

// A class of more than this many bytes is read member by member, so that the trees of its unchanged members
// serve again.
constexpr std::uint32_t large_class = 2048;

struct ArenaChunk : Chunk {
  explicit ArenaChunk(std::size_t bytes) : arena(bytes * 6 + 256) {}
  std::pmr::monotonic_buffer_resource arena;
};

}  // namespace

std::uint64_t salt(const Layout& layout, std::size_t first) {
  return std::uint64_t{layout.lines[first].indent} * 2 + (layout.recovered ? 1 : 0);
}

Lowering::Lowering(std::string_view original, std::string_view text, std::uint32_t chunk_begin,
    TreeSource& trees, std::pmr::memory_resource& arena)
    : original_(original), text_(text), begin_(chunk_begin), trees_(trees), arena_(arena) {
  scopes_.emplace_back();
}

Lowering::~Lowering() = default;

Span Lowering::span(TSNode node) const {
  const std::uint32_t shift = source_.origin - begin_;
  return {ts_node_start_byte(node) + shift, ts_node_end_byte(node) + shift};
}

std::string_view Lowering::original(TSNode node) const {
  const std::uint32_t begin = ts_node_start_byte(node);
  const std::size_t from = std::min<std::size_t>(source_.origin + begin, original_.size());
  return original_.substr(from, ts_node_end_byte(node) - begin);
}

std::string_view Lowering::keep(std::string_view text) {
  if (text.empty()) return {};
  char* out = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::memcpy(out, text.data(), text.size());
  return {out, text.size()};
}

const Stmt* Lowering::whole(TSNode node, std::uint32_t origin) {
  const Nested nested(*this, node, {nullptr, origin});
  Gather<const Stmt*> out(*this);
  statement(out);
  return out.size() ? out.front() : nullptr;
}

std::vector<PlacedChunk> lower_piece(std::string_view original, std::string_view text, const Layout& layout,
    std::size_t first, std::size_t last, TreeSource& trees) {
  std::vector<PlacedChunk> out;
  const std::vector<Line>& lines = layout.lines;
  const std::uint32_t begin = lines[first].begin, end = lines[last - 1].end;
  const auto add = [&](std::uint32_t from, std::uint32_t to, auto&& lower) {
    auto chunk = std::make_shared<ArenaChunk>(to - from);
    Lowering lowering(original, text, from, trees, chunk->arena);
    chunk->stmt = lower(lowering);
    if (!chunk->stmt) return;
    const std::string_view bytes = original.substr(from, to - from);
    chunk->size = to - from;
    chunk->hash = std::hash<std::string_view>{}(bytes) + salt(layout, first);
    chunk->has_error = lowering.has_error() || lines[first].indent > 0;
    out.push_back({std::move(chunk), from - begin});
  };

  std::size_t head = first;
  while (head + 1 < last && lines[head].word == Word::decorator) ++head;
  const bool by_members = lines[head].word == Word::class_ && end - begin > large_class && head + 1 < last;
  const Tree tree = by_members || too_long(text.substr(begin, end - begin))
      ? nullptr
      : trees.tree(text.substr(begin, end - begin));
  if (!tree) {
    add(begin, end, [&](Lowering& lowering) { return lowering.by_lines(lines, first, last); });
    return out;
  }
  std::vector<TSNode> statements;
  const TSNode root = ts_tree_root_node(tree.get());
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  if (ts_tree_cursor_goto_first_child(&cursor)) {
    do {
      const TSNode node = ts_tree_cursor_current_node(&cursor);
      if (is_statement(kind_of(node))) statements.push_back(node);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  }
  ts_tree_cursor_delete(&cursor);
  for (std::size_t index = 0; index < statements.size(); ++index) {
    const std::uint32_t from = begin + ts_node_start_byte(statements[index]);
    const std::uint32_t to = index + 1 < statements.size() ? begin + ts_node_start_byte(statements[index + 1])
                                                           : end;
    add(from, to, [&](Lowering& lowering) { return lowering.whole(statements[index], begin); });
  }
  return out;
}

}  // namespace stepzero::syntax

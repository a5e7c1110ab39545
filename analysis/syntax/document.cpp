#include "syntax/document.hpp"

#include "syntax/layout.hpp"
#include "syntax/lower.hpp"
#include "syntax/tree.hpp"

#include <algorithm>
#include <atomic>
#include <unordered_map>

namespace stepzero::syntax {
namespace {

constexpr std::size_t largest = 8U << 20;  // bytes: larger files are data

std::uint64_t hash_of(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

// The lines of one top-level statement (or of several joined by semicolons), and what they were lowered to. A
// pure function of the piece's bytes: that is why an edited text and the same text read afresh give the same
// module.
struct Piece {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t hash = 0;
  std::vector<PlacedChunk> chunks;
};

// The trees of the members of large classes, kept from one module to the next where the text is edited: they
// are three times as large as all that is made of them, and most files that are opened are only read.
class Trees : public TreeSource {
public:
  explicit Trees(bool keeps = false) : keeps_(keeps) {}

  void keep() { keeps_ = true; }

  Tree tree(std::string_view piece, Errors errors) override {
    if (!keeps_) return parser_.parse(piece, errors);
    const std::uint64_t hash = hash_of(piece) + static_cast<std::uint64_t>(errors);
    const auto found = kept_.find(hash);
    if (found != kept_.end() && found->second.bytes == piece && found->second.errors == errors) {
      found->second.generation = generation_;
      return found->second.tree;
    }
    Tree made = parser_.parse(piece, errors);
    kept_[hash] = {std::string(piece), errors, made, generation_};
    return made;
  }

  // Takes over what another has kept of the same module.
  void merge(Trees&& other) {
    for (auto& [hash, entry] : other.kept_) {
      entry.generation = generation_;
      kept_.insert_or_assign(hash, std::move(entry));
    }
  }
  bool keeps() const { return keeps_; }

  // Forgets trees that were not asked for since the module before the last.
  void next_generation() {
    std::erase_if(kept_, [&](const auto& entry) { return entry.second.generation + 1 < generation_; });
    ++generation_;
  }

private:
  struct Kept {
    std::string bytes;
    Errors errors = Errors::refused;
    Tree tree;
    std::uint64_t generation = 0;
  };
  Parser parser_;
  bool keeps_;
  std::uint64_t generation_ = 0;
  std::unordered_map<std::uint64_t, Kept> kept_;
};

// A text as the grammar can read it, of the same length: it takes no lone carriage return for a line ending,
// and a NUL for the end of input. Empty if the text is fit as it is.
std::string readable(std::string_view text) {
  const bool has_nul = text.find('\0') != text.npos;
  bool lone_return = false;
  for (std::size_t at = text.find('\r'); at != text.npos && !lone_return; at = text.find('\r', at + 1))
    lone_return = at + 1 >= text.size() || text[at + 1] != '\n';
  if (!has_nul && !lone_return) return {};
  std::string out(text);
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '\0') out[at] = '\x01';
    if (out[at] == '\r' && (at + 1 >= out.size() || out[at + 1] != '\n')) out[at] = '\n';
  }
  return out;
}

}  // namespace

struct Document::State {
  explicit State(std::string text) : bytes(std::move(text)) {}

  std::string bytes;
  Trees trees;
  std::vector<Piece> pieces;             // of `latest`
  std::shared_ptr<const Module> latest;  // null if it is not of `bytes`
  std::shared_ptr<const Text> lowered;   // the text of `pieces`

  std::shared_ptr<const Module> build(const BackgroundRunner& background) {
    auto module = std::make_shared<Module>();
    module->text = std::make_shared<const Text>(bytes);
    if (bytes.size() > largest) return module;
    const std::string_view original = module->text->bytes();
    const std::string fit = readable(original);
    const std::string_view text = fit.empty() ? original : fit;
    Layout lines = layout(text);
    module->comments = std::move(lines.comments);

    std::vector<Piece> made;
    made.reserve(pieces.size() + 1);
    std::vector<Missing> all;
    for (std::size_t at = 0; at < lines.lines.size();) {
      const std::size_t end = statement_end(lines.lines, at, lines.lines.size());
      Piece piece{lines.lines[at].begin, lines.lines[end - 1].end, 0, {}};
      const std::string_view slice = original.substr(piece.begin, piece.end - piece.begin);
      piece.hash = hash_of(slice) + salt(lines, at);
      all.push_back({made.size(), at, end});
      made.push_back(std::move(piece));
      at = end;
    }
    const std::vector<Missing> missing = take_over(made, original, all);
    const auto lower = [&](const Missing& one, Trees& source) {
      made[one.piece].chunks = lower_piece(original, text, lines, one.first, one.last, source);
    };
    lower_all(missing, made, lower, background);
    for (const Piece& piece : made)
      for (const PlacedChunk& placed : piece.chunks) {
        module->items.push_back({placed.chunk, piece.begin + placed.offset});
        module->has_error = module->has_error || placed.chunk->has_error;
      }
    pieces = std::move(made);
    lowered = module->text;
    trees.next_generation();
    return module;
  }

  // A piece to be lowered, and its lines.
  struct Missing {
    std::size_t piece = 0, first = 0, last = 0;
  };

  // Two cores meet in the middle.
  template <class Lower> void lower_all(const std::vector<Missing>& missing, const std::vector<Piece>& made,
      const Lower& lower, const BackgroundRunner& background) {
    std::size_t size = 0;
    for (const Missing& one : missing) size += made[one.piece].end - made[one.piece].begin;
    constexpr std::size_t worth_it = 8U << 10;
    if (!background || size < worth_it) {
      for (const Missing& one : missing) lower(one, trees);
      return;
    }
    std::atomic<std::size_t> left = missing.size();
    const auto one_more = [&] {  // false: all are taken
      std::size_t now = left;
      while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {}
      return now > 0;
    };
    Trees others(trees.keeps());
    const std::unique_ptr<BackgroundTask> after = background([&] {
      for (std::size_t i = missing.size(); one_more();) lower(missing[--i], others);
    });
    for (std::size_t i = 0; one_more();) lower(missing[i++], trees);
    after->wait();
    trees.merge(std::move(others));
  }

  // Gives the pieces whose text stood in the module before the chunks that it had there, and returns the
  // others. A chunk stands for one statement: of equal ones each has its own. Those around the edit keep
  // theirs; between, the first takes the first.
  std::vector<Missing> take_over(
      std::vector<Piece>& made, std::string_view text, const std::vector<Missing>& all) const {
    const auto same = [&](const Piece& was, const Piece& is) {
      return was.hash == is.hash &&
          lowered->slice({was.begin, was.end}) == text.substr(is.begin, is.end - is.begin);
    };
    std::size_t first = 0, last = made.size(), old_last = pieces.size();
    for (; first < std::min(last, old_last) && same(pieces[first], made[first]); ++first)
      made[first].chunks = pieces[first].chunks;
    for (; last > first && old_last > first && same(pieces[old_last - 1], made[last - 1]); --last, --old_last)
      made[last - 1].chunks = pieces[old_last - 1].chunks;
    std::unordered_map<std::uint64_t, std::vector<const Piece*>> free;  // by hash, the first one last
    for (std::size_t i = old_last; i-- > first;) free[pieces[i].hash].push_back(&pieces[i]);
    std::vector<Missing> missing;
    for (std::size_t i = first; i < last; ++i) {
      const auto found = free.find(made[i].hash);
      if (found != free.end() && !found->second.empty() && same(*found->second.back(), made[i])) {
        made[i].chunks = found->second.back()->chunks;
        found->second.pop_back();
      } else {
        missing.push_back(all[i]);
      }
    }
    return missing;
  }
};

const AttributeWrites& Chunk::attribute_writes(std::string_view text) const {
  if (const AttributeWrites* known = attribute_writes_.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<const AttributeWrites>(*stmt, text);
  // Of two threads that find it at once the first has the word; both found the same.
  const AttributeWrites* other = nullptr;
  return attribute_writes_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)
      ? *made.release()
      : *other;
}

Document::Document(std::string text) : state_(std::make_unique<State>(std::move(text))) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

void Document::apply(const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const std::size_t begin = std::min<std::size_t>(edit.span.begin, state_->bytes.size());
    const std::size_t end = std::max(begin, std::min<std::size_t>(edit.span.end, state_->bytes.size()));
    state_->bytes.replace(begin, end - begin, edit.text);
  }
  if (edits.empty()) return;
  state_->latest = nullptr;
  state_->trees.keep();
}

const std::string& Document::bytes() const { return state_->bytes; }

std::shared_ptr<const Module> Document::module(const BackgroundRunner& background) {
  if (!state_->latest) state_->latest = state_->build(background);
  return state_->latest;
}

std::shared_ptr<const Module> parse(std::string text, const BackgroundRunner& background) {
  Document::State state(std::move(text));
  return state.build(background);
}

}  // namespace stepzero::syntax

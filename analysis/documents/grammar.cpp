#include "documents/grammar.hpp"

#include "documents/edited.hpp"
#include "syntax/tree.hpp"

#include <algorithm>
#include <cstdint>

namespace stepzero::documents {

namespace {

constexpr int most_error_checks = 300;  // nodes looked at for an error: each asks the parser
// A broken text up to this size is parsed afresh: that is done at once, and gives up where it has to,
// whatever the text was before.
constexpr std::size_t large_text = 32U << 10;

GrammarTree parsed(const TSLanguage* language, std::string_view text, const TSTree* before) {
  struct ParserDeleter {
    void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  };
  const std::unique_ptr<TSParser, ParserDeleter> parser(ts_parser_new());
  ts_parser_set_language(parser.get(), language);
  int patience = most_error_checks;
  return GrammarTree(ts_parser_parse_with_options(
      parser.get(), before, syntax::input_of(text), syntax::giving_up_after(patience)));
}

// Columns count in bytes.
TSPoint point_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line = before.rfind('\n') + 1;  // 0 if there is none
  return {static_cast<std::uint32_t>(std::ranges::count(before, '\n')),
      static_cast<std::uint32_t>(offset - line)};
}

// The one edit that makes `now` of `before`.
TSInputEdit difference(std::string_view before, std::string_view now) {
  const std::size_t shorter = std::min(before.size(), now.size());
  const auto head = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(shorter), now.begin())
          .first -
      before.begin());
  std::size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == now[now.size() - 1 - tail]) ++tail;
  const std::size_t old_end = before.size() - tail, new_end = now.size() - tail;
  return {static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(old_end),
      static_cast<std::uint32_t>(new_end), point_at(before, head), point_at(before, old_end),
      point_at(now, new_end)};
}

}  // namespace

struct KeptTree::Last {
  const TSLanguage* language = nullptr;
  std::string text;
  GrammarTree tree;  // of `text`; null if that holds too many errors
};

KeptTree::~KeptTree() { delete last_.load(std::memory_order_relaxed); }

GrammarTree KeptTree::tree(const TSLanguage* language, std::string_view text) {
  std::unique_ptr<Last> last(last_.exchange(nullptr, std::memory_order_acq_rel));
  if (!last) last = std::make_unique<Last>();
  const bool goes_on = last->language == language && last->tree;
  if (!goes_on || last->text != text) {
    GrammarTree made;
    if (goes_on) {
      const TSInputEdit edit = difference(last->text, text);
      ts_tree_edit(last->tree.get(), &edit);
      made = parsed(language, text, last->tree.get());
    }
    if (!made || (text.size() <= large_text && ts_node_has_error(ts_tree_root_node(made.get()))))
      made = parsed(language, text, nullptr);
    last->tree = std::move(made);
    last->text = text;
    last->language = language;
  }
  GrammarTree copy(last->tree ? ts_tree_copy(last->tree.get()) : nullptr);
  delete last_.exchange(last.release(), std::memory_order_acq_rel);
  return copy;
}

GrammarTree tree_of(const TSLanguage* language, std::string_view text, KeptTree* kept) {
  return kept ? kept->tree(language, text) : parsed(language, text, nullptr);
}

namespace {
// Goes with the text of an edited document, and leads to what is kept of it.
struct TextOfEdited {
  std::shared_ptr<KeptTree> kept;
  void operator()(const syntax::Text* text) const { delete text; }
};
}  // namespace

KeptTree* kept_tree(const std::shared_ptr<const syntax::Text>& text) {
  const auto* edited = std::get_deleter<TextOfEdited>(text);
  return edited ? edited->kept.get() : nullptr;
}

struct EditedDocument::State {
  std::string bytes;
  std::shared_ptr<KeptTree> kept = std::make_shared<KeptTree>();
  std::shared_ptr<const syntax::Module> latest;  // null if it is not of `bytes`
};

EditedDocument::EditedDocument(std::string text) : state_(std::make_unique<State>()) {
  state_->bytes = std::move(text);
}
EditedDocument::~EditedDocument() = default;
EditedDocument::EditedDocument(EditedDocument&&) noexcept = default;
EditedDocument& EditedDocument::operator=(EditedDocument&&) noexcept = default;

void EditedDocument::replace(std::string text) {
  state_->bytes = std::move(text);
  state_->latest = nullptr;
}

void EditedDocument::apply(const std::vector<syntax::Edit>& edits) {
  for (const syntax::Edit& edit : edits) {
    const std::size_t begin = std::min<std::size_t>(edit.span.begin, state_->bytes.size()),
                      end = std::clamp<std::size_t>(edit.span.end, begin, state_->bytes.size());
    state_->bytes.replace(begin, end - begin, edit.text);
  }
  if (!edits.empty()) state_->latest = nullptr;
}

std::shared_ptr<const syntax::Module> EditedDocument::module() {
  if (!state_->latest) {
    auto module = std::make_shared<syntax::Module>();
    module->text = std::shared_ptr<const syntax::Text>(
        new syntax::Text(state_->bytes), TextOfEdited{state_->kept});
    state_->latest = std::move(module);
  }
  return state_->latest;
}

}  // namespace stepzero::documents

// Fixes of two ranks that both send first, or both receive first.
#include "rules/deadlock/fixes.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace syntax;

namespace {

// A blocking send or receive that is a statement.
struct Message {
  const OperationEvent* event = nullptr;
  std::string tensor, peer, more;  // texts; `more`: further keywords
};

class Exchange {
public:
  Exchange(const Record& record, const Mismatch& mismatch)
      : record_(record), mismatch_(mismatch), source_(record, mismatch.place.chunk) {}

  std::vector<Fix> fixes() {
    const auto path = enclosing(*record_.chunk(mismatch_.place).chunk->stmt, mismatch_.place.span);
    if (path.empty() || path.back().block.empty()) return {};
    const Block block = path.back().block;
    const std::size_t at = path.back().index;
    if (at + 1 >= block.size() || !source_.own_line(*block[at]) || !source_.own_line(*block[at + 1]))
      return {};
    first_ = message_of(*block[at]);
    second_ = message_of(*block[at + 1]);
    if (!first_.event || !second_.event ||
        first_.event->row->message->sends == second_.event->row->message->sends)
      return {};
    lines_ = source_.lines(*block[at], *block[at + 1]);
    indent_ = source_.indentation(*block[at]);
    step_ = path.size() > 1 ? source_.step(*path[path.size() - 2].stmt, *block[at]) : std::string(4, ' ');
    if (!source_.slice(lines_).ends_with('\n')) return {};
    texts_[0] = std::string(source_.text(block[at]->span));
    texts_[1] = std::string(source_.text(block[at + 1]->span));
    std::vector<Fix> fixes;
    // Both at once need a buffer each.
    if (first_.tensor != second_.tensor) fixes.push_back(in_one_batch());
    // What is received first may be no answer to what is then sent.
    const bool overwrites = first_.event->row->message->sends && first_.tensor == second_.tensor;
    const auto& wait = *mismatch_.as<MessageWait>();
    if (wait.apart && !overwrites) fixes.push_back(turned_around(wait.first));
    if (!wait.apart && first_.peer == second_.peer && !overwrites) fixes.push_back(lower_rank_first());
    return fixes;
  }

private:
  Message message_of(const Stmt& stmt) const {
    Message made;
    if (stmt.kind != StmtKind::expression || as<ExpressionStmt>(stmt).value->kind != ExprKind::call)
      return made;
    const auto& call = as<CallExpr>(*as<ExpressionStmt>(stmt).value);
    if (call.function->kind != ExprKind::attribute) return made;
    const OperationEvent* event = nullptr;
    visit_roots(record_, [&](const Event& each) {
      if (each.kind != interpreter::EventKind::operation || each.place.chunk != mismatch_.place.chunk ||
          !(each.place.span == call.span))
        return;
      const auto& operation = static_cast<const OperationEvent&>(each);
      if (operation.row->message) event = &operation;
    });
    if (!event || event->row->message->starts || event->row->message->batch >= 0) return made;
    const values::MessageInfo& info = *event->row->message;
    const auto text_of = [&](int index) {
      const Name name = event->row->parameters[static_cast<std::size_t>(index)];
      for (const Keyword& keyword : call.keywords)
        if (keyword.name == name) return std::string(source_.text(keyword.value->span));
      return static_cast<std::size_t>(index) < call.arguments.size()
          ? std::string(source_.text(call.arguments[static_cast<std::size_t>(index)]->span))
          : std::string();
    };
    made.tensor = text_of(info.tensor);
    made.peer = text_of(info.peer);
    if (made.tensor.empty() || made.peer.empty()) return made;
    if (const std::string group = text_of(info.group); !group.empty()) made.more += ", group=" + group;
    if (const std::string tag = text_of(info.tag); !tag.empty()) made.more += ", tag=" + tag;
    made.event = event;
    return made;
  }
  std::string module() const {
    return std::string(source_.text(as<AttributeExpr>(*first_.event->expr->function).object->span));
  }

  Fix in_one_batch() const {
    const std::string dist = module(), end = source_.line_ending();
    const auto operation = [&](const Message& message) {
      return dist + ".P2POp(" + dist + (message.event->row->message->sends ? ".isend, " : ".irecv, ") +
          message.tensor + ", " + message.peer + message.more + ")";
    };
    const std::string& whole = record_.chunk(mismatch_.place).module->text->bytes();
    const auto unused = [&](const std::string& word) {
      std::string name = word;
      for (int i = 2; whole.find(name) != std::string::npos; ++i) name = word + "_" + std::to_string(i);
      return name;
    };
    const std::string name = unused("request"), list = unused("messages");
    Fix fix;
    fix.title = "Send and receive in one batch";
    fix.edits.push_back({{source_.path(), lines_},
        indent_ + list + " = [" + operation(first_) + ", " + operation(second_) + "]" + end + indent_ +
            "for " + name + " in " + dist + ".batch_isend_irecv(" + list + "):" + end + indent_ + step_ +
            name + ".wait()" + end});
    return fix;
  }
  // The others do it in the order that stands there now.
  Fix turned_around(int rank) const {
    const std::string end = source_.line_ending();
    Fix fix;
    fix.title = "Let rank " + std::to_string(rank) +
        (first_.event->row->message->sends ? " receive first" : " send first");
    fix.edits.push_back({{source_.path(), lines_}, indent_ + texts_[1] + end + indent_ + texts_[0] + end});
    return fix;
  }
  Fix lower_rank_first() const {
    const std::string end = source_.line_ending();
    const bool sends = first_.event->row->message->sends;
    const std::string &send = texts_[sends ? 0 : 1], &receive = texts_[sends ? 1 : 0];
    const auto both = [&](const std::string& a, const std::string& b) {
      return indent_ + step_ + a + end + indent_ + step_ + b + end;
    };
    Fix fix;
    fix.title = "Let the lower rank send first";
    fix.edits.push_back({{source_.path(), lines_},
        indent_ + "if " + module() + ".get_rank() < " + first_.peer + ":" + end + both(send, receive) +
            indent_ + "else:" + end + both(receive, send)});
    return fix;
  }

  const Record& record_;
  const Mismatch& mismatch_;
  SourceLines source_;
  Message first_, second_;
  Span lines_;
  std::string indent_, step_;
  std::string texts_[2];
};

}  // namespace

std::vector<Fix> exchange_at_once(const Report& report, const Mismatch& mismatch) {
  const Record& record = report.record();
  const auto* wait = mismatch.as<MessageWait>();
  if (!wait || !wait->exchange || !record.in_file(mismatch.place)) return {};
  return Exchange(record, mismatch).fixes();
}

}  // namespace stepzero::rules

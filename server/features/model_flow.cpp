#include "server/features/model_flow.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

using namespace syntax;

constexpr std::size_t longest_text = 80;
constexpr std::size_t most_nodes = 400;

std::uint64_t key(Span span) { return (std::uint64_t{span.begin} << 32) | span.end; }

bool holds_tensor(const snapshot::DisplayValue& value) {
  return value.kind == "tensor" || std::any_of(value.items.begin(), value.items.end(), holds_tensor);
}

constexpr const char* operators[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};

// The nodes that a value comes from.
using Sources = std::vector<std::size_t>;

void join(Sources& into, const Sources& more) {
  for (const std::size_t each : more)
    if (std::find(into.begin(), into.end(), each) == into.end()) into.push_back(each);
}

class Flow {
public:
  Flow(std::uint32_t offset, const FactsAt& facts, const std::map<std::string, std::string>& layers)
      : offset_(offset), facts_(facts), layers_(layers) {}

  std::vector<FlowNode> run(const FunctionStmt& function) {
    const auto& parameters = function.parameters->list;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string name(facts_.text(absolute(parameters[i].span)));
      if (i == 0) {
        self_ = name;
        continue;
      }
      const snapshot::Fact* fact = facts_.at(absolute(parameters[i].span));
      if (fact && !holds_tensor(fact->value)) continue;
      names_[name] = {add(FlowNode::Kind::input, name, parameters[i].span, {}, fact)};
    }
    block(function.body);
    return std::move(nodes_);
  }

private:
  Span absolute(Span span) const { return {span.begin + offset_, span.end + offset_}; }
  std::string text(Span span) const { return facts_.text(absolute(span)); }

  std::size_t add(
      FlowNode::Kind kind, std::string label, Span span, Sources from, const snapshot::Fact* fact) {
    if (nodes_.size() >= most_nodes) return nodes_.size() - 1;
    FlowNode node;
    node.kind = kind;
    node.label = std::move(label);
    node.text = text(span);
    if (fact && holds_tensor(fact->value)) node.shape = fact->value.short_text();
    node.loop = loop_;
    node.line = facts_.line(absolute(span).begin);
    node.from = std::move(from);
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  Sources all(List<const Expr*> expressions) {
    Sources found;
    for (const Expr* each : expressions) join(found, of(*each));
    return found;
  }

  Sources call(const CallExpr& call) {
    Sources inputs;
    std::string label = text(call.function->span);
    FlowNode::Kind kind = FlowNode::Kind::operation;
    if (call.function->kind == ExprKind::attribute) {
      const auto& method = as<AttributeExpr>(*call.function);
      if (label.starts_with(self_ + ".")) {
        label = label.substr(self_.size() + 1);
        if (layers_.contains(label)) kind = FlowNode::Kind::layer;
      } else if (inputs = of(*method.object); !inputs.empty()) {
        label = "." + text(method.attribute_span);
      }
    } else if (call.function->kind == ExprKind::name) {
      // `block(x)` in a loop over layers.
      inputs = of(*call.function);
    } else {
      inputs = of(*call.function);
    }
    join(inputs, all(call.arguments));
    for (const Keyword& keyword : call.keywords) join(inputs, of(*keyword.value));
    const snapshot::Fact* fact = facts_.at(absolute(call.span));
    const bool tensor = fact && holds_tensor(fact->value);
    // Sizes and the like are no values that flow.
    if (!tensor && (inputs.empty() || fact)) return {};
    return {add(kind, std::move(label), call.span, std::move(inputs), fact)};
  }

  // Something is made of the inputs; where nothing is known of it, of one input, it is that one.
  Sources made(const Expr& expr, std::string label, Sources inputs) {
    const snapshot::Fact* fact = facts_.at(absolute(expr.span));
    if (inputs.empty() || (fact && !holds_tensor(fact->value))) return {};
    return {add(FlowNode::Kind::operation, std::move(label), expr.span, std::move(inputs), fact)};
  }

  Sources of(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::name: {
      const auto found = names_.find(text(expr.span));
      return found == names_.end() ? Sources() : found->second;
    }
    case ExprKind::call: return call(as<CallExpr>(expr));
    case ExprKind::attribute: return attribute(as<AttributeExpr>(expr));
    case ExprKind::subscript: {
      const auto& subscript = as<SubscriptExpr>(expr);
      return made(expr, "[" + text(subscript.index->span) + "]", of(*subscript.object));
    }
    case ExprKind::binary: {
      const auto& binary = as<BinaryExpr>(expr);
      Sources inputs = of(*binary.left);
      join(inputs, of(*binary.right));
      return made(expr, operators[static_cast<std::size_t>(binary.op)], std::move(inputs));
    }
    case ExprKind::unary:
      return made(expr, text({expr.span.begin, expr.span.begin + 1}), of(*as<UnaryExpr>(expr).operand));
    case ExprKind::compare: {
      Sources inputs = of(*as<CompareExpr>(expr).left);
      join(inputs, all(as<CompareExpr>(expr).rights));
      return made(expr, "compare", std::move(inputs));
    }
    case ExprKind::conditional: {
      Sources inputs = of(*as<ConditionalExpr>(expr).body);
      join(inputs, of(*as<ConditionalExpr>(expr).orelse));
      return inputs;
    }
    case ExprKind::boolean_op: return all(as<BooleanOpExpr>(expr).operands);
    case ExprKind::tuple: return all(as<TupleExpr>(expr).elements);
    case ExprKind::list: return all(as<ListExpr>(expr).elements);
    case ExprKind::starred: return of(*as<StarredExpr>(expr).value);
    case ExprKind::dict: {
      Sources inputs;
      for (const DictItem& item : as<DictExpr>(expr).items) join(inputs, of(*item.value));
      return inputs;
    }
    case ExprKind::comprehension: {
      const auto& comprehension = as<ComprehensionExpr>(expr);
      for (const Generator& each : comprehension.generators) bind(*each.target, of(*each.iterable));
      return of(comprehension.value ? *comprehension.value : *comprehension.element);
    }
    case ExprKind::named: {
      const auto& named = as<NamedExpr>(expr);
      return names_[text(named.name_span)] = of(*named.value);
    }
    default: return {};
    }
  }

  // `x.T` of a value, or a tensor that the object holds.
  Sources attribute(const AttributeExpr& expr) {
    const std::string whole = text(expr.span);
    if (const auto bound = names_.find(whole); bound != names_.end()) return bound->second;
    if (!whole.starts_with(self_ + ".")) return made(expr, "." + text(expr.attribute_span), of(*expr.object));
    const snapshot::Fact* fact = facts_.at(absolute(expr.span));
    if (!fact || fact->value.kind != "tensor") return {};
    return names_[whole] = {
               add(FlowNode::Kind::parameter, whole.substr(self_.size() + 1), expr.span, {}, fact)};
  }

  void bind(const Expr& target, const Sources& sources) {
    if (target.kind == ExprKind::tuple) {
      for (const Expr* each : as<TupleExpr>(target).elements) bind(*each, sources);
    } else if (target.kind == ExprKind::list) {
      for (const Expr* each : as<ListExpr>(target).elements) bind(*each, sources);
    } else if (target.kind == ExprKind::starred) {
      bind(*as<StarredExpr>(target).value, sources);
    } else if (target.kind == ExprKind::name || target.kind == ExprKind::attribute) {
      // A size that is unpacked from a shape is no value.
      const snapshot::Fact* fact = facts_.at(absolute(target.span));
      names_[text(target.span)] = fact && !holds_tensor(fact->value) ? Sources() : sources;
    } else if (target.kind == ExprKind::subscript) {
      const Expr& object = *as<SubscriptExpr>(target).object;
      Sources both = of(object);
      join(both, sources);
      if (object.kind == ExprKind::name) names_[text(object.span)] = both;
    }
  }

  void block(Block body) {
    for (const Stmt* each : body) statement(*each);
  }

  // What either branch leaves.
  void either(Block body, Block orelse) {
    const std::map<std::string, Sources> before = names_;
    block(body);
    std::map<std::string, Sources> after = std::exchange(names_, before);
    block(orelse);
    for (auto& [name, sources] : after) join(names_[name], sources);
  }

  void loop(Span header, Block body) {
    std::string outer = std::exchange(loop_, text(header));
    if (loop_.ends_with(':')) loop_.pop_back();
    block(body);
    loop_ = std::move(outer);
  }

  void statement(const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::expression: of(*as<ExpressionStmt>(stmt).value); return;
    case StmtKind::assign: {
      const Sources sources = of(*as<AssignStmt>(stmt).value);
      for (const Expr* target : as<AssignStmt>(stmt).targets) bind(*target, sources);
      return;
    }
    case StmtKind::ann_assign:
      if (const Expr* value = as<AnnAssignStmt>(stmt).value)
        bind(*as<AnnAssignStmt>(stmt).target, of(*value));
      return;
    case StmtKind::aug_assign: {
      const auto& assign = as<AugAssignStmt>(stmt);
      Sources inputs = of(*assign.target);
      join(inputs, of(*assign.value));
      if (inputs.empty()) return;
      bind(*assign.target,
          {add(FlowNode::Kind::operation, std::string(operators[static_cast<std::size_t>(assign.op)]) + "=",
              stmt.span, inputs, facts_.at(absolute(assign.target->span)))});
      return;
    }
    case StmtKind::return_:
      if (const Expr* value = as<ReturnStmt>(stmt).value) {
        const Sources sources = of(*value);
        if (!sources.empty())
          add(FlowNode::Kind::output, "return", stmt.span, sources, facts_.at(absolute(value->span)));
      }
      return;
    case StmtKind::if_: return either(as<IfStmt>(stmt).body, as<IfStmt>(stmt).orelse);
    case StmtKind::for_:
      bind(*as<ForStmt>(stmt).target, of(*as<ForStmt>(stmt).iterable));
      return loop(as<ForStmt>(stmt).header, as<ForStmt>(stmt).body);
    case StmtKind::while_: return loop(as<WhileStmt>(stmt).header, as<WhileStmt>(stmt).body);
    case StmtKind::with: return block(as<WithStmt>(stmt).body);
    case StmtKind::try_: return block(as<TryStmt>(stmt).body);
    default: return;
    }
  }

  const std::uint32_t offset_;
  const FactsAt& facts_;
  const std::map<std::string, std::string>& layers_;
  std::string self_;
  std::string loop_;
  std::map<std::string, Sources> names_;
  std::vector<FlowNode> nodes_;
};

}  // namespace

FactsAt::FactsAt(const Text& text, const std::vector<snapshot::Fact>& facts) : text_(text) {
  for (const snapshot::Fact& fact : facts) {
    const snapshot::Fact*& known = facts_[key(fact.span)];
    if (!known || (known->value.kind != "tensor" && fact.value.kind == "tensor")) known = &fact;
  }
}

const snapshot::Fact* FactsAt::at(Span span) const {
  const auto found = facts_.find(key(span));
  return found == facts_.end() ? nullptr : found->second;
}

std::string FactsAt::text(Span span) const {
  std::string made;
  for (const char c : text_.slice(span)) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (blank && (made.empty() || made.back() == ' ')) continue;
    made += blank ? ' ' : c;
  }
  if (made.size() <= longest_text) return made;
  std::size_t end = longest_text;
  while (end > 0 && (static_cast<unsigned char>(made[end]) & 0xC0) == 0x80) --end;
  return made.substr(0, end) + "…";
}

std::vector<FlowNode> flow_of(const FunctionStmt& function, std::uint32_t offset, const FactsAt& facts,
    const std::map<std::string, std::string>& layers) {
  return Flow(offset, facts, layers).run(function);
}

}  // namespace stepzero::server

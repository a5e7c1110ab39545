// The calls of argparse in a program: parsers, groups, commands and arguments, with the loops over literals
// that make several of one call.
#pragma once

#include "rules/launch/parsers.hpp"
#include "syntax/ast.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepzero::rules::launch {

// Where a call stands.
struct CallSite {
  const std::string& path;
  std::uint32_t offset;  // of the chunk in its file
  std::string function;  // that it stands in, by its path and beginning; the path alone: the module
  bool is_conditional = false;
  std::vector<const syntax::ForStmt*> loops;  // around it, outermost first
};

class Declarations {
public:
  explicit Declarations(ScriptOptions& into) : made_(into) {}

  // The literals that names of a module stand for; once for each module, before its calls.
  void read_constants(const syntax::Module& module);
  // In the order of the text; false: the call is none of argparse.
  bool call(const syntax::CallExpr& call, const CallSite& site);
  // `name = parser.add_argument_group(…)`
  void bind(const syntax::Expr& target, const syntax::Expr& value, const CallSite& site);

  bool is_open() const { return open_ || (unnamed_ && !made_.commands.empty()); }
  int parsers() const { return parsers_; }

private:
  // What a name stands for: a parser, a group of one, or the commands of one.
  struct Receiver {
    int parser = 0, exclusive = 0, commands = -1;
  };
  using Bindings = std::map<std::string_view, const syntax::Expr*>;

  std::optional<Receiver> receiver(
      const syntax::CallExpr& call, const CallSite& site, const Bindings& bound = {}) const;
  void parser(const syntax::CallExpr& call, const CallSite& site);
  void add_commands(const syntax::CallExpr& call, const CallSite& site);
  void add_parser(const syntax::CallExpr& call, const CallSite& site);
  void argument(const syntax::CallExpr& call, const CallSite& site);
  bool option(const syntax::CallExpr& call, const CallSite& site, const Bindings& bound, Receiver of);
  void values_of(DeclaredOption& option, const syntax::CallExpr& call, const Bindings& bound) const;
  std::optional<std::string> text(const syntax::Expr& expr, const Bindings& bound) const;
  // The elements of a list or a tuple that is written out.
  std::optional<std::vector<const syntax::Expr*>> elements(const syntax::Expr* expr) const;
  std::vector<Bindings> iterations(const std::vector<const syntax::ForStmt*>& loops) const;

  ScriptOptions& made_;
  std::map<std::string_view, const syntax::Expr*> constants_;  // null: assigned more than once
  std::map<const syntax::Expr*, Receiver> results_;
  std::map<std::string, Receiver, std::less<>> names_;  // by the function and the text
  std::string made_in_;                                 // the function that makes the parser
  int parsers_ = 0, all_parsers_ = 1, groups_ = 0;
  bool open_ = false, unnamed_ = false;
};

// Small questions to the syntax that readers of parsers ask.
std::string_view literal(const syntax::Expr* expr);
const syntax::Expr* keyword(const syntax::CallExpr& call, std::string_view name);
bool spreads(const syntax::CallExpr& call);
bool is_true(const syntax::Expr* expr);
bool is_false(const syntax::Expr* expr);

}  // namespace stepzero::rules::launch

// Programs whose command line is the signature of a function: `fire.Fire(main)`, `typer.run(main)`,
// `@app.command()`, `jsonargparse.CLI(main)`.
#pragma once

#include "rules/launch/parsers.hpp"
#include "syntax/ast.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepzero::rules::launch {

class SignatureOptions {
public:
  explicit SignatureOptions(ScriptOptions& into) : made_(into) {}
  void function(
      const syntax::FunctionStmt& stmt, const std::string& path, std::string_view text, std::uint32_t offset);
  // False: the call makes no command line of a function.
  bool call(const syntax::CallExpr& call);
  // Is there one function that the command line is made of? Then its options are added; `closed` where no
  // other is taken.
  bool add();

private:
  enum class Way : unsigned char { fire, typer, jsonargparse };
  struct Parameter {
    std::string name, type;
    const syntax::Expr* otherwise = nullptr;
    Location where;
    bool takes_all = false;  // **options
  };
  struct Function {
    std::vector<Parameter> parameters;
    bool returns = false;
  };
  bool add_fire(const Function& function);
  bool add_typer(const Function& function);
  bool add_jsonargparse(const Function& function);

  ScriptOptions& made_;
  std::map<std::string, Function> functions_;
  std::vector<std::pair<Way, std::string>> made_of_;  // the names of functions; empty: another object
  bool is_open_ = false;
};

}  // namespace stepzero::rules::launch

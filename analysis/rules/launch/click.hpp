// @click.command() with @click.option("--lr", …): the options of a program of one command.
#pragma once

#include "rules/launch/parsers.hpp"
#include "syntax/ast.hpp"

namespace stepzero::rules::launch {

class ClickOptions {
public:
  explicit ClickOptions(ScriptOptions& into) : made_(into) {}
  // False: the call is none of click.
  bool call(const syntax::CallExpr& call, const std::string& path, std::uint32_t offset);
  int commands() const { return commands_; }
  bool is_open() const { return open_; }

private:
  ScriptOptions& made_;
  int commands_ = 0;
  bool open_ = false;
};

}  // namespace stepzero::rules::launch

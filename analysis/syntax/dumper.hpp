// The writer of S-expressions after dump(): what all nodes share is written here, each kind of node in the
// files beside it.
#pragma once

#include "syntax/dump.hpp"

#include <charconv>

namespace stepzero::syntax {

inline constexpr std::string_view binary_ops[] = {
    "+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
inline constexpr std::string_view unary_ops[] = {"+", "-", "~", "not"};
inline constexpr std::string_view compare_ops[] = {
    "==", "!=", "<", "<=", ">", ">=", "is", "is-not", "in", "not-in"};
inline constexpr std::string_view comprehension_kinds[] = {"list", "set", "dict", "generator"};
inline constexpr std::string_view parameter_kinds[] = {"positional", "normal", "keyword", "*", "**"};

class Dumper {
public:
  std::string out;
  std::uint32_t offset = 0;
  bool places = true;

  void one(const Stmt& s) { stmt(s); }
  void chunk(const Item& item) {
    offset = item.offset;
    stmt(*item.chunk->stmt);
    if (item.chunk->has_error) out += " error";
    out += '\n';
  }

private:
  void open(std::string_view kind, Span span) {
    out += '(';
    out += kind;
    out += ' ';
    where(span);
  }
  void close() { out += ')'; }
  void where(Span span) {
    if (!places) return;
    number(offset + span.begin);
    out += ':';
    number(offset + span.end);
  }
  void number(std::uint64_t value) { out += std::to_string(value); }
  void word(std::string_view text) {
    out += ' ';
    out += text.empty() ? "-" : text;
  }
  void bytes(std::string_view value) {
    constexpr char digits[] = "0123456789abcdef";
    bool plain = true;
    for (const char c : value)
      plain = plain && c > ' ' && c < 127 && c != '(' && c != ')' && c != '#' && c != '"';
    out += ' ';
    if (plain) {
      out += '"';
      out += value;
      out += '"';
      return;
    }
    out += '#';
    for (const char c : value) {
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    }
  }
  void real(double value) {
    char buffer[40];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    word({buffer, static_cast<std::size_t>(result.ptr - buffer)});
  }

  void group(std::string_view label) {
    out += " (";
    out += label;
  }
  void names(std::string_view label, List<Name> list) {
    group(label);
    for (const Name name : list) word(name.text());
    close();
  }
  void exprs(std::string_view label, List<const Expr*> list) {
    group(label);
    for (const Expr* each : list) expr(each);
    close();
  }
  void keywords(List<Keyword> list) {
    group("keywords");
    for (const Keyword& keyword : list) {
      out += ' ';
      open("keyword", keyword.span);
      word(keyword.name.empty() ? "**" : keyword.name.text());
      expr(keyword.value);
      close();
    }
    close();
  }
  void block(std::string_view label, Block body) {
    group(label);
    for (const Stmt* each : body) {
      out += ' ';
      stmt(*each);
    }
    close();
  }
  void parameters(const Parameters& parameters) {
    group("parameters");
    for (const Parameter& parameter : parameters.list) {
      out += ' ';
      open(parameter_kinds[static_cast<std::size_t>(parameter.kind)], parameter.span);
      word(parameter.name.text());
      expr(parameter.annotation);
      expr(parameter.default_value);
      close();
    }
    close();
  }
  void scope(const ScopeInfo& scope) {
    names("locals", scope.locals);
    names("globals", scope.globals);
    names("nonlocals", scope.nonlocals);
    if (scope.is_generator) out += " generator";
  }
  void header(std::string_view label, Span span) {
    group(label);
    out += ' ';
    where(span);
    close();
  }

  void expr(const Expr* e);
  void literal(const Expr* e);
  void access(const Expr* e);
  void operation(const Expr* e);
  void display(const Expr* e);
  void stmt(const Stmt& s);
  void simple(const Stmt& s);
  void compound(const Stmt& s);
  void imports(const Stmt& s);
  void pattern(const Pattern* p);
  void definition(const Stmt& s);
};

}  // namespace stepzero::syntax

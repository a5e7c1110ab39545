// What the words of a script stand for: quotes, variables, defaults and arrays. Only for the files of this
// floor.
#pragma once

#include "documents/shell.hpp"
#include "documents/variables.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::documents {

// The words that a stretch of the script expands to.
class Expansion {
public:
  Expansion(std::string_view text, Variables& variables) : text_(text), variables_(variables) {}

  // The bytes are one word of the grammar.
  void add(Span span);
  // What has been made of them: none, one or several.
  std::vector<Chars> take();
  bool by_default() const { return by_default_; }

private:
  enum class Quote { none, single, twice };
  std::size_t dollar(std::size_t at, std::size_t end, bool quoted);
  void braced(std::size_t begin, std::size_t end, bool quoted);
  void array(const Variable& variable, bool quoted);
  void value(const Chars& chars, bool quoted);
  void variable(std::string_view name, std::size_t at, bool quoted);
  std::optional<Chars> path_of_command(std::size_t begin, std::size_t end);
  void unknown(std::size_t at, bool quoted);
  void put(char c, std::size_t at) { current_.add(c, static_cast<std::uint32_t>(at)), has_current_ = true; }
  void break_word();
  std::size_t matching(std::size_t at, std::size_t end, char open, char close) const;

  std::string_view text_;
  Variables& variables_;
  std::vector<Chars> done_;
  Chars current_;
  bool has_current_ = false;
  bool by_default_ = false;
};

}  // namespace stepzero::documents

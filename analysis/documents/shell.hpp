// The commands of a script of the shell, with what is known of their words: variables, defaults, arrays and
// continued lines are resolved as far as the text alone decides them. Nothing is ever executed. Knows no
// launcher.
#pragma once

#include "documents/node.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stepzero::documents {

// A text of which each byte knows where it was written. A byte that is not known is `hole`, and stands for
// any text.
struct Chars {
  static constexpr char hole = '\x01';   // any text without a break between words
  static constexpr char words = '\x02';  // any number of words
  static constexpr char own = '\x03';    // the path of the folder that the script lies in
  std::string text;
  std::vector<std::uint32_t> at;

  // What grows beyond all reason is not known.
  void add(char c, std::uint32_t place) {
    if (text.size() >= longest) return forget(place);
    text += c, at.push_back(place);
  }
  void add(const Chars& other) {
    if (text.size() + other.text.size() > longest) return forget(other.at.empty() ? 0 : other.at.front());
    text += other.text, at.insert(at.end(), other.at.begin(), other.at.end());
  }
  void keep(std::size_t count) { text.resize(count), at.resize(count); }
  void forget(std::uint32_t place) { text.assign(1, words), at.assign(1, place); }
  static constexpr std::size_t longest = 1u << 16;
  bool is_known() const { return text.find_first_of("\x01\x02") == std::string::npos; }
};

struct Word {
  std::string text;  // with `hole` and `words` for what is not known
  Span span;         // in the command
  Span written;  // where the text itself stands: in the command, or where the variable is set that holds it
  bool by_default = false;  // holds where the environment does not say otherwise: ${N:-8}
  bool is_known() const { return text.find_first_of("\x01\x02") == std::string::npos; }
};

struct Setting {
  std::string name;
  Word value;
  Span name_span;
};

struct ShellCommand {
  Span span;
  std::vector<Word> words;           // the first is the program
  std::vector<Setting> environment;  // what is exported by then, and what stands before the command
  std::string folder;                // where `cd` led, as text; with holes where it is not known
  bool is_conditional = false;       // in a branch, a loop or a function
  std::string within;  // the program that runs it, where it stands in a text: "srun" of `srun bash -c "…"`
  bool is_broken = false;  // something in it, or around it, cannot be read: its words may be those of another
};

struct Script {
  std::vector<ShellCommand> commands;
  std::vector<Setting> exports;  // in order
};

struct Document;
class KeptTree;  // of a document that is being edited
// The text of a file that a script runs in itself, `source env.sh`: nothing where it is not there.
using ShellReader = std::function<std::shared_ptr<const std::string>(const std::string& path)>;
bool read_shell(std::string_view text, Script& into, std::vector<Span>& comments,
    const ShellReader& reader = {}, KeptTree* kept = nullptr);

}  // namespace stepzero::documents

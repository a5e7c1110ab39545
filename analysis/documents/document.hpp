// A file beside the program that has a say in the training job: a configuration or a script of the shell.
// Immutable once parsed; no text makes the parse fail. Knows no file system and no framework.
#pragma once

#include "documents/node.hpp"
#include "documents/shell.hpp"
#include "syntax/document.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::documents {

enum class Language : std::uint8_t { none, json, yaml, toml, shell, make, docker, environment };

// By the name of the file; a file whose name says nothing is a script if its first line names a shell.
Language language_of(std::string_view path, std::string_view text = {});

struct Document {
  Language language = Language::none;
  std::shared_ptr<const syntax::Text> text;
  bool is_broken = false;  // a part of it could not be read
  Node root;               // of data; of an empty file or a script: `unknown`
  Script script;           // of a script, or of those that stand in the file
  std::vector<Span> comments;
};

// The module of a file: of one that is no Python its text alone, under which findings and edits name places.
std::shared_ptr<const syntax::Module> module_of(
    std::string_view path, std::string text, const syntax::BackgroundRunner& background = {});
std::shared_ptr<const syntax::Module> unparsed(std::string text);

Document parse(Language language, std::shared_ptr<const syntax::Text> text, const ShellReader& reader = {});

// Of each language; false: something cannot be read. What can is read all the same.
bool read_json(std::string_view text, Node& into, std::vector<Span>& comments, KeptTree* kept = nullptr);

// Why a text cannot be read, and where.
struct Broken {
  Span where;
  std::string why;
};
// Nothing: it is TOML.
std::optional<Broken> read_toml(const syntax::Text& text, Node& into, std::vector<Span>& comments);

// The scripts that stand in a file of another language; `root` is what it holds as data.
bool read_embedded(Language language, std::string_view text, const Node& root, Script& into,
    std::vector<Span>& comments, KeptTree* kept = nullptr);

// Which reader's YAML: OmegaConf takes 1e-5 for a number, PyYAML for a text.
enum class Exponents : std::uint8_t { need_a_dot, bare };
// One YAML document; false if it is none, or more than one.
bool read_yaml(std::string_view text, Node& into, Exponents exponents = Exponents::need_a_dot);

// The known word that was probably meant; empty if none is near enough.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);
// Is the word the other one but for a letter, two letters in the wrong order, a short ending, capitals,
// hyphens and underscores? What is further away may be another thing: a fix is offered for it, and not
// applied by itself.
bool is_typo(std::string_view word, std::string_view meant);
// Are they the same words, as '_' and '-' part them, but for one that the one name shortens: `src_len` and
// `source_len`?
bool is_shortened(std::string_view word, std::string_view meant);

}  // namespace stepzero::documents

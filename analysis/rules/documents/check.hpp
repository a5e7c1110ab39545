// What a rule of documents is given and where it writes what it found. A rule that reads configurations and
// scripts has a check of them here; the descriptor of the rule stays the one that list.hpp has.
#pragma once

#include "documents/document.hpp"
#include "program/sources.hpp"
#include "rules/rule.hpp"

#include <set>
#include <string>
#include <vector>

namespace stepzero::rules {

using documents::Document;
using documents::Field;
using documents::Node;
using syntax::Span;

// What a document is treated as: its name, its keys or its commands say so.
enum class Role : std::uint8_t {
  nothing,             // no rule reads it
  deepspeed,           // the configuration of DeepSpeed
  accelerate,          // what `accelerate config` writes
  training_arguments,  // arguments of the Trainer of transformers
  lightning,           // what LightningCLI reads, or tables that a Trainer of Lightning is made of
  torchtitan,          // the TOML that torchtitan reads
  script,              // a script of the shell
};
Role role_of(const std::string& path, const Document& document);
// The same of a file whose keys do not tell, and that a launch line or a program takes for `named`.
Role role_named(Role named, const Document& document);

struct DocumentInput {
  const std::string& path;
  const Document& document;
  Role role;
  bool is_named;  // the file is what it is because a launch line or a program says so
  const program::Sources& sources;
  std::set<std::string>& read;  // the other files that were asked for

  // A file of the workspace, parsed as what it is; nothing if there is none or it is no document.
  std::optional<Document> other(const std::string& asked) const;
};

class DocumentReport {
public:
  DocumentReport(const std::string& path, const Rule& rule, std::vector<Finding>& findings)
      : path_(path), rule_(rule), findings_(findings) {}

  Finding& add(Severity severity, Span where, std::string message);
  void relate(Finding& finding, Span where, std::string message) const {
    relate(finding, {path_, where}, std::move(message));
  }
  void relate(Finding& finding, Location where, std::string message) const {
    finding.related.push_back({std::move(where), std::move(message)});
  }
  // One edit of this document.
  void fix(Finding& finding, std::string title, bool preferred, Span where, std::string new_text) const;

private:
  const std::string& path_;
  const Rule& rule_;
  std::vector<Finding>& findings_;
};

struct DocumentCheck {
  const Rule* rule;
  Role role;
  void (*check)(const DocumentInput& input, DocumentReport& report);
};
std::span<const DocumentCheck> document_checks();

// The rules of documents have nothing to say of a run.
inline void check_no_run(const interpreter::Record&, Report&) {}

// What is known of a key, as Markdown; and the keys that may stand at a place.
struct KeyHelp {
  Span span;
  std::string text;
};
std::optional<KeyHelp> key_help(Role role, const Document& document, std::uint32_t offset);
struct KeyChoice {
  std::string key;     // as it is inserted, with its quotes
  std::string detail;  // type and default
  std::string help;
  bool is_value = false;  // of the key in front of it: inserted as it is
};
std::vector<KeyChoice> key_choices(Role role, const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules

// Parsers that are made of dataclasses, as HfArgumentParser of transformers makes them: the options that the
// fields stand for.
#pragma once

#include "rules/launch/parsers.hpp"
#include "syntax/ast.hpp"

#include <map>
#include <string>
#include <vector>

namespace stepzero::rules::launch {

struct DataField {
  std::string name, type;  // the annotation, as it is written
  bool has_default = false, is_true = false;
  std::vector<std::string> choices;  // of `metadata`, which HfArgumentParser hands to argparse
  Location where;
};
struct DataClass {
  std::vector<std::string> bases;
  std::vector<DataField> fields;
};
// By name, of all modules of a program.
using DataClasses = std::map<std::string, DataClass>;

void collect_class(const syntax::ClassStmt& cls, const std::string& path, std::string_view text,
    std::uint32_t offset, DataClasses& into);
// The options that `tyro.cli(name)` makes of a class, and of those that its fields hold: `--optim.lr`. False
// if not all are seen.
bool add_tyro_options(const DataClasses& classes, const std::string& name, const std::string& prefix,
    bool has_default, ScriptOptions& into, int depth = 0);
// The options that simple_parsing makes of a class, and of those that its fields hold: all by their plain
// names. False if not all are seen, or two have one name.
bool add_simple_options(
    const DataClasses& classes, const std::string& name, ScriptOptions& into, int depth = 0);
// The options of the classes; false if one of them, or a base, is not seen.
bool add_options(const DataClasses& classes, const std::vector<std::string>& names, ScriptOptions& into);

}  // namespace stepzero::rules::launch

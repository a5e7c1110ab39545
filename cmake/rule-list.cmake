# Writes the list of all rules, sorted by id, and of all checks of documents, from the files that define them:
#
#   cmake -DFOLDER=analysis/rules -DOUT=list.cpp -P rule-list.cmake
#
# A file of a rule has a namespace of its own, `stepzero::rules::FOLDER::FILE`. In it the rule's descriptor begins with
# `extern constexpr Rule rule = complete({` and has its id on the next line; a check of documents is an
# `extern constexpr DocumentCheck document_check`.
file(GLOB files ${FOLDER}/*/*.cpp)
foreach(file ${files})
  file(STRINGS ${file} lines REGEX "^extern constexpr (Rule|DocumentCheck) |^    \\.id = \"|^namespace stepzero::rules::")
  cmake_path(GET file STEM LAST_ONLY stem)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  set(own ${folder}::${stem})
  unset(inside)
  unset(begun)
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace stepzero::rules::(.*) {")
      set(inside ${CMAKE_MATCH_1})
    elseif(line MATCHES "^    \\.id = \"([^\"]+)\"" AND begun)
      list(APPEND rules "${CMAKE_MATCH_1} ${own}")
      unset(begun)
    elseif(line MATCHES "^    \\.id = ")
    elseif(NOT inside STREQUAL own)
      message(FATAL_ERROR "${file}: its rule stands outside of namespace stepzero::rules::${own}.")
    elseif(line MATCHES "^extern constexpr Rule rule = complete")
      set(begun TRUE)
    elseif(line MATCHES "^extern constexpr DocumentCheck document_check")
      list(APPEND checks ${own})
    else()
      message(FATAL_ERROR "${file}: a descriptor is called `rule` or `document_check`.")
    endif()
  endforeach()
  if(begun)
    message(FATAL_ERROR "${file}: the id does not stand on the line after the descriptor's beginning.")
  endif()
endforeach()
list(SORT rules)
list(SORT checks)
foreach(rule IN LISTS rules)
  string(REGEX REPLACE "^.* " "" own "${rule}")
  string(APPEND declared_rules "namespace ${own} {\nextern const Rule rule;\n}\n")
  string(APPEND listed_rules "      ${own}::rule,\n")
endforeach()
foreach(own ${checks})
  string(APPEND declared_checks "namespace ${own} {\nextern const DocumentCheck document_check;\n}\n")
  string(APPEND listed_checks "      ${own}::document_check,\n")
endforeach()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
// Made by cmake/rule-list.cmake from the files of the rules: do not edit.
#include "rules/documents/check.hpp"

#include <array>

namespace stepzero::rules {

@declared_rules@
std::span<const Rule> rules() {
  static const std::array all = {
@listed_rules@  };
  return all;
}

@declared_checks@
std::span<const DocumentCheck> document_checks() {
  static const std::array all = {
@listed_checks@  };
  return all;
}

}  // namespace stepzero::rules
]])

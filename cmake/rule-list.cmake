# Writes the list of all rules, sorted by id, and of all checks of documents, from the files that define them:
#
#   cmake -DFOLDER=analysis/rules -DOUT=list.cpp -P rule-list.cmake
#
# A rule's descriptor begins with `extern constexpr Rule NAME = complete({` and has its id on the next line; a check of documents is
# an `extern constexpr DocumentCheck NAME`.
file(GLOB files ${FOLDER}/*/*.cpp)
foreach(file ${files})
  file(STRINGS ${file} lines REGEX "^extern constexpr (Rule|DocumentCheck) |^    \\.id = \"")
  unset(name)
  foreach(line IN LISTS lines)
    if(line MATCHES "^extern constexpr Rule ([a-z0-9_]+) = complete")
      set(name ${CMAKE_MATCH_1})
    elseif(line MATCHES "^    \\.id = \"([^\"]+)\"" AND name)
      list(APPEND rules "${CMAKE_MATCH_1} ${name}")
      unset(name)
    elseif(line MATCHES "^extern constexpr DocumentCheck ([a-z0-9_]+)")
      list(APPEND checks ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(name)
    message(FATAL_ERROR "${file}: the id of ${name} does not stand on the line after the descriptor's beginning.")
  endif()
endforeach()
list(SORT rules)
list(SORT checks)
foreach(rule IN LISTS rules)
  string(REGEX REPLACE "^.* " "" name "${rule}")
  string(APPEND declared_rules "extern const Rule ${name};\n")
  string(APPEND listed_rules "      ${name},\n")
endforeach()
foreach(check ${checks})
  string(APPEND declared_checks "extern const DocumentCheck ${check};\n")
  string(APPEND listed_checks "      ${check},\n")
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

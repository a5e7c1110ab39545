# A floor of the house is one static library whose headers are reachable only through its own name:
# build/include/<floor> holds nothing but a link <floor> to the floor's folder, so `#include "values/tensor.hpp"`
# compiles only in a target that names `values` among the floors it stands on. Links are private: a floor that reads a
# lower one through another floor's header says so itself.
#
#   stepzero_floor(NAME USES floor… [LINKS library…] [PRECOMPILE header…] [PARSED_WITH floor] [JOINED])
#
# Every .cpp of the folder NAME belongs to it. PRECOMPILE: headers of lower floors that nearly all of its files include, parsed once
# for the floor; PARSED_WITH: it takes what another floor parsed. Most of a file's compile time is in those headers. JOINED: files of one
# folder are compiled several at a time, which takes a fifth of the time; names in their unnamed namespaces differ from file to file. `cmake/tidy` asks for -Wshadow, file by file.
function(stepzero_floor name)
  cmake_parse_arguments(ARG "JOINED" "PARSED_WITH" "USES;LINKS;PRECOMPILE" ${ARGN})
  set(door ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${door})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${name} ${door}/${name} SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cpp ${name}/*/*.cpp ${name}/*/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")  # a program's entry belongs to no library
  add_library(stepzero_${name} STATIC ${sources})
  if(ARG_JOINED AND STEPZERO_JOINED)
    set_target_properties(stepzero_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    stepzero_join(${name} ${sources})
  else()
    target_compile_options(stepzero_${name} PRIVATE -Wshadow)  # a joined file's locals may hide what a neighbor calls its own
  endif()
  target_include_directories(stepzero_${name} PRIVATE ${door} INTERFACE ${door})
  target_link_libraries(stepzero_${name} PRIVATE stepzero_options ${ARG_LINKS})
  # Libraries may bring flags that the compiler's parse of standard.hpp depends on; floors without any share one parse.
  get_property(parsed GLOBAL PROPERTY STEPZERO_STANDARD)
  if(ARG_PARSED_WITH)
    target_precompile_headers(stepzero_${name} REUSE_FROM stepzero_${ARG_PARSED_WITH})
  elseif(ARG_LINKS OR ARG_PRECOMPILE OR NOT parsed)
    list(TRANSFORM ARG_PRECOMPILE PREPEND "<")
    list(TRANSFORM ARG_PRECOMPILE APPEND ">")
    target_precompile_headers(stepzero_${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/standard.hpp ${ARG_PRECOMPILE})
    if(NOT ARG_LINKS AND NOT ARG_PRECOMPILE)
      set_property(GLOBAL PROPERTY STEPZERO_STANDARD stepzero_${name})
    endif()
  else()
    target_precompile_headers(stepzero_${name} REUSE_FROM ${parsed})
  endif()
  stepzero_uses(stepzero_${name} ${ARG_USES})
endfunction()

# Parts the files of each folder into groups of about equal size, eight at most, that are compiled together.
function(stepzero_join name)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    string(MD5 key ${folder})
    list(APPEND folders ${key})
    list(APPEND ${key} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(key ${folders})
    list(LENGTH ${key} count)
    math(EXPR groups "(${count} + 7) / 8")
    set(index 0)
    foreach(source ${${key}})
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE group)
      math(EXPR part "${index} * ${groups} / ${count} + 1")
      string(REPLACE "/" "_" group "${group}_${part}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()

# Lets `target` include the headers of the named floors, and of no other.
function(stepzero_uses target)
  foreach(floor ${ARGN})
    target_link_libraries(${target} PRIVATE stepzero_${floor})
  endforeach()
endfunction()

# tree-sitter and its grammars, compiled from the npm packages that cmake/grammars/package-lock.json pins.
set(modules ${CMAKE_SOURCE_DIR}/cmake/grammars/node_modules)
if(NOT EXISTS ${modules}/tree-sitter-python/src/parser.c)
  message(FATAL_ERROR "The grammars are missing: run cmake/install-dependencies first.")
endif()

set(core ${modules}/tree-sitter/vendor/tree-sitter/lib)
add_library(tree_sitter STATIC ${core}/src/lib.c)
target_include_directories(tree_sitter SYSTEM PUBLIC ${core}/include PRIVATE ${core}/src)
target_compile_definitions(tree_sitter PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)

if(STEPZERO_SANITIZE MATCHES undefined AND CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(tree_sitter PRIVATE -fno-sanitize=function)  # scanners are declared as C of before 1989
endif()

foreach(language python json bash)
  set(sources ${modules}/tree-sitter-${language}/src/parser.c)
  if(EXISTS ${modules}/tree-sitter-${language}/src/scanner.c)
    list(APPEND sources ${modules}/tree-sitter-${language}/src/scanner.c)
  endif()
  add_library(tree_sitter_${language} STATIC ${sources})
  target_include_directories(tree_sitter_${language} PRIVATE ${modules}/tree-sitter-${language}/src)
  # A generated table of 100,000 lines gains nothing from the optimiser but minutes of build time.
  target_compile_options(tree_sitter_${language} PRIVATE -w $<$<NOT:$<CONFIG:Debug>>:-O1>)
endforeach()

# Writes the page of every rule that the program knows into FOLDER/<family>/<name>.md.
#
#   cmake -DPROGRAM=stepzero -DFOLDER=folder -P RulePages.cmake
execute_process(COMMAND ${PROGRAM} rules --format json OUTPUT_VARIABLE rules COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
string(JSON count LENGTH "${rules}" rules)
foreach(i RANGE 1 ${count})
  math(EXPR i "${i} - 1")
  string(JSON rule GET "${rules}" rules ${i} id)
  cmake_path(GET rule PARENT_PATH family)
  file(MAKE_DIRECTORY ${FOLDER}/${family})
  execute_process(COMMAND ${PROGRAM} explain ${rule} OUTPUT_FILE ${FOLDER}/${rule}.md COMMAND_ERROR_IS_FATAL ANY)
endforeach()

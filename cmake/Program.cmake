# The upper floors and the program itself.
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(Boost REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# Debian's spdlog and fmt are shared libraries. Their header-only forms and a static C++ runtime leave the program with
# nothing to look for on the machine that it is copied to but the C library.
set_property(TARGET spdlog::spdlog_header_only PROPERTY INTERFACE_LINK_LIBRARIES Threads::Threads fmt::fmt-header-only)

stepzero_floor(protocol LINKS nlohmann_json::nlohmann_json Boost::boost Threads::Threads JOINED)
stepzero_floor(server USES protocol snapshot footprint rules documents program syntax
               LINKS nlohmann_json::nlohmann_json spdlog::spdlog_header_only Boost::boost CLI11::CLI11 Threads::Threads
               PRECOMPILE nlohmann/json.hpp snapshot/snapshot.hpp protocol/lsp/methods.hpp JOINED)

set(TRAINING_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/examples/train_ddp.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TRAINING_SCRIPT_FILE})
file(READ ${TRAINING_SCRIPT_FILE} TRAINING_SCRIPT)
configure_file(server/lsp/training_script.hpp.in ${PROJECT_BINARY_DIR}/generated/server/lsp/training_script.hpp @ONLY)
set_source_files_properties(server/lsp/warm_up.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)

# The report's page.
foreach(part HTML.page.html STYLE.page.css SCRIPT.page.js WORDS.words.js)
  string(REGEX MATCH "^([A-Z]+)\\.(.*)$" matched ${part})
  set(PAGE_FILE ${PROJECT_SOURCE_DIR}/server/command_line/page/${CMAKE_MATCH_2})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PAGE_FILE})
  file(READ ${PAGE_FILE} PAGE_${CMAKE_MATCH_1})
endforeach()
configure_file(server/command_line/page.hpp.in ${PROJECT_BINARY_DIR}/generated/server/command_line/page.hpp @ONLY)
set_source_files_properties(server/command_line/report_page.cpp server/command_line/memory_page.cpp PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)

set_source_files_properties(server/version.cpp PROPERTIES COMPILE_DEFINITIONS STEPZERO_VERSION="${PROJECT_VERSION}")

add_executable(stepzero server/main.cpp)
stepzero_uses(stepzero server)
target_link_libraries(stepzero PRIVATE stepzero_options)
if(NOT STEPZERO_SANITIZE)
  target_link_options(stepzero PRIVATE -static-libstdc++ -static-libgcc)
  # A run makes very many small objects and frees them together: jemalloc takes a sixth off an analysis.
  find_library(JEMALLOC libjemalloc.a REQUIRED)
  target_link_libraries(stepzero PRIVATE ${JEMALLOC})
endif()

# The same program with the C library inside: one file for every Linux of its processor (packaging/wheel).
if(NOT STEPZERO_SANITIZE)
  add_executable(stepzero_portable EXCLUDE_FROM_ALL server/main.cpp)
  set_target_properties(stepzero_portable PROPERTIES OUTPUT_NAME stepzero RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/portable)
  stepzero_uses(stepzero_portable server)
  target_link_libraries(stepzero_portable PRIVATE stepzero_options ${JEMALLOC})
  target_link_options(stepzero_portable PRIVATE -static)
endif()

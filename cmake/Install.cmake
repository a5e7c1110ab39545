# What `cmake --install` and the packages contain: the program, the page of every rule, the licences.
include(GNUInstallDirs)

set(pages ${CMAKE_BINARY_DIR}/rules)
set(notices ${CMAKE_BINARY_DIR}/THIRD-PARTY-NOTICES)
add_custom_command(OUTPUT ${pages}.stamp
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:stepzero> -DFOLDER=${pages}
          -P ${CMAKE_SOURCE_DIR}/cmake/RulePages.cmake
  COMMAND ${CMAKE_COMMAND} -E touch ${pages}.stamp
  DEPENDS stepzero cmake/RulePages.cmake COMMENT "Writing the pages of the rules" VERBATIM)
add_custom_command(OUTPUT ${notices}
  COMMAND ${CMAKE_COMMAND} -DMODULES=${CMAKE_SOURCE_DIR}/cmake/grammars/node_modules -DNOTICES=${notices}
          -P ${CMAKE_SOURCE_DIR}/cmake/Notices.cmake
  DEPENDS cmake/Notices.cmake cmake/grammars/package-lock.json COMMENT "Collecting the licences" VERBATIM)
add_custom_target(documents ALL DEPENDS ${pages}.stamp ${notices})

install(TARGETS stepzero RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE ${notices} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY editors/neovim DESTINATION ${CMAKE_INSTALL_DATADIR}/stepzero/editors)

set(CPACK_PACKAGE_VENDOR "The stepzero authors")
set(CPACK_PACKAGE_CONTACT "The stepzero authors <stepzero@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds the bugs of PyTorch training code before step 0")
set(CPACK_PACKAGE_FILE_NAME stepzero-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_INSTALL_DIRECTORY stepzero)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "A language server for PyTorch training scripts: tensor shapes, deadlocks between ranks, mixed precision.")
include(CPack)

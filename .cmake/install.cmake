# `cmake --install`. find_package(tenshot) gives tenshot::predictor and tenshot::network, which need nothing else installed;
# its component `trainer` the rooms, tenshot::nasbench … tenshot::trainer, with what they are linked with; its component
# `torch` also tenshot::torch, for programs that are to load LibTorch when they start.
include(CMakePackageConfigHelpers)

get_property(tenshot_libraries GLOBAL PROPERTY TENSHOT_LIBRARIES)
foreach(library predictor network)
  install(TARGETS tenshot_${library} EXPORT tenshotTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT ${library} NAMELINK_COMPONENT dev)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/tenshot DESTINATION include COMPONENT dev)
install(TARGETS ${tenshot_libraries} EXPORT tenshotTrainerTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
foreach(folder nasbench descriptor datasets sampling trainer)
  install(DIRECTORY ${folder} DESTINATION include/tenshot COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN "cli" EXCLUDE
    PATTERN "data" EXCLUDE)
endforeach()
set(tenshot_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenshot)
install(EXPORT tenshotTargets NAMESPACE tenshot:: DESTINATION ${tenshot_package_dir} COMPONENT dev)
install(EXPORT tenshotTrainerTargets NAMESPACE tenshot:: DESTINATION ${tenshot_package_dir} COMPONENT dev)
if(TARGET tenshot_with_engines)
  install(TARGETS tenshot_with_engines LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT engines NAMELINK_SKIP)
endif()
if(TENSHOT_TORCH)
  install(TARGETS tenshot_with_torch EXPORT tenshotTorchTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT torch
    NAMELINK_SKIP)
  install(EXPORT tenshotTorchTargets NAMESPACE tenshot:: DESTINATION ${tenshot_package_dir} COMPONENT dev)
endif()
configure_package_config_file(.cmake/tenshotConfig.cmake.in tenshotConfig.cmake
  INSTALL_DESTINATION ${tenshot_package_dir})
write_basic_package_version_file(tenshotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tenshotConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tenshotConfigVersion.cmake
  .cmake/FindPFM.cmake DESTINATION ${tenshot_package_dir} COMPONENT dev)

# The pages of `man`, of what --help says.
set(tenshot_man "")
if(NOT CMAKE_CROSSCOMPILING)
  set(man ${PROJECT_BINARY_DIR}/man)
  set(tenshot_man ${man}/tenshot.1.gz)
  add_custom_command(OUTPUT ${tenshot_man} COMMAND mkdir -p ${man}
    COMMAND ${PROJECT_SOURCE_DIR}/.cmake/man.sh $<TARGET_FILE:tenshot> ${man}
    DEPENDS tenshot ${PROJECT_SOURCE_DIR}/.cmake/man.sh)
  add_custom_target(tenshot_man ALL DEPENDS ${tenshot_man})
  install(DIRECTORY ${man}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT man)
endif()

# What of this is built, for a look before anything is installed (CMakeLists.txt).
set(tenshot_built "")
foreach(target tenshot tenshot_predictor tenshot_network tenshot_with_torch tenshot_with_engines tenshot_python ${tenshot_libraries})
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      string(APPEND tenshot_built "$<TARGET_FILE:${target}>\n")
    endif()
  endif()
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/built_files.txt CONTENT "${tenshot_built}${tenshot_man}\n")

# `cpack -G DEB --config build/CPackConfig.cmake`: one package with the program, the libraries, the Python module, completion,
# the shipped pool and checkpoints. Spaces known by name are part of the program.
install(DIRECTORY checkpoints DESTINATION ${CMAKE_INSTALL_DATADIR}/tenshot FILES_MATCHING PATTERN "*.tenshot")
install(DIRECTORY datasets/data DESTINATION ${CMAKE_INSTALL_DATADIR}/tenshot FILES_MATCHING PATTERN "*.json" PATTERN "*.csv")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenshot)
set(CPACK_PACKAGE_CONTACT "tenshot")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "latency of neural networks on a new device from ten measurements")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3, python3-numpy")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0-openmp")
include(CPack)

# `cpack -G DEB --config build/CPackConfig.cmake`: the packages tenshot (program, Python module, manual, completions, shipped
# pool and checkpoints), libtenshot-torch (what needs LibTorch), libtenshot-predictor and libtenshot-network (what C++
# programs run with) and libtenshot-dev. Spaces known by name are part of the program.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tenshot)
set(TENSHOT_MAINTAINER "tenshot developers <tenshot@example.org>" CACHE STRING "Who makes the Debian packages: Name <mail>")
set(CPACK_PACKAGE_CONTACT "${TENSHOT_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/.cmake/package_files.cmake)
set(CPACK_TENSHOT_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(tenshot_groups predictor network dev)
if(TENSHOT_TORCH)
  list(APPEND tenshot_groups torch)
endif()
set(CPACK_COMPONENTS_ALL wheel data man ${tenshot_groups})
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE tenshot)
set(CPACK_DEBIAN_PACKAGE_RELEASE 0tenshot1)  # Debian has none of it
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/trainer/library)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
# tenshot_deb(GROUP PACKAGE SECTION DESCRIPTION): CPack knows the package as GROUP. The first line of DESCRIPTION is the summary.
macro(tenshot_deb group package section description)
  string(TOUPPER ${group} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  if(${section} STREQUAL libs)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
  endif()
endmacro()
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(predicts "tenshot predicts the latency of neural networks on a device that\nnobody has profiled, from ten networks that were measured on it.")
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
tenshot_deb(program tenshot science "latency of neural networks on a new device from ten measurements\n${predicts}\n\
This package has the program, its Python module and what is known of\nsome 350 devices and runtimes.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libtenshot-torch${PROJECT_VERSION} ${same}")
get_property(python GLOBAL PROPERTY TENSHOT_PYTHON)
if(python MATCHES "^([0-9]+)\\.([0-9]+)$")
  math(EXPR next "${CMAKE_MATCH_2} + 1")
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
    "python3 (>= ${python}~), python3 (<< ${CMAKE_MATCH_1}.${next}), python3-numpy")
endif()
tenshot_deb(torch libtenshot-torch${PROJECT_VERSION} libs "what tenshot does with LibTorch\n${predicts}\n\
With this library the program tenshot trains networks, exports\nTorchScript and measures by LibTorch.")
set(CPACK_DEBIAN_TORCH_PACKAGE_RECOMMENDS "libopenblas0-openmp")
tenshot_deb(predictor libtenshot-predictor${abi} libs "C++ library that predicts latencies of neural networks\n${predicts}\n\
This library loads a predictor and predicts.")
tenshot_deb(network libtenshot-network${abi} libs "C++ library that reads networks for libtenshot-predictor\n${predicts}\n\
This library reads the networks from ONNX, TensorFlow Lite and ncnn files.")
set(CPACK_DEBIAN_NETWORK_PACKAGE_DEPENDS "libtenshot-predictor${abi} ${same}")
tenshot_deb(dev libtenshot-dev libdevel "what C++ programs that predict latencies are built with\n${predicts}\n\
This package has headers, static libraries and files for CMake.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libtenshot-predictor${abi} ${same}, libtenshot-network${abi} ${same}")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libtenshot-torch${PROJECT_VERSION} ${same}, libeigen3-dev, nlohmann-json3-dev, \
libssl-dev, libpfm4-dev, libonnx-dev, libprotobuf-dev, libdnnl-dev, libopencv-dev, libxgboost-dev, libtorch-dev")
include(CPack)
foreach(component wheel data man)
  cpack_add_component(${component} GROUP program)
endforeach()
foreach(component ${tenshot_groups})
  cpack_add_component(${component} GROUP ${component})
  cpack_add_component_group(${component})
endforeach()
cpack_add_component_group(program)

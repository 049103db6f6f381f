# oneDNN 2 with its processor engine: OneDNN::dnnl, and OpenMP, whose threads it uses (Debian: libdnnl-dev). Its own
# package file asks for OpenCL too, which nothing here needs.
find_path(OneDNN_INCLUDE_DIR dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
find_library(OneDNN_OPENMP_LIBRARY NAMES gomp libgomp.so.1)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR OneDNN_OPENMP_LIBRARY)
if(OneDNN_FOUND AND NOT TARGET OneDNN::dnnl)
  add_library(OneDNN::dnnl UNKNOWN IMPORTED)
  set_target_properties(OneDNN::dnnl PROPERTIES
    IMPORTED_LOCATION "${OneDNN_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${OneDNN_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${OneDNN_OPENMP_LIBRARY}")
endif()
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY OneDNN_OPENMP_LIBRARY)

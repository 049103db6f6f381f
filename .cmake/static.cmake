# tenshot-predict, linked statically (preset static). Libraries are taken as archives, which Debian has of all but ONNX:
# that is built from Debian's source package, as FetchContent downloads it from TENSHOT_ONNX_URL. Where there is no network,
# -DFETCHCONTENT_SOURCE_DIR_ONNX=FOLDER names the unpacked sources.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,-O2)  # ends of strings are shared
set(TENSHOT_ONNX_URL http://deb.debian.org/debian/pool/main/o/onnx/onnx_1.17.0.orig.tar.gz CACHE STRING
  "Where tenshot-predict's ONNX comes from")
set(ONNX_USE_LITE_PROTO ON CACHE BOOL "Messages that cannot describe themselves: a megabyte less")
find_package(Protobuf REQUIRED)
include(FetchContent)
FetchContent_Declare(onnx URL ${TENSHOT_ONNX_URL}
  URL_HASH SHA256=8d5e983c36037003615e5a02d36b18fc286541bf52de1a78f6cf9f32005a820e)
FetchContent_GetProperties(onnx)
if(NOT onnx_POPULATED)
  FetchContent_Populate(onnx)
  add_subdirectory(${onnx_SOURCE_DIR} ${onnx_BINARY_DIR} EXCLUDE_FROM_ALL)
endif()
foreach(target onnx onnx_proto)  # its headers are not ours to keep free of warnings
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(${target} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}")
  target_compile_options(${target} PRIVATE -w)
endforeach()
target_compile_definitions(onnx PUBLIC __ONNX_NO_DOC_STRINGS)

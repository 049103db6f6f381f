# How every target of tenshot is built: warnings, sanitizers, and LibTorch behind one precompiled header.

add_library(tenshot_options INTERFACE)
target_compile_options(tenshot_options INTERFACE -Wall -Wextra $<$<BOOL:${TENSHOT_WERROR}>:-Werror>)
if(TENSHOT_SANITIZE)
  target_compile_options(tenshot_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(tenshot_options INTERFACE -fsanitize=address,undefined)
endif()

# LibTorch's headers are not ours to keep free of warnings.
add_library(tenshot_torch INTERFACE)
target_link_libraries(tenshot_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(tenshot_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
separate_arguments(TENSHOT_TORCH_FLAGS UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(tenshot_torch INTERFACE ${TENSHOT_TORCH_FLAGS})

# tenshot_library(FOLDER SOURCES a.cpp … LINK targets…): the library of one folder, as tenshot::FOLDER.
function(tenshot_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(tenshot_${folder} STATIC ${ARG_SOURCES})
  add_library(tenshot::${folder} ALIAS tenshot_${folder})
  set_target_properties(tenshot_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(tenshot_${folder} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/tenshot>)
  target_link_libraries(tenshot_${folder} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:tenshot_options> ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY TENSHOT_LIBRARIES tenshot_${folder})
endfunction()

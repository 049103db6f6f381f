# How every target of tenshot is built: warnings, sanitizers, and LibTorch behind one precompiled header.

add_library(tenshot_options INTERFACE)
target_compile_options(tenshot_options INTERFACE -Wall -Wextra $<$<BOOL:${TENSHOT_WERROR}>:-Werror>)
if(TENSHOT_SANITIZE)
  target_compile_options(tenshot_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(tenshot_options INTERFACE -fsanitize=address,undefined)
endif()
if(TENSHOT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TENSHOT_FUZZ needs clang's libFuzzer: use the preset fuzz, or -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  target_compile_options(tenshot_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(tenshot_options INTERFACE -fsanitize=address,undefined)
endif()

# LibTorch's headers are not ours to keep free of warnings.
add_library(tenshot_torch INTERFACE)
target_link_libraries(tenshot_torch INTERFACE ${TORCH_LIBRARIES})
target_include_directories(tenshot_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
separate_arguments(TENSHOT_TORCH_FLAGS UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(tenshot_torch INTERFACE ${TENSHOT_TORCH_FLAGS})

# LibTorch's headers, compiled once for every room whose sources include them.
add_library(tenshot_torch_pch OBJECT ${PROJECT_SOURCE_DIR}/descriptor/runtimes/torch_pch.cpp)
target_link_libraries(tenshot_torch_pch PRIVATE tenshot_torch tenshot_options)
target_precompile_headers(tenshot_torch_pch PRIVATE ${PROJECT_SOURCE_DIR}/descriptor/runtimes/torch_pch.h)

# tenshot_room(FOLDER ROOM [LINK targets…] [PRIVATE targets…] [TORCH a.cpp …] [SOURCES more.cpp …]): the library of one
# room, as tenshot::FOLDER_ROOM: every source of its folder. LINK names the rooms below it. TORCH names the sources that
# include LibTorch's headers: they take the precompiled ones.
function(tenshot_room folder room)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE;TORCH;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  if(room STREQUAL "runtimes")
    list(FILTER sources EXCLUDE REGEX torch_pch.cpp)
  endif()
  string(REPLACE "/" "_" name "${folder}_${room}")
  set(target tenshot_${name})
  add_library(${target} STATIC ${sources} ${ARG_SOURCES})
  add_library(tenshot::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/tenshot>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:tenshot_options> ${ARG_PRIVATE})
  if(ARG_TORCH)
    target_link_libraries(${target} PRIVATE tenshot_torch)
    target_precompile_headers(${target} REUSE_FROM tenshot_torch_pch)
    list(TRANSFORM ARG_TORCH PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${room}/)
    set(plain ${sources} ${ARG_SOURCES})
    list(REMOVE_ITEM plain ${ARG_TORCH})
    set_source_files_properties(${plain} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY TENSHOT_LIBRARIES ${target})
endfunction()

# tenshot_folder(FOLDER rooms…): all rooms of a folder of the house, as tenshot::FOLDER.
function(tenshot_folder folder)
  add_library(tenshot_${folder} INTERFACE)
  add_library(tenshot::${folder} ALIAS tenshot_${folder})
  set_target_properties(tenshot_${folder} PROPERTIES EXPORT_NAME ${folder})
  foreach(room ${ARGN})
    target_link_libraries(tenshot_${folder} INTERFACE tenshot_${folder}_${room})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TENSHOT_LIBRARIES tenshot_${folder})
endfunction()

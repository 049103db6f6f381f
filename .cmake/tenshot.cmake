# How every target of tenshot is built: warnings, sanitizers, LibTorch behind one precompiled header, and what is loaded
# late.

add_library(tenshot_options INTERFACE)
target_compile_options(tenshot_options INTERFACE -Wall -Wextra $<$<BOOL:${TENSHOT_WERROR}>:-Werror>)
if(TENSHOT_SANITIZE)
  target_compile_options(tenshot_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  target_link_options(tenshot_options INTERFACE -fsanitize=address,undefined)
endif()
if(TENSHOT_SANITIZE_THREADS)
  target_compile_options(tenshot_options INTERFACE -fsanitize=thread)
  target_link_options(tenshot_options INTERFACE -fsanitize=thread)
endif()
if(TENSHOT_COVERAGE)
  target_compile_options(tenshot_options INTERFACE --coverage)
  target_link_options(tenshot_options INTERFACE --coverage)
endif()
if(TENSHOT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TENSHOT_FUZZ needs clang's libFuzzer: use the preset fuzz, or -DCMAKE_CXX_COMPILER=clang++-14")
  endif()
  target_compile_options(tenshot_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(tenshot_options INTERFACE -fsanitize=address,undefined)
endif()

if(TENSHOT_TORCH)
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
endif()

# tenshot_room(FOLDER ROOM [LINK targets…] [PRIVATE targets…] [TORCH a.cpp …] [ENGINES b.cpp … WITH libraries…]
# [WITHOUT c.cpp …] [SOURCES more.cpp …]): the library of one room, as tenshot::FOLDER_ROOM: every source of its folder.
# LINK names the rooms below it. TORCH names the sources that include LibTorch's headers, ENGINES those that need the
# libraries WITH: they go into libtenshot_torch.so and libtenshot_engines.so, which are loaded when they are needed
# (nasbench/support/late_library.h). WITHOUT names sources of a part of the room that needs more (tenshot_part()).
function(tenshot_room folder room)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE;TORCH;ENGINES;WITH;WITHOUT;SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  foreach(kind TORCH ENGINES WITHOUT)
    list(TRANSFORM ARG_${kind} PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${room}/)
  endforeach()
  list(REMOVE_ITEM sources ${ARG_TORCH} ${ARG_ENGINES} ${ARG_WITHOUT} ${CMAKE_CURRENT_SOURCE_DIR}/${room}/torch_pch.cpp)
  string(REPLACE "/" "_" name "${folder}_${room}")
  tenshot_library(${name} SOURCES ${sources} ${ARG_SOURCES} LINK ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
  if(ARG_TORCH AND TENSHOT_TORCH)
    tenshot_late_objects(TORCH ${name} SOURCES ${ARG_TORCH} WITH tenshot_torch PRIVATE ${ARG_PRIVATE})
    target_precompile_headers(tenshot_${name}_torch REUSE_FROM tenshot_torch_pch)
  endif()
  if(ARG_ENGINES)
    tenshot_late_objects(ENGINES ${name} SOURCES ${ARG_ENGINES} WITH ${ARG_WITH} PRIVATE ${ARG_PRIVATE})
  endif()
endfunction()

function(tenshot_late_objects kind name)
  cmake_parse_arguments(ARG "" "" "SOURCES;WITH;PRIVATE" ${ARGN})
  string(TOLOWER tenshot_${name}_${kind} target)
  add_library(${target} OBJECT ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${ARG_WITH} tenshot_${name} PRIVATE tenshot_options ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY TENSHOT_${kind}_OBJECTS ${target})
endfunction()

# tenshot_part(FOLDER ROOM PART SOURCES a.cpp … [LINK targets…] [PRIVATE targets…]): some sources of a room as a library of
# their own, tenshot::FOLDER_PART, because they need what the rest of the room does not.
function(tenshot_part folder room part)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE;SOURCES" ${ARGN})
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/${room}/)
  tenshot_library(${folder}_${part} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
endfunction()

function(tenshot_library name)
  cmake_parse_arguments(ARG "" "" "LINK;PRIVATE;SOURCES" ${ARGN})
  set(target tenshot_${name})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(tenshot::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/tenshot>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:tenshot_options> ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY TENSHOT_LIBRARIES ${target})
endfunction()

# tenshot_link_late(TARGET): links all that is loaded late elsewhere into the target itself. For tests of what is inside,
# and for builds with sanitizers, which want everything once. Without LibTorch and engines it does nothing.
function(tenshot_link_late target)
  get_property(torch GLOBAL PROPERTY TENSHOT_TORCH_OBJECTS)
  get_property(engines GLOBAL PROPERTY TENSHOT_ENGINES_OBJECTS)
  target_link_libraries(${target} PRIVATE ${torch} ${engines})
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

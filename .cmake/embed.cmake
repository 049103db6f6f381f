# tenshot_write_if_changed(OUTPUT CONTENT): an unchanged file keeps its time, so that nothing is compiled again for it.
function(tenshot_write_if_changed output content)
  set(before "")
  if(EXISTS ${output})
    file(READ ${output} before)
  endif()
  if(NOT before STREQUAL content)
    file(WRITE ${output} "${content}")
  endif()
endfunction()

# tenshot_embed(OUTPUT FOLDER HEADER FUNCTION FILES…): writes OUTPUT, a C++ source that defines tenshot::FUNCTION(), which HEADER
# declares: a ShippedFile for each of FOLDER/FILES. Made again whenever one of them changes.
function(tenshot_embed output folder header function)
  set(entries "")
  foreach(file ${ARGN})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} content)
    string(REGEX REPLACE "\\.json$" "" name ${file})
    string(APPEND entries "      {\"${name}\", R\"__file(${content})__file\"},\n")
  endforeach()
  set(source "#include \"${header}\"\n\nconst std::vector<tenshot::ShippedFile>& tenshot::${function}() {\n\
  static const std::vector<ShippedFile> files = {\n${entries}  };\n  return files;\n}\n")
  tenshot_write_if_changed(${output} "${source}")
endfunction()

# tenshot_embed_texts(OUTPUT HEADER FUNCTION FILES…): writes OUTPUT, a C++ source that defines tenshot::FUNCTION(name), which
# HEADER declares: the content of the file of that name, without its suffix.
function(tenshot_embed_texts output header function)
  set(entries "")
  foreach(name ${ARGN})
    set(path ${CMAKE_CURRENT_SOURCE_DIR}/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} content)
    get_filename_component(stem ${name} NAME_WE)
    string(APPEND entries "      {\"${stem}\", R\"__file(${content})__file\"},\n")
  endforeach()
  set(source "#include \"${header}\"\n\n#include <map>\n\nconst std::string& tenshot::${function}(const std::string& name) {\n\
  static const std::map<std::string, std::string> texts = {\n${entries}  };\n  return texts.at(name);\n}\n")
  tenshot_write_if_changed(${output} "${source}")
endfunction()

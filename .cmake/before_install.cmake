# The first that `cmake --install` runs: it installs all that there is to install, or says what to build and installs
# nothing. The quickstart builds the program alone.
file(STRINGS ${build}/built_files.txt files)
foreach(file ${files})
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file} is not built yet: run `ninja -C ${build}` first. Nothing was installed.")
  endif()
endforeach()

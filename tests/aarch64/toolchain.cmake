# Cross-compiling for 64-bit Arm, as a Jetson or a Raspberry Pi has it: Debian's g++-aarch64-linux-gnu, with the libraries
# of an arm64 Debian below TENSHOT_AARCH64_ROOT (run.sh makes it). Tests run by qemu-user-static.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENSHOT_AARCH64_ROOT)
set(CMAKE_SYSROOT ${TENSHOT_AARCH64_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static;-L;${TENSHOT_AARCH64_ROOT})

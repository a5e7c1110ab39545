# Debian's cross compiler for aarch64. Headers are those of this system: all but the C library's are alike for every processor, and it has those
# of its own. The two archives come from packaging/cross.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Packages of headers alone lie where this system's are.
foreach(package spdlog fmt)
  file(GLOB config /usr/lib/*-linux-gnu/cmake/${package})
  set(${package}_DIR ${config} CACHE PATH "Where the package's headers are described")
endforeach()

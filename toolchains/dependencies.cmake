# What heed is built with. Debian's packages first; elsewhere the same versions, fetched and checked against a hash.
# Defines heed_dep_xsimd, heed_dep_flatbuffers (headers only), HEED_FLATC, the flatc that runs on this machine, and what tools/ and
# tests/ find with heed_find_header and FetchContent_MakeAvailable. FETCHCONTENT_SOURCE_DIR_<NAME> puts a folder in the place of
# a download, CMAKE_DISABLE_FIND_PACKAGE_<name> hides an installed package.
include(FetchContent)
set(_heed_host_cmake "/usr/lib/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu/cmake")
set(HEED_FLATC "" CACHE FILEPATH "flatc for the machine that builds; empty: found on the path")

# Of those with SOURCE_SUBDIR only the headers are used: no CMake of theirs is read.
set(_heed_headers_only SOURCE_SUBDIR none)
FetchContent_Declare(xsimd URL https://github.com/xtensor-stack/xsimd/archive/8.1.0.tar.gz
  URL_HASH SHA256=d52551360d37709675237d2a0418e28f70995b5b7cdad7c674626bcfbbf48328 ${_heed_headers_only})
FetchContent_Declare(xxhash URL https://github.com/Cyan4973/xxHash/archive/v0.8.1.tar.gz
  URL_HASH SHA256=3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c ${_heed_headers_only})
FetchContent_Declare(stb GIT_REPOSITORY https://github.com/nothings/stb.git
  GIT_TAG 8b5f1f37b5b75829fc72d38e7b5d4bcbf8a26d55 SOURCE_DIR "${FETCHCONTENT_BASE_DIR}/stb" ${_heed_headers_only})
FetchContent_Declare(flatbuffers URL https://github.com/google/flatbuffers/archive/v2.0.8.tar.gz
  URL_HASH SHA256=f97965a727d26386afaefff950badef2db3ab6af9afe23ed6d94bfb65f95f37e)
FetchContent_Declare(CLI11 URL https://github.com/CLIUtils/CLI11/archive/v2.1.2.tar.gz
  URL_HASH SHA256=26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb
  FIND_PACKAGE_ARGS CONFIG PATHS /usr/share/cmake NO_CMAKE_FIND_ROOT_PATH)
FetchContent_Declare(nlohmann_json URL https://github.com/nlohmann/json/archive/v3.11.2.tar.gz
  URL_HASH SHA256=d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273
  FIND_PACKAGE_ARGS CONFIG PATHS /usr/share/cmake NO_CMAKE_FIND_ROOT_PATH)
FetchContent_Declare(Catch2 URL https://github.com/catchorg/Catch2/archive/v2.13.10.tar.gz
  URL_HASH SHA256=d54a712b7b1d7708bc7a819a8e6e47b2fde9536f487b89ccbca295072a7d9943
  FIND_PACKAGE_ARGS 2 CONFIG PATHS /usr/lib/cmake NO_CMAKE_FIND_ROOT_PATH)

# Sets `variable` to the folder in which `header` lies, installed or fetched. A header in a folder of its own is fetched with that folder.
function(heed_find_header variable name header)
  if(NOT CMAKE_DISABLE_FIND_PACKAGE_${name})
    find_path(${variable} ${header} NO_CMAKE_FIND_ROOT_PATH)
  endif()
  if(NOT ${variable})
    FetchContent_MakeAvailable(${name})
    set(folder "${${name}_SOURCE_DIR}")
    if(header MATCHES "/")
      get_filename_component(folder "${folder}" DIRECTORY)
    endif()
    set(${variable} "${folder}" PARENT_SCOPE)
  endif()
endfunction()

find_package(xsimd CONFIG QUIET PATHS "${_heed_host_cmake}" NO_CMAKE_FIND_ROOT_PATH)
if(xsimd_FOUND AND xsimd_VERSION VERSION_GREATER_EQUAL 8.1)
  # Debian's target asks for a library that does not exist (-lxtl), so only its include directory is used.
  get_target_property(_heed_xsimd_include xsimd INTERFACE_INCLUDE_DIRECTORIES)
else()
  FetchContent_MakeAvailable(xsimd)
  set(_heed_xsimd_include "${xsimd_SOURCE_DIR}/include")
endif()

# Upstream's package is called flatbuffers, Debian 12's FlatBuffers.
find_package(flatbuffers CONFIG QUIET PATHS "${_heed_host_cmake}" NO_CMAKE_FIND_ROOT_PATH)
if(NOT flatbuffers_FOUND)
  find_package(FlatBuffers CONFIG QUIET PATHS "${_heed_host_cmake}" NO_CMAKE_FIND_ROOT_PATH)
endif()
if(TARGET flatbuffers::flatbuffers)
  get_target_property(_heed_flatbuffers_include flatbuffers::flatbuffers INTERFACE_INCLUDE_DIRECTORIES)
else()
  # Its options are of the time before CMake 3.13, which know the cache only.
  foreach(_option BUILD_TESTS BUILD_FLATHASH INSTALL)
    set(FLATBUFFERS_${_option} OFF CACHE INTERNAL "")
  endforeach()
  FetchContent_MakeAvailable(flatbuffers)
  set(_heed_flatbuffers_include "${flatbuffers_SOURCE_DIR}/include")
  add_library(flatbuffers::flatbuffers ALIAS flatbuffers)
endif()
if(NOT HEED_FLATC)
  if(TARGET flatc AND NOT CMAKE_CROSSCOMPILING)
    set(HEED_FLATC "$<TARGET_FILE:flatc>")
  else()
    find_program(_heed_flatc flatc REQUIRED NO_CMAKE_FIND_ROOT_PATH)
    set(HEED_FLATC "${_heed_flatc}")
  endif()
endif()

# /usr/include itself must not become an include directory of another target system: a folder of links stands in.
function(heed_header_only name include_dir subdir)
  list(GET include_dir 0 include_dir)
  set(farm "${PROJECT_BINARY_DIR}/dependencies")
  file(MAKE_DIRECTORY "${farm}")
  file(CREATE_LINK "${include_dir}/${subdir}" "${farm}/${subdir}" SYMBOLIC)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE "$<BUILD_INTERFACE:${farm}>")
endfunction()
heed_header_only(heed_dep_xsimd "${_heed_xsimd_include}" xsimd)
heed_header_only(heed_dep_flatbuffers "${_heed_flatbuffers_include}" flatbuffers)

# A generated header works only with the library version of its flatc: say so now, not in a wall of errors.
file(STRINGS "${_heed_flatbuffers_include}/flatbuffers/base.h" _heed_fb_lines REGEX "define FLATBUFFERS_VERSION_(MAJOR|MINOR|REVISION) ")
string(REGEX REPLACE "[^0-9;]" "" _heed_fb_version "${_heed_fb_lines}")
list(JOIN _heed_fb_version "." _heed_fb_version)
if(NOT HEED_FLATC MATCHES "^\\$<")
  execute_process(COMMAND "${HEED_FLATC}" --version OUTPUT_VARIABLE _heed_flatc_says)
  if(NOT _heed_flatc_says MATCHES "version ${_heed_fb_version}")
    string(STRIP "${_heed_flatc_says}" _heed_flatc_says)
    message(FATAL_ERROR "heed: flatc (${HEED_FLATC}) says \"${_heed_flatc_says}\", but the FlatBuffers headers are version ${_heed_fb_version}. "
                        "Install the pair of one version, or name the right flatc with -DHEED_FLATC=.")
  endif()
endif()

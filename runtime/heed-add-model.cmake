# heed_add_model(<target> SOURCE <path> NAME <name> [EMBED] [OPTIONS <flag>...]): a model made when <target> is built.
#
#   SOURCE   a checkpoint's folder or file, which `heed convert` turns into <name>.heed in the current binary folder whenever it
#            changed, or a .heed file, which is taken as it is
#   EMBED    the bytes go into <target>, aligned, among its constants; "<name>_model.h" declares them:
#                extern const unsigned char <name>_model[], <name>_model_end[];
#   OPTIONS  further flags of `heed convert`, such as --weights f16
#
# `heed` has to run where the build does, also when compiling for another processor. It is the cache variable HEED_HOST_TOOL; else,
# in that order, what this project builds itself, what is on the path, or, beside heed's sources, a build of its own for this machine.
# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)
set(HEED_HOST_TOOL "" CACHE FILEPATH "The heed program for the machine that builds; empty: found or built")

# Sets <tool> to the program and <depends> to what builds it.
function(_heed_find_host_tool tool depends)
  set(${depends} "" PARENT_SCOPE)
  if(NOT HEED_HOST_TOOL AND TARGET heed AND NOT CMAKE_CROSSCOMPILING)
    set(${tool} "$<TARGET_FILE:heed>" PARENT_SCOPE)
    set(${depends} heed PARENT_SCOPE)
    return()
  endif()
  set(_found "${HEED_HOST_TOOL}")
  if(NOT _found)
    find_program(_heed_on_path heed NO_CMAKE_FIND_ROOT_PATH NO_CACHE)
    if(_heed_on_path)
      set(_found "${_heed_on_path}")
    endif()
  endif()
  if(_found)
    execute_process(COMMAND "${_found}" --version OUTPUT_VARIABLE _says ERROR_VARIABLE _says RESULT_VARIABLE _result)
    if(NOT _result EQUAL 0 OR NOT _says MATCHES "^heed [0-9]")
      string(REGEX REPLACE "\n.*" "" _says "${_result} ${_says}")
      message(FATAL_ERROR "heed_add_model: ${_found} is no heed program that runs on this machine (${_says}). "
                          "Name one that does with -D HEED_HOST_TOOL=")
    endif()
    set(${tool} "${_found}" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS "${heed_SOURCE_DIR}/tools/cli/main.cpp")
    message(FATAL_ERROR "heed_add_model: converting needs the heed program of the machine that builds, which is not on the path. "
                        "Build it there with preset host, and name it with -D HEED_HOST_TOOL=")
  endif()
  set(_folder "${CMAKE_BINARY_DIR}/heed_host_tool")
  if(NOT TARGET heed_host_tool)
    include(ExternalProject)
    ExternalProject_Add(heed_host_tool SOURCE_DIR "${heed_SOURCE_DIR}" BINARY_DIR "${_folder}" PREFIX "${_folder}-steps"
      CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DHEED_BUILD_TESTS=OFF BUILD_BYPRODUCTS "${_folder}/heed"
      BUILD_COMMAND "${CMAKE_COMMAND}" --build <BINARY_DIR> --target heed INSTALL_COMMAND "" EXCLUDE_FROM_ALL ON)
  endif()
  set(${tool} "${_folder}/heed" PARENT_SCOPE)
  set(${depends} heed_host_tool PARENT_SCOPE)
endfunction()

function(heed_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 _heed "EMBED" "SOURCE;NAME" "OPTIONS")
  if(NOT TARGET ${target} OR NOT _heed_SOURCE OR NOT _heed_NAME OR _heed_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "heed_add_model(<target> SOURCE <path> NAME <name> [EMBED] [OPTIONS <flag>...]): not understood: ${ARGV}")
  endif()
  if(NOT _heed_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "heed_add_model: NAME ${_heed_NAME}: has to be a name of C")
  endif()
  get_filename_component(_source "${_heed_SOURCE}" ABSOLUTE)
  if(NOT EXISTS "${_source}")
    message(FATAL_ERROR "heed_add_model: SOURCE ${_source}: is not there")
  endif()
  set(_model "${CMAKE_CURRENT_BINARY_DIR}/${_heed_NAME}.heed")
  if(_source MATCHES "\\.heed$")
    add_custom_command(OUTPUT "${_model}" COMMAND "${CMAKE_COMMAND}" -E copy "${_source}" "${_model}" DEPENDS "${_source}" VERBATIM)
  else()
    set(_files "${_source}")
    if(IS_DIRECTORY "${_source}")
      file(GLOB_RECURSE _files CONFIGURE_DEPENDS "${_source}/*")
    endif()
    _heed_find_host_tool(_tool _depends)
    add_custom_command(OUTPUT "${_model}" COMMAND "${_tool}" convert "${_source}" -o "${_model}" ${_heed_OPTIONS}
      DEPENDS ${_files} ${_depends} COMMENT "heed convert ${_heed_NAME}" VERBATIM)
  endif()
  add_custom_target(${target}_${_heed_NAME}_model DEPENDS "${_model}")
  add_dependencies(${target} ${target}_${_heed_NAME}_model)
  if(_heed_EMBED)
    set(_folder "${CMAKE_CURRENT_BINARY_DIR}/${_heed_NAME}_model")
    set(HEED_MODEL_NAME "${_heed_NAME}")
    string(TOUPPER "${_heed_NAME}_MODEL_H" HEED_MODEL_GUARD)
    set(HEED_MODEL_FILE "${_model}")
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/heed-model.c.in" "${_folder}/${_heed_NAME}_model.c" @ONLY)
    file(CONFIGURE OUTPUT "${_folder}/${_heed_NAME}_model.h" @ONLY CONTENT "/* The bytes of @HEED_MODEL_NAME@.heed, aligned for heed_open. */
#ifndef @HEED_MODEL_GUARD@
#define @HEED_MODEL_GUARD@
#ifdef __cplusplus
extern \"C\"
#else
extern
#endif
const unsigned char @HEED_MODEL_NAME@_model[], @HEED_MODEL_NAME@_model_end[];
#endif
")
    set_source_files_properties("${_folder}/${_heed_NAME}_model.c" PROPERTIES OBJECT_DEPENDS "${_model}")
    target_sources(${target} PRIVATE "${_folder}/${_heed_NAME}_model.c")
    target_include_directories(${target} PRIVATE "${_folder}")
  endif()
endfunction()

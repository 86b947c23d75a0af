# What the converter is made of: sets _converter, its files, and _converter_libraries.
# SPDX-License-Identifier: Apache-2.0

# The schema's text, for graph.json: compiled in so that the program needs no file beside it.
set(_schema "${PROJECT_SOURCE_DIR}/schemas/model.fbs")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_schema}" convert/front_end_list.inc)
file(READ "${_schema}" _schema_text)
set(_generated "${PROJECT_BINARY_DIR}/generated/tools")
file(CONFIGURE OUTPUT "${_generated}/model_schema_text.h" CONTENT
  "// schemas/model.fbs, made by CMake.\nstatic const char kModelSchemaText[] = R\"fbs(${_schema_text})fbs\";\n" @ONLY)

# FlatBuffers' parser is a library under its own namespace, so this file must not see heed_schema's renaming.
add_library(heed_graph_json STATIC convert/front_ends/graph_json.cpp)
target_compile_features(heed_graph_json PRIVATE cxx_std_20)
target_compile_options(heed_graph_json PRIVATE -Wall -Wextra)
target_include_directories(heed_graph_json PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${_generated}")
target_link_libraries(heed_graph_json PRIVATE flatbuffers::flatbuffers)

# Front ends: one file for each line of the list.
set(_front_ends "")
file(STRINGS convert/front_end_list.inc _lines REGEX "^HEED_FRONT_END")
foreach(_line IN LISTS _lines)
  string(REGEX MATCH "HEED_FRONT_END\\(([a-z0-9_]+)," _ "${_line}")
  list(APPEND _front_ends convert/front_ends/${CMAKE_MATCH_1}.cpp)
endforeach()

file(GLOB _text RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS convert/tokenizer*.cpp convert/unicode*.cpp)
find_package(ICU REQUIRED COMPONENTS uc)
set(_converter
  convert/calibrate.cpp convert/checkpoint.cpp convert/convert.cpp convert/evaluate.cpp convert/evaluate_attention.cpp convert/evaluate_recurrent.cpp convert/graph_builder.cpp
  convert/pickle.cpp convert/quantize.cpp convert/safetensors.cpp convert/sample_outputs.cpp convert/sample_texts.cpp convert/spec.cpp convert/write.cpp ${_text}
  convert/families/bart.cpp convert/families/bert.cpp convert/families/t5.cpp convert/families/tied.cpp convert/front_ends/encoder_decoder.cpp
  convert/front_ends/generation.cpp convert/front_ends/sentence_transformers.cpp convert/front_ends/tasks.cpp ${_front_ends})
set(_converter_libraries heed_generate heed_graph_json ICU::uc)

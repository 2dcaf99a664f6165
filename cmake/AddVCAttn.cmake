# Helpers for the project's libraries, tools and generated documents.

# add_vcattn_library(NAME SOURCES... [DEPENDS targets...] [LINK_LIBS libs...]):
# a static library of the compiler, linked against libMLIR.so and sharing one precompiled header of MLIR's own.
function(add_vcattn_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} vcattn-tablegen ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY VCATTN_LIBS ${name})
  if(VCATTN_PCH)
    target_precompile_headers(${name} REUSE_FROM VCAttnPrecompiled)
  endif()
endfunction()

# add_vcattn_tool(NAME SOURCES... LINK_LIBS libs...): an executable in bin/.
function(add_vcattn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} vcattn-tablegen)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY VCATTN_TOOLS ${name})
endfunction()

# add_vcattn_doc(TD_FILE OUTPUT.md GENERATOR-FLAGS...): a generated page under docs/ of the build tree;
# `ninja vcattn-doc` builds them all.
function(add_vcattn_doc td_file output)
  set(LLVM_TARGET_DEFINITIONS ${td_file})
  tablegen(MLIR ${output} ${ARGN} "-I${MLIR_MAIN_SRC_DIR}" "-I${MLIR_INCLUDE_DIR}"
           "-I${PROJECT_SOURCE_DIR}/include")
  set(generated ${CMAKE_BINARY_DIR}/docs/${output})
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${output} ${generated}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${output})
  string(MAKE_C_IDENTIFIER ${output} id)
  add_custom_target(vcattn-doc-${id} DEPENDS ${generated})
  add_dependencies(vcattn-doc vcattn-doc-${id})
endfunction()

add_custom_target(vcattn-tablegen)
add_custom_target(vcattn-doc)
option(VCATTN_PCH "Share one precompiled header of MLIR between the libraries" ON)

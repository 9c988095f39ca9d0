# axon_embed(<name> <root> <glob>...): compiles the matching text files into <build>/generated/embedded/<name>.cc
# as one sorted table of (path relative to root, text).
function(axon_embed name root)
  set(globs)
  foreach(pattern ${ARGN})
    list(APPEND globs ${root}/${pattern})
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${globs})
  set(out ${CMAKE_BINARY_DIR}/generated/embedded/${name}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND python3 ${CMAKE_SOURCE_DIR}/scripts/embed.py ${name} ${root} ${out} ${files}
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/scripts/embed.py
    VERBATIM)
  add_library(axon_embedded_${name} STATIC ${out})
  target_link_libraries(axon_embedded_${name} PUBLIC axon_flags)
endfunction()

# Warning and sanitizer flags shared by every target. The Python package is built by compilers that we have not
# seen: there a warning is no error.
if(NOT AXON_PYTHON)
  set(AXON_WERROR -Werror)
endif()
add_library(axon_flags INTERFACE)
target_compile_options(axon_flags INTERFACE
  -Wall -Wextra ${AXON_WERROR} -Wno-missing-field-initializers -Wno-unused-parameter -Wno-maybe-uninitialized
  -Werror=switch -Werror=return-type -fno-strict-aliasing
  $<$<CXX_COMPILER_ID:GNU>:-Wno-dangling-reference>
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set_property(TARGET axon_flags PROPERTY INTERFACE_COMPILE_OPTIONS
    -Wall -Wextra ${AXON_WERROR} -Wno-missing-field-initializers -Wno-unused-parameter -Wno-maybe-uninitialized
    -Werror=switch -Werror=return-type -fno-strict-aliasing
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
endif()
if(AXON_SANITIZE)
  # A null pointer is caught by the address sanitizer and the hardware; checking each use of one for null and
  # alignment doubles the time to compile. Alignment is checked where bytes of files are read: see axon_layer.
  target_compile_options(axon_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null,vptr
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:AXON_CHECKS_ALIGNMENT>>>:-fno-sanitize=alignment>
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(axon_flags INTERFACE -fsanitize=address,undefined)
endif()
target_include_directories(axon_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM)
  target_link_options(axon_flags INTERFACE -fuse-ld=lld)
endif()

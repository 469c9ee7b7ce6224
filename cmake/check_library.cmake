# cmake -DREADELF=... -DLIBRARY=... -DDEBUG=... -P check_library.cmake
# Fails unless LIBRARY needs libc and nothing else, and has at most 64 bytes of static TLS; and unless it offers its
# system calls to a test (src/os/os_inject.h) if DEBUG and not otherwise.

execute_process(COMMAND ${READELF} -dlW ${LIBRARY} OUTPUT_VARIABLE elf COMMAND_ERROR_IS_FATAL ANY)

string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]*\\]" needed "${elf}")
foreach(line IN LISTS needed)
    if(NOT line MATCHES "\\[(libc\\.so\\.6|ld-linux[^]]*)\\]")
        message(SEND_ERROR "needs more than libc: ${line}")
    endif()
endforeach()

# TLS  offset  virtual address  physical address  size in file  size in memory
if(elf MATCHES "\n +TLS +0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ 0x[0-9a-f]+ (0x[0-9a-f]+)")
    math(EXPR tls_bytes "${CMAKE_MATCH_1}")
    if(tls_bytes GREATER 64)
        message(SEND_ERROR "${tls_bytes} bytes of static TLS; 64 are allowed")
    endif()
endif()

execute_process(COMMAND ${READELF} --dyn-syms -W ${LIBRARY} OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
if(DEBUG AND NOT symbols MATCHES "WEAK +DEFAULT +UND fallow_test_call")
    message(SEND_ERROR "does not ask for fallow_test_call")
elseif(NOT DEBUG AND symbols MATCHES "fallow_test_call")
    message(SEND_ERROR "asks for fallow_test_call")
endif()

# jemalloc's interface: programs built with its own header, run with it and with Fallow in its place.

find_path(JEMALLOC_INCLUDE jemalloc/jemalloc.h)
find_library(JEMALLOC_LIBRARY jemalloc)
if(plain_possible AND JEMALLOC_INCLUDE AND JEMALLOC_LIBRARY)
    foreach(name jemalloc_api jemalloc_conf)
        fallow_check_program(${name} ONLY plain SOURCES jemalloc/${name}.c)
        target_link_libraries(check_${name} PRIVATE ${JEMALLOC_LIBRARY})
    endforeach()
    add_test(NAME jemalloc.api.reference COMMAND check_jemalloc_api)
    set_tests_properties(jemalloc.api.reference PROPERTIES LABELS jemalloc TIMEOUT 120)
    fallow_check(jemalloc.api PROGRAM jemalloc_api)
    # The same source, with libfallow.so as its library.
    fallow_check_program(jemalloc_api_linked ONLY plain SOURCES jemalloc/jemalloc_api.c)
    target_link_libraries(check_jemalloc_api_linked PRIVATE fallow)
    add_test(NAME jemalloc.api.linked COMMAND check_jemalloc_api_linked)
    set_tests_properties(jemalloc.api.linked PROPERTIES LABELS jemalloc TIMEOUT 120)
    fallow_script(jemalloc.conf SCRIPT jemalloc/conf.sh ARGS $<TARGET_FILE:check_jemalloc_conf>)
endif()

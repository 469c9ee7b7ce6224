# What memcheck sees of programs that have Fallow inside, and of programs that it is preloaded into.

find_program(VALGRIND valgrind)
if(FALLOW_MEMCHECK AND plain_possible AND VALGRIND)
    fallow_check_program(valgrind_mistakes SOURCES valgrind/mistakes.c)
    foreach(mistake clean leak leak_ring leak_in_thread leak_beside_thread reach read_past read_before
            write_past read_freed read_purged free_twice free_inside free_foreign resize_freed use_unset
            use_unset_of_resized)
        fallow_script(valgrind.${mistake} SCRIPT valgrind/memcheck.sh TIMEOUT 300
            ARGS $<TARGET_FILE:check_valgrind_mistakes> ${mistake} preloaded)
        fallow_script(valgrind.${mistake}.prefixed SCRIPT valgrind/memcheck.sh TIMEOUT 300
            ARGS $<TARGET_FILE:check_valgrind_mistakes_prefixed> ${mistake})
    endforeach()
    fallow_script(valgrind.clean.replaced SCRIPT valgrind/memcheck.sh TIMEOUT 300
        ARGS $<TARGET_FILE:check_valgrind_mistakes> clean replaced)
endif()

# Real programs with the library preloaded: a test for each row of programs.txt, and two more for most, where
# the kernel takes lazy memory all the time. Those of programs-nightly.txt need large packages: FALLOW_NIGHTLY has them,
# with the label nightly.

function(preload_programs file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS preload/${file})
    file(STRINGS preload/${file} rows REGEX "^[a-z]")
    foreach(row IN LISTS rows)
        string(REGEX REPLACE " +" ";" row "${row}")
        list(GET row 0 program)
        list(GET row 1 seconds)
        list(GET row 2 company)
        list(GET row 3 chaos)
        set(serial)
        if(company STREQUAL alone)
            set(serial SERIAL)
        endif()
        set(tests preload.${program})
        fallow_script(preload.${program} SCRIPT preload/${program}.sh TIMEOUT ${seconds} ${serial})
        if("${chaos}" STREQUAL "chaos")
            list(APPEND tests preload.${program}.chaos_reclaim preload.${program}.chaos_pageout)
            fallow_script(preload.${program}.chaos_reclaim SCRIPT preload/${program}.sh
                TIMEOUT ${seconds} ${serial} CONF dirty_decay_ms:1,chaos_reclaim:3)
            fallow_script(preload.${program}.chaos_pageout SCRIPT preload/${program}.sh
                TIMEOUT ${seconds} ${serial}
                CONF dirty_decay_ms:1,purge_thread:always,chaos_pageout:true)
        endif()
        if(file MATCHES nightly AND plain_possible)
            set_tests_properties(${tests} PROPERTIES LABELS "preload;nightly")
        endif()
    endforeach()
endfunction()

preload_programs(programs.txt)
if(FALLOW_NIGHTLY)
    preload_programs(programs-nightly.txt)
endif()

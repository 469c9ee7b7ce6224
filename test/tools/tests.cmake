# The fallow command, as a user types it.

if(plain_possible)
    fallow_check_program(tools_hold ONLY plain SOURCES tools/hold.c)
    # Neither symbols nor a dynamic linker: what is found in it is found without them.
    add_executable(check_tools_static tools/hold.c)
    target_compile_options(check_tools_static PRIVATE -fno-builtin)
    target_link_libraries(check_tools_static PRIVATE fallow_flags fallow_static Threads::Threads)
    target_link_options(check_tools_static PRIVATE -static -s -Wl,--gc-sections)
    set(hold $<TARGET_FILE:check_tools_hold>)
    set(static $<TARGET_FILE:check_tools_static>)

    fallow_script(tools.completion SCRIPT tools/completion.sh)
    fallow_script(tools.doctor SCRIPT tools/doctor.sh ARGS ${refuse})
    fallow_script(tools.rss SCRIPT tools/rss.sh ARGS ${hold} ${static})
    fallow_script(tools.run SCRIPT tools/run.sh ARGS ${static})
    fallow_script(tools.stats SCRIPT tools/stats.sh ARGS ${hold} ${static})
    fallow_script(tools.stats_torn SCRIPT tools/stats-torn.sh ARGS ${hold} TIMEOUT 300)
    fallow_script(tools.trim SCRIPT tools/trim.sh ARGS ${hold} ${static})
endif()

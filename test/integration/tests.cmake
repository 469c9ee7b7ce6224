# The interface and the process: threads, forks, destructors, early calls, limits, stages.

foreach(name alignment interface errno_kept usable_size realloc_contents calloc_zero threads_churn
        producer_consumer thread_storm fork_single fork_threads destructors exit_threads limits stages
        purge_thread holes cache)
    fallow_check_program(integration_${name} SOURCES integration/${name}.c)
endforeach()
foreach(name destructors_cxx operators)
    fallow_check_program(integration_${name} ONLY plain SOURCES integration/${name}.cpp)
endforeach()
fallow_check_program(integration_glibc_names ONLY plain SOURCES integration/glibc_names.c)
fallow_check_program(integration_early SOURCES integration/early.c)
add_library(check_interposer SHARED integration/interposer.c)
target_link_libraries(check_interposer PRIVATE fallow_flags ${CMAKE_DL_LIBS})
add_library(check_interposer_calls SHARED integration/interposer_calls.c)
target_link_libraries(check_interposer_calls PRIVATE fallow_flags ${CMAKE_DL_LIBS})

foreach(name alignment interface errno_kept usable_size realloc_contents calloc_zero threads_churn
        thread_storm fork_single fork_threads destructors)
    fallow_check(integration.${name} PROGRAM integration_${name} TIMEOUT 300)
endforeach()
fallow_check(integration.producer_consumer PROGRAM integration_producer_consumer UNSANITIZED)
fallow_check(integration.destructors_cxx PROGRAM integration_destructors_cxx)
fallow_check(integration.operators PROGRAM integration_operators)
fallow_check_program(integration_allocator ONLY prefixed SOURCES integration/allocator.cpp)
fallow_check(integration.allocator PROGRAM integration_allocator)
fallow_check(integration.glibc_names PROGRAM integration_glibc_names)
fallow_check(integration.early PROGRAM integration_early UNSANITIZED)
fallow_check(integration.early.lazy_binding PROGRAM integration_early UNSANITIZED
    ENVIRONMENT LD_BIND_NOT=1)
foreach(way return main thread _exit)
    fallow_check(integration.exit.${way} PROGRAM integration_exit_threads ARGS ${way})
endforeach()
fallow_check(integration.exit.pthread_exit PROGRAM integration_exit_threads ARGS pthread_exit
    UNSANITIZED) # the thread sanitizer cannot have main joined

# The same at the other ends of the policy: purging all the time, and never.
foreach(name calloc_zero realloc_contents threads_churn fork_threads errno_kept)
    fallow_check(integration.${name}.at_once PROGRAM integration_${name} TIMEOUT 300
        CONF dirty_decay_ms:0,lazy_decay_ms:0)
    fallow_check(integration.${name}.never PROGRAM integration_${name} TIMEOUT 300 ONLY prefixed
        CONF purge:never)
endforeach()
fallow_check(integration.threads_churn.one_arena PROGRAM integration_threads_churn TIMEOUT 300
    CONF narenas:1)

# The same with lazy pages lost all the time, to Fallow's own hand and to the kernel's.
foreach(name calloc_zero realloc_contents threads_churn fork_threads usable_size)
    fallow_check(integration.${name}.chaos_reclaim PROGRAM integration_${name} TIMEOUT 300
        CONF dirty_decay_ms:0,chaos_reclaim:2)
    fallow_check(integration.${name}.chaos_pageout PROGRAM integration_${name} TIMEOUT 300 ONLY plain
        CONF dirty_decay_ms:1,purge_thread:always,chaos_pageout:true)
endforeach()

# Pages without objects in slabs that are in use.
foreach(way storm fork)
    fallow_check(integration.holes.${way} PROGRAM integration_holes ARGS ${way} TIMEOUT 300
        CONF dirty_decay_ms:2)
    fallow_check(integration.holes.${way}.chaos_reclaim PROGRAM integration_holes ARGS ${way}
        TIMEOUT 300 CONF dirty_decay_ms:2,chaos_reclaim:2)
    fallow_check(integration.holes.${way}.small_pages PROGRAM integration_holes ARGS ${way}
        TIMEOUT 300 ONLY plain CONF dirty_decay_ms:2,lazy_decay_ms:5,thp:never)
endforeach()
fallow_check(integration.holes.lazy PROGRAM integration_holes ARGS lazy UNSANITIZED
    CONF lazy_decay_ms:-1)
fallow_check(integration.holes.gone PROGRAM integration_holes ARGS gone UNSANITIZED
    CONF lazy_decay_ms:500)
fallow_check(integration.holes.parked PROGRAM integration_holes ARGS parked UNSANITIZED
    CONF lazy_decay_ms:500)
fallow_check(integration.holes.single PROGRAM integration_holes ARGS single UNSANITIZED
    CONF lazy_decay_ms:500)
fallow_check(integration.holes.single.small_pages PROGRAM integration_holes ARGS single UNSANITIZED
    CONF lazy_decay_ms:500,thp:never)

# The caches of threads, emptied by others.
foreach(way storm fork)
    fallow_check(integration.cache.${way} PROGRAM integration_cache ARGS ${way} TIMEOUT 300
        CONF dirty_decay_ms:2)
endforeach()
fallow_check(integration.cache.sleep PROGRAM integration_cache ARGS sleep UNSANITIZED
    CONF lazy_decay_ms:500)

# What others do about those caches, and do not.
fallow_check_program(integration_drain ONLY plain SOURCES integration/drain.c)
fallow_check(integration.drain.many PROGRAM integration_drain ARGS many CONF purge_thread:never)
fallow_check(integration.drain.quiet PROGRAM integration_drain ARGS quiet)
fallow_check(integration.drain.child PROGRAM integration_drain ARGS child)
fallow_check(integration.drain.single PROGRAM integration_drain ARGS single
    CONF dirty_decay_ms:1,purge_thread:always)

# Before Fallow, another malloc that finds it by dlsym, as tracers do; and functions of libc that allocate.
if(plain_possible)
    foreach(interposer interposer interposer_calls)
        foreach(name threads_churn exit_threads)
            set(arguments)
            if(name STREQUAL exit_threads)
                set(arguments return)
            endif()
            add_test(NAME integration.${interposer}.${name}
                COMMAND $<TARGET_FILE:check_integration_${name}> ${arguments})
            fallow_check_properties(integration.${interposer}.${name} integration OFF TIMEOUT 120
                CONF dirty_decay_ms:5,lazy_decay_ms:20
                ENVIRONMENT
                "LD_PRELOAD=$<TARGET_FILE:check_${interposer}>:$<TARGET_FILE:fallow>")
        endforeach()
    endforeach()
endif()

# A library that looks for malloc in libc first.
if(plain_possible)
    add_library(check_deepbind SHARED integration/deepbind_library.c)
    target_link_libraries(check_deepbind PRIVATE fallow_flags)
    fallow_check_program(integration_deepbind ONLY plain SOURCES integration/deepbind.c)
    target_link_options(check_integration_deepbind PRIVATE LINKER:--enable-new-dtags)
    set_target_properties(check_integration_deepbind PROPERTIES BUILD_RPATH "\$ORIGIN")
    add_dependencies(check_integration_deepbind check_deepbind)
    fallow_check(integration.deepbind PROGRAM integration_deepbind)
endif()

fallow_check(integration.limits PROGRAM integration_limits UNSANITIZED)
fallow_check(integration.limits.small PROGRAM integration_limits ARGS small UNSANITIZED)
fallow_check(integration.limits.from_outside PROGRAM integration_limits ARGS small UNSANITIZED
    UNDER prlimit --as=16777216)

# The purge thread, which the sanitizers' runtimes do not know or bring into trouble with signals.
foreach(way sleep mute exit exec fork signals setuid none)
    fallow_check(integration.purge_thread.${way} PROGRAM integration_purge_thread ARGS ${way}
        UNSANITIZED CONF lazy_decay_ms:1500)
endforeach()
fallow_check(integration.purge_thread.alone PROGRAM integration_purge_thread ARGS alone UNSANITIZED
    CONF lazy_decay_ms:3600000)

# A sanitizer's memory is somebody else's, and changes while it is counted.
fallow_check_program(integration_why SOURCES integration/why.c)
fallow_check(integration.why PROGRAM integration_why UNSANITIZED)
fallow_check(integration.why.small_pages PROGRAM integration_why UNSANITIZED CONF thp:never)

# In memory cgroups of their own: freed memory is there for others.
fallow_check_program(integration_pressure ONLY plain SOURCES integration/pressure.c)
set(limits neighbour 300M save 220M)
while(limits)
    list(POP_FRONT limits way limit)
    fallow_check(integration.pressure.${way} PROGRAM integration_pressure ARGS ${way} UNSANITIZED
        ONLY plain UNDER ${CMAKE_CURRENT_SOURCE_DIR}/support/in_cgroup.sh ${limit})
    fallow_check(integration.pressure.${way}.small_pages PROGRAM integration_pressure ARGS ${way}
        UNSANITIZED ONLY plain CONF thp:never
        UNDER ${CMAKE_CURRENT_SOURCE_DIR}/support/in_cgroup.sh ${limit})
endwhile()
fallow_check(integration.pressure.usage PROGRAM integration_pressure ARGS usage UNSANITIZED
    ONLY plain CONF lazy_decay_ms:1000
    UNDER ${CMAKE_CURRENT_SOURCE_DIR}/support/in_cgroup.sh 400M)

# What the kernel says of each stage. A sanitizer's shadow would count as well.
fallow_check(integration.stages.by_call PROGRAM integration_stages ARGS by_call UNSANITIZED
    CONF dirty_decay_ms:3600000)
fallow_check(integration.stages.by_time PROGRAM integration_stages ARGS by_time UNSANITIZED
    CONF dirty_decay_ms:200,lazy_decay_ms:1500)
fallow_check(integration.stages.at_once PROGRAM integration_stages ARGS at_once UNSANITIZED
    CONF dirty_decay_ms:0,lazy_decay_ms:-1)
fallow_check(integration.stages.never PROGRAM integration_stages ARGS never UNSANITIZED
    CONF purge:never)
fallow_check(integration.stages.dontneed PROGRAM integration_stages ARGS dontneed UNSANITIZED
    CONF purge:dontneed)

# Every system call of Fallow's refused in turn: by the test in debug builds, which ask it; by the kernel.
if(FALLOW_DEBUG)
    fallow_check_program(integration_refused_calls SOURCES integration/refused_calls.c)
    if(plain_possible)
        set_target_properties(check_integration_refused_calls PROPERTIES ENABLE_EXPORTS ON)
        set(way plain)
    else()
        set(way prefixed)
    endif()
    fallow_check(integration.refused_calls.alone PROGRAM integration_refused_calls ARGS alone
        ONLY ${way} CONF dirty_decay_ms:-1,lazy_decay_ms:-1 TIMEOUT 300)
    foreach(work threads fork)
        fallow_check(integration.refused_calls.${work} PROGRAM integration_refused_calls
            ARGS ${work} ONLY ${way} CONF dirty_decay_ms:2,lazy_decay_ms:5 TIMEOUT 300)
    endforeach()
    fallow_check(integration.refused_calls.start PROGRAM integration_refused_calls ARGS start
        CONF dirty_decay_ms:2,lazy_decay_ms:5 TIMEOUT 300)
endif()
fallow_check_program(integration_refused_filter SOURCES integration/refused_filter.c)
fallow_check(integration.refused_filter PROGRAM integration_refused_filter UNSANITIZED
    CONF dirty_decay_ms:2,lazy_decay_ms:5 TIMEOUT 300)

# Pages of 16 and of 64 KiB, which debug builds take the kernel's for if they are told so: a larger page is
# right in every call. (The unit tests count in pages of 4 KiB.)
fallow_check_program(integration_page_size SOURCES integration/page_size.c)
fallow_check(integration.page_size PROGRAM integration_page_size)
if(FALLOW_DEBUG)
    foreach(page 16384 65536)
        set(pages TIMEOUT 300 CONF dirty_decay_ms:2,lazy_decay_ms:5
            ENVIRONMENT FALLOW_TEST_PAGE_BYTES=${page} FALLOW_TEST_SCALE=25)
        fallow_check(integration.page_size.${page} PROGRAM integration_page_size ARGS ${page} ${pages})
        foreach(name alignment interface usable_size realloc_contents calloc_zero threads_churn
                fork_threads)
            fallow_check(integration.${name}.page_${page} PROGRAM integration_${name} ${pages}
                ONLY ${way})
        endforeach()
        fallow_check(integration.holes.storm.page_${page} PROGRAM integration_holes ARGS storm
            ${pages} ONLY ${way})
    endforeach()
endif()

# As many CPUs as the test says.
if(FALLOW_DEBUG)
    fallow_check_program(integration_many_cpus SOURCES integration/many_cpus.c)
    if(plain_possible)
        set_target_properties(check_integration_many_cpus PROPERTIES ENABLE_EXPORTS ON)
    endif()
    fallow_check(integration.many_cpus PROGRAM integration_many_cpus UNSANITIZED)
endif()

# What the process is denied. (Few maps and strict overcommit: regress.system-limits.)
fallow_check_program(integration_resource_limits SOURCES integration/resource_limits.c)
foreach(way as data memlock no_proc hidepid cgroup_ro cgroup_tiny)
    fallow_check(integration.resource_limits.${way} PROGRAM integration_resource_limits ARGS ${way}
        UNSANITIZED CONF dirty_decay_ms:2,lazy_decay_ms:5)
endforeach()
fallow_check(integration.resource_limits.nproc PROGRAM integration_resource_limits ARGS nproc
    UNSANITIZED CONF dirty_decay_ms:2,lazy_decay_ms:5,purge_thread:always)

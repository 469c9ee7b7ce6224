# Failures that others' trackers report, each a test named for its case. README.md lists them.

foreach(case je-1497-first-call-is-free je-1347-short-threads gp-499-fork-among-threads
        gp-1570-setenv-in-child gp-724-aligned-pairs gp-735-one-extent-locked
        llvm-167788-all-locked mi-1177-destructors je-2482-sized-free mi-161-double-free
        je-2054-arenas go-60218-refused mi-249-killing-filter)
    fallow_check_program(regress_${case} SOURCES regress/${case}.c)
endforeach()

fallow_check(regress.je-1497-first-call-is-free PROGRAM regress_je-1497-first-call-is-free UNSANITIZED
    CONF dirty_decay_ms:100,lazy_decay_ms:300)
fallow_check(regress.je-1347-short-threads PROGRAM regress_je-1347-short-threads UNSANITIZED)
fallow_check(regress.gp-499-fork-among-threads PROGRAM regress_gp-499-fork-among-threads TIMEOUT 600)
fallow_check(regress.gp-1570-setenv-in-child PROGRAM regress_gp-1570-setenv-in-child ONLY plain)
fallow_check(regress.gp-724-aligned-pairs PROGRAM regress_gp-724-aligned-pairs UNSANITIZED)
fallow_check(regress.gp-735-one-extent-locked PROGRAM regress_gp-735-one-extent-locked UNSANITIZED)
fallow_check(regress.gp-735-one-extent-locked.lazy_only UNSANITIZED
    PROGRAM regress_gp-735-one-extent-locked CONF lazy_decay_ms:-1)
fallow_check(regress.llvm-167788-all-locked PROGRAM regress_llvm-167788-all-locked UNSANITIZED)
fallow_check(regress.mi-1177-destructors PROGRAM regress_mi-1177-destructors UNSANITIZED)
fallow_check(regress.mi-1177-destructors.late PROGRAM regress_mi-1177-destructors ARGS late
    UNSANITIZED)
fallow_check(regress.je-2482-sized-free PROGRAM regress_je-2482-sized-free UNSANITIZED)
fallow_check(regress.mi-161-double-free PROGRAM regress_mi-161-double-free)
fallow_check(regress.je-2054-arenas PROGRAM regress_je-2054-arenas)
fallow_check(regress.je-2054-arenas.narrowed PROGRAM regress_je-2054-arenas ARGS narrow)
fallow_check(regress.je-2054-arenas.taskset PROGRAM regress_je-2054-arenas UNDER taskset -c 0)

fallow_check(regress.mi-249-killing-filter PROGRAM regress_mi-249-killing-filter UNSANITIZED)
fallow_check(regress.mi-249-killing-filter.at_once PROGRAM regress_mi-249-killing-filter UNSANITIZED
    CONF dirty_decay_ms:0,lazy_decay_ms:0,purge_thread:always)

# What qemu-user's madvise was like, whatever that of today is like.
fallow_check(regress.je-2005-lying-madvise PROGRAM integration_calloc_zero UNSANITIZED
    UNDER ${refuse} lies CONF dirty_decay_ms:0,lazy_decay_ms:0)

# Found by attacking Fallow itself.
fallow_check_program(regress_vfork-first-malloc SOURCES regress/vfork-first-malloc.c)
fallow_check(regress.vfork-first-malloc PROGRAM regress_vfork-first-malloc UNSANITIZED)
if(plain_possible)
    fallow_check_program(regress_dlclose-before-threads-end ONLY plain
        SOURCES regress/dlclose-before-threads-end.c)
    add_test(NAME regress.dlclose-before-threads-end
        COMMAND check_regress_dlclose-before-threads-end $<TARGET_FILE:fallow>)
    fallow_check_properties(regress.dlclose-before-threads-end regress OFF)
endif()

# fbje#29, hm#324: errno is kept by free, also while every purge fails.
foreach(way enosys eperm nofree)
    fallow_check(regress.fbje-29-errno.${way} PROGRAM integration_errno_kept UNSANITIZED
        UNDER ${refuse} ${way} CONF dirty_decay_ms:0,lazy_decay_ms:0)
    fallow_check(regress.go-60218-refused.calloc.${way} PROGRAM integration_calloc_zero UNSANITIZED
        UNDER ${refuse} ${way} CONF dirty_decay_ms:0,lazy_decay_ms:0)
endforeach()

if(plain_possible)
    foreach(case gp-839-fill-and-free je-335-realloc-doubling je-473-fork-from-a-heap
            je-1641-forks-of-many-threads)
        fallow_check_program(regress_${case} ONLY plain SOURCES regress/${case}.c)
        fallow_script(regress.${case} SCRIPT regress/${case}.sh
            ARGS $<TARGET_FILE:check_regress_${case}> TIMEOUT 300)
    endforeach()
    fallow_check_program(regress_system-limits ONLY plain SOURCES regress/system-limits.c)
    foreach(limit max_map_count overcommit)
        fallow_script(regress.system-limits.${limit} SCRIPT regress/system-limits.sh
            ARGS ${limit} $<TARGET_FILE:check_regress_system-limits>)
    endforeach()
    fallow_script(regress.je-2054-arenas.quota SCRIPT regress/je-2054-quota.sh
        ARGS $<TARGET_FILE:check_regress_je-2054-arenas>)
    fallow_script(regress.je-2005-qemu-user SCRIPT regress/je-2005-qemu-user.sh
        ARGS $<TARGET_FILE:check_integration_calloc_zero>)
    fallow_script(regress.je-1398-redis-flushall SCRIPT regress/je-1398-redis-flushall.sh)
    fallow_script(regress.mi-161-double-free.counted SCRIPT regress/mi-161-double-free.sh
        ARGS $<TARGET_FILE:check_regress_mi-161-double-free>)
    foreach(way enosys eperm einval nofree novec none)
        fallow_script(regress.go-60218-refused.${way} SCRIPT regress/go-60218-refused.sh
            ARGS ${way} ${refuse} $<TARGET_FILE:check_regress_go-60218-refused>)
    endforeach()
    fallow_script(regress.hm-235-little-address-space SCRIPT regress/hm-235-little-address-space.sh)
    fallow_script(regress.je-1249-ctypes SCRIPT regress/je-1249-ctypes.sh)
endif()

# As much as was reported, where the gate has less.
if(FALLOW_NIGHTLY AND plain_possible)
    set(loads gp-499-fork-among-threads 2500 gp-1570-setenv-in-child 1000 je-1347-short-threads 1000
        mi-1177-destructors 2000)
    while(loads)
        list(POP_FRONT loads case percent)
        fallow_check(regress.${case}.full PROGRAM regress_${case} ONLY plain TIMEOUT 3600
            ENVIRONMENT FALLOW_TEST_SCALE=${percent})
        set_tests_properties(regress.${case}.full PROPERTIES LABELS "regress;nightly")
    endwhile()
    fallow_script(regress.je-1398-redis-flushall.full SCRIPT regress/je-1398-redis-flushall.sh
        TIMEOUT 600 ENVIRONMENT FALLOW_TEST_SCALE=300)
    set_tests_properties(regress.je-1398-redis-flushall.full PROPERTIES LABELS "regress;nightly")
endif()

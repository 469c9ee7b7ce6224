# Random operations against a naive model: one run that is the same every time, one that never is.

fallow_check_program(model_model SOURCES model/model.c)
foreach(seed 1 2 3)
    fallow_check(model.seed_${seed} PROGRAM model_model ARGS ${seed} 60000 TIMEOUT 300)
endforeach()
fallow_check(model.fresh PROGRAM model_model TIMEOUT 7200)
fallow_check(model.fresh.at_once PROGRAM model_model TIMEOUT 7200
    CONF dirty_decay_ms:0,lazy_decay_ms:0)
fallow_check(model.fresh.dontneed PROGRAM model_model TIMEOUT 7200
    CONF dirty_decay_ms:1,lazy_decay_ms:20,purge:dontneed)

# With lazy pages lost all the time, to Fallow's own hand and to the kernel's.
fallow_check(model.chaos.reclaim PROGRAM model_model ARGS 4 60000 TIMEOUT 300
    CONF dirty_decay_ms:0,chaos_reclaim:2)
fallow_check(model.chaos.pageout PROGRAM model_model ARGS 5 60000 TIMEOUT 300
    CONF dirty_decay_ms:1,purge_thread:always,chaos_pageout:true)

# Pages larger than the kernel's.
if(FALLOW_DEBUG)
    foreach(page 16384 65536)
        fallow_check(model.page_${page} PROGRAM model_model ARGS 6 30000 TIMEOUT 300
            CONF dirty_decay_ms:0,lazy_decay_ms:5 ENVIRONMENT FALLOW_TEST_PAGE_BYTES=${page})
    endforeach()
endif()

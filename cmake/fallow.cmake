# The vocabulary of the build: a layer, a unit test, and what is made of the layers.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

option(FALLOW_DEBUG "Check assertions, invariants and the lock order" OFF)
option(FALLOW_LOCK_TIMES "Print at exit how long each lock was held" OFF)
option(FALLOW_UNITY "Compile each library as one translation unit" OFF)
option(FALLOW_WERROR "Warnings are errors" OFF)
option(FALLOW_MEMCHECK "Tell valgrind's memcheck of blocks, if its header is there" ON)
set(FALLOW_SANITIZE "" CACHE STRING "Arguments of -fsanitize=, such as address,undefined")
option(FALLOW_FORK_RUNNER "Unit tests without Criterion, where that cannot run" OFF)
set(FALLOW_TEST_LAUNCHER "" CACHE STRING "Command that unit tests run under, such as valgrind")

# What all code is compiled with. The builtins are off for the functions this project implements: the
# compiler would otherwise make a calloc of a malloc and a memset, inside calloc.
add_library(fallow_flags INTERFACE)
target_compile_options(fallow_flags INTERFACE
    -std=gnu17 -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef
    -Wvla -Wpointer-arith -Wcast-qual -Wwrite-strings $<$<BOOL:${FALLOW_WERROR}>:-Werror>)
# clang's DWARF 5 ends valgrind 3.19, that of Debian 12.
target_compile_options(fallow_flags INTERFACE
    $<$<AND:$<C_COMPILER_ID:Clang>,$<CONFIG:Debug,RelWithDebInfo>>:-gdwarf-4>)
target_compile_definitions(fallow_flags INTERFACE
    _GNU_SOURCE FALLOW_DEBUG=$<BOOL:${FALLOW_DEBUG}>
    FALLOW_LOCK_TIMES=$<BOOL:${FALLOW_LOCK_TIMES}> FALLOW_MEMCHECK=$<BOOL:${FALLOW_MEMCHECK}>)
if(FALLOW_SANITIZE)
    target_compile_options(fallow_flags INTERFACE
        -fsanitize=${FALLOW_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(fallow_flags INTERFACE -fsanitize=${FALLOW_SANITIZE})
    # The sanitizer's own symbols stay undefined until the program that has them.
    set(FALLOW_UNDEFINED -fsanitize=${FALLOW_SANITIZE})
else()
    set(FALLOW_UNDEFINED LINKER:-z,defs)
endif()

add_library(fallow_code INTERFACE)
target_link_libraries(fallow_code INTERFACE fallow_flags)
target_compile_options(fallow_code INTERFACE
    -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-plt -fno-semantic-interposition
    -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free
    -fno-builtin-aligned_alloc -fno-builtin-posix_memalign -fno-builtin-memalign
    -fno-builtin-reallocarray)

# fallow_layer(<name> [INTERFACE_HEADERS] USES <lower layers> SOURCES <files>)
# The object library fallow_<name>: src/<name> (or <name>), compiled with its own folder, those of the
# layers it uses and, on demand, include/ to include from. Nothing else, so that an upward include
# fails.
function(fallow_layer name)
    cmake_parse_arguments(ARG "INTERFACE_HEADERS" "" "USES;SOURCES" ${ARGN})
    set(folder ${PROJECT_SOURCE_DIR}/src/${name})
    if(NOT IS_DIRECTORY ${folder})
        set(folder ${PROJECT_SOURCE_DIR}/${name})
    endif()
    list(TRANSFORM ARG_SOURCES PREPEND ${folder}/)
    add_library(fallow_${name} OBJECT EXCLUDE_FROM_ALL ${ARG_SOURCES})
    target_include_directories(fallow_${name} PUBLIC ${folder})
    if(ARG_INTERFACE_HEADERS)
        target_include_directories(fallow_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
    endif()
    target_link_libraries(fallow_${name} PRIVATE fallow_code)
    foreach(lower IN LISTS ARG_USES)
        target_include_directories(fallow_${name} PRIVATE
            $<TARGET_PROPERTY:fallow_${lower},INTERFACE_INCLUDE_DIRECTORIES>)
    endforeach()
    set_property(TARGET fallow_${name} PROPERTY FALLOW_USES ${ARG_USES})
    set_property(GLOBAL APPEND PROPERTY FALLOW_LAYERS ${name})
endfunction()

# fallow_test(<name> LAYER <layer> SOURCES <files>)
# A Criterion program, registered as unit.<name>, linked with the layer and those it uses, so that an
# upward call fails to link.
function(fallow_test name)
    if(NOT BUILD_TESTING)
        return()
    endif()
    cmake_parse_arguments(ARG "" "LAYER" "SOURCES" ${ARGN})
    get_target_property(layers fallow_${ARG_LAYER} FALLOW_USES)
    if(NOT layers)
        set(layers)
    endif()
    list(APPEND layers ${ARG_LAYER})
    add_executable(test_${name} ${ARG_SOURCES})
    target_link_libraries(test_${name} PRIVATE fallow_flags)
    if(FALLOW_FORK_RUNNER)
        target_sources(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/unit/runner/runner.c)
        target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/unit/runner)
    else()
        target_link_libraries(test_${name} PRIVATE criterion)
    endif()
    foreach(layer IN LISTS layers)
        target_sources(test_${name} PRIVATE $<TARGET_OBJECTS:fallow_${layer}>)
        target_include_directories(test_${name} PRIVATE
            $<TARGET_PROPERTY:fallow_${layer},INTERFACE_INCLUDE_DIRECTORIES>)
    endforeach()
    add_test(NAME unit.${name} COMMAND ${FALLOW_TEST_LAUNCHER} $<TARGET_FILE:test_${name}> --jobs=1)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# The objects of some layers: theirs, or in a unity build those of one translation unit with the code
# of all. Layers are objects of their own anyway, for the unit tests.
function(fallow_objects name)
    if(NOT FALLOW_UNITY)
        set(objects)
        foreach(layer IN LISTS ARGN)
            list(APPEND objects $<TARGET_OBJECTS:fallow_${layer}>)
        endforeach()
        set(${name} ${objects} PARENT_SCOPE)
        return()
    endif()
    add_library(${name}_unity OBJECT EXCLUDE_FROM_ALL)
    set_target_properties(${name}_unity PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    target_link_libraries(${name}_unity PRIVATE fallow_code)
    foreach(layer IN LISTS ARGN)
        target_sources(${name}_unity PRIVATE $<TARGET_PROPERTY:fallow_${layer},SOURCES>)
        target_include_directories(${name}_unity PRIVATE
            $<TARGET_PROPERTY:fallow_${layer},INTERFACE_INCLUDE_DIRECTORIES>)
    endforeach()
    set(${name} $<TARGET_OBJECTS:${name}_unity> PARENT_SCOPE)
endfunction()

# An archive of one object in which hidden names have become local: a program that links it may have
# an options or a list_init of its own.
function(fallow_archive target output_name)
    set(object ${PROJECT_BINARY_DIR}/${output_name}.o)
    add_custom_command(OUTPUT ${object}
        COMMAND ${CMAKE_LINKER} -r -o ${object} ${ARGN}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${object}
        DEPENDS ${ARGN} COMMAND_EXPAND_LISTS VERBATIM)
    add_library(${target} STATIC ${object})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ${output_name})
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# fallow: libfallow.so. fallow_static: libfallow.a. Both have every name of malloc's; the first has dlopen, too.
# fallow_prefixed: libfallow-prefixed.a, without the layers from jemalloc up: fallow_* alone.
function(fallow_libraries)
    cmake_parse_arguments(ARG "" "VERSION_SCRIPT" "" ${ARGN})
    set(script ${PROJECT_SOURCE_DIR}/${ARG_VERSION_SCRIPT})
    get_property(layers GLOBAL PROPERTY FALLOW_LAYERS)
    fallow_objects(fallow_all ${layers})
    list(REMOVE_ITEM layers deepbind)
    fallow_objects(fallow_linked ${layers})
    list(REMOVE_ITEM layers jemalloc preload)
    fallow_objects(fallow_core ${layers})

    add_library(fallow SHARED ${fallow_all})
    set_target_properties(fallow PROPERTIES LINKER_LANGUAGE C
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${script})
    target_include_directories(fallow INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_options(fallow PRIVATE
        LINKER:--version-script=${script} LINKER:--as-needed LINKER:-z,now LINKER:-z,relro LINKER:-z,nodelete
        ${FALLOW_UNDEFINED})

    fallow_archive(fallow_static fallow ${fallow_linked})
    fallow_archive(fallow_prefixed fallow-prefixed ${fallow_core})
endfunction()

function(fallow_install)
    set_target_properties(fallow_static PROPERTIES EXPORT_NAME fallow_static)
    set_target_properties(fallow_prefixed PROPERTIES EXPORT_NAME fallow_prefixed)
    set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fallow)
    install(TARGETS fallow fallow_static fallow_prefixed EXPORT fallow_targets)
    install(EXPORT fallow_targets NAMESPACE fallow:: DESTINATION ${package})
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    configure_package_config_file(cmake/fallow-config.cmake.in fallow-config.cmake
        INSTALL_DESTINATION ${package})
    write_basic_package_version_file(fallow-config-version.cmake COMPATIBILITY SameMinorVersion)
    file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    configure_file(cmake/fallow.pc.in fallow.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/fallow-config.cmake
        ${PROJECT_BINARY_DIR}/fallow-config-version.cmake DESTINATION ${package})
    install(FILES ${PROJECT_BINARY_DIR}/fallow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# The documents that come from the tables of the source: target docs writes them, a test compares.
function(fallow_docs)
    add_executable(docs_generate docs/generate.c)
    target_link_libraries(docs_generate PRIVATE fallow_flags)
    target_include_directories(docs_generate PRIVATE src/base src/os src/conf)
    add_custom_target(docs)
    foreach(document options manual stats locks)
        set(committed ${PROJECT_SOURCE_DIR}/docs/${document}.md)
        if(document STREQUAL manual)
            set(committed ${PROJECT_SOURCE_DIR}/docs/man/fallow-options.7)
        endif()
        add_custom_command(TARGET docs COMMAND docs_generate ${document} ${committed} VERBATIM)
        if(BUILD_TESTING)
            add_test(NAME docs.${document}
                COMMAND docs_generate --compare ${document} ${committed})
        endif()
    endforeach()
endfunction()

# The manual pages; each function of the header finds fallow(3) under its name, too.
function(fallow_manual)
    set(man ${PROJECT_SOURCE_DIR}/docs/man)
    install(FILES ${man}/fallow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${man}/fallow.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
    install(FILES ${man}/fallow-options.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
    set(header ${PROJECT_SOURCE_DIR}/include/fallow/fallow.h)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(STRINGS ${header} declarations REGEX "^[a-z].*fallow_[a-z_]+\\(.*\\);$")
    foreach(declaration IN LISTS declarations)
        string(REGEX MATCH "fallow_[a-z_]+\\(" name "${declaration}")
        string(REPLACE "(" "" name "${name}")
        file(CONFIGURE OUTPUT man/${name}.3 CONTENT ".so man3/fallow.3\n" @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/man/${name}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
    endforeach()
endfunction()

# What a preloaded library must be: libc alone, little static TLS, only the intended names.
function(fallow_library_test)
    if(NOT FALLOW_SANITIZE)
        add_test(NAME library.shape COMMAND ${CMAKE_COMMAND}
            -DREADELF=${CMAKE_READELF} -DLIBRARY=$<TARGET_FILE:fallow> -DDEBUG=$<BOOL:${FALLOW_DEBUG}>
            -P ${PROJECT_SOURCE_DIR}/cmake/check_library.cmake)
    endif()
endfunction()

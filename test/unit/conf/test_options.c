/* FALLOW_CONF: what is stored, and the exact line for each kind of mistake. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "../capture.h"
#include "options.h"

#define PREFIX "fallow: FALLOW_CONF: "

static void expect_messages(const char *conf, const char *expected) {
    char text[4096];
    errno = EXDEV;
    struct capture c = capture_start();
    options_parse(conf);
    capture_end(c, text, sizeof text);
    cr_assert_str_eq(text, expected);
    cr_assert_eq(errno, EXDEV);
}

static void expect_defaults(void) {
    cr_assert_eq(options.purge, PURGE_LAZY);
    cr_assert_eq(options.dirty_decay_ms, 100);
    cr_assert_eq(options.lazy_decay_ms, 10000);
    cr_assert_eq(options.narenas, 0);
    cr_assert_eq(options.stats_at_exit, false);
    cr_assert_eq(options.abort_conf, false);
    cr_assert_eq(options.abort_on_foreign, false);
}

Test(options, defaults_hold_before_parsing) {
    expect_defaults();
    expect_messages(NULL, "");
    expect_messages("", "");
    expect_messages(",,", "");
    expect_defaults();
}

Test(options, every_kind_of_value) {
    expect_messages("purge:dontneed,dirty_decay_ms:-1,lazy_decay_ms:2K,stats_at_exit:true", "");
    cr_assert_eq(options.purge, PURGE_DONTNEED);
    cr_assert_eq(options.dirty_decay_ms, -1);
    cr_assert_eq(options.lazy_decay_ms, 2048);
    cr_assert_eq(options.stats_at_exit, true);
    options_reset();
    expect_defaults();
}

Test(options, the_last_of_two_counts) {
    expect_messages("purge:never,purge:lazy,stats_at_exit:true,stats_at_exit:false", "");
    expect_defaults();
}

Test(options, bounds_are_inclusive) {
    expect_messages("dirty_decay_ms:3600000,lazy_decay_ms:-1,narenas:256", "");
    cr_assert_eq(options.dirty_decay_ms, 3600000);
    cr_assert_eq(options.lazy_decay_ms, -1);
    cr_assert_eq(options.narenas, 256);
}

Test(options, a_misspelt_name_brings_the_nearest) {
    expect_messages("dirty_decay:5",
                    PREFIX "no option 'dirty_decay'; did you mean 'dirty_decay_ms'?\n");
    expect_messages("lazy_decay:5",
                    PREFIX "no option 'lazy_decay'; did you mean 'lazy_decay_ms'?\n");
    expect_messages("abort_cnof:true",
                    PREFIX "no option 'abort_cnof'; did you mean 'abort_conf'?\n");
    expect_messages("Purge:lazy", PREFIX "no option 'Purge'; did you mean 'purge'?\n");
    expect_messages(":5", PREFIX "no option ''; did you mean 'thp'?\n");
    expect_defaults();
}

Test(options, out_of_range) {
    expect_messages("dirty_decay_ms:-5",
                    PREFIX "dirty_decay_ms:-5 is out of range (-1 to 3600000); ignored\n");
    expect_messages("narenas:257", PREFIX "narenas:257 is out of range (0 to 256); ignored\n");
    expect_messages("narenas:1G", PREFIX "narenas:1G is out of range (0 to 256); ignored\n");
    expect_defaults();
}

Test(options, not_a_value) {
    expect_messages("narenas:many", PREFIX "narenas:many is not a number; ignored\n");
    expect_messages("narenas:", PREFIX "narenas: is not a number; ignored\n");
    expect_messages("narenas:99999999999999999999",
                    PREFIX "narenas:99999999999999999999 is not a number; ignored\n");
    expect_messages("stats_at_exit:1", PREFIX "stats_at_exit:1 is not true or false; ignored\n");
    expect_messages("purge:lazily",
                    PREFIX "purge:lazily is not one of lazy, dontneed, never; ignored\n");
    expect_messages("purge:laz", PREFIX "purge:laz is not one of lazy, dontneed, never; ignored\n");
    expect_defaults();
}

Test(options, not_of_the_form) {
    expect_messages("purge", PREFIX "'purge' is not of the form name:value; ignored\n");
    expect_messages("purge=lazy", PREFIX "'purge=lazy' is not of the form name:value; ignored\n");
    expect_defaults();
}

Test(options, a_mistake_spoils_only_itself) {
    expect_messages("narenas:x,purge:never,prge:lazy,narenas:3",
                    PREFIX "narenas:x is not a number; ignored\n" PREFIX
                           "no option 'prge'; did you mean 'purge'?\n");
    cr_assert_eq(options.purge, PURGE_NEVER);
    cr_assert_eq(options.narenas, 3);
}

Test(options, a_message_is_one_line_however_odd_the_text) {
    char conf[1000];
    memset(conf, 'x', sizeof conf);
    conf[10] = '\n';
    conf[11] = '\x1b';
    conf[sizeof conf - 2] = ':';
    conf[sizeof conf - 1] = '\0';
    char text[4096];
    struct capture c = capture_start();
    options_parse(conf);
    capture_end(c, text, sizeof text);
    size_t len = strlen(text);
    cr_assert_eq(text[len - 1], '\n');
    cr_assert_eq(strchr(text, '\n'), text + len - 1);
    cr_assert_null(strchr(text, '\x1b'));
    cr_assert_not_null(strstr(text, PREFIX "no option 'xxxxxxxxxx??xxx"));
    cr_assert_not_null(strstr(text, "...'; did you mean '"));
}

Test(options, abort_conf_stops_after_the_messages, .signal = SIGABRT) {
    options_parse("narenas:x,abort_conf:true,prge:lazy");
}

Test(options, abort_conf_alone_stops_nothing) {
    expect_messages("abort_conf:true,narenas:2", "");
    cr_assert_eq(options.narenas, 2);
}

Test(options, a_mistake_without_abort_conf_stops_nothing) {
    expect_messages("abort_conf:yes", PREFIX "abort_conf:yes is not true or false; ignored\n");
}

Test(options, print_gives_what_parse_takes) {
    options_parse("purge:dontneed,dirty_decay_ms:-1,narenas:7,stats_at_exit:true");
    char text[2048];
    struct fmt f = fmt_start(text, sizeof text);
    options_print(&f);
    cr_assert_not(fmt_is_full(&f));
    cr_assert_str_eq(text, "  purge:dontneed\n"
                           "  dirty_decay_ms:-1\n"
                           "  lazy_decay_ms:10000\n"
                           "  dirty_max:1024\n"
                           "  lazy_max:-1\n"
                           "  purge_thread:auto\n"
                           "  thp:auto\n"
                           "  narenas:7\n"
                           "  stats_at_exit:true\n"
                           "  chaos_reclaim:0\n"
                           "  chaos_pageout:false\n"
                           "  abort_conf:false\n"
                           "  abort_on_foreign:false\n");
}

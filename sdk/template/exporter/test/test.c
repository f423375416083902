/* acme.thing alone: reports and the text that they become, worked out by hand, and what the ABI
 * asks of a stage (the harness looks for that by itself: kit/test.h). */
#include <math.h>
#include <tracemill/kit/report.h>
#include <tracemill/kit/test.h>

#define HEADER "stage,key,figure,scope,value,unit\n"

static const char *plugin;

static const mill_report *make_report(mill_run *run, int64_t busy) {
    kit_report *report = kit_report_begin(run, "busy", "Busy time", NULL);

    kit_figure_int(report, MILL_KIND_NS, "busy", "busy", "device 0", NULL, busy);
    kit_figure_ratio(report, "share", "share", NULL, NULL, 1, 4);
    kit_figure_real(report, "rate", "rate", NULL, NULL, "GB/s", NAN);
    kit_figure_text(report, "word", "word", NULL, NULL, "say \"so\", twice");
    return kit_report_end(report);
}

static void test_one_line_a_figure(void) {
    kit_test *t = kit_test_open(plugin, "acme.thing");
    mill_run *run = kit_test_maker(t);

    kit_test_item(t, "rank0");
    kit_test_input_from(t, "report", MILL_TYPE_REPORT, make_report(run, 35500), "busy", "rank0");
    kit_test_item(t, "rank1");
    kit_test_input_from(t, "report", MILL_TYPE_REPORT, make_report(run, MILL_UNKNOWN), "busy",
                        "rank1");
    KIT_EXPECT_OK(t);
    KIT_EXPECT_TEXT(kit_test_written(t, "-", NULL),
                    HEADER "busy,rank0,busy,device 0,35500,ns\n"
                           "busy,rank0,share,,0.25,\n"
                           "busy,rank0,rate,,,GB/s\n"
                           "busy,rank0,word,,\"say \"\"so\"\", twice\",\n"
                           "busy,rank1,busy,device 0,,ns\n"
                           "busy,rank1,share,,0.25,\n"
                           "busy,rank1,rate,,,GB/s\n"
                           "busy,rank1,word,,\"say \"\"so\"\", twice\",\n");
    kit_test_destroy(t);
}

/* What will never come is told; what came is written. */
static void test_some_are_missing(void) {
    kit_test *t = kit_test_open(plugin, "acme.thing");
    mill_run *run = kit_test_maker(t);

    kit_test_missing(t, "report", "busy", "rank0");
    kit_test_option(t, "path = figures.csv");
    kit_test_item(t, "rank1");
    kit_test_input_from(t, "report", MILL_TYPE_REPORT,
                        kit_report_end(kit_report_begin(run, "busy", "Busy time", NULL)), "busy",
                        "rank1");
    KIT_EXPECT_OK(t);
    KIT_EXPECT_TEXT(kit_test_written(t, "figures.csv", NULL), HEADER);
    KIT_EXPECT_TEXT(kit_test_log(t), "warning: no figures of busy rank0: what makes them failed\n");
    kit_test_destroy(t);
}

int main(int argc, char **argv) {
    plugin = argc > 1 ? argv[1] : "build/acme-thing.so";
    test_one_line_a_figure();
    test_some_are_missing();
    return kit_test_result();
}

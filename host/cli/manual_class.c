/* SPDX-License-Identifier: Apache-2.0 */
/* The manual page of a stage class. */
#include "cli/manual.h"

#include "cli/class.h"
#include "cli/roff.h"

static void head(GString *page, const stage_class *c) {
    g_autofree char *name = g_strconcat("tracemill-", c->stage.name, NULL);
    g_autofree char *upper = g_ascii_strup(name, -1);
    g_string_append(page, ".\\\" Made by tracemill inspect --man: change the class instead.\n.TH ");
    roff_escape(page, upper, true);
    g_string_append_printf(page, " 7 " MANUAL_DATE " \"");
    roff_escape(page, c->module->id, false);
    g_string_append_c(page, ' ');
    roff_escape(page, c->module->version, false);
    g_string_append(page, "\" \"Tracemill stage classes\"\n.SH NAME\n");
    roff_escape(page, name, true);
    g_string_append(page, " \\- ");
    roff_escape(page, c->stage.summary ? c->stage.summary : "a stage class of Tracemill", false);
    g_string_append_c(page, '\n');
}

static void entry(GString *page, const char *name, const char *words, const char *help) {
    roff_tag(page, name, NULL);
    roff_prose(page, words, true);
    if (help && *help) {
        g_string_append(page, ".br\n");
        roff_prose(page, help, true);
    }
}

static void ports(GString *page, const char *title, const mill_port *list, size_t n) {
    if (n > 0)
        g_string_append_printf(page, ".SH %s\n", title);
    for (size_t i = 0; i < n; i++) {
        g_autofree char *words = class_port_words(&list[i]);
        entry(page, list[i].name, words, list[i].help);
    }
}

GString *manual_class(const stage_class *c) {
    GString *page = g_string_new(NULL);
    head(page, c);
    g_autofree char *ini = class_stanza(c);
    g_string_append(page, ".SH SYNOPSIS\n");
    roff_block(page, ini);
    g_string_append(page, ".SH DESCRIPTION\n");
    if (c->stage.help && *c->stage.help) {
        roff_prose(page, c->stage.help, false);
        g_string_append(page, ".PP\n");
    }
    const module *m = c->module;
    g_autofree char *from =
        g_strdup_printf("A stage class of the module %s %s%s%s.", m->id, m->version,
                        m->license ? ", license " : "", m->license ? m->license : "");
    roff_prose(page, from, false);
    ports(page, "INPUTS", c->inputs, c->n_inputs);
    ports(page, "OUTPUTS", c->outputs, c->n_outputs);
    if (c->n_options > 0)
        g_string_append(page, ".SH OPTIONS\n");
    for (size_t i = 0; i < c->n_options; i++) {
        g_autofree char *words = class_option_words(&c->options[i]);
        entry(page, c->options[i].name, words, c->options[i].help);
    }
    g_string_append(page, ".SH SEE ALSO\n.BR tracemill (1),\n.BR tracemill\\-pipeline (5),\n"
                          ".BR tracemill\\-plugin (7)\n");
    return page;
}

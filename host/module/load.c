/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a plugin file into this process, begins and ends the module. */
#include "module/load.h"

#include "module/declare.h"
#include "module/elf.h"
#include "module/reasons.h"
#include <dlfcn.h>
#include <pthread.h>

const mill_module *load_file(module *m) {
    g_autofree char *why = NULL;
    const mill_module *exports = NULL;
    if (!elf_check_file(m->path, &why)) {
        module_refuse(m, "%s", why);
        return NULL;
    }
    void *handle = dlopen(m->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        why = reasons_not_loaded(m->path, dlerror());
    else if (!(exports = dlsym(handle, MILL_MODULE_SYMBOL)))
        why = reasons_no_symbol(m->path);
    if (why)
        module_refuse(m, "%s", why);
    return exports;
}

bool load_tables(module *m, const mill_module *exports) {
    if (!declare_module(m, exports))
        return false;
    m->exports = exports;
    return true;
}

bool load_module(module *m) {
    const mill_module *exports = load_file(m);
    return exports && load_tables(m, exports);
}

/* The causes of the init that is running, outermost first. */
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static char *init_cause;

void load_init_fail(mill_run *run, mill_status status, const char *file, uint32_t line,
                    const char *text) {
    (void)run;
    (void)status;
    pthread_mutex_lock(&init_lock);
    char *inner = init_cause;
    init_cause = g_strdup_printf("%s (%s:%u)%s%s", text, file, line, inner ? ", caused by: " : "",
                                 inner ? inner : "");
    g_free(inner);
    pthread_mutex_unlock(&init_lock);
}

bool load_init(module *m, const mill_host *host) {
    if (!m->exports->init || m->initialised) {
        m->initialised = true;
        return true;
    }
    mill_status status = m->exports->init(host);
    pthread_mutex_lock(&init_lock);
    g_autofree char *cause = g_steal_pointer(&init_cause);
    pthread_mutex_unlock(&init_lock);
    m->initialised = status == MILL_OK;
    if (!m->initialised && cause)
        module_refuse(m, "its init failed: %s", cause);
    else if (!m->initialised)
        module_refuse(m,
                      "its init failed with status %d and told no cause, which is a bug of the "
                      "module",
                      (int)status);
    return m->initialised;
}

void load_fini(module *m) {
    if (m->initialised && m->exports->fini)
        m->exports->fini();
    m->initialised = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The files that embed.py makes part of the program; meson.build lists them. */
#ifndef HTML_EMBEDDED_H
#define HTML_EMBEDDED_H

extern const char embedded_page_css[];
extern const char embedded_timeline_css[];
extern const char embedded_timeline_js[];

#endif

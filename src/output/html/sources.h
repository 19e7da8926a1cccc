/* sources: page.html, page.css and page.js, which the Makefile makes bytes of. */
#ifndef OUTPUT_HTML_SOURCES_H
#define OUTPUT_HTML_SOURCES_H

#include <stddef.h>

extern const unsigned char html_page[], html_style[], html_script[];
extern const size_t html_page_size, html_style_size, html_script_size;

#endif

/* devtools: --inspect, by the options of the command line. */
#ifndef CLI_DEVTOOLS_H
#define CLI_DEVTOOLS_H

#include "cli/options.h"

/* Serves DevTools until the program ends. Errors: those of inspect_run(). */
struct g2h_error *devtools_serve(const struct options *options);

#endif

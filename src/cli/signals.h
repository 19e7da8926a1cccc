/* signals: the process as it is left by who called it, and how it ends. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/*
 * A descriptor below 3 that the caller has closed would be that of the next file which is opened:
 * messages would go into the snapshot. Reading and writing these still fails. False
 * where that cannot be.
 */
bool signals_occupy_descriptors(void);

/* Catches the signals that would end the program, so that nothing unfinished is left: what the
 * caller wants ignored, as nohup does, stays so, and what a sanitizer catches is the sanitizer's.
 * Bytes of a mapped file that cannot be had end it with a message, which begins with the program's
 * name. */
void signals_catch(const char *program);

#endif

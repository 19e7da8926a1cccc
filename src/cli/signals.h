/* signals: the descriptors and signals that the process gets from its caller, and how it ends. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

/*
 * Opens the descriptors below 3 that the caller has closed: otherwise the next file that is opened
 * would get one of them, and messages would go into the snapshot. Reading from and writing to these
 * descriptors still fails. Returns false if one cannot be opened.
 */
bool signals_occupy_descriptors(void);

/* Catches the signals that would end the program, so that it leaves no unfinished files. Signals
 * that the caller ignores, as nohup does, stay ignored, and those that a sanitizer catches are left
 * to the sanitizer. If bytes of a mapped file cannot be read, the program ends with a message,
 * which begins with the program's name. */
void signals_catch(const char *program);

#endif

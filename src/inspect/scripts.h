/* scripts: the source files that snapshots link; see remote.h. */
#ifndef INSPECT_SCRIPTS_H
#define INSPECT_SCRIPTS_H

#include "base/memory.h"
#include "base/strings.h"
#include "base/text.h"
#include "inspect/taken.h"

/* The files that have been linked so far. A script's number is 1 plus that of its file. */
struct scripts {
    struct string_pool files; /* as the executable's line table has them */
    const char *directory;    /* where files are that have no directory of their own, as after
                                 -trimpath; NULL: nowhere */
};

typedef VECTOR(struct g2h_code_location) code_locations;

/* Finds where the code of goroutines, frames, go statements and closures is. Other objects have no
 * location: theirs would be a part of the class. Errors: G2H_ERROR_MEMORY. */
struct g2h_error *scripts_locate(struct scripts *scripts, const struct taken *taken,
                                 code_locations *ret);

/* Appends an event Debugger.scriptParsed for each file, a line each. */
void scripts_append_events(const struct scripts *scripts, struct text *text);

/* Appends the path of the file of a script, whose number a client has sent. Returns false if no
 * script has it. */
bool scripts_append_path(const struct scripts *scripts, const char *number, struct text *text);

#endif

/*
 * error: makes errors, from a format or an errno value, and frees them; see error.h. Messages are
 * made printable, since names in them come from dumps. The one error that needs no memory,
 * error_no_memory, is static.
 */
#include "base/contract.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

/*
 * A code and a message. Only the "no memory" error is static, because it must not need memory
 * itself.
 */

struct g2h_error error_no_memory = {G2H_ERROR_MEMORY, (char[]){"not enough memory"}};

/* Makes an error of a format and a tail, printable, since names in it come from the dump. If there
 * is no memory for it, that is the error. */
static struct g2h_error *error_build(enum g2h_error_code code, const char *tail, const char *format,
                                     va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return &error_no_memory;

    size_t size = as_size(length) + strlen(tail) + 1;
    struct g2h_error *error = malloc(sizeof(*error));
    char *message = malloc(size);
    if (!error || !message) {
        free(error);
        free(message);
        return &error_no_memory;
    }
    vsnprintf(message, size, format, arguments);
    strcpy(message + length, tail);
    message[g2h_printable(message, size - 1)] = '\0'; /* it contains names of files, functions … */
    error->code = code;
    error->message = message;
    return error;
}

/* Makes an error whose message follows printf's rules. */
struct g2h_error *error_create(enum g2h_error_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct g2h_error *error = error_build(code, "", format, arguments);
    va_end(arguments);
    return error;
}

/* Makes an error for a failed system call: the message, ": " and strerror(error_number). */
struct g2h_error *error_system(int error_number, const char *format, ...)
{
    char tail[256];
    snprintf(tail, sizeof(tail), ": %s", strerror(error_number));
    va_list arguments;
    va_start(arguments, format);
    struct g2h_error *error = error_build(G2H_ERROR_SYSTEM, tail, format, arguments);
    va_end(arguments);
    return error;
}

void g2h_error_destroy(struct g2h_error *error)
{
    if (!error || error == &error_no_memory)
        return;
    free(error->message);
    free(error);
}

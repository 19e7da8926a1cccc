/* packages; see packages.h. */
#include "findings/packages.h"

#include <string.h>

/* Skips what is before the class's own name ("[]*", "map[K]") and stops at the arguments of a
 * generic type, so that "[]*net/http.Request" is of net/http. Types without a package are
 * builtin. */
void package_of_class(const char *name, size_t size, const char **ret, size_t *ret_size)
{
    static const char builtin[] = "builtin";
    size_t begin = 0, end = size;
    for (size_t i = 0, depth = 0; i < size;
         i++) { /* begin: after the last bracket in front of a name */
        depth += name[i] == '[';
        depth -= name[i] == ']' && depth > 0;
        if (depth > 0 && i > begin && name[begin] != '[' && strncmp(name + begin, "map[", 4) != 0) {
            end = i; /* the arguments of a generic type begin here */
            break;
        }
        if (depth == 0 && (name[i] == ']' || name[i] == '*' || name[i] == ' '))
            begin = i + 1;
    }
    /* The package is the part before the last dot. */
    for (size_t i = end; i-- > begin;)
        if (name[i] == '.') {
            *ret = name + begin;
            *ret_size = i - begin;
            return;
        }
    *ret = builtin;
    *ret_size = sizeof(builtin) - 1;
}

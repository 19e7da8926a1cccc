/* file; see file.h. */
#include "output/hprof/file.h"

#include "base/error.h"

struct g2h_error *file_is_too_large(const struct file *file)
{
    return error_create(G2H_ERROR_LIMIT,
                        "%s: %llu nodes are more than an HPROF file with identifiers of 4 bytes "
                        "can have; --max-nodes makes fewer of them",
                        file->name, (unsigned long long)file->nodes);
}

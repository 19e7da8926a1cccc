/* target_dump: an input is a dump, which is converted without types. Some inputs are also converted
 * as a series, with a changed copy. */
#include <stdlib.h>

#include "fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct g2h_input *input;
    struct g2h_error *error = g2h_input_from_memory("fuzz", data, size, &input);
    if (error)
        abort();
    fuzz_convert_any(input, NULL, fuzz_choice(data, size), fuzz_write_all);
    if (fuzz_choice(data, size) % 4 == 0)
        fuzz_series(input, fuzz_choice(data, size));
    g2h_input_close(input);
    return 0;
}

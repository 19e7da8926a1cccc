/* process; see process.h. */
#include "process/attach/process.h"

#include <stdlib.h>
#include <sys/mman.h>

void process_deinit(struct process *process)
{
    if (process->held)
        process->end_held(process->held);
    memory_deinit(&process->memory);
    free(process->threads.data);
    free(process->executable);
    free(process->files.data);
    free(process->maps);
    free(process->smaps);
    free(process->resident.data);
    if (process->copy)
        munmap(process->copy, (size_t)process->copy_size);
    *process = (struct process){0};
}

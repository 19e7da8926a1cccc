/*
 * coverage: marks the blocks of a program that were executed, for run.mjs. gcc's
 * -fsanitize-coverage=trace-pc calls __sanitizer_cov_trace_pc() at the start of each block. The
 * marks are in a file, $COVERAGE, or $COVERAGE.$GOLDEN_CASE, which all processes of a test map, so
 * that they stay when a process is killed: a byte for each address of the program's code, counted
 * from its start.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void __sanitizer_cov_trace_pc(void);

extern const char __executable_start;
static unsigned char *marks;
static unsigned long size;

__attribute__((constructor)) static void open_marks(void)
{
    const char *base = getenv("COVERAGE"), *golden = getenv("GOLDEN_CASE");
    char path[4096];
    struct stat status;
    if (!base)
        return;
    snprintf(path, sizeof(path), "%s%s%s", base, golden ? "." : "", golden ? golden : "");
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    if (fstat(file, &status) == 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map != MAP_FAILED) {
            size = (unsigned long)status.st_size;
            marks = map;
        }
    }
    close(file);
}

void __sanitizer_cov_trace_pc(void)
{
    if (!marks)
        return;
    unsigned long at =
        (unsigned long)((const char *)__builtin_return_address(0) - &__executable_start);
    if (at < size)
        marks[at] = 1;
}

/*
 * input: what other rooms may ask beyond include/go2heapsnapshot/input.h: to open a file and to
 * look at its first bytes before much of it is copied.
 */
#ifndef INPUT_INPUT_H
#define INPUT_INPUT_H

#include <sys/stat.h>

#include <go2heapsnapshot/input.h>

/* The file behind an input. */
struct input_file {
    int fd;             /* what is mapped: the file, or its copy */
    bool is_copy;       /* the file has been read, and is not needed any more */
    struct stat status; /* of the file, not of the copy */
};

/*
 * A watcher looks at what has been copied, so that /dev/zero, or what gzip made of as many zeros,
 * does not fill a disk. look() gives how many bytes there may be before it is called again; where
 * that is not more than there are, copying ends. taken is how many bytes of the file have been
 * read.
 */
struct input_watcher {
    uint64_t (*look)(void *context, const struct g2h_input *so_far, uint64_t taken);
    void *context;
};
enum { INPUT_FIRST_LOOK = 1 << 16 }; /* look() is called first at so many bytes or more */

/* Does the work of g2h_input_open(). A file that need not be copied is not watched. */
struct g2h_error *input_open(const char *path, const struct g2h_progress *progress,
                             const struct input_watcher *watcher, struct g2h_input **ret);

/* An input of what write() puts into a temporary file, as if it had been a pipe. Errors:
 * G2H_ERROR_SYSTEM, G2H_ERROR_MEMORY, those of write(). */
struct g2h_error *input_spooled(const char *name, struct g2h_error *(*write)(void *context, int fd),
                                void *context, struct g2h_input **ret);

/*
 * Says how an input is going to be read, where it may be larger than memory. What is read here and
 * there is read page by page: with what the system else reads ahead of each, pages that are needed
 * would be dropped for some that are not.
 */
enum input_order { INPUT_FORWARDS, INPUT_HERE_AND_THERE };
void input_expect(const struct g2h_input *input, enum input_order order);

#endif

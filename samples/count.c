/* A complete program on libgo2heapsnapshot: prints how many objects a dump has. */
#include <stdio.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

int main(int argc, char **argv)
{
    struct g2h_input *input = NULL;
    struct g2h_heap *heap = NULL;
    if (argc != 2)
        return 2;
    struct g2h_error *error = g2h_input_open(argv[1], NULL, &input);
    if (!error)
        error = g2h_heap_load(input, NULL, &heap);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    else
        printf("%u objects, %llu bytes\n", g2h_heap_object_count(heap),
               (unsigned long long)g2h_heap_account(heap)->object_bytes);
    int status = error ? 1 : g2h_heap_object_count(heap) > 0 ? 0 : 1;
    g2h_error_destroy(error);
    g2h_heap_destroy(heap);
    g2h_input_close(input);
    return status;
}

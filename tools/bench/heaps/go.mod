module heaps

go 1.19

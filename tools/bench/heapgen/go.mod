module heapgen

go 1.19

module fleet

go 1.18

module libraries

go 1.19

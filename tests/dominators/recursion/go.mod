module recursion

go 1.19

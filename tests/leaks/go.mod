module leaks

go 1.19

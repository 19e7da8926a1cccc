module death

go 1.19

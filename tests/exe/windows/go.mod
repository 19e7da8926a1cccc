module windows

go 1.19

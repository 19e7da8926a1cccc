module leakserver

go 1.19

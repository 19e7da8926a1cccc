module ballast

go 1.19

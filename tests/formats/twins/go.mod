module twins

go 1.20

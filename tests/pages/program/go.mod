module pages

go 1.19

module truth

go 1.19

module wide

go 1.24

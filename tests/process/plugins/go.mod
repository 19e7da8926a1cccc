module plugins

go 1.17

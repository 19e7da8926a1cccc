module disguised

go 1.19

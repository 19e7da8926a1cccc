module many_files

go 1.19

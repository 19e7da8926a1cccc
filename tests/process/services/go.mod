module services

go 1.19

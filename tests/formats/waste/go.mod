module waste

go 1.20

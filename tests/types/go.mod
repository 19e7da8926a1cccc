module types

go 1.19

require truth v0.0.0

replace truth => ../truth

module leaks

go 1.21

require settle v0.0.0

replace settle => ../../go/src/settle

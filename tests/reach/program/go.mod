module reach

go 1.19

require settle v0.0.0

replace settle => ../../go/src/settle

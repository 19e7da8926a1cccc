// Package io_model has no part of its name in its path.
package io_model

// Metric is embedded in structs without names.
type Metric struct{ Name string }

// Do makes a Metric a Doer.
func (m *Metric) Do() int { return len(m.Name) }

// Doer is the interface of the itabs that a dump has records of.
type Doer interface{ Do() int }

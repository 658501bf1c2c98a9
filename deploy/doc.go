// SPDX-License-Identifier: Apache-2.0

// Package deploy makes what a team needs to run tacho's telemetry: the
// configuration of a Collector, recording rules and alerts with their tests, a
// dashboard and a compose file. All of it stands in out/, made by
//
//	go run ./generate
//
// The names of metrics and labels come from the library's own table, so that a
// metric that is renamed there is renamed here. They are written as Prometheus 3
// writes them when it receives OTLP: dots become underscores, the unit and _total
// are appended.
//
// Prometheus 3 is the backend because two things need it: the gaps between tokens
// come as exponential histograms, which it keeps as native ones, and it keeps
// exemplars, by which a bucket leads to a trace. VictoriaMetrics takes both
// kinds of histograms, the exponential ones as buckets of its own, but keeps no
// exemplars.
package deploy

// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/internal/conv"
)

// metric returns Prometheus' name of a metric. A histogram's has no suffix of its
// parts.
func metric(id conv.ID) string {
	for _, m := range conv.Metrics() {
		if m.ID != id {
			continue
		}
		name := underscored(m.Name)
		if m.Unit == "s" {
			name += "_seconds"
		}
		if m.Kind == conv.Counter {
			name += "_total"
		}
		return name
	}
	panic("deploy: there is no such metric")
}

// recorded is the name of a figure that a recorder tells, a native histogram.
func recorded(f tacho.Figure) string { return "tacho_recorder_" + f.String() + "_seconds" }

// label returns Prometheus' name of an attribute.
func label(k attribute.Key) string { return underscored(string(k)) }

func underscored(s string) string { return strings.ReplaceAll(s, ".", "_") }

// The labels by which series are told apart. A region is a label of the calls'
// context, which tacho.WithMetricLabels("region") puts on the metrics.
var (
	model  = label(conv.RequestModel)
	server = label(conv.ServerAddress)
	region = "region"
	apart  = strings.Join([]string{"job", model, server, region}, ", ")
)

// The outcomes, by what they say of a call. Those that the caller ended say
// nothing of the endpoint.
var (
	failed    = outcomes(tacho.StreamError, tacho.Failed, tacho.Cut, tacho.Deadline)
	undecided = outcomes(tacho.Cancelled, tacho.ClosedEarly, tacho.Dropped)
)

func outcomes(all ...tacho.Outcome) string {
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = o.String()
	}
	return strings.Join(names, "|")
}

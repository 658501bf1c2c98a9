// SPDX-License-Identifier: Apache-2.0

package tacho

import "log/slog"

// LogValue gives a call to log/slog as a group: model, server, outcome, status,
// ttft and duration as durations, error and labels, as far as they exist.
func (c *Call) LogValue() slog.Value {
	a := make([]slog.Attr, 0, 8)
	addAttr(&a, "outcome", slog.StringValue(c.outcome.String()))
	if !c.asked().Model.Empty() {
		addAttr(&a, "model", slog.StringValue(c.RequestModel()))
	}
	addAttr(&a, "server", slog.StringValue(c.server))
	if c.status != 0 {
		addAttr(&a, "status", slog.IntValue(int(c.status)))
	}
	for _, f := range [...]Figure{TTFT, Duration} {
		if d, ok := c.Figure(f); ok {
			addAttr(&a, f.String(), slog.DurationValue(d))
		}
	}
	if t := c.errorType(); t != "" {
		addAttr(&a, "error", slog.StringValue(t))
	}
	for _, l := range c.labels {
		addAttr(&a, l.Name, slog.StringValue(l.Value))
	}
	return slog.GroupValue(a...)
}

// addAttr appends an attribute.
//
//go:noinline
func addAttr(a *[]slog.Attr, key string, v slog.Value) {
	*a = append(*a, slog.Attr{Key: key, Value: v})
}

// MarshalText gives the figure's key, for logs and JSON.
func (f Figure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

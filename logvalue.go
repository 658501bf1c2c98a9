// SPDX-License-Identifier: Apache-2.0

package tacho

import "log/slog"

// LogValue gives a call to log/slog as a group: model, server, outcome, status,
// ttft and duration as durations, error and labels, as far as they exist.
func (c *Call) LogValue() slog.Value {
	a := make([]slog.Attr, 0, 8)
	a = append(a, slog.String("outcome", c.outcome.String()))
	if !c.req.Model.Empty() {
		a = append(a, slog.String("model", c.RequestModel()))
	}
	a = append(a, slog.String("server", c.server))
	if c.status != 0 {
		a = append(a, slog.Int("status", int(c.status)))
	}
	for _, f := range [...]Figure{TTFT, Duration} {
		if d, ok := c.Figure(f); ok {
			a = append(a, slog.Duration(f.String(), d))
		}
	}
	if t := c.errorType(); t != "" {
		a = append(a, slog.String("error", t))
	}
	for _, l := range c.labels {
		a = append(a, slog.String(l.Name, l.Value))
	}
	return slog.GroupValue(a...)
}

// MarshalText gives the outcome's name, for logs and JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// MarshalText gives the figure's key, for logs and JSON.
func (f Figure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// SPDX-License-Identifier: Apache-2.0

package tacho

import "github.com/tacho-go/tacho/internal/wire"

// WithCaptureForTest keeps generated content in the record.
func WithCaptureForTest() Option { return optionFunc(func(c *config) { c.capture = true }) }

// Captured returns the content kept of choice 0.
func Captured(c *Call) (text, reasoning string, calls []wire.Call) {
	if c.facts.Captured == nil {
		return "", "", nil
	}
	return string(c.facts.Captured.Text), string(c.facts.Captured.Reasoning), c.facts.Calls
}

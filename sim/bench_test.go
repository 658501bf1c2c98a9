// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/sim"
)

// BenchmarkStream reads streams of 100 tokens without delays: what the
// simulation itself costs, client and server together.
func BenchmarkStream(b *testing.B) {
	listen := func(opts ...sim.Option) *sim.Server {
		s, err := sim.Listen(opts...)
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	model := sim.WithModel(sim.Model{Base: -1, Prefill: -1, PerToken: -1, Output: 100, OutputSpread: -1})
	for name, s := range map[string]*sim.Server{
		"memory": sim.NewServer(model),
		"port":   listen(model),
		"link":   sim.NewServer(model, sim.WithLink(sim.Link{})),
	} {
		b.Cleanup(func() { s.Close() })
		b.Run(name, func(b *testing.B) {
			c := s.Client()
			b.ReportAllocs()
			for b.Loop() {
				resp, err := c.Post(s.URL()+chatPath, "application/json", strings.NewReader(streamBody))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp.Status, err)
				}
				resp.Body.Close()
			}
		})
	}
}

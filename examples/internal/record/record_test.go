// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/record"
	"github.com/tacho-go/tacho/sim"
)

func TestSeconds(t *testing.T) {
	t.Parallel()
	for s, want := range map[record.Seconds]time.Duration{
		0: 0, 1.5: 1500 * time.Millisecond, 0.016532999: 16_532_999, -0.25: -250 * time.Millisecond, 1e-9: 1,
	} {
		if got := s.Duration(); got != want {
			t.Errorf("%v is %d ns, want %d", float64(s), got, want)
		}
	}
	if got := record.Exact(0.0016623769999999998); got != 0.001662377 {
		t.Errorf("Exact = %v", got)
	}
}

// The record read back has the figures of the call.
func TestRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := sim.New(t, sim.WithScript(sim.Script{
			Text: "to be or", HeaderDelay: 10 * time.Millisecond, FirstDelay: 20 * time.Millisecond, Gap: 30 * time.Millisecond,
			UsageShape: sim.UsageOnLastChunk, RateLimit: sim.RateLimit{LimitRequests: 5, ResetRequests: time.Second},
		}))
		ctx, tracker := tacho.Track(context.Background())
		ctx = tacho.ContextWithLabels(ctx, "side", "host")
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+"/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: tacho.NewTransport(srv.Transport())}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		call, ok := tracker.Call()
		if !ok {
			t.Fatal("no call")
		}
		r, raw, err := record.Read(call)
		if err != nil || len(raw) == 0 {
			t.Fatalf("%v, %d bytes", err, len(raw))
		}
		for name, got := range map[string]struct {
			s *record.Seconds
			d time.Duration
		}{
			"wait": {r.Phases.Wait, 10 * time.Millisecond}, "ttfb": {r.TTFB, 10 * time.Millisecond},
			"ttfc": {r.TTFC, 30 * time.Millisecond}, "ttft": {r.TTFT, 60 * time.Millisecond},
			"ttfo": {r.TTFO, 60 * time.Millisecond}, "ttlt": {r.TTLT, 120 * time.Millisecond},
			"tpot": {r.TPOT, 30 * time.Millisecond}, "gaps.max": {&r.Gaps.Max, 30 * time.Millisecond},
			"reset": {r.RateLimit.ResetRequests, time.Second},
		} {
			if got.s == nil || got.s.Duration() != got.d {
				t.Errorf("%s is %v, want %v", name, got.s, got.d)
			}
		}
		if r.Phases.DNS != nil || r.Conn.RTT != nil || r.Labels["side"] != "host" || *r.Usage.Output != 3 || r.TBT.Tokens != "assumed" {
			t.Errorf("%+v", r)
		}
	})
}

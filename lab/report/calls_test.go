// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

const (
	streamed = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"say who you are"}]}`
	plain    = `{"model":"m","messages":[{"role":"user","content":"say who you are"}]}`
)

// bench makes calls of a simulated server in a bubble, so that each figure is
// exact.
type bench struct {
	t   testing.TB
	srv *sim.Server
	rt  *tacho.Transport
}

// snapshot is what a recorder holds of calls of two models: streams and plain
// ones, two that their deadline ended, one that was refused.
func snapshot(t testing.TB) (s tacho.Snapshot) {
	t.Helper()
	inner, ok := t.(*testing.T)
	if !ok {
		t.Fatal("a bubble needs a *testing.T")
	}
	synctest.Test(inner, func(t *testing.T) {
		rec := tacho.NewRecorder(tacho.WithSeriesBy("model", "region"))
		b := bench{t, sim.New(t), nil}
		b.rt = tacho.NewTransport(b.srv.Transport(), tacho.WithRecorder(rec))
		for i := range 120 {
			b.do("eu", streamed, sim.Script{Text: "to be or not", FirstDelay: time.Duration(100+i) * ms, Gap: 10 * ms}, 0)
		}
		for range 2 {
			b.do("eu", streamed, sim.Script{Text: "to be or not", FirstDelay: time.Hour}, time.Second)
		}
		for i := range 20 {
			b.do("us", streamed, sim.Script{Text: "to be or not", FirstDelay: time.Duration(300+i) * ms, Gap: 20 * ms}, 0)
			b.do("us", plain, sim.Script{HeaderDelay: time.Duration(70+i) * ms, Text: "a"}, 0)
		}
		b.do("us", plain, sim.Script{Status: http.StatusTooManyRequests}, 0)
		s = rec.Total()
		b.rt.CloseIdleConnections()
	})
	return s
}

func (b *bench) do(region, body string, script sim.Script, deadline time.Duration) {
	b.t.Helper()
	b.srv.Play(script)
	ctx := tacho.ContextWithLabels(b.t.Context(), "region", region)
	if deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deadline)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.srv.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := b.rt.RoundTrip(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	synctest.Wait()
}

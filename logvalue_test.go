// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

func TestLogValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		r := newRig(t, nil, tacho.WithObserver(func(c *tacho.Call) { log.Info("call", "call", c) }))
		r.srv.Play(sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Steps: []sim.Step{sim.Text(0, "a"), sim.Finish(0, "stop"), sim.Done()}},
			sim.Script{HeaderDelay: 20 * ms, Status: 429, ErrorCode: "slow_down"})
		r.do(chatPath, chatStream, readAll)
		r.do(chatPath, chatPlain, readAll)
		const want = "level=INFO msg=call call.outcome=complete call.model=m call.server=sim.invalid call.status=200 call.ttft=100ms call.duration=120ms\n" +
			"level=INFO msg=call call.outcome=error call.model=m call.server=sim.invalid call.status=429 call.duration=20ms call.error=slow_down\n"
		if out.String() != want {
			t.Errorf("logged\n%s, want\n%s", out.String(), want)
		}
	})
	if b, err := json.Marshal(map[tacho.Figure]tacho.Outcome{tacho.TTFT: tacho.Complete}); err != nil || string(b) != `{"ttft":"complete"}` {
		t.Errorf("%s, %v", b, err)
	}
}

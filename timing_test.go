// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"io"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// Times are exact to the nanosecond here: the endpoint, the network and the
// client live in one bubble, where time passes only while all wait.

func TestStreamTimes(t *testing.T) {
	t.Parallel()
	chat := []sim.Step{
		sim.Role(0), sim.Reasoning(0, "hm").After(20 * ms), sim.Text(0, "a").After(30*ms + 1), sim.KeepAlive().After(2 * ms),
		sim.Text(0, "b").After(8 * ms), sim.Finish(0, "stop").After(5 * ms),
		sim.Usage(sim.UsageCounts{InputTokens: 7, OutputTokens: 3, ReasoningTokens: 1}).After(2 * ms), sim.Done().After(ms),
	}
	text := []sim.Step{sim.Text(0, "a"), sim.Text(0, "b").After(30*ms + 1), sim.Finish(0, "stop").After(5 * ms), sim.Done().After(ms)}
	for _, tc := range []struct {
		name, path, body string
		steps            []sim.Step
		want             figures
		gaps             tacho.Gaps
	}{
		{"chat", chatPath, chatStreamUsage, chat, figures{
			tacho.DNS: 3 * ms, tacho.Connect: 4 * ms, tacho.Send: 0, tacho.Wait: 100 * ms,
			tacho.TTFB: 107 * ms, tacho.TTFC: 157 * ms, tacho.TTFT: 177 * ms, tacho.TTFO: 207*ms + 1, tacho.TTLT: 217*ms + 1,
			tacho.Duration: 225*ms + 1, tacho.TPOT: (40*ms + 1) / 2, tacho.NetworkWait: 118*ms + 1, tacho.ConsumerWait: 0,
		}, tacho.Gaps{Count: 2, Min: 10 * ms, Max: 30*ms + 1, Mean: 20*ms + 1, StdDev: 14142136, HasStdDev: true,
			Network: 40*ms + 1, LongestNetwork: 30*ms + 1}},
		{"completions", completionsPath, completionsStream, text, figures{
			tacho.DNS: 3 * ms, tacho.Connect: 4 * ms, tacho.Send: 0, tacho.Wait: 100 * ms,
			tacho.TTFB: 107 * ms, tacho.TTFC: 157 * ms, tacho.TTFT: 157 * ms, tacho.TTFO: 157 * ms, tacho.TTLT: 187*ms + 1,
			tacho.Duration: 193*ms + 1, tacho.NetworkWait: 86*ms + 1, tacho.ConsumerWait: 0,
		}, tacho.Gaps{Count: 1, Min: 30*ms + 1, Max: 30*ms + 1, Mean: 30*ms + 1, Network: 30*ms + 1, LongestNetwork: 30*ms + 1}},
		{"responses", responsesPath, responsesStream, chat[1:7], figures{
			tacho.DNS: 3 * ms, tacho.Connect: 4 * ms, tacho.Send: 0, tacho.Wait: 100 * ms,
			tacho.TTFB: 107 * ms, tacho.TTFC: 127 * ms, tacho.TTFT: 127 * ms, tacho.TTFO: 157*ms + 1, tacho.TTLT: 167*ms + 1,
			tacho.Duration: 172*ms + 1, tacho.TPOT: (40*ms + 1) / 2, tacho.NetworkWait: 65*ms + 1, tacho.ConsumerWait: 0,
		}, tacho.Gaps{Count: 2, Min: 10 * ms, Max: 30*ms + 1, Mean: 20*ms + 1, StdDev: 14142136, HasStdDev: true,
			Network: 40*ms + 1, LongestNetwork: 30*ms + 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithLookupDelay(3 * ms), sim.WithDialDelay(4 * ms),
					sim.WithScript(sim.Script{HeaderDelay: 100 * ms, FirstDelay: 50 * ms, Steps: tc.steps})})
				first := r.do(tc.path, tc.body, readAll)
				tc.want.check(t, first)
				if got, _ := first.Gaps(); got != tc.gaps {
					t.Errorf("gaps %+v, want %+v", got, tc.gaps)
				}
				if reused, ok := first.Reused(); reused || !ok {
					t.Errorf("first call: reused %v, %v", reused, ok)
				}
				if first.Outcome() != tacho.Complete {
					t.Errorf("outcome %v", first.Outcome())
				}

				// On the kept connection the same times come without the dial.
				want := figures{}
				for f, d := range tc.want {
					switch f {
					case tacho.DNS, tacho.Connect:
						continue
					case tacho.TTFB, tacho.TTFC, tacho.TTFT, tacho.TTFO, tacho.TTLT, tacho.Duration:
						d -= 7 * ms
					}
					want[f] = d
				}
				second := r.do(tc.path, tc.body, readAll)
				want.check(t, second)
				if reused, ok := second.Reused(); !reused || !ok {
					t.Errorf("second call: reused %v, %v", reused, ok)
				}
			})
		})
	}
}

func TestPlainTimes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, path, body string }{
		{"chat", chatPath, chatPlain}, {"completions", completionsPath, completionsPlain}, {"responses", responsesPath, responsesPlain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 100 * ms, BodyDelay: 30 * ms, Text: "a b"})})
				c := r.do(tc.path, tc.body, readAll)
				figures{tacho.Connect: 0, tacho.Send: 0, tacho.Wait: 100 * ms, tacho.TTFB: 100 * ms, tacho.Duration: 130 * ms,
					tacho.NetworkWait: 30 * ms, tacho.ConsumerWait: 0}.check(t, c)
				if c.Outcome() != tacho.Complete || c.Streaming() {
					t.Errorf("outcome %v, stream %v", c.Outcome(), c.Streaming())
				}
				if u := c.Usage(); !u.Output.Reported || u.Output.N != 2 {
					t.Errorf("usage %+v", u)
				}
			})
		})
	}
}

// TestRetriesAreSingleExchanges has a client that retries by itself and says so.
func TestRetriesAreSingleExchanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.srv.Play(sim.Script{HeaderDelay: 30 * ms, Status: 503, RetryAfter: time.Second}, sim.Script{HeaderDelay: 20 * ms, Status: 429},
			sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: "a b"})
		ctx, tr := tacho.Track(t.Context())
		for attempt := range 3 {
			req := r.request(ctx, chatPath, chatStream)
			req.Header.Set("X-Stainless-Retry-Count", strconv.Itoa(attempt))
			resp, err := r.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			time.Sleep(500 * ms) // the wait between attempts is nobody's duration
		}
		for i, want := range []struct {
			outcome  tacho.Outcome
			status   int
			duration time.Duration
		}{{tacho.Failed, 503, 30 * ms}, {tacho.Failed, 429, 20 * ms}, {tacho.Complete, 200, 140 * ms}} {
			c := tr.Calls()[i]
			status, _ := c.Status()
			d, _ := c.Duration()
			if c.Attempt() != i+1 || c.Outcome() != want.outcome || status != want.status || d != want.duration {
				t.Errorf("attempt %d: %v, status %d, %v; want %+v", c.Attempt(), c.Outcome(), status, d, want)
			}
		}
		limits, _ := record(t, tr.Calls()[0])["ratelimit"].(map[string]any)
		if limits["retry_after"] != 1.0 {
			t.Errorf("retry after %v, want 1 s", limits["retry_after"])
		}
	})
}

// TestTLSTimes times a handshake over a link with a delay: connecting takes
// one round trip, TLS 1.3 one more.
func TestTLSTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, []sim.Option{sim.WithTLS(), sim.WithLink(sim.Link{Delay: 10 * ms}),
			sim.WithScript(sim.Script{HeaderDelay: 100 * ms, Text: "a"})})
		c := r.do(chatPath, chatPlain, readAll)
		figures{tacho.Connect: 20 * ms, tacho.TLS: 20 * ms, tacho.Send: 0, tacho.Wait: 120 * ms, tacho.TTFB: 160 * ms,
			tacho.Duration: 160 * ms, tacho.NetworkWait: 0, tacho.ConsumerWait: 0}.check(t, c)
	})
}

func TestConsumerPauses(t *testing.T) {
	t.Parallel()
	steps := []sim.Step{sim.Role(0), sim.Text(0, "a").After(20 * ms), sim.Text(0, "b").After(30 * ms), sim.Text(0, "c").After(40 * ms),
		sim.Finish(0, "stop"), sim.Done()}
	for _, tc := range []struct {
		name  string
		pause []time.Duration // before each Read
		want  figures
		gaps  tacho.Gaps
		upper bool
	}{
		// Events at 100 (role), 120, 150, 190 ms.
		{"none", nil,
			figures{tacho.TTFC: 100 * ms, tacho.TTFT: 120 * ms, tacho.TTFO: 120 * ms, tacho.TTLT: 190 * ms, tacho.Duration: 190 * ms, tacho.NetworkWait: 90 * ms, tacho.ConsumerWait: 0},
			tacho.Gaps{Count: 2, Min: 30 * ms, Max: 40 * ms, Mean: 35 * ms, StdDev: 7071068, HasStdDev: true, Network: 70 * ms, LongestNetwork: 40 * ms}, false},
		{"before the first Read", []time.Duration{130 * ms},
			figures{tacho.TTFC: 230 * ms, tacho.TTFT: 230 * ms, tacho.TTFO: 230 * ms, tacho.TTLT: 230 * ms, tacho.Duration: 230 * ms, tacho.NetworkWait: 0, tacho.ConsumerWait: 130 * ms},
			tacho.Gaps{Count: 2, HasStdDev: true}, true},
		{"between role and first token", []time.Duration{0, 45 * ms},
			figures{tacho.TTFC: 100 * ms, tacho.TTFT: 145 * ms, tacho.TTFO: 145 * ms, tacho.TTLT: 190 * ms, tacho.Duration: 190 * ms, tacho.NetworkWait: 45 * ms, tacho.ConsumerWait: 45 * ms},
			tacho.Gaps{Count: 2, Min: 5 * ms, Max: 40 * ms, Mean: 22500 * us, StdDev: 24748737, HasStdDev: true, Network: 45 * ms, LongestNetwork: 40 * ms}, true},
		{"within a gap", []time.Duration{0, 0, 10 * ms},
			figures{tacho.TTFC: 100 * ms, tacho.TTFT: 120 * ms, tacho.TTFO: 120 * ms, tacho.TTLT: 190 * ms, tacho.Duration: 190 * ms, tacho.NetworkWait: 80 * ms, tacho.ConsumerWait: 10 * ms},
			tacho.Gaps{Count: 2, Min: 30 * ms, Max: 40 * ms, Mean: 35 * ms, StdDev: 7071068, HasStdDev: true, Network: 60 * ms, LongestNetwork: 40 * ms}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(sim.Script{HeaderDelay: 100 * ms, Steps: steps})})
				c := r.do(chatPath, chatStream, func(resp *http.Response) {
					defer resp.Body.Close()
					buf := make([]byte, 4096)
					for i := 0; ; i++ {
						if i < len(tc.pause) {
							time.Sleep(tc.pause[i])
						}
						if _, err := resp.Body.Read(buf); err != nil {
							if err != io.EOF {
								t.Error(err)
							}
							return
						}
					}
				})
				want := figures{tacho.Connect: 0, tacho.Send: 0, tacho.Wait: 100 * ms, tacho.TTFB: 100 * ms}
				for f, d := range tc.want {
					want[f] = d
				}
				want.check(t, c)
				if got, _ := c.Gaps(); got != tc.gaps {
					t.Errorf("gaps %+v, want %+v", got, tc.gaps)
				}
				if c.Upper() != tc.upper {
					t.Errorf("upper %v, want %v", c.Upper(), tc.upper)
				}
			})
		})
	}
}

// TestOneBurst has output that all came in one Read, too little or too early to
// be called buffered: no pace can be told from it all the same, and it is not 0.
func TestOneBurst(t *testing.T) {
	t.Parallel()
	for _, script := range []sim.Script{
		{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: "a b c d", OneBurst: true},
		{Text: "a b c d e f", OneBurst: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, []sim.Option{sim.WithScript(script)})
			c := r.do(chatPath, chatStreamUsage, readAll)
			rec := record(t, c)
			for _, key := range []string{"tpot", "tbt", "tokens_per_second", "buffered"} {
				if v, there := rec[key]; there {
					t.Errorf("%s is %v", key, v)
				}
			}
			if g, ok := c.Gaps(); !ok || g.Max != 0 {
				t.Errorf("gaps %+v, %v", g, ok)
			}
		})
	}
}

func TestBufferedStream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		script   sim.Script
		buffered bool
	}{
		{"held back by a proxy", sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: "a b c d e f", OneBurst: true}, true},
		{"each event at its time", sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: "a b c d e f"}, false},
		{"too few events to tell", sim.Script{HeaderDelay: 100 * ms, Gap: 10 * ms, Text: "a b c d", Coalesce: 2}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []sim.Option{sim.WithScript(tc.script)})
				c := r.do(chatPath, chatStreamUsage, readAll)
				_, tpot := c.TPOT()
				_, tbt := c.TBT()
				if c.Buffered() != tc.buffered || tpot == tc.buffered || tbt == tc.buffered {
					t.Errorf("buffered %v, TPOT there %v, TBT there %v", c.Buffered(), tpot, tbt)
				}
			})
		})
	}
}

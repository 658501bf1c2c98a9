// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/sim"
)

// A test of a scripted endpoint, in a bubble of package synctest, where times
// are exact: the last call's first token comes 1 ms too late, and the test fails by
// just that.
func Example() {
	test(func(t *testing.T) {
		srv := sim.New(t)
		client := &http.Client{Transport: tacho.NewTransport(srv.Transport(), tacho.WithoutTCPInfo())}
		ctx, tracker := tacho.Track(t.Context())
		for _, ttft := range []time.Duration{310, 320, 330, 350, 360, 380, 390, 420, 450, 501} {
			srv.Play(sim.Script{HeaderDelay: ttft * time.Millisecond, Steps: []sim.Step{
				sim.Text(0, "Hel"), sim.Text(0, "lo").After(20 * time.Millisecond), sim.Finish(0, "stop"), sim.Done(),
			}})
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+"/chat/completions", strings.NewReader(`{"model":"m","stream":true}`))
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		client.CloseIdleConnections()

		budget.Assert(printer{t}, budget.Observed(tracker.Calls()), // in a test: budget.Require(t, …)
			budget.MustParse("ttft p99 <= 500ms"),
			budget.MustParse("gap max <= 50ms"),
			budget.MustParse("errors <= 1%"),
		)
	})
	// Output:
	// 1 of 3 budgets broken, observed:
	//
	//   ✗  ttft p99 <= 500ms  broken  501ms (1ms over), of 10
	//   ✓  gap max <= 50ms    met     20ms, of 10
	//   ✓  errors <= 1%       met     0%, of 10
	//
	// The worst calls by ttft:
	//
	//   start                    model  outcome   status  ttft   ttlt   duration  longest gap  trace
	//   2000-01-01 00:00:03.490  m      complete  200     501ms  521ms  521ms     20ms         –
	//   2000-01-01 00:00:03.020  m      complete  200     450ms  470ms  470ms     20ms         –
	//   2000-01-01 00:00:02.580  m      complete  200     420ms  440ms  440ms     20ms         –
	//   2000-01-01 00:00:02.170  m      complete  200     390ms  410ms  410ms     20ms         –
	//   2000-01-01 00:00:01.770  m      complete  200     380ms  400ms  400ms     20ms         –
	//
	// ttft of 10 calls:
	//
	//    300ms … 325ms 2 ████████████████████████████████████████
	//    325ms … 350ms 1 ████████████████████
	//    350ms … 375ms 2 ████████████████████████████████████████
	//    375ms … 400ms 2 ████████████████████████████████████████
	//    400ms … 425ms 1 ████████████████████
	//    425ms … 450ms 0
	//    450ms … 475ms 1 ████████████████████
	//    475ms … 500ms 0
	//    500ms … 525ms 1 ████████████████████ ← 500ms
}

// printer prints in place of failing a test, since this example must not fail.
type printer struct{ *testing.T }

func (printer) Errorf(format string, args ...any) { fmt.Printf(format, args...) }

// test runs f as a test in a bubble, once, without a word of its own.
func test(f func(t *testing.T)) {
	verbose := flag.Lookup("test.v")
	before := verbose.Value.String()
	verbose.Value.Set("false")
	defer verbose.Value.Set(before)
	var once sync.Once
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
		Name: "Budget", F: func(t *testing.T) { once.Do(func() { synctest.Test(t, f) }) },
	}})
}

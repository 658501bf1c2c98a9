// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tacho-go/tacho/sim"
)

// fakeTB notes the failure and stops the caller as a test would.
type fakeTB struct{ message string }

func (*fakeTB) Helper()        {}
func (*fakeTB) Cleanup(func()) {}
func (f *fakeTB) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		opt  sim.Option
		want string
	}{
		{sim.WithAPIKey(""), "sim: WithAPIKey: the key is empty"},
		{sim.WithHost("a b"), `sim: WithHost: "a b" is no host name`},
		{sim.WithPipeCapacity(0), "sim: WithPipeCapacity: 0 bytes is no capacity"},
		{sim.WithDialDelay(-1), "sim: WithDialDelay: negative delay -1ns"},
		{sim.WithLookupDelay(0), "sim: WithLookupDelay: the delay must be positive: 0s"},
		{sim.WithLink(sim.Link{Delay: -1}), "sim: Link.Delay is negative: -1ns"},
		{sim.WithLink(sim.Link{Jitter: -1}), "sim: Link.Jitter is negative: -1ns"},
		{sim.WithLink(sim.Link{PerPacket: -1}), "sim: Link.PerPacket is negative: -1"},
		{sim.WithScript(sim.Script{Gap: -1}), "sim: Script.Gap is negative: -1ns"},
		{sim.WithModel(sim.Model{Prefill: math.NaN()}), "sim: Model.Prefill is NaN"},
		{sim.WithModel(sim.Model{Spread: 4}), "sim: Model.Spread and OutputSpread are at most 3: 4, 0"},
		{sim.WithModel(sim.Model{Slots: -1}), "sim: Model.Slots is negative: -1"},
		{sim.WithModel(sim.Model{Queue: 1}), "sim: Model.Queue needs Slots"},
		{sim.WithModel(sim.Model{Output: -1}), "sim: Model.Output is -1, not 0 to 100000"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			t.Parallel()
			if _, err := sim.Listen(tc.opt); err == nil || err.Error() != tc.want {
				t.Errorf("Listen: %v", err)
			}
			s := sim.NewServer(tc.opt)
			defer s.Close()
			if _, err := s.Dial(t.Context(), "tcp", "sim.invalid:80"); err == nil || err.Error() != tc.want {
				t.Errorf("Dial: %v", err)
			}
			f := new(fakeTB)
			func() {
				defer func() { recover() }()
				sim.New(f, tc.opt)
			}()
			equal(t, "New", f.message, tc.want)
			if opt, ok := tc.opt.(sim.EndpointOption); ok {
				w := httptest.NewRecorder()
				sim.NewEndpoint(opt).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader("{}")))
				if w.Code != 500 || !strings.Contains(w.Body.String(), tc.want) {
					t.Errorf("NewEndpoint: %d %s", w.Code, w.Body)
				}
			}
		})
	}
}

func TestOptionsOfMemoryOnly(t *testing.T) {
	t.Parallel()
	for want, opt := range map[string]sim.Option{
		"sim: WithPipeCapacity does not go with Listen": sim.WithPipeCapacity(1),
		"sim: WithHost does not go with Listen":         sim.WithHost("a.invalid"),
	} {
		if _, err := sim.Listen(opt); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

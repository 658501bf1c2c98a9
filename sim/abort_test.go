// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/sim"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, body string
		steps      []sim.Step
		want       string // before the cut
	}{
		{"in a stream", streamBody, []sim.Step{sim.Raw([]byte("abc")), sim.Cut().After(9 * ms), sim.Done()}, "abc"},
		{"before the first event", streamBody, []sim.Step{sim.Cut().After(9 * ms)}, ""},
		{"in a plain answer", plainBody, []sim.Step{sim.Text(0, "a"), sim.Cut()}, `{"id":"chatcmpl-`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := sim.New(t, sim.WithScript(sim.Script{Steps: tc.steps}))
				start := time.Now()
				resp := post(t, s, s.Client(), chatPath, tc.body)
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("error %v", err)
				}
				if !strings.HasPrefix(string(got), tc.want) || strings.HasSuffix(string(got), "}") {
					t.Errorf("got %q", got)
				}
				if tc.body == streamBody {
					equal(t, "time", time.Since(start), 9*ms)
				}
				synctest.Wait()
				equal(t, "open connections", s.OpenConns(), 0)
			})
		})
	}
}

func TestAbortBeforeHeaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(t, sim.WithScript(sim.Script{Abort: true, HeaderDelay: 5 * ms}))
		start := time.Now()
		_, err := s.Client().Do(newRequest(t, s, chatPath, streamBody))
		if !errors.Is(err, io.EOF) {
			t.Errorf("error %v", err)
		}
		equal(t, "time", time.Since(start), 5*ms)
	})
}

// TestHang ends a hanging answer in each of the ways there are.
func TestHang(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(s *sim.Server, resp *http.Response, cancel context.CancelFunc)
		want error
	}{
		{"cancel", func(_ *sim.Server, _ *http.Response, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"close of the body", func(_ *sim.Server, r *http.Response, _ context.CancelFunc) { r.Body.Close() }, http.ErrBodyReadAfterClose},
		{"close of the server", func(s *sim.Server, _ *http.Response, _ context.CancelFunc) { s.Close() }, io.ErrUnexpectedEOF},
	} {
		for _, body := range []string{streamBody, plainBody} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := sim.New(t, sim.WithScript(sim.Script{Steps: []sim.Step{sim.Text(0, "a"), sim.Hang(), sim.Done()}}))
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					resp, err := s.Client().Do(newRequest(t, s, chatPath, body).WithContext(ctx))
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					time.AfterFunc(time.Hour, func() { tc.end(s, resp, cancel) })
					start := time.Now()
					_, err = io.ReadAll(resp.Body)
					if err == nil || !errors.Is(err, tc.want) && tc.name != "close of the body" {
						t.Errorf("error %v, want %v", err, tc.want)
					}
					equal(t, "time", time.Since(start), time.Hour)
					synctest.Wait()
					equal(t, "open connections", s.OpenConns(), 0)
				})
			})
		}
	}
}

// TestDelaysEndEarly cancels a call, and closes a server, in the middle of every kind of delay.
func TestDelaysEndEarly(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]sim.Script{
		"header delay": {HeaderDelay: time.Hour},
		"first delay":  {FirstDelay: time.Hour},
		"gap":          {Gap: time.Hour},
		"body delay":   {Body: []byte("x"), BodyDelay: time.Hour},
		"tail delay":   {TailDelay: time.Hour},
	} {
		for _, byServer := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := sim.New(t, sim.WithScript(script))
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if byServer {
						time.AfterFunc(time.Minute, func() { s.Close() })
						ctx = t.Context()
					}
					start := time.Now()
					resp, err := s.Client().Do(newRequest(t, s, chatPath, streamBody).WithContext(ctx))
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					if err == nil {
						t.Error("no error")
					}
					equal(t, "time", time.Since(start), time.Minute)
					synctest.Wait()
					equal(t, "open connections", s.OpenConns(), 0)
				})
			})
		}
	}
}

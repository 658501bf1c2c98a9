// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tacho-go/tacho"
)

// reply is what a server says to one attempt, after a time.
type reply struct {
	after  time.Duration
	status int
	header map[string]string
	body   string
	err    error
}

// replies plays replies in turn, and notes when each request came and its body.
type replies struct {
	t      *testing.T
	list   []reply
	start  time.Time
	came   []time.Duration
	bodies []string
	counts []string
	open   int // bodies that were not closed
}

func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(r.came) == len(r.list) {
		r.t.Errorf("attempt %d is one too many", len(r.came)+1)
		return nil, errBroken
	}
	next := r.list[len(r.came)]
	r.came = append(r.came, time.Since(r.start))
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.t.Error(err)
	}
	req.Body.Close()
	r.bodies = append(r.bodies, string(body))
	r.counts = append(r.counts, req.Header.Get("X-Stainless-Retry-Count"))
	select {
	case <-time.After(next.after):
	case <-req.Context().Done():
		return nil, context.Cause(req.Context())
	}
	if next.err != nil {
		return nil, next.err
	}
	resp := answer(next.body)
	resp.StatusCode = next.status
	for k, v := range next.header {
		resp.Header.Set(k, v)
	}
	r.open++
	resp.Body = &counted{resp.Body, func() { r.open-- }}
	resp.Request = req
	return resp, nil
}

type counted struct {
	io.ReadCloser
	f func()
}

func (c *counted) Close() error {
	if c.f != nil {
		c.f()
		c.f = nil
	}
	return c.ReadCloser.Close()
}

const (
	whole   = `{"id":"c","choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`
	limited = `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`
)

// exact is a policy without chance.
var exact = tacho.RetryPolicy{Jitter: -1}

// TestRetryRules says after which answers a call is made again, how long after,
// and what is told.
func TestRetryRules(t *testing.T) {
	t.Parallel()
	ok := reply{after: 10 * ms, status: 200, body: whole}
	date := func(d time.Duration) string { // the bubble's clock begins at this time
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(http.TimeFormat)
	}
	verify := &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	for _, tc := range []struct {
		name   string
		policy tacho.RetryPolicy
		list   []reply
		came   []time.Duration // when the attempts were made
		status int             // of the answer, 0: an error
		errors []string        // of the attempts
	}{
		{"an answer", exact, []reply{ok}, []time.Duration{0}, 200, []string{""}},
		{"408", exact, []reply{{status: 408}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"408", ""}},
		{"409", exact, []reply{{status: 409}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"409", ""}},
		{"429 and what it says", exact, []reply{{status: 429, body: limited, after: ms}, ok}, []time.Duration{0, 501 * ms}, 200, []string{"rate_limit_exceeded", ""}},
		{"500", exact, []reply{{status: 500}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"500", ""}},
		{"503, twice as long the second time", exact, []reply{{status: 503}, {status: 502}, ok}, []time.Duration{0, 500 * ms, 1500 * ms}, 200, []string{"503", "502", ""}},
		{"529", exact, []reply{{status: 529}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"529", ""}},
		{"400 is final", exact, []reply{{status: 400}}, []time.Duration{0}, 400, []string{"400"}},
		{"401 is final", exact, []reply{{status: 401}}, []time.Duration{0}, 401, []string{"401"}},
		{"404 is final", exact, []reply{{status: 404}}, []time.Duration{0}, 404, []string{"404"}},
		{"413 is final", exact, []reply{{status: 413}}, []time.Duration{0}, 413, []string{"413"}},
		{"the server wants it", exact, []reply{{status: 400, header: map[string]string{"X-Should-Retry": "true"}}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"400", ""}},
		{"the server does not want it", exact, []reply{{status: 500, header: map[string]string{"X-Should-Retry": "false"}}}, []time.Duration{0}, 500, []string{"500"}},
		{"a success is not made again", exact, []reply{{status: 200, body: whole, header: map[string]string{"X-Should-Retry": "true"}}}, []time.Duration{0}, 200, []string{""}},
		{"no answer", exact, []reply{{err: errBroken}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"protocol", ""}},
		{"a certificate that is not to be trusted", exact, []reply{{err: verify}}, []time.Duration{0}, 0, []string{"tls"}},
		{"retry-after-ms", exact, []reply{{status: 429, header: map[string]string{"Retry-After-Ms": "1250.5", "Retry-After": "2"}}, ok}, []time.Duration{0, 1250*ms + 500*time.Microsecond}, 200, []string{"429", ""}},
		{"retry-after in seconds", exact, []reply{{status: 429, header: map[string]string{"Retry-After": "3"}}, ok}, []time.Duration{0, 3 * time.Second}, 200, []string{"429", ""}},
		{"retry-after as a date", exact, []reply{{status: 503, header: map[string]string{"Retry-After": date(7 * time.Second)}}, ok}, []time.Duration{0, 7 * time.Second}, 200, []string{"503", ""}},
		{"retry-after as a date that is past", exact, []reply{{status: 503, header: map[string]string{"Retry-After": date(-time.Hour)}}, ok}, []time.Duration{0, 0}, 200, []string{"503", ""}},
		{"retry-after 0", exact, []reply{{status: 503, header: map[string]string{"Retry-After": "0"}}, ok}, []time.Duration{0, 0}, 200, []string{"503", ""}},
		{"retry-after that says nothing", exact, []reply{{status: 503, header: map[string]string{"Retry-After": "soon", "Retry-After-Ms": "NaN"}}, ok}, []time.Duration{0, 500 * ms}, 200, []string{"503", ""}},
		{"retry-after too long for a number", exact, []reply{{status: 429, header: map[string]string{"Retry-After": "1e400"}}}, []time.Duration{0}, 429, []string{"429"}},
		{"retry-after-ms too long for a number", exact, []reply{{status: 429, header: map[string]string{"Retry-After-Ms": "1e999"}}}, []time.Duration{0}, 429, []string{"429"}},
		{"a back-off beyond all time", tacho.RetryPolicy{Attempts: 4, InitialWait: 1 << 62, MaxWait: 1 << 62, Jitter: -1}, []reply{{status: 503}, {status: 503}, ok}, []time.Duration{0, 24 * time.Hour, 48 * time.Hour}, 200, []string{"503", "503", ""}},
		{"retry-after too long", exact, []reply{{status: 429, header: map[string]string{"Retry-After": "121"}}}, []time.Duration{0}, 429, []string{"429"}},
		{"retry-after-ms too long", exact, []reply{{status: 429, header: map[string]string{"Retry-After-Ms": "120001"}}}, []time.Duration{0}, 429, []string{"429"}},
		{"as long as it may", exact, []reply{{status: 429, header: map[string]string{"Retry-After": "120"}}, ok}, []time.Duration{0, 120 * time.Second}, 200, []string{"429", ""}},
		{"exhausted", exact, []reply{{status: 503}, {status: 503}, {status: 429, body: limited}}, []time.Duration{0, 500 * ms, 1500 * ms}, 429, []string{"503", "503", "rate_limit_exceeded"}},
		{"exhausted without an answer", exact, []reply{{status: 503}, {err: errBroken}, {err: errBroken}}, []time.Duration{0, 500 * ms, 1500 * ms}, 0, []string{"503", "protocol", "protocol"}},
		{"one attempt", tacho.RetryPolicy{Attempts: 1}, []reply{{status: 503}}, []time.Duration{0}, 503, []string{"503"}},
		{"the back-off is bounded", tacho.RetryPolicy{Attempts: 5, InitialWait: time.Second, MaxWait: 3 * time.Second, Jitter: -1}, []reply{{status: 503}, {status: 503}, {status: 503}, {status: 503}, ok},
			[]time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 9 * time.Second}, 200, []string{"503", "503", "503", "503", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &replies{t: t, list: tc.list, start: time.Now()}
				rt := tacho.NewTransport(server, tacho.WithRetries(tc.policy), tacho.WithoutTracing(), tacho.WithoutMetrics())
				ctx, tr := tacho.Track(t.Context())
				resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/chat/completions", chatPlain))
				last := tc.list[len(tc.list)-1]
				if tc.status == 0 {
					if resp != nil || err != last.err {
						t.Fatalf("%v, %v, want the error %v itself", resp, err, last.err)
					}
				} else {
					if err != nil {
						t.Fatal(err)
					}
					body, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != tc.status || string(body) != last.body {
						t.Errorf("status %d, body %q, %v, want %d and %q", resp.StatusCode, body, err, tc.status, last.body)
					}
				}
				if diff := cmp.Diff(tc.came, server.came); diff != "" {
					t.Errorf("attempts (-want +got)\n%s", diff)
				}
				for i, b := range server.bodies {
					if b != chatPlain {
						t.Errorf("attempt %d sent %q, want %q", i+1, b, chatPlain)
					}
				}
				if server.open != 0 {
					t.Errorf("%d bodies are open", server.open)
				}
				c := one(t, tr)
				var errs []string
				for i, a := range c.Attempts() {
					errs = append(errs, a.Error)
					want := tacho.Attempt{Start: tc.came[i], Duration: tc.list[i].after, Status: tc.list[i].status, Error: tc.errors[i]}
					if i > 0 {
						before := tc.came[i-1] + tc.list[i-1].after
						want.Wait = tc.came[i] - before
					}
					if a != want {
						t.Errorf("attempt %d: %+v, want %+v", i+1, a, want)
					}
				}
				if diff := cmp.Diff(tc.errors, errs); diff != "" {
					t.Errorf("errors (-want +got)\n%s", diff)
				}
				total := tc.came[len(tc.came)-1] + last.after
				if d, ok := c.Duration(); !ok || d != total {
					t.Errorf("duration %v, %v, want %v", d, ok, total)
				}
				if d, ok := c.OfAttempt(tacho.Duration); !ok || d != last.after {
					t.Errorf("duration of the last attempt %v, %v, want %v", d, ok, last.after)
				}
			})
		})
	}
}

// TestRetryJitter holds the waits within the share that is left to chance.
func TestRetryJitter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for i := range 50 {
			server := &replies{t: t, list: []reply{{status: 503}, {status: 200, body: whole}}, start: time.Now()}
			jitter := [...]float64{0, math.NaN()}[i%2]
			rt := tacho.NewTransport(server, tacho.WithRetries(tacho.RetryPolicy{Jitter: jitter, MaxWait: 600 * ms}), tacho.WithoutTracing(), tacho.WithoutMetrics())
			resp, err := rt.RoundTrip(newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", chatPlain))
			if err != nil {
				t.Fatal(err)
			}
			readAll(resp)
			wait := server.came[1]
			if wait < 375*ms || wait > 600*ms {
				t.Errorf("waited %v, want 500 ms ± 25 %%, at most 600 ms", wait)
			}
			seen[wait] = true
		}
		if len(seen) < 2 {
			t.Error("all waits are the same")
		}
	})
}

// TestRetryContext ends the context before, in and after a pause.
func TestRetryContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("the user left")
	for _, tc := range []struct {
		name    string
		ctx     func(context.Context) (context.Context, context.CancelFunc)
		list    []reply
		want    error // nil: an answer
		status  int
		after   time.Duration
		outcome tacho.Outcome
		tries   []tacho.Attempt
	}{
		{"cancelled while waiting", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(200*ms, func() { cancel(cause) })
			return ctx, func() { cancel(nil) }
		}, []reply{{status: 503, after: ms}}, cause, 0, 200 * ms, tacho.Cancelled, []tacho.Attempt{{Duration: ms, Status: 503, Error: "503"}}},
		{"cancelled in an attempt", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(200*ms, cancel)
			return ctx, cancel
		}, []reply{{status: 503, after: time.Second}}, context.Canceled, 0, 200 * ms, tacho.Cancelled, []tacho.Attempt{{Duration: 200 * ms}}},
		{"a deadline that a pause would outlast", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 400*ms)
		}, []reply{{status: 503, after: ms}}, nil, 503, ms, tacho.Failed, []tacho.Attempt{{Duration: ms, Status: 503, Error: "503"}}},
		{"a deadline in the second attempt", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 600*ms)
		}, []reply{{status: 503}, {status: 200, after: time.Second}}, context.DeadlineExceeded, 0, 600 * ms, tacho.Deadline,
			[]tacho.Attempt{{Status: 503, Error: "503"}, {Start: 500 * ms, Wait: 500 * ms, Duration: 100 * ms, Error: "timeout"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &replies{t: t, list: tc.list, start: time.Now()}
				rt := tacho.NewTransport(server, tacho.WithRetries(exact), tacho.WithoutTracing(), tacho.WithoutMetrics())
				ctx, tr := tacho.Track(t.Context())
				ctx, cancel := tc.ctx(ctx)
				defer cancel()
				resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/chat/completions", chatPlain))
				if err != tc.want {
					t.Fatalf("error %v, want %v", err, tc.want)
				}
				if tc.want == nil {
					if resp.StatusCode != tc.status {
						t.Errorf("status %d, want %d", resp.StatusCode, tc.status)
					}
					readAll(resp)
				}
				if d := time.Since(server.start); d != tc.after {
					t.Errorf("took %v, want %v", d, tc.after)
				}
				c := one(t, tr)
				if c.Outcome() != tc.outcome {
					t.Errorf("outcome %v, want %v", c.Outcome(), tc.outcome)
				}
				if diff := cmp.Diff(tc.tries, c.Attempts()); diff != "" {
					t.Errorf("attempts (-want +got)\n%s", diff)
				}
				if server.open != 0 {
					t.Errorf("%d bodies are open", server.open)
				}
			})
		})
	}
}

// TestRetryBody sends a body again only if it can be had again.
func TestRetryBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		change func(*http.Request)
		tries  int
	}{
		{"GetBody", func(*http.Request) {}, 2},
		{"none", func(r *http.Request) { r.GetBody = nil }, 1},
		{"one that panics", func(r *http.Request) {
			r.GetBody = func() (io.ReadCloser, error) { panic("GetBody") }
		}, 1},
		{"one that fails", func(r *http.Request) {
			r.GetBody = func() (io.ReadCloser, error) { return nil, errBroken }
		}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &replies{t: t, list: []reply{{status: 503, body: limited}, {status: 200, body: whole}}, start: time.Now()}
				rt := tacho.NewTransport(server, tacho.WithRetries(exact), tacho.WithoutTracing(), tacho.WithoutMetrics())
				req := newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", chatPlain)
				req.Header.Set("X-Stainless-Retry-Count", "0")
				tc.change(req)
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want := server.list[tc.tries-1].body; string(body) != want || len(server.came) != tc.tries {
					t.Errorf("%d attempts, body %q, want %d and %q", len(server.came), body, tc.tries, want)
				}
				if want := []string{"0", "1"}[:tc.tries]; cmp.Diff(want, server.counts) != "" {
					t.Errorf("counts %q, want %q", server.counts, want)
				}
				if req.Header.Get("X-Stainless-Retry-Count") != "0" {
					t.Error("the caller's headers were changed")
				}
			})
		})
	}
}

// TestRetryStream makes a stream's call again before its answer, and never once
// the application has one.
func TestRetryStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
		server := &replies{t: t, list: []reply{{status: 429, after: 20 * ms}, {status: 200, after: 30 * ms, header: map[string]string{"Content-Type": "text/event-stream"}, body: first}}, start: time.Now()}
		rt := tacho.NewTransport(server, tacho.WithRetries(exact), tacho.WithoutTracing(), tacho.WithoutMetrics())
		ctx, tr := tacho.Track(t.Context())
		resp, err := rt.RoundTrip(newRequest(ctx, t, "http://host.invalid/v1/chat/completions", chatStream))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != first {
			t.Errorf("%q, %v, want %q", body, err, first)
		}
		c := one(t, tr)
		if c.Outcome() != tacho.Cut || len(c.Attempts()) != 2 {
			t.Errorf("outcome %v after %d attempts, want a cut after 2", c.Outcome(), len(c.Attempts()))
		}
		ttft, _ := c.TTFT()
		own, _ := c.OfAttempt(tacho.TTFT)
		if ttft != 550*ms || own != 30*ms {
			t.Errorf("TTFT %v, of the attempt %v, want 550ms and 30ms", ttft, own)
		}
		if json := toJSON(t, c); !strings.Contains(json, `"attempts":2,"attempt_list":[{"start":0,"wait":0,"duration":0.02,"status":429,"error":"429"},{"start":0.52,"wait":0.5,"duration":0.03,"status":200,"error":"cut"}]`) {
			t.Errorf("JSON %s", json)
		}
	})
}

func toJSON(t *testing.T, c *tacho.Call) string {
	t.Helper()
	b, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRetryBelowMiddleware hands each attempt a request that those before it
// have not changed, whatever a middleware below does with its own.
func TestRetryBelowMiddleware(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &replies{t: t, list: []reply{{status: 503}, {status: 200, body: whole}}, start: time.Now()}
		rt := tacho.NewTransport(nil, tacho.WithRetries(exact), tacho.WithoutTracing(), tacho.WithoutMetrics())
		var paths, tags []string
		req := newRequest(t.Context(), t, "http://host.invalid/v1/chat/completions", chatPlain)
		resp, err := rt.Middleware(req, func(r *http.Request) (*http.Response, error) {
			r.URL.Path = "/deployed" + r.URL.Path
			r.Header.Add("X-Tag", "a")
			paths = append(paths, r.URL.Path)
			tags = append(tags, strings.Join(r.Header["X-Tag"], ","))
			return server.RoundTrip(r)
		})
		if err != nil {
			t.Fatal(err)
		}
		readAll(resp)
		if diff := cmp.Diff([]string{"/deployed/v1/chat/completions", "/deployed/v1/chat/completions"}, paths); diff != "" {
			t.Errorf("paths (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "a"}, tags); diff != "" {
			t.Errorf("headers (-want +got)\n%s", diff)
		}
		if req.URL.Path != "/v1/chat/completions" || len(req.Header["X-Tag"]) > 0 {
			t.Errorf("the caller's request was changed: %s, %v", req.URL, req.Header)
		}
		if resp.Request.URL.Path != "/deployed/v1/chat/completions" || resp.Request.Context() != t.Context() {
			t.Errorf("the answer is one to %s, in the context %v", resp.Request.URL, resp.Request.Context())
		}
	})
}

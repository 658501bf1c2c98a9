// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/budget"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// What is no answer of a model, such as a web page or a redirect, is no latency of
// one, however quick it was.
func TestNoLatencyOfOtherKinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script sim.Script
		plain  bool
		want   string
	}{
		{sim.Script{Body: []byte("<html>hello"), ContentType: "text/html"}, false, "no answer of a model: check the base URL"},
		{sim.Script{Body: []byte("<html>hello"), ContentType: "text/html"}, true, "no answer of a model: check the base URL"},
		{sim.Script{Body: []byte("moved"), ContentType: "text/html", Status: 302}, false, "302 Found: no answer of a model: check the base URL"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, sim.WithScript(tt.script))
			b.chat.Plain = tt.plain
			res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Constant(10, time.Second)}})
			s := &res.Stages[0]
			if n := s.Plain.Duration.Count() + s.Streams.Duration.Count(); n != 0 || s.Failed != 10 {
				t.Errorf("%s: %d durations, %+v", tt.want, n, s.Counts)
			}
			if len(s.Errors) != 1 || s.Errors[0].What != tt.want {
				t.Errorf("%+v, want %q", s.Errors, tt.want)
			}
			if w := strings.Join(res.Warnings(), "\n"); strings.Contains(w, "WithRecorder") {
				t.Errorf("warnings of the recorder: %s", w)
			}
		})
	}
}

// failing is a round tripper that never answers.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// A certificate that is not accepted is told with its reason, which is no content.
func TestCertificateAdvice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rt := tacho.NewTransport(failing{&tls.CertificateVerificationError{Err: errors.New("signed by nobody")}})
		res, err := load.Run(t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(1, 2*time.Second)},
			Call: func(ctx context.Context, _ load.Job) error {
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://sim.invalid/v1/chat/completions", strings.NewReader("{}"))
				if err != nil {
					return err
				}
				_, err = rt.RoundTrip(req)
				return err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &res.Stages[0]
		if len(s.Errors) != 1 || s.Errors[0].Count != 2 || !strings.Contains(s.Errors[0].Advice, "certificate is not accepted: signed by nobody") {
			t.Errorf("%+v", s.Errors)
		}
	})
}

// A stream that stands still behind its first tokens has no last token yet: cut off
// past the limit of one, it is bad, and censored in the quantiles alike.
func TestCutOffPastLastToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, sim.WithScript(sim.Script{Text: "a b c", FirstDelay: 100 * time.Millisecond, Gap: 2 * time.Second}))
		res := b.run(t, t.Context(), load.Config{
			Stages: []load.Stage{load.Constant(2, 2*time.Second)}, Drain: 2 * time.Second,
			Limits: []budget.Limit{{Figure: tacho.TTLT, AtMost: 3 * time.Second}, {Figure: tacho.TTFT, AtMost: 2200 * time.Millisecond}},
		})
		s := &res.Stages[0]
		// First tokens come after 2.1 s, second ones would after 4.1. From 0.25, 0.75,
		// 1.25 and 1.75 s to 4 s: two are past 3 s.
		if s.CutOff != 4 || s.Bad != 2 || s.Undecided != 2 || s.Streams.TTLT.Censored().Count() != 4 {
			t.Errorf("%+v", s.Counts)
		}
	})
}

// A trace's prompt of one token is a question of one, and not an instruction with
// none.
func TestShortestPrompts(t *testing.T) {
	t.Parallel()
	for n := 1; n < 20; n++ {
		p := load.Synthetic(8, 32).Prompt(load.Job{Worker: -1, Request: load.Request{PromptTokens: n}})
		system, user := len(strings.Fields(p.System)), len(strings.Fields(p.User))
		if system+user != n || user < 1 || system > 8 {
			t.Errorf("%d tokens: %d of system instruction, %d of context", n, system, user)
		}
	}
}

// A Chat without its client or prompts says so, in place of a panic in each call.
func TestChatWithout(t *testing.T) {
	t.Parallel()
	client, err := tacho.NewClient("http://sim.invalid/v1", "")
	if err != nil {
		t.Fatal(err)
	}
	for want, chat := range map[string]load.Chat{
		"load: none of 2 calls was served: Chat.Client is nil: give one by tacho.NewClient":                  {Prompts: load.Fixed("hi")},
		"load: none of 2 calls was served: Chat.Prompts is nil: give some, such as load.Synthetic(128, 512)": {Client: client},
	} {
		synctest.Test(t, func(t *testing.T) {
			res, err := load.Run(t.Context(), load.Config{Stages: []load.Stage{load.Constant(2, time.Second)}, Call: chat.Call})
			if err != nil {
				t.Fatal(err)
			}
			if err := res.Err(); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// Refusals that tries again have hidden are told, whether the transport makes
// them or Call does; latencies hold the time that they took.
func TestRetried(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"WithRetries", "Call"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, sim.WithModel(even))
			refused := sim.Script{Status: 429}
			b.srv.Play(refused, refused)
			var opts []tacho.ClientOption
			if way == "WithRetries" {
				opts = append(opts, tacho.WithRetries(tacho.RetryPolicy{InitialWait: time.Second, Jitter: -1}))
			}
			client, err := tacho.NewClient(b.srv.URL(), "", append(opts, tacho.WithBase(b.srv.Transport()), tacho.WithRecorder(b.rec))...)
			if err != nil {
				t.Fatal(err)
			}
			b.chat.Client = client
			res := b.run(t, t.Context(), load.Config{
				Recorder: b.rec, Stages: []load.Stage{load.Constant(0.1, 30*time.Second)},
				Call: func(ctx context.Context, j load.Job) error {
					if way == "Call" && j.Index == 0 {
						for range 2 {
							_ = b.chat.Call(ctx, j)
						}
					}
					return b.chat.Call(ctx, j)
				},
			})
			s := &res.Stages[0]
			if s.Started != 3 || s.Served != 3 || s.Retried != 1 || s.TooMany != 0 {
				t.Errorf("%s: %+v", way, s.Counts)
			}
			if w := strings.Join(res.Warnings(), "\n"); !strings.Contains(w, "more than one try") || !strings.Contains(w, "1 of 3") {
				t.Errorf("%s: warnings %s", way, w)
			}
			longest, _, _ := s.Streams.Duration.Quantile(1)
			if way == "WithRetries" && longest < time.Second {
				t.Errorf("the waiting between tries is not in the duration: %v", longest)
			}
		})
	}
}

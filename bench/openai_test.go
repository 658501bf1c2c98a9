// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
)

// sdk is openai-go over base with one instrument: tacho as the SDK's middleware,
// which is the way in that its README names, the others as the transport.
func sdk(base http.RoundTripper, x instrument, opts ...option.RequestOption) openai.Client {
	opts = append([]option.RequestOption{
		option.WithBaseURL("http://host.invalid/v1/"),
		option.WithAPIKey("none"),
		option.WithMaxRetries(0), // a failure is to be seen
	}, opts...)
	if t, ok := x.rt.(*tacho.Transport); ok {
		opts = append(opts, option.WithHTTPClient(&http.Client{Transport: base}), option.WithMiddleware(t.Middleware))
	} else {
		opts = append(opts, option.WithHTTPClient(&http.Client{Transport: x.rt}))
	}
	return openai.NewClient(opts...)
}

// complete makes a chat completion as an application does, and reads all of it.
func complete(ctx context.Context, b *testing.B, client *openai.Client, stream bool) {
	params := openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
	}
	if !stream {
		answer, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			b.Fatal(err)
		}
		if len(answer.Choices) != 1 {
			b.Fatalf("%d choices, want 1", len(answer.Choices))
		}
		return
	}
	events := 0
	s := client.Chat.Completions.NewStreaming(ctx, params)
	for s.Next() {
		events += len(s.Current().Choices)
	}
	if err := s.Err(); err != nil {
		b.Fatal(err)
	}
	s.Close()
	if want := streamEvents + 1; events != want { // one has the finish reason
		b.Fatalf("%d events, want %d", events, want)
	}
}

// BenchmarkOpenAI counts allocations, the SDK's own among them; for the times see
// BenchmarkOpenAIOver.
func BenchmarkOpenAI(b *testing.B) {
	for k, kind := range kinds {
		base := canned(b, kind.response)
		for _, x := range instruments(b, base) {
			client := sdk(base, x)
			b.Run(kind.name+"/"+x.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					complete(context.Background(), b, &client, k == 1)
				}
			})
		}
	}
}

// BenchmarkOpenAIOver reports the medians over bare, and their shares of the time
// that the SDK takes bare, in percent.
func BenchmarkOpenAIOver(b *testing.B) {
	for k, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			base := canned(b, kind.response)
			all := instruments(b, base)
			clients := make([]openai.Client, len(all))
			for i, x := range all {
				clients[i] = sdk(base, x)
			}
			times := over(b, len(all), 4, func(i int) { complete(context.Background(), b, &clients[i], k == 1) })
			for i, x := range all {
				b.ReportMetric(times[i], unit("ns", x.name))
				if i > 0 {
					b.ReportMetric(100*times[i]/times[0], unit("%", x.name))
				}
			}
		})
	}
}

// BenchmarkOpenAIWithin reports the time that passes within an instrument: from a
// call into it, of RoundTrip, Read or Close, to its return, less the same of the
// transport below, and less what bare has between the two. It is no difference of
// milliseconds, so that some 100 calls tell what BenchmarkOpenAIOver needs 10,000
// for, and it leaves out what an instrument does on other goroutines, to the
// collector of garbage and to the caches of what runs after it.
func BenchmarkOpenAIWithin(b *testing.B) {
	for k, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			var outer, inner time.Duration
			base := stopwatch{canned(b, kind.response), &inner}
			all := instruments(b, base)
			clients := make([]openai.Client, len(all))
			for i, x := range all {
				clients[i] = sdk(base, x, option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
					return stopwatch{roundTripper(next), &outer}.RoundTrip(req)
				}))
			}
			var whole []float64
			within := make([][]float64, len(all))
			for b.Loop() {
				for _, i := range rand.Perm(len(all)) {
					outer, inner = 0, 0
					start := time.Now()
					complete(context.Background(), b, &clients[i], k == 1)
					if i == 0 {
						whole = append(whole, float64(time.Since(start).Nanoseconds()))
					}
					within[i] = append(within[i], float64((outer - inner).Nanoseconds()))
				}
			}
			bare := median(within[0])
			for i, x := range all[1:] {
				ns := median(within[i+1]) - bare
				b.ReportMetric(ns, unit("ns", x.name))
				b.ReportMetric(100*ns/median(whole), unit("%", x.name))
			}
		})
	}
}

// stopwatch adds up the time within a transport and the bodies that it returns.
type stopwatch struct {
	http.RoundTripper
	total *time.Duration
}

func (s stopwatch) since(start time.Time) { *s.total += time.Since(start) }

func (s stopwatch) RoundTrip(req *http.Request) (*http.Response, error) {
	defer s.since(time.Now())
	resp, err := s.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = stopwatchBody{resp.Body, s}
	}
	return resp, err
}

type stopwatchBody struct {
	io.ReadCloser
	s stopwatch
}

func (r stopwatchBody) Read(p []byte) (int, error) {
	defer r.s.since(time.Now())
	return r.ReadCloser.Read(p)
}

func (r stopwatchBody) Close() error {
	defer r.s.since(time.Now())
	return r.ReadCloser.Close()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

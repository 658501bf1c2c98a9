// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/log/noop"

	"github.com/tacho-go/tacho"
)

// TestExceptionEvents: a failed call emits a warning, with the server's text only
// where content is on events.
func TestExceptionEvents(t *testing.T) {
	t.Parallel()
	const latest, v141 = "gen_ai.client.inference.exception", "gen_ai.client.operation.exception"
	failure := `{"error":{"message":"no such model: x","code":"model_not_found"}}`
	attrs := func(message string) map[string]any {
		m := map[string]any{"exception.type": "model_not_found", "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
			"gen_ai.request.model": "m", "server.address": "host.invalid", "server.port": int64(80)}
		if message != "" {
			m["exception.message"] = message
		}
		return m
	}
	for _, tc := range []struct {
		name string
		opts []tacho.Option
		want []logged
	}{
		{"by default", nil, []logged{{latest, "WARN", attrs(""), true}}},
		{"v1.41", []tacho.Option{tacho.WithConventions(tacho.ConventionsV141)}, []logged{{v141, "WARN", attrs(""), true}}},
		{"both", []tacho.Option{tacho.WithConventions(tacho.ConventionsBoth)}, []logged{{latest, "WARN", attrs(""), true}, {v141, "WARN", attrs(""), true}}},
		{"content on spans", []tacho.Option{tacho.WithContent(tacho.ContentOnSpans)}, []logged{{latest, "WARN", attrs(""), true}}},
		{"content on events", []tacho.Option{tacho.WithContent(tacho.ContentOnEvents)}, []logged{{latest, "WARN", attrs("no such model: x"), true}}},
		{"a hook drops it", []tacho.Option{tacho.WithContent(tacho.ContentOnEvents), tacho.WithContentHook(func(_ context.Context, _ *tacho.Call, c *tacho.Content) { c.ErrorText = "" })},
			[]logged{{latest, "WARN", attrs(""), true}}},
		{"no events", []tacho.Option{tacho.WithLoggerProvider(noop.NewLoggerProvider())}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, chatPath, chatPlain, 404, plainType, failure, append([]tacho.Option{tacho.WithConventions(tacho.ConventionsLatest)}, tc.opts...)...)
			var got []logged
			for _, r := range o.logs.records {
				if strings.HasSuffix(r.Name, ".exception") {
					got = append(got, r)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if o := observe(t, chatPath, chatPlain, 200, plainType, chatAnswer); len(o.logs.records) != 0 {
		t.Errorf("a complete call emits %v", o.logs.records)
	}
}

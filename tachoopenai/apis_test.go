// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

var embedding = openai.EmbeddingNewParams{Model: "embed", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("to be")}}

var toolSteps = []sim.Step{
	sim.Role(0), sim.ToolCall(0, 0, "call_1", "weather", ""), sim.ToolCall(0, 0, "", "", `{"city":`), sim.ToolCall(0, 0, "", "", `"Bern"}`),
	sim.Finish(0, "tool_calls"), sim.Done(),
}

var toolParams = openai.ChatCompletionNewParams{
	Model:    "m",
	Messages: chatParams.Messages,
	Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "weather"})},
}

// TestToolCall streams a tool call after a refusal.
func TestToolCall(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		srv := sim.New(t)
		srv.Play(refusal(), sim.Script{HeaderDelay: 30 * ms, FirstDelay: 5 * ms, Gap: 5 * ms, Steps: toolSteps})
		c := tachoopenai.NewClient(sdk(srv, quiet(tacho.RetryPolicy{}))...)
		ctx, tr := tacho.Track(t.Context())
		s := c.Chat.Completions.NewStreaming(ctx, toolParams)
		defer s.Close()
		args := ""
		for s.Next() {
			for _, choice := range s.Current().Choices {
				for _, tool := range choice.Delta.ToolCalls {
					args += tool.Function.Arguments
				}
			}
		}
		equal(t, "error", s.Err(), nil)
		equal(t, "arguments", args, `{"city":"Bern"}`)
		call := only(t, tr)
		equal(t, "outcome", call.Outcome(), tacho.Complete)
		equal(t, "first channel", call.FirstChannel(), "tool_call")
		figure(t, call, tacho.TTFT, 2020*ms+40*ms)
		equal(t, "attempts", len(call.Attempts()), 2)
	})
}

// TestAzure calls a deployment of Azure's, also in the second attempt: the SDK
// puts the deployment into the path below our middleware.
func TestAzure(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		call   func(*testing.T, tachoopenai.Client) error
		path   string
		script sim.Script
		model  string
	}{
		{"chat", func(t *testing.T, c tachoopenai.Client) error { return chat(t.Context(), c.Client, false) }, "/openai/deployments/m/chat/completions", answer, "m"},
		{"chat, streamed", func(t *testing.T, c tachoopenai.Client) error { return chat(t.Context(), c.Client, true) }, "/openai/deployments/m/chat/completions", answer, "m"},
		{"responses, streamed", func(t *testing.T, c tachoopenai.Client) error { return respond(t.Context(), c.Client, true) }, "/openai/responses", answer, "m"},
		{"embeddings", func(t *testing.T, c tachoopenai.Client) error {
			_, err := c.Embeddings.New(t.Context(), embedding)
			return err
		}, "/openai/deployments/embed/embeddings", sim.Script{HeaderDelay: 30 * ms}, "embed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T) {
				srv := sim.New(t, sim.WithHost("resource.openai.azure.com"), sim.WithTLS(), sim.WithAPIKey("azure-key"))
				srv.Play(refusal(), tc.script)
				var calls []*tacho.Call
				c := tachoopenai.NewClient(
					azure.WithEndpoint("https://resource.openai.azure.com", "2024-06-01"), azure.WithAPIKey("azure-key"),
					option.WithHTTPClient(srv.Client()), quiet(tacho.RetryPolicy{}),
					tachoopenai.With(tacho.WithObserver(func(c *tacho.Call) { calls = append(calls, c) })))
				if err := tc.call(t, c); err != nil {
					t.Fatal(err)
				}
				if len(calls) != 1 {
					t.Fatalf("%d calls told, want one", len(calls))
				}
				call := calls[0]
				equal(t, "outcome", call.Outcome(), tacho.Complete)
				equal(t, "provider", call.Provider(), "azure.ai.openai")
				equal(t, "server", call.Server(), "resource.openai.azure.com")
				equal(t, "model", call.RequestModel(), tc.model)
				equal(t, "attempts", len(call.Attempts()), 2)
				for _, r := range srv.Requests() {
					equal(t, "path", r.Path, tc.path)
					equal(t, "version", r.Query.Get("api-version"), "2024-06-01")
					equal(t, "Authorization", r.Header.Get("Authorization"), "")
				}
			})
		})
	}
}

// TestAzureLoopback calls a server of the developer's own, which the SDK reaches
// past every HTTP client and proxy.
func TestAzureLoopback(t *testing.T) {
	t.Parallel()
	srv, err := sim.Listen(sim.WithAPIKey("azure-key"))
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	srv.Play(sim.Script{Status: 503, Header: map[string][]string{"Retry-After-Ms": {"1"}}}, sim.Script{Text: "to be"})
	c := tachoopenai.NewClient(
		azure.WithEndpoint(srv.URL()[:len(srv.URL())-len("/v1")], "2024-06-01"), azure.WithAPIKey("azure-key"), azure.WithUnsafeAllowHTTP(),
		quiet(tacho.RetryPolicy{}), tachoopenai.With(tacho.WithProvider("azure.ai.openai")))
	ctx, tr := tacho.Track(t.Context())
	if err := chat(ctx, c.Client, true); err != nil {
		t.Fatal(err)
	}
	call := only(t, tr)
	equal(t, "provider", call.Provider(), "azure.ai.openai")
	equal(t, "attempts", len(call.Attempts()), 2)
	for _, r := range srv.Requests() {
		equal(t, "path", r.Path, "/openai/deployments/m/chat/completions")
	}
}

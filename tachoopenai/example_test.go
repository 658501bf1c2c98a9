// SPDX-License-Identifier: Apache-2.0

package tachoopenai_test

import (
	"context"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
	"github.com/tacho-go/tacho/tachoopenai"
)

// A call that the server refuses once.
func ExampleNewClient() {
	srv := sim.NewServer()
	defer srv.Close()
	srv.Play(sim.Script{Status: 429, Header: map[string][]string{"Retry-After-Ms": {"1"}}}, sim.Script{Text: "To be."})

	client := tachoopenai.NewClient(
		option.WithBaseURL(srv.URL()), option.WithAPIKey("key"), option.WithHTTPClient(srv.Client()),
		tachoopenai.With(tacho.WithObserver(func(c *tacho.Call) {
			fmt.Println(c.Outcome(), "after", len(c.Attempts()), "attempts, the first of them", c.Attempts()[0].Error)
		})))

	answer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:    "gpt-4o-mini",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("To be or not to be?")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Choices[0].Message.Content)
	// Output:
	// complete after 2 attempts, the first of them 429
	// To be.
}

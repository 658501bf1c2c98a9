// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"context"
	"os"
	"strings"

	"go.opentelemetry.io/otel/log"
)

// ContentMode says where the content of calls goes. The modes are bits.
type ContentMode uint8

// The modes that WithContent takes.
const (
	// NoContent captures nothing.
	NoContent ContentMode = 0
	// ContentOnSpans puts content on spans, as JSON.
	ContentOnSpans ContentMode = 1 << (iota - 1)
	// ContentOnEvents puts content on events of OpenTelemetry's logs, as
	// structured values.
	ContentOnEvents
	// ContentInRecord puts content in the record alone: Call.Content, its JSON and
	// the hooks. All other modes but NoContent do so too.
	ContentInRecord
	// ContentOnSpansAndEvents does both.
	ContentOnSpansAndEvents = ContentOnSpans | ContentOnEvents
)

// contentVariable is the variable that OpenTelemetry's conventions name.
const contentVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// ContentFromEnv returns the mode that the environment asks for, by
// OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: SPAN_ONLY, EVENT_ONLY,
// SPAN_AND_EVENT or, as older instrumentations have it, true for both; NO_CONTENT
// and false for none, as is anything else.
func ContentFromEnv() ContentMode {
	switch strings.ToUpper(strings.TrimSpace(os.Getenv(contentVariable))) {
	case "SPAN_ONLY":
		return ContentOnSpans
	case "EVENT_ONLY":
		return ContentOnEvents
	case "SPAN_AND_EVENT", "TRUE":
		return ContentOnSpansAndEvents
	}
	return NoContent
}

// The limits without WithContentLimits.
const (
	defaultPart = 64 << 10
	defaultAll  = 1 << 20
)

// contentConfig is what the options say of content.
type contentConfig struct {
	mode      ContentMode
	given     bool // by an option: the environment has no say
	part, all int
	hooks     []func(context.Context, *Call, *Content)
}

// settle puts in what no option said.
func (g *contentConfig) settle() {
	if !g.given {
		g.mode = ContentFromEnv()
	}
	if g.part == 0 {
		g.part = defaultPart
	}
	if g.all == 0 {
		g.all = defaultAll
	}
}

// WithContent captures the content of chats, completions and responses, and of
// what was transcribed: the messages of requests and answers, instructions, tool
// definitions and stop sequences. What goes where the mode says, and to the
// observers with the record, is private as a rule and may be large; see
// WithContentHook and WithContentLimits. The inputs of embeddings, images, speech
// and moderations have no place in the conventions and are not captured. API
// keys, cookies and whatever else the request carries as a credential is no part of
// it: where an answer or a message repeats one of 8 bytes or more, it reads [REDACTED].
//
// By default the environment says what is captured, see ContentFromEnv: without its
// variable nothing is. WithContent(NoContent) has it say nothing.
func WithContent(mode ContentMode) Option {
	return optionFunc(func(c *config) {
		c.content.mode, c.content.given = mode&(ContentOnSpansAndEvents|ContentInRecord), true
	})
}

// WithContentLimits bounds what is kept of content: so many bytes of each text,
// and in all so many of a request and as many of an answer. Texts, arguments and
// responses that are cut end in "…[cut by tacho: N characters]"; the data of a
// picture or a sound that is longer is replaced by "[cut by tacho: N bytes]";
// messages that are left out, by a last message that says so.
//
// By default they are 64 KiB and 1 MiB, as they are with 0 or less.
func WithContentLimits(part, all int) Option {
	return optionFunc(func(c *config) {
		c.content.part, c.content.all = max(0, part), max(0, all)
	})
}

// WithContentHook calls f with the content of each call that has ended, before
// any of it is recorded: f may change, replace or drop what it is given, by
// changing *content, or upload it and leave a reference; Content.Edit reaches all
// texts. It has no effect where nothing is captured. What is left then is
// recorded. It runs on the goroutine that ended the call, as an observer does,
// and Call.Content is absent until it has returned. A panic in f drops the
// content and goes to OpenTelemetry's error handler, by its type alone. Calls to f
// may be concurrent. Given more than once, all are called, in order.
func WithContentHook(f func(ctx context.Context, c *Call, content *Content)) Option {
	return optionFunc(func(c *config) {
		if f != nil {
			c.content.hooks = append(c.content.hooks, f)
		}
	})
}

// WithLoggerProvider sends the events of calls to lp, as OpenTelemetry's logs:
// gen_ai.client.inference.exception of each call that failed (by ConventionsV141
// gen_ai.client.operation.exception), a warning, and under ContentOnEvents
// gen_ai.client.inference.operation.details of each call with text, for debugging.
// They belong to the call's span.
//
// By default the global provider of OpenTelemetry is used. That of package
// log/noop makes no events.
func WithLoggerProvider(lp log.LoggerProvider) Option {
	return optionFunc(func(c *config) { c.loggers = lp })
}

// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"net/http"
	"slices"
	"time"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/sim"
)

// The scripts that most cases play. A stream has its headers at 100 ms, and then a
// step each 10 ms; a document comes at 200 ms.

func streamOf(steps ...sim.Step) []sim.Script {
	return []sim.Script{{HeaderDelay: 100 * ms, Gap: 10 * ms, Model: "m-1", Steps: steps}}
}

// wholeStream is a stream of two words with its usage.
func wholeStream() []sim.Script {
	return streamOf(sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "stop"), sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 2}), sim.Done())
}

func documentOf(body string) []sim.Script {
	return []sim.Script{{HeaderDelay: 200 * ms, Body: []byte(body), ContentType: "application/json"}}
}

// eventsOf is a stream as the server writes it, all at 200 ms.
func eventsOf(data ...string) []sim.Script {
	s := documentOf("")
	s[0].ContentType = "text/event-stream"
	for _, d := range data {
		s[0].Body = append(s[0].Body, "data: "+d+"\n\n"...)
	}
	return s
}

func refusalOf(status int, code string) sim.Script {
	return sim.Script{HeaderDelay: 50 * ms, Status: status, ErrorCode: code}
}

const (
	embeddingsPath = "/embeddings"
	imagesPath     = "/images/generations"

	embeddingsBody = `{"model":"e","input":["hello","there"],"encoding_format":"base64","dimensions":256}`
	imagesBody     = `{"model":"i","prompt":"a cat","n":2}`
	imagesAnswer   = `{"created":1,"data":[{"b64_json":"eA=="}],"usage":{"total_tokens":100,"input_tokens":40,"output_tokens":60,"input_tokens_details":{"text_tokens":10,"image_tokens":30}}}`
	cacheAnswer    = `{"id":"c-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":90,"completion_tokens":5,"total_tokens":95,"prompt_tokens_details":{"cached_tokens":40,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":2}}}`
	// A provider's own shape: the input is what was neither read from a cache nor written to one.
	anthropicAnswer = `{"id":"c-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],` +
		`"usage":{"input_tokens":20,"output_tokens":5,"cache_read_input_tokens":40,"cache_creation_input_tokens":30}}`
)

// formCall makes a call with a multipart form.
func formCall(path string, fields ...string) func(*scene) {
	body := ""
	for i := 0; i < len(fields); i += 2 {
		body += "--b\r\nContent-Disposition: form-data; name=\"" + fields[i] + "\"\r\n\r\n" + fields[i+1] + "\r\n"
	}
	body += "--b--\r\n"
	return func(s *scene) { s.call(s.t.Context(), path, body, "Content-Type", "multipart/form-data; boundary=b") }
}

// operationCases are the APIs that a transport knows, and both generations of the
// conventions.
func operationCases() []telemetryCase {
	latest := []telemetryCase{
		{name: "chat_plain", path: chatPath, body: chatPlain, scripts: []sim.Script{{HeaderDelay: 200 * ms, Model: "m-1", Text: "hello there", Usage: &sim.UsageCounts{InputTokens: 9, OutputTokens: 2}}}},
		{name: "chat_stream", path: chatPath, body: chatStream, scripts: wholeStream()},
		{name: "responses_plain", path: responsesPath, body: responsesPlain, scripts: []sim.Script{{HeaderDelay: 200 * ms, BodyDelay: 30 * ms, Model: "m-1", Text: "hello there", Usage: &sim.UsageCounts{InputTokens: 9, OutputTokens: 2}}}},
		{name: "responses_stream", path: responsesPath, body: responsesStream,
			scripts: streamOf(sim.Role(0), sim.Text(0, "a"), sim.Text(0, "b"), sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 2, CachedTokens: 4}), sim.Finish(0, "stop"))},
		{name: "completions_plain", path: completionsPath, body: completionsPlain, scripts: []sim.Script{{HeaderDelay: 200 * ms, Model: "m-1", Text: "hello there", Usage: &sim.UsageCounts{InputTokens: 9, OutputTokens: 2}}}},
		{name: "completions_stream", path: completionsPath, body: completionsStream,
			scripts: streamOf(sim.Text(0, "a"), sim.Text(0, "b"), sim.Finish(0, "length"), sim.Usage(sim.UsageCounts{InputTokens: 9, OutputTokens: 2}), sim.Done())},
		{name: "embeddings", path: embeddingsPath, body: embeddingsBody, scripts: []sim.Script{{HeaderDelay: 200 * ms, Model: "e-1", Usage: &sim.UsageCounts{InputTokens: 8}}}},
		{name: "images", path: imagesPath, body: imagesBody, scripts: documentOf(imagesAnswer)},
		{name: "image_edit", play: formCall("/images/edits", "model", "i", "n", "1", "image", "PNG"), scripts: documentOf(imagesAnswer)},
		{name: "image_variation", play: formCall("/images/variations", "model", "i", "image", "PNG"), scripts: documentOf(`{"created":1,"data":[{"url":"https://images.invalid/SECRET"}]}`)},
		{name: "speech", path: "/audio/speech", body: `{"model":"s","input":"hello","voice":"alloy"}`,
			scripts: []sim.Script{{HeaderDelay: 200 * ms, BodyDelay: 100 * ms, Body: []byte("ID3 sound"), ContentType: "audio/mpeg"}}},
		{name: "transcription", play: formCall("/audio/transcriptions", "model", "t", "file", "RIFF"),
			scripts: documentOf(`{"text":"hello","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},"output_tokens":45,"total_tokens":59}}`)},
		{name: "transcription_stream", play: formCall("/audio/transcriptions", "model", "t", "stream", "true", "file", "RIFF"),
			scripts: eventsOf(`{"type":"transcript.text.delta","delta":"hello"}`, `{"type":"transcript.text.done","text":"hello","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}`, `[DONE]`)},
		{name: "translation", play: formCall("/audio/translations", "model", "t", "file", "RIFF"), scripts: documentOf(`{"text":"hello"}`)},
		{name: "moderation", path: "/moderations", body: `{"model":"g","input":"hello"}`, scripts: documentOf(`{"id":"modr-1","model":"g-1","results":[{"flagged":false}]}`)},
		{name: "cache", path: chatPath, body: chatPlain, scripts: documentOf(cacheAnswer)},
		{name: "modalities", path: chatPath, body: chatPlain, scripts: documentOf(`{"id":"c-1","model":"m-1","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":20,"completion_tokens":9,"prompt_tokens_details":{"text_tokens":4,"audio_tokens":8,"image_tokens":0},"completion_tokens_details":{"text_tokens":1,"audio_tokens":8}}}`)},
		{name: "error", path: chatPath, body: chatStream, scripts: []sim.Script{refusalOf(503, "overloaded")}},
	}
	// The same by the older conventions and by both at once.
	cases := slices.Clone(latest)
	for prefix, g := range map[string]struct {
		conventions tacho.Conventions
		of          []string
	}{
		"v141_": {tacho.ConventionsV141, []string{"chat_plain", "chat_stream", "responses_stream", "completions_stream", "embeddings", "images", "speech", "cache", "modalities", "error"}},
		"both_": {tacho.ConventionsBoth, []string{"chat_stream", "completions_plain", "embeddings", "images", "cache", "error"}},
	} {
		for _, name := range g.of {
			i := slices.IndexFunc(latest, func(tc telemetryCase) bool { return tc.name == name })
			tc := latest[i]
			tc.name, tc.opts = prefix+name, []tacho.Option{tacho.WithConventions(g.conventions)}
			cases = append(cases, tc)
		}
	}
	return append(cases, telemetryCase{name: "no_call", play: func(s *scene) { // a file is no call: nothing is told of it
		s.call(s.t.Context(), "/files", "")
		s.call(s.t.Context(), chatPath, chatPlain)
	}, scripts: []sim.Script{{HeaderDelay: time.Second, Header: http.Header{"X-Request-Id": {"req-1"}}}}})
}

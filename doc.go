// SPDX-License-Identifier: Apache-2.0

// Package tacho measures calls to OpenAI-compatible LLM endpoints.
//
// A [Transport] sits in the HTTP path. It sees every byte once, changes none,
// and turns each call into one record, a [Call]: name lookup, connecting, TLS,
// time to first byte, first chunk, first token and first visible output, the
// gaps between tokens, the last token, usage, rate limits and errors. The
// record goes to OpenTelemetry, to a [Recorder] and to observers.
//
//	rec := tacho.NewRecorder()
//	client := &http.Client{Transport: tacho.NewTransport(nil, tacho.WithRecorder(rec))}
//
// For openai-go hand [Middleware] to option.WithMiddleware. Without an SDK use
// [Client].
//
// # Telemetry
//
// Each call is one span, "chat MODEL", and counts in metrics by the names of
// OpenTelemetry's conventions; docs/telemetry.md has all of them.
//
// # Glossary
//
//	TTFB            start → first response byte
//	TTFC            start → first SSE data event of any kind
//	TTFT            start → first event with generated output in any channel
//	TTFO            start → first output a user sees, which reasoning is not
//	gap, ITL        time between two successive output events of a call
//	TBT             time between tokens: a gap shared over the tokens of its later event
//	TTLT            start → last output event
//	TPOT            (TTLT − TTFT) ÷ (streamed tokens − those of the first event)
//	duration        start → end: the terminal event, else what ended the call
//	network wait    time inside Read, from the first byte on
//	consumer wait   time outside Read, from the first byte on: the application's own
//	upper bound     a time whose bytes may have come earlier, while the application was away
//	buffered        a stream whose output came in one burst after a wait
//
// A figure that is not defined for a call is absent: methods return false,
// JSON has no key. Times are monotonic. The time of an event is that of the
// Read that completed it, as the application saw it.
package tacho

// Version is the version of this module, in semantic versioning.
const Version = "0.1.0"

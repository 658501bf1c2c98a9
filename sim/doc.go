// SPDX-License-Identifier: Apache-2.0

// Package sim is a simulated OpenAI-compatible LLM endpoint, for tests and for
// experiments without a provider.
//
// An [Endpoint] is an http.Handler with the routes for chat completions, legacy
// completions, responses, embeddings and models. It plays a [Script], which says
// to the byte and to the nanosecond what is sent, or without a script a [Model],
// which has the service times of a plausible language model, or a [Serving], which
// is a server under load: batches, queues, refusals, caches, replicas, metrics.
// Serving.Simulate runs the same in virtual time without HTTP, and [Preset] has
// some that imitate published measurements.
//
// A [Server] puts an endpoint on a network: in memory ([New] in a test,
// [NewServer] elsewhere), where it also works inside a testing/synctest bubble
// with exact times, or on a loopback port ([Listen]). A [Link] delays its
// packets, limits their rate and loses some.
//
//	srv := sim.New(t)
//	srv.Play(sim.Script{Text: "to be or not", FirstDelay: 300 * time.Millisecond, Gap: 20 * time.Millisecond})
//	resp, err := srv.Client().Post(srv.URL()+"/chat/completions", "application/json",
//		strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
//
// The answers are deterministic: identifiers and draws come from a seed, the
// time stamp in them is fixed. They are made up: the vectors and the model's
// texts mean nothing, and its service times are those of no particular product;
// a preset's figures are imitated and say nothing of how the product works.
package sim

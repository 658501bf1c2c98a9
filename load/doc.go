// SPDX-License-Identifier: Apache-2.0

// Package load puts a measured load on an OpenAI-compatible endpoint and tells
// what came of it, and whether the figures can be trusted.
//
// A load is a list of stages, each of them open (calls at the moments of a
// schedule, whatever the endpoint does) or closed (a number of workers, each with
// one call at a time):
//
//	rec := load.NewRecorder()
//	client, err := tacho.NewClient(url, key, tacho.WithConcurrency(256), tacho.WithRecorder(rec))
//	…
//	chat := load.Chat{Client: client, Model: "m", Prompts: load.Synthetic(128, 512), MaxTokens: 256}
//	res, err := load.Run(ctx, load.Config{
//		Stages:   []load.Stage{load.Poisson(20, time.Minute).After(10 * time.Second), load.Workers(50, time.Minute)},
//		Call:     chat.Call,
//		Recorder: rec,
//	})
//
// The schedule of an open stage is absolute: an arrival has its moment from the
// beginning, and no call that is slow moves a later one. Latencies are told from
// the actual start of a call, in StageResult.Snapshot, and from its intended start,
// in StageResult.Streams and Plain: with calls that had to wait, the second alone is
// what a user would have seen (coordinated omission). What the schedule wanted and
// never got counts against the goodput.
//
// A run keeps histograms and counters, no calls: its memory grows neither with
// its time nor with its calls.
package load

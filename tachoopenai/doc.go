// SPDX-License-Identifier: Apache-2.0

// Package tachoopenai is the client of openai-go v3 with tacho in it: one
// measured call for each call of the SDK, whatever number of attempts it took.
//
//	client := tachoopenai.NewClient()                                            // OPENAI_API_KEY, OPENAI_BASE_URL
//	client := tachoopenai.NewClient(tachoopenai.With(tacho.WithRecorder(rec)))   // measured into rec
//	client := tachoopenai.NewClient(azure.WithEndpoint(…), azure.WithAPIKey(…))
//
// It takes the options of openai.NewClient, and those of tacho by With. The
// SDK's middleware option alone, option.WithMiddleware(tacho.Middleware()), makes
// one call of each attempt instead, and serves openai-go v1 and v2, too.
//
// # Attempts
//
// Calls are what a [tacho.Transport] measures: chat completions, completions,
// responses, embeddings, images, audio, moderations. They are made again by
// [tacho.WithRetries] inside the call, and no more by the SDK. By default there
// are three attempts as the SDK has them: it retries after the same statuses and
// errors, waits half a second, then a second, and as long as the server asks,
// up to two minutes. To change that:
//
//	tachoopenai.With(tacho.WithRetries(tacho.RetryPolicy{Attempts: 5}))
//
// Requests for anything else, such as models, files or batches, are not
// measured, and the SDK makes them again as it always does.
//
// What the SDK's own options mean for a call:
//
//   - option.WithMaxRetries has no effect, on the client and on a single call,
//     and so has option.WithMaxRetryDelay: the RetryPolicy holds. For calls that
//     must not be made again make a second client, with Attempts: 1. For other
//     requests both have the effect that they have in the SDK.
//   - option.WithRequestTimeout bounds the call: its attempts, the waits between
//     them and the reading of the answer together, not each attempt. A wait that
//     would outlast it is not begun, and the server's refusal is returned at
//     once, an *openai.Error. One that passes within an attempt ends the call
//     with context.DeadlineExceeded.
//   - option.WithMiddleware runs once for each attempt, as in the SDK, and within
//     the measured time. Each attempt has a request of its own, and the SDK's
//     header X-Stainless-Retry-Count counts them from 0.
//   - option.WithHTTPClient is used as it is. Without it the SDK's default is
//     kept, with its limit of ten minutes for the headers of an answer. That
//     limit is one of each attempt, so three of them can take half an hour.
//
// What the SDK itself refuses to send, to a host that is not its base URL's or
// with Azure's key over plain HTTP, takes three attempts to fail in place of one:
// its mark on that error is not to be seen from outside.
//
// A body that cannot be read twice, as option.WithRequestBody makes one of a
// plain io.Reader, is sent in one attempt.
//
// # What an application sees of it
//
// Errors are those of the SDK: an *openai.Error with status and body of the last
// attempt, or the error of its transport. So that the SDK takes it for the last
// word, a refusal that it would answer by another attempt has the header
// X-Should-Retry: false, and the *http.Response that option.WithResponseInto gives
// is one without a status, not nil, beside an error of the transport.
package tachoopenai

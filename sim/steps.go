// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net/http"
	"slices"
	"unicode"
)

func (s *Script) status() int {
	switch {
	case s.Status != 0:
		return s.Status
	case s.Body == nil && s.isError():
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

func (s *Script) errorBody() []byte {
	typ := s.ErrorType
	if typ == "" {
		if typ = "invalid_request_error"; s.status() >= 500 {
			typ = "server_error"
		}
	}
	message := s.ErrorMessage
	if message == "" {
		message = http.StatusText(s.status())
	}
	return errorObject(s.ErrorCode, typ, message)
}

// shape resolves UsageAsAsked.
func (s *Script) shape(c call) UsageShape {
	if s.UsageShape != UsageAsAsked {
		return s.UsageShape
	}
	if c.includeUsage {
		return UsageOnLastChunk
	}
	return UsageNone
}

// usage is what the answer reports: a Usage step wins over Script.Usage, and
// that over the count.
func (s *Script) usage(c call, steps []Step) UsageCounts {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].kind == kindUsage {
			return steps[i].usage
		}
	}
	if s.Usage != nil {
		return *s.Usage
	}
	return countUsage(c.promptTokens, steps)
}

// steps returns the steps to be played: the script's own, or those made from
// its text, completed by a Usage step where the shape wants one.
func (s *Script) steps(c call) []Step {
	steps := s.Steps
	if steps == nil {
		steps = s.make(c)
	}
	shape := s.shape(c)
	separate := shape == UsageOnLastChunk || shape == UsageXGroq
	if c.api == apiResponses || !separate || slices.ContainsFunc(steps, func(st Step) bool { return st.kind == kindUsage }) {
		return steps
	}
	// The steps of the caller are not asked for usage by the request alone.
	if s.Steps != nil && s.UsageShape == UsageAsAsked {
		return steps
	}
	at := len(steps)
	for at > 0 && (steps[at-1].kind == kindDone || steps[at-1].kind == kindCut || steps[at-1].kind == kindHang) {
		at--
	}
	return slices.Insert(slices.Clone(steps), at, Usage(s.usage(c, steps)))
}

// make makes the steps of a script that has none: the choices take turns.
func (s *Script) make(c call) []Step {
	n := s.Choices
	if n == 0 {
		n = c.n
	}
	if c.api == apiResponses {
		n = 1
	}
	text, reason := s.Text, s.FinishReason
	if text == "" {
		text = defaultText
	}
	if reason == "" {
		reason = "stop"
	}
	var steps []Step
	each := func(f func(choice int) Step) {
		for choice := range n {
			steps = append(steps, f(choice))
		}
	}
	if c.api != apiCompletions {
		each(Role)
		for _, w := range words(s.Reasoning) {
			each(func(choice int) Step { return Reasoning(choice, w) })
		}
	}
	for _, w := range words(text) {
		each(func(choice int) Step { return Text(choice, w) })
	}
	each(func(choice int) Step { return Finish(choice, reason) })
	if !s.NoDone && c.api != apiResponses {
		steps = append(steps, Done())
	}
	return steps
}

// words splits a text into pieces that begin where white space begins, so that
// their concatenation is the text.
func words(text string) []string {
	var pieces []string
	start, inWord := 0, false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if space && inWord {
			pieces = append(pieces, text[start:i])
			start = i
		}
		inWord = !space
	}
	if start < len(text) {
		pieces = append(pieces, text[start:])
	}
	return pieces
}

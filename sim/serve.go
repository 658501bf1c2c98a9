// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serve answers a request by the serving model.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request, c call, body []byte) {
	l, s := e.live, &e.live.e.s
	q := &request{number: c.number, prompt: min(c.promptTokens, maxPrompt), limit: c.maxTokens, places: c.n}
	switch {
	case c.api == apiEmbeddings:
		q.output = -1
	case c.ignoreEOS && c.maxTokens > 0:
		q.output, q.cut = min(c.maxTokens, maxOutput), true
	}
	if s.ResponseCache > 0 {
		sum := sha256.Sum256(body)
		q.body = strconv.Itoa(int(c.api)) + string(sum[:])
	}
	if s.PrefixCache > 0 {
		q.blocks = textBlocks(c.model, textOf(c.prompt...), s.PrefixBlock)
	}
	first := l.arrive(q)
	defer l.leave(q)
	if p := l.await(r.Context(), q, first); p.status != 0 && p.status != statusOK {
		e.refuse(w, r, c, q)
		return
	}
	// The facts of an admitted request do not change any more.
	c.number = q.of
	script := Script{Steps: s.steps(c, q, e.cfg.seed), Header: q.header()}
	if s.ResponseCache > 0 {
		script.Header.Set("X-Cache", map[bool]string{true: "HIT", false: "MISS"}[q.hit])
	}
	if c.api == apiEmbeddings {
		script.Steps = nil
	}
	p, err := newPlayer(w, r, c, script, newIDs(e.cfg.seed, q.of))
	if err != nil {
		writeError(w, http.StatusInternalServerError, "", simError, err.Error())
		return
	}
	switch {
	case c.api == apiEmbeddings:
		p.plain(http.StatusOK, embeddings(c, &script, p.ids))
	case c.stream:
		p.follow(l, q)
	default:
		l.await(r.Context(), q, math.MaxInt)
		p.plainSteps()
	}
}

// steps are those of an answer, one for each event and choice.
func (s *Serving) steps(c call, q *request, seed uint64) []Step {
	r := rand.New(rand.NewPCG(seed^wordStream, q.of))
	var steps []Step
	if c.api != apiCompletions {
		for i := range q.places {
			steps = append(steps, Role(i))
		}
	}
	for k := 0; k < q.output; k += s.TokensPerEvent {
		for i := range q.places {
			var text strings.Builder
			for t := k; t < min(k+s.TokensPerEvent, q.output); t++ {
				text.WriteString(word(r, t))
			}
			steps = append(steps, Text(i, text.String()))
		}
	}
	reason := "stop"
	if q.cut {
		reason = "length"
	}
	for i := range q.places {
		steps = append(steps, Finish(i, reason))
	}
	if c.includeUsage || !c.stream || c.api == apiResponses {
		steps = append(steps, Usage(UsageCounts{
			InputTokens: c.promptTokens, OutputTokens: q.places * (q.output + q.reasoning),
			CachedTokens: q.cached, ReasoningTokens: q.places * q.reasoning,
		}))
	}
	if c.api != apiResponses {
		steps = append(steps, Done())
	}
	return steps
}

// follow streams the steps as the engine emits their tokens. What is due at the
// same time is one write. The headers come with the first token.
func (p *player) follow(l *live, q *request) {
	ctx, each := p.r.Context(), l.e.s.TokensPerEvent
	p.head(http.StatusOK, "text/event-stream; charset=utf-8", -1)
	var held []byte
	send := func() {
		p.write(held)
		p.flush()
		held = held[:0]
	}
	texts := 0
	for _, st := range p.steps {
		if st.kind == kindText {
			want := min((texts/q.places+1)*each, q.output)
			if len(held) > 0 && l.await(ctx, q, 0).sent < want {
				send()
			}
			l.await(ctx, q, want)
			texts++
		}
		for _, e := range p.form.events(st) {
			held = append(held, e...)
		}
	}
	send()
}

// header is what an answer's headers say of the rate limits.
func (q *request) header() http.Header {
	h := make(http.Header)
	for i, what := range []string{"Requests", "Tokens"} {
		l := q.limits[i]
		if l.limit == 0 {
			continue
		}
		h.Set("X-Ratelimit-Limit-"+what, strconv.Itoa(l.limit))
		h.Set("X-Ratelimit-Remaining-"+what, strconv.Itoa(l.remaining))
		h.Set("X-Ratelimit-Reset-"+what, upTo(l.reset, time.Millisecond).String())
	}
	return h
}

// upTo rounds up to a multiple of unit.
func upTo(d, unit time.Duration) time.Duration { return d + (unit-d%unit)%unit }

// refuse answers with the error object of a refusal.
func (e *Endpoint) refuse(w http.ResponseWriter, r *http.Request, c call, q *request) {
	s := Script{Status: q.status, Header: q.header()}
	if q.wait > 0 {
		s.Header.Set("Retry-After", strconv.FormatInt(int64(upTo(q.wait, time.Second)/time.Second), 10))
		s.Header.Set("Retry-After-Ms", strconv.FormatInt(int64(upTo(q.wait, time.Millisecond)/time.Millisecond), 10))
	}
	switch q.status {
	case statusTooLarge:
		s.ErrorType, s.ErrorCode = "invalid_request_error", "context_length_exceeded"
		s.ErrorMessage = fmt.Sprintf("The request needs %d tokens and %d sequences, more than the server has.", q.kv, q.places)
	case statusLimited:
		s.ErrorType, s.ErrorCode = q.why, "rate_limit_exceeded"
		s.ErrorMessage = fmt.Sprintf("Rate limit reached for %s on %s per min.", c.model, q.why)
	case statusOverloaded:
		s.ErrorType, s.ErrorCode, s.ErrorMessage = "server_error", "overloaded", "The server is overloaded. Please try again later."
	}
	p, err := newPlayer(w, r, c, s, newIDs(e.cfg.seed, c.number))
	if err != nil {
		writeError(w, http.StatusInternalServerError, "", simError, err.Error())
		return
	}
	p.play()
}

// textBlocks hashes the beginning of a prompt up to the end of each whole block. A
// token is 4 bytes, as in the estimate of the prompt's length.
func textBlocks(model, text string, block int) []uint64 {
	var blocks []uint64
	h := hashString(model)
	for size := 4 * block; len(text) >= size; text = text[size:] {
		h = mix(h, hashString(text[:size]))
		blocks = append(blocks, h)
	}
	return blocks
}

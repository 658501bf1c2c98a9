// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"net/http"
	"time"
)

// created is the time stamp in every answer: 2025-01-01 00:00 UTC.
const created = 1735689600

// player plays one script for one request.
type player struct {
	w      http.ResponseWriter
	r      *http.Request
	script Script
	call   call
	ids    ids
	form   form
	steps  []Step
	due    time.Time // of what was last waited for
}

// newPlayer finds everything that is wrong before anything is sent.
func newPlayer(w http.ResponseWriter, r *http.Request, c call, s Script, id ids) (*player, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Model != "" {
		c.model = s.Model
	}
	p := &player{w: w, r: r, script: s, call: c, ids: id}
	if s.Body != nil || s.isError() || s.Abort {
		return p, nil
	}
	if c.api == apiEmbeddings {
		if s.Steps != nil {
			return nil, fmt.Errorf("sim: Script.Steps have no form in embeddings")
		}
		return p, nil
	}
	switch {
	case c.api == apiCompletions && s.Reasoning != "":
		return nil, fmt.Errorf("sim: Script.Reasoning has no form in legacy completions")
	case c.api == apiResponses && s.Choices > 1:
		return nil, fmt.Errorf("sim: Script.Choices is %d, but the Responses API has one", s.Choices)
	}
	p.steps = s.steps(c)
	usage := s.usage(c, p.steps)
	lines := lines{crlf: s.CRLF, names: !s.NoEventNames}
	shape := s.shape(c)
	switch c.api {
	case apiChat:
		p.form = newChat(&s, c, id, lines, shape, usage)
	case apiCompletions:
		p.form = newCompletions(&s, c, id, lines, shape, usage)
	case apiResponses:
		p.form = newResponses(&s, c, id, lines, usage)
	}
	for i, st := range p.steps {
		if err := p.form.check(st); err != nil {
			return nil, fmt.Errorf("sim: Script.Steps[%d]: %w", i, err)
		}
	}
	return p, nil
}

func (p *player) play() {
	p.due = time.Now()
	p.wait(p.script.HeaderDelay)
	if p.script.Abort {
		abort()
	}
	s := &p.script
	switch {
	case s.Body != nil:
		p.plain(s.status(), s.Body)
	case s.isError():
		p.plain(s.status(), s.errorBody())
	case p.call.api == apiEmbeddings:
		p.plain(s.status(), embeddings(p.call, s, p.ids))
	case p.call.stream:
		p.stream()
	default:
		p.plainSteps()
	}
}

// abort ends the handler in such a way that the server cuts the answer short.
func abort() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // net/http has no other way for a handler to abort its connection
}

// wait waits until d after the moment that was last waited for. It aborts the
// answer when the request's context ends.
func (p *player) wait(d time.Duration) {
	p.due = p.due.Add(d)
	ctx := p.r.Context()
	if left := time.Until(p.due); left > 0 {
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
		}
	}
	if ctx.Err() != nil {
		abort()
	}
}

func (p *player) hang() {
	<-p.r.Context().Done()
	abort()
}

// plain writes a body in one piece.
func (p *player) plain(status int, body []byte) {
	p.head(status, "application/json", len(body))
	if p.script.BodyDelay > 0 {
		p.flush()
		p.wait(p.script.BodyDelay)
	}
	p.write(body)
}

// plainSteps writes the content of the steps as one JSON body.
func (p *player) plainSteps() {
	end := kindNone
	for i, st := range p.steps {
		switch st.kind {
		case kindError:
			p.plain(http.StatusInternalServerError, errorObject(st.code, st.typ, st.text))
			return
		case kindCut, kindHang:
			end = st.kind
			p.steps = p.steps[:i]
		}
		if end != kindNone {
			break
		}
	}
	body := p.form.plain(p.steps)
	if end == kindNone {
		p.plain(p.script.status(), body)
		return
	}
	p.head(p.script.status(), "application/json", len(body))
	p.flush()
	p.wait(p.script.BodyDelay)
	p.write(body[:len(body)/2])
	p.flush()
	if end == kindHang {
		p.hang()
	}
	abort()
}

// stream writes the steps as server-sent events.
func (p *player) stream() {
	s := &p.script
	p.head(s.status(), "text/event-stream; charset=utf-8", -1)
	p.flush()
	var held []byte
	events := 0
	send := func() {
		if len(held) > 0 {
			p.write(held)
			p.flush()
		}
		held, events = held[:0], 0
	}
	for i, st := range p.steps {
		switch {
		case st.delaySet:
			p.wait(st.delay)
		case i == 0:
			p.wait(s.FirstDelay)
		default:
			p.wait(s.Gap)
		}
		switch st.kind {
		case kindCut:
			send()
			abort()
		case kindHang:
			send()
			p.hang()
		}
		for _, e := range p.form.events(st) {
			held = append(held, e...)
			if events++; !s.OneBurst && events >= s.Coalesce {
				send()
			}
		}
	}
	send()
	// The handler lingers, and with it the end of the body.
	p.wait(s.TailDelay)
}

func (p *player) write(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := p.w.Write(b); err != nil {
		abort()
	}
}

func (p *player) flush() {
	if err := http.NewResponseController(p.w).Flush(); err != nil {
		abort()
	}
}

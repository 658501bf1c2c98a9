// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tacho-go/tacho"
)

// SyntaxError is an error in a budget's text.
type SyntaxError struct {
	Text   string
	Line   int // of a file, from 1; 0 for a text alone
	Column int // in bytes, from 1
	Want   string
}

// Error tells where the error is and what should stand there.
func (e *SyntaxError) Error() string {
	where := fmt.Sprintf("column %d", e.Column)
	if e.Line > 0 {
		where = fmt.Sprintf("line %d, %s", e.Line, where)
	}
	return fmt.Sprintf("budget: %s of %q: want %s", where, e.Text, e.Want)
}

// Parse reads a budget:
//
//	FIGURE STATISTIC OP TIME      ttft p99 <= 500ms; gap max <= 2s; duration mean < 3s
//	share(FIGURE <= TIME) OP N%   share(ttft <= 500ms) >= 99.9%
//	goodput(LIMIT, …) OP N%       goodput(ttft <= 500ms, tpot <= 50ms) >= 95%; in calls a second: >= 10/s
//	errors OP N%                  errors <= 1%
//	429 OP N%                     429 <= 0.5%
//	throughput OP N/s             throughput >= 100/s, in output tokens
//	input_tokens OP N             also output_tokens
//	longest_stall OP TIME         longest_stall <= 2s
//
// and behind it, where it is for some calls only, their labels:
// {model="gpt-4o", region="eu", stream="true"}. FIGURE is a key of the record, OP
// one of <=, <, >=, >. Capitals are read as small letters, itl as gap, e2e and
// latency as duration. An error is a *SyntaxError.
func Parse(text string) (Budget, error) {
	p := parser{text: text, rest: text}
	b := p.budget()
	if p.err != nil {
		return Budget{}, p.err
	}
	return b, nil
}

// MustParse is Parse for texts in programs. It panics with the error.
func MustParse(text string) Budget {
	b, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return b
}

// parser reads a text from its front. After an error it reads nothing.
type parser struct {
	text, rest string
	err        error
}

func (p *parser) fail(want string) {
	if p.err == nil {
		p.err = &SyntaxError{Text: p.text, Column: len(p.text) - len(p.rest) + 1, Want: want}
	}
}

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r") }

// take takes a token if it is next.
func (p *parser) take(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok && p.err == nil {
		p.rest = rest
	}
	return ok && p.err == nil
}

// isWord reports whether a text is letters, digits, "_", "." and "-" alone.
func isWord(s string) bool { return s != "" && !strings.ContainsFunc(s, noWord) }

func noWord(r rune) bool {
	return r != '_' && r != '.' && r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

// word returns the word that is next.
func (p *parser) word() string {
	p.space()
	end := strings.IndexFunc(p.rest, noWord)
	if end < 0 {
		end = len(p.rest)
	}
	return p.rest[:end]
}

const figures = "dns, connect, tls, send, wait, ttfb, ttfc, ttft, ttfo, ttlt, duration, gap, tpot, network_wait or consumer_wait"

func (p *parser) budget() (b Budget) {
	w := p.word()
	switch strings.ToLower(w) {
	case "errors":
		b.kind = errorRate
	case "429":
		b.kind = tooMany
	case "throughput":
		b.kind = throughput
	case "input_tokens":
		b.kind = inputTokens
	case "output_tokens":
		b.kind = outputTokens
	case "longest_stall":
		b.kind = longestStall
	case "share":
		b.kind = share
	case "goodput":
		b.kind = goodput
	default:
		f, ok := figureNamed(w)
		if !ok {
			p.fail("a figure (" + figures + "), share(…), goodput(…), errors, 429, throughput, input_tokens, output_tokens or longest_stall" + didYouMean(w, firstWords()))
			return b
		}
		b.figure = f
		p.rest = p.rest[len(w):]
		p.statistic(&b)
		return p.bound(b)
	}
	p.rest = p.rest[len(w):]
	if b.kind == share || b.kind == goodput {
		p.limits(&b)
	}
	return p.bound(b)
}

func figureNamed(name string) (tacho.Figure, bool) {
	name = usualName(name)
	for f := range tacho.ConsumerWait + 1 {
		if f.String() == name {
			return f, true
		}
	}
	return 0, false
}

func (p *parser) statistic(b *Budget) {
	const want = "mean, max, or a quantile as p99 or p99.9"
	word := p.word()
	w := strings.ToLower(word)
	switch {
	case w == "mean":
		b.kind = mean
	case w == "max":
		b.kind = maximum
	case strings.HasPrefix(w, "p"):
		q, err := hundredth(w[1:])
		if err != nil || !(q > 0 && q <= 1) {
			p.fail("a quantile from above p0 to p100")
			return
		}
		b.kind, b.q = quantile, q
	default:
		p.fail(want)
		return
	}
	p.rest = p.rest[len(word):]
}

func (p *parser) limits(b *Budget) {
	if !p.take("(") {
		p.fail("(")
		return
	}
	for {
		w := p.word()
		f, ok := figureNamed(w)
		if !ok || f == tacho.Gap {
			p.fail("a figure that a call has one of (" + figures + ", but gap)" + didYouMean(w, slices.DeleteFunc(figureNames(), func(name string) bool { return name == tacho.Gap.String() || strings.EqualFold(name, w) })))
			return
		}
		p.rest = p.rest[len(w):]
		if !p.take("<=") {
			p.fail("<=")
			return
		}
		b.limits = append(b.limits, Limit{f, p.duration()})
		if p.space(); b.kind == share && strings.HasPrefix(p.rest, ",") {
			p.fail(") behind the one limit of a share")
			return
		}
		switch {
		case p.take(","):
		case p.take(")"):
			return
		default:
			p.fail(", or )")
			return
		}
	}
}

func (p *parser) duration() time.Duration {
	w := p.word()
	for _, micro := range [...]string{"µs", "μs"} { // 50µs, with either sign
		if strings.HasPrefix(p.rest[len(w):], micro) {
			w = p.rest[:len(w)+len(micro)]
		}
	}
	d, err := time.ParseDuration(w)
	if err != nil || d < 0 {
		p.fail("a time as 500ms or 1.5s")
		return 0
	}
	p.rest = p.rest[len(w):]
	return d
}

func (p *parser) bound(b Budget) Budget {
	found := false
	for _, o := range [...]op{atMost, below, atLeast, above} { // <= before <
		if p.take(ops[o]) {
			b.op, found = o, true
			break
		}
	}
	if !found {
		p.fail("<=, <, >= or >")
		return b
	}
	switch {
	case b.kind.timed():
		b.time = p.duration()
		b.bound = b.time.Seconds()
	default:
		w := p.word()
		n, err := strconv.ParseFloat(w, 64)
		if err != nil || !(n >= 0 && n <= 1e15) {
			p.fail("a number, 0 or more")
			return b
		}
		at := p.rest
		p.rest = p.rest[len(w):]
		b.bound = n
		switch {
		case b.kind == goodput && p.take("/s"):
			b.kind = goodputRate
		case b.kind.rate():
			if !p.take("%") {
				p.fail(percentHint(n))
				return b
			}
			if n > 100 {
				p.rest = at
				p.fail("a share up to 100%")
				return b
			}
			b.bound, _ = hundredth(w)
		case b.kind == throughput:
			p.take("/s")
		}
	}
	if p.take("{") {
		p.labels(&b)
	}
	if p.space(); p.rest != "" && p.err == nil {
		p.fail("the end, or labels in { }")
	}
	return b
}

func (p *parser) labels(b *Budget) {
	for !p.take("}") {
		name, quotedName := p.word(), false
		if name == "" && strings.HasPrefix(p.rest, `"`) {
			quoted, err := strconv.QuotedPrefix(p.rest)
			if err != nil {
				p.fail("a label's name in double quotes")
				return
			}
			name, _ = strconv.Unquote(quoted)
			p.rest, quotedName = p.rest[len(quoted):], true
		} else if name == "" {
			p.fail("a label's name, or }")
			return
		} else {
			p.rest = p.rest[len(name):]
		}
		if !p.take("=") {
			p.fail("=")
			return
		}
		p.space()
		quoted, err := strconv.QuotedPrefix(p.rest)
		if err != nil || quoted[0] != '"' {
			p.fail("a value in double quotes")
			return
		}
		value, _ := strconv.Unquote(quoted)
		if name == "stream" && !quotedName {
			stream, err := strconv.ParseBool(value)
			if err != nil {
				p.fail(`"true" or "false"`)
				return
			}
			b.stream = &stream
		} else {
			b.labels = append(b.labels, tacho.Label{Name: name, Value: value})
		}
		p.rest = p.rest[len(quoted):]
		if !p.take(",") && !strings.HasPrefix(strings.TrimLeft(p.rest, " \t"), "}") {
			p.fail(", or }")
			return
		}
	}
}

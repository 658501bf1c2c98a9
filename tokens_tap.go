// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"io"
	"net/http"

	"github.com/tacho-go/tacho/internal/wire"
)

// TokenCounting says how WithTokenCounter counts. The zero value counts the
// models of OpenAI, and requests of at most 1 MiB.
type TokenCounting struct {
	// Encoding returns the encoding of a model, nil for one whose tokens are not
	// to be counted. A nil func is EncodingForModel, guesses included. It may be
	// called concurrently.
	Encoding func(model string) *Encoding
	// MaxRequest bounds the requests that are counted, in bytes: counting takes 15
	// to 65 ms a MiB at the call's end, by the script. 0 is 1 MiB; with a negative one no request is.
	MaxRequest int64
}

// Counted are the tokens that were counted of a call, by WithTokenCounter.
type Counted struct {
	// Input is an estimate, by CountChat; false for a request of another API, one
	// that is too large, or whose body cannot be had again.
	Input    int
	HasInput bool
	// Output counts the text of the answer and its tool calls, all choices together.
	Output    int
	Reasoning int // of Output
	First     int // of Output: what the first output of a stream had
	// Guess: the model's name is not known, only that of a family.
	Guess bool
}

// WithTokenCounter counts the tokens of chats, completions and responses: of the
// output as it passes, so that TPOT and TBT are over counted tokens and not over
// assumed ones, and of a chat's request at the call's end. Where the server reports
// no usage, that of the record and of the span is the counted one, marked as
// estimated; Call.TokenDrift tells how far both are apart. Each event is read in full then,
// as it is when content is captured, and a program with this option carries the vocabularies, 1.3 MB.
//
// By default nothing is counted.
func WithTokenCounter(t TokenCounting) Option {
	if t.MaxRequest == 0 {
		t.MaxRequest = 1 << 20
	}
	guess := func(string) bool { return false }
	if t.Encoding == nil {
		t.Encoding = func(model string) *Encoding {
			enc, _, err := EncodingForModel(model)
			if err != nil {
				return nil
			}
			return enc
		}
		guess = func(model string) bool {
			_, known := encodingName(model)
			return !known
		}
	}
	return optionFunc(func(c *config) {
		c.newTap = func() tap { return &tokenTap{by: &t, guess: guess} }
	})
}

// tap counts the tokens of a call. It is an interface so that a program without
// WithTokenCounter carries no tokenizer.
type tap interface {
	// begin looks at the request.
	begin(r *http.Request)
	// hear takes a piece of the output.
	hear(choice int32, kind wire.Channel, args *wire.Text, text []byte)
	// first is called with the first output of a stream, when it was heard.
	first()
	// end puts the counts in the record.
	end(c *Call)
	// model says whose output it will be.
	model(name string)
}

// tokenTap is used under the exchange's lock.
type tokenTap struct {
	by    *TokenCounting
	guess func(string) bool
	body  func() (io.ReadCloser, error) // nil: not to be counted
	enc   *Encoding                     // nil: not known
	// Tokens do not reach from one channel, choice or call into another.
	counters map[heard]*TokenCounter
	begun    int // tokens of the first output
}

// heard is what texts are put together of.
type heard struct {
	choice int32
	kind   wire.Channel
	args   *wire.Text
}

func (t *tokenTap) begin(r *http.Request) {
	if r.GetBody != nil && r.ContentLength > 0 && r.ContentLength <= t.by.MaxRequest {
		t.body = r.GetBody
	}
}

func (t *tokenTap) model(name string) { t.enc = t.by.Encoding(name) }

func (t *tokenTap) hear(choice int32, kind wire.Channel, args *wire.Text, text []byte) {
	if t.enc == nil {
		return
	}
	of := heard{choice, kind, args}
	c := t.counters[of]
	if c == nil {
		if t.counters == nil {
			t.counters = map[heard]*TokenCounter{}
		}
		c = t.enc.NewCounter()
		t.counters[of] = c
	}
	c.Write(text)
}

func (t *tokenTap) count() (all, reasoning int) {
	for of, c := range t.counters {
		n := c.Count()
		if all += n; of.kind == wire.Reasoning {
			reasoning += n
		}
	}
	return all, reasoning
}

func (t *tokenTap) first() { t.begun, _ = t.count() }

func (t *tokenTap) end(c *Call) {
	if t.enc == nil {
		return
	}
	model := c.RequestModel()
	n := &Counted{First: t.begun, Guess: t.guess(model)}
	n.Output, n.Reasoning = t.count()
	n.Output += t.names(c)
	if n.Input, n.HasInput = t.request(c); !n.HasInput && n.Output == 0 {
		return
	}
	c.extras().counted = n
}

// names counts the names of the tools that were called, which come whole.
func (t *tokenTap) names(c *Call) (n int) {
	lists := [][]wire.Call{c.facts.Calls}
	if kept := c.facts.Captured; kept != nil {
		for i := range kept.Others {
			lists = append(lists, kept.Others[i].Calls)
		}
	}
	for _, calls := range lists {
		for i := range calls {
			if k := calls[i].Kept; k != nil {
				n += t.enc.Count(k.Name)
			}
		}
	}
	return n
}

// request counts the request.
func (t *tokenTap) request(c *Call) (n int, ok bool) {
	if t.body == nil || c.api != wire.ChatCompletions {
		return 0, false
	}
	body, err := t.body()
	if err != nil || body == nil {
		return 0, false
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, t.by.MaxRequest+1))
	if err != nil || int64(len(b)) > t.by.MaxRequest {
		return 0, false
	}
	var chat ChatCount
	if chat.count(b, t.enc) != nil {
		return 0, false
	}
	return chat.Total(), true
}

// Counted returns the tokens that were counted, absent without WithTokenCounter
// and for a model whose encoding is not known.
func (c *Call) Counted() (Counted, bool) {
	if c.more == nil || c.more.counted == nil {
		return Counted{}, false
	}
	return *c.more.counted, true
}

// Drift is by how many tokens a count is above what the server reported; one that
// is negative is below it. Input counts what came from a cache, and output what was
// reported as reasoning only if reasoning was seen.
type Drift struct {
	Input, Output       int64
	HasInput, HasOutput bool
}

// TokenDrift compares the counted tokens with the reported ones, absent where one
// of both is. A call that did not end complete has no drift of its output.
func (c *Call) TokenDrift() (Drift, bool) {
	n, ok := c.Counted()
	if !ok {
		return Drift{}, false
	}
	var d Drift
	if in := c.facts.InputTotal(); in.OK && n.HasInput {
		d.Input, d.HasInput = int64(n.Input)-in.N, true
	}
	if out, ok := c.reportedOutput(); ok && c.outcome == Complete {
		d.Output, d.HasOutput = int64(n.Output)-out, true
	}
	return d, d.HasInput || d.HasOutput
}

// reportedOutput is the reported output as far as it was to be seen.
func (c *Call) reportedOutput() (int64, bool) {
	if c.stream {
		return c.StreamedTokens()
	}
	u := &c.facts.Usage
	if !u.Output.OK {
		return 0, false
	}
	out := u.Output.N
	if c.facts.ReasoningChars == 0 && u.Reasoning.N <= out {
		out -= max(0, u.Reasoning.N)
	}
	return out, true
}

// estimated is the counted usage of a call whose server reported none.
func (c *Call) estimated() (Counted, bool) {
	u := &c.facts.Usage
	if u.Input.OK || u.Output.OK {
		return Counted{}, false
	}
	return c.Counted()
}

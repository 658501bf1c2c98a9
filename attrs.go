// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/tacho-go/tacho/internal/conv"
)

// The attributes of a call's metrics. Making a set costs more than recording a
// value, and calls of one kind have the same: sets are made once and kept.

// attrs is a set in the forms in which instruments take it.
type attrs struct {
	record []metric.RecordOption
	add    []metric.AddOption
}

// newAttrs is called in 30 places, and is not worth its size in each.
//
//go:noinline
func newAttrs(kv ...attribute.KeyValue) attrs {
	o := metric.WithAttributeSet(attribute.NewSet(kv...))
	return attrs{[]metric.RecordOption{o}, []metric.AddOption{o}}
}

// firstSets are of calls that have in common what is known from the first.
type firstSets struct {
	active, http attrs
	span         string // its name
	kv           []attribute.KeyValue
	start        []trace.SpanStartOption
}

// callSets are of calls that have ended and have all attributes in common.
type callSets struct {
	first   *firstSets
	span    []attribute.KeyValue // those of the span that such calls have in common
	ended   attrs                // durations and the like, with error.type
	calls   attrs                // with the outcome besides
	tokens  attrs                // of usage whose modality was not reported
	modal   [3]attrs             // text, image, audio
	unknown attrs
	kinds   [2]attrs // input and output
	phases  [len(phases)]attrs
	limits  [2]attrs // requests and tokens
	faults  attrs
	baggage attrs
	http    attrs
	slo     []verdicts // by objective

	overflow attrs
	folded   int64         // values that are _OTHER
	zeros    atomic.Uint64 // the counters that were told 0, by their ids
}

// maxSets bounds the sets that are kept.
const maxSets = 2000

// setCache keeps sets by what they are made of. The zero value is ready. One that
// is full makes no further ones: nil is returned.
type setCache[T any] struct {
	mu   sync.RWMutex
	sets map[string]*T
}

func (s *setCache[T]) get(key []byte) *T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.sets[string(key)]
}

// put keeps what is made for a key, unless it has something for it or is full.
func (s *setCache[T]) put(key []byte, make func() *T) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sets == nil {
		s.sets = map[string]*T{}
	}
	found := s.sets[string(key)]
	if found == nil && len(s.sets) < maxSets {
		found = make()
		s.sets[string(key)] = found
	}
	return found
}

func (s *setCache[T]) of(key []byte, make func() *T) *T {
	if found := s.get(key); found != nil {
		return found
	}
	return s.put(key, make)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// appendWhole appends a text and its end.
//
//go:noinline
func appendWhole(key []byte, s string) []byte { return append(append(key, s...), 0) }

// appendFirst appends what is known of a call from the first.
func (c *Call) appendFirst(key []byte) []byte {
	key = appendWhole(append(key, byte(c.api), flag(c.secure)), c.provider)
	return append(c.asked().Model.Append(appendWhole(key, c.server)), 0)
}

// first returns the sets of a call that begins.
func (g *config) first(c *Call) *firstSets {
	var room [256]byte
	if s := g.firsts.of(c.appendFirst(room[:0]), func() *firstSets { return newFirstSets(c, g) }); s != nil {
		return s
	}
	return newFirstSets(c, g)
}

func newFirstSets(c *Call, g *config) *firstSets {
	known := g.servers.admits(c.server, maxServers)
	s := &firstSets{http: newAttrs(httpServer(c, known)...), span: c.Operation()}
	var kv []attribute.KeyValue
	word(&kv, conv.OperationName, s.span)
	word(&kv, conv.ProviderName, c.provider)
	kv = appendServer(kv, c.server, c.secure)
	if s.active = newAttrs(kv...); !known {
		s.active.fill(kv[:2], conv.ServerAddress, other)
	}
	if !c.asked().Model.Empty() {
		model := g.models.word(c.RequestModel())
		s.span += " " + model
		word(&kv, conv.RequestModel, model)
	}
	s.kv = kv
	s.start = []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(kv...)}
	return s
}

// callWords are the words from the wire that a call's sets are made of.
type callWords struct {
	model, answer, tier, code, print string
	labels                           []string
	server                           bool // its address is told
	folded                           int64
}

// words returns those of a call; with fold, all stand as _OTHER.
func (g *config) words(c *Call, fold bool) (w callWords) {
	word := func(v *vocabulary, s string) string {
		if s == "" {
			return ""
		}
		if s = v.word(s); fold {
			s = other
		}
		if s == other {
			w.folded++
		}
		return s
	}
	w.server = g.servers.admits(c.server, maxServers)
	w.model, w.answer, w.tier = word(&g.models, c.RequestModel()), word(&g.answers, c.ResponseModel()), word(&g.tiers, c.facts.Tier)
	if w.code = g.errorWord(c); fold {
		w.code = c.errorKind()
	}
	if code := c.errorCode(); code != "" && w.code != code {
		w.folded++
	}
	if d := c.facts.Detail; d != nil && g.metricPrints {
		w.print = word(&g.prints, d.Fingerprint)
	}
	for _, m := range g.metricLabels {
		value := ""
		for _, l := range c.labels {
			if l.Name == m.name {
				value = word(&m.words, l.Value)
			}
		}
		w.labels = append(w.labels, value)
	}
	return w
}

// appendKey appends what tells the sets of these words from others.
func (w *callWords) appendKey(key []byte, c *Call, g *config) []byte {
	key = append(append(key, byte(c.api), flag(c.secure), byte(c.outcome), flag(c.asStream()), flag(w.server)), c.provider...)
	if key = append(key, 0); w.server {
		key = append(key, c.server...)
	}
	for _, s := range [...]string{w.model, w.answer, w.tier, w.code, w.print} {
		key = append(append(key, 0), s...)
	}
	for _, s := range w.labels {
		key = append(append(key, 0), s...)
	}
	if g.optIn&conv.HTTP != 0 {
		key = append(append(key, 0, byte(c.status>>8), byte(c.status)), c.proto...)
	}
	return key
}

// ended returns the sets of a call that has ended. Each of the values that come
// from the wire is bounded by its vocabulary; their mixtures are by the number of
// sets: calls beyond that have all of them folded. What a call says, as it says
// it, leads to its sets in one look; the words that became of that do else.
func (g *config) ended(c *Call) *callSets {
	var room, wordRoom [256]byte
	key := c.appendRaw(room[:0], g)
	if s := g.asSaid.get(key); s != nil {
		return s
	}
	w := g.words(c, false)
	s := g.sets.of(w.appendKey(wordRoom[:0], c, g), func() *callSets { return newSets(c, g, w) })
	if s == nil {
		w = g.words(c, true)
		make := func() *callSets { return newSets(c, g, w) }
		if s = g.rest.of(w.appendKey(wordRoom[:0], c, g), make); s == nil {
			return make()
		}
	}
	g.asSaid.put(key, func() *callSets { return s })
	return s
}

// appendRaw appends all that a call's sets may be made of.
func (c *Call) appendRaw(key []byte, g *config) []byte {
	key = append(c.appendFirst(key), byte(c.outcome), flag(c.asStream()))
	f, _ := c.Failure()
	for _, s := range [...]string{f.Code, c.fault, c.facts.Tier, c.proto} {
		key = appendWhole(key, s)
	}
	key = append(c.facts.Model.Append(key), 0, byte(c.status>>8), byte(c.status))
	if d := c.facts.Detail; d != nil && g.metricPrints {
		key = appendWhole(key, d.Fingerprint)
	}
	for _, m := range g.metricLabels {
		for _, l := range c.labels {
			if l.Name == m.name {
				key = appendWhole(appendWhole(key, l.Name), l.Value)
			}
		}
	}
	return key
}

// asStream reports whether a call asked for a stream or, where nobody read its
// request, got one.
func (c *Call) asStream() bool { return c.asked().Stream || !c.asked().Read && c.stream }

// fill makes the set of base and one word more.
//
//go:noinline
func (a *attrs) fill(base []attribute.KeyValue, k attribute.Key, word string) {
	a.with(base, k.String(word))
}

// word appends a word.
//
//go:noinline
func word(kv *[]attribute.KeyValue, k attribute.Key, v string) { *kv = append(*kv, k.String(v)) }

// with makes the set of base and further ones.
//
//go:noinline
func (a *attrs) with(base []attribute.KeyValue, kv ...attribute.KeyValue) {
	*a = newAttrs(append(base[:len(base):len(base)], kv...)...)
}

// pair is a key with a word; as newAttrs.
//
//go:noinline
func pair(k attribute.Key, v string) attribute.KeyValue { return k.String(v) }

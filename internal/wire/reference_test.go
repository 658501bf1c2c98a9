// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The reference reader: encoding/json over the whole document, and then the
// facts taken from the tree in the plainest way. It shares nothing with the
// Decoder but the types of the facts.

// object is a JSON object in the order of its text, which decides between two
// names of one thing.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

// parse reads a document. Only an object is one. A name may stand twice in it,
// with two plain values: the members stay in their order.
func parse(doc []byte) (object, bool) {
	if !json.Valid(doc) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	v, ok := parseValue(dec)
	o, isObject := v.(object)
	return o, ok && isObject
}

func parseValue(dec *json.Decoder) (any, bool) {
	t, err := dec.Token()
	switch t {
	case json.Delim('{'):
		o, seen := object{}, map[string]bool{} // key: plain so far
		for dec.More() {
			k, _ := dec.Token()
			v, ok := parseValue(dec)
			key := k.(string)
			plain := isPlain(v)
			if before, twice := seen[key]; !ok || twice && !(before && plain) {
				return nil, false
			}
			seen[key] = plain
			o = append(o, member{key, v})
		}
		_, err = dec.Token()
		return o, err == nil
	case json.Delim('['):
		a := []any{}
		for dec.More() {
			v, ok := parseValue(dec)
			if !ok {
				return nil, false
			}
			a = append(a, v)
		}
		_, err = dec.Token()
		return a, err == nil
	}
	return t, err == nil
}

func isPlain(v any) bool {
	switch v.(type) {
	case object, []any:
		return false
	}
	return true
}

// members are those of an object; anything else has none.
func members(v any) object {
	o, _ := v.(object)
	return o
}

// each calls f for the objects of an array, or for an object alone.
func each(v any, f func(position int, o object)) {
	switch v := v.(type) {
	case object:
		f(0, v)
	case []any:
		for i, e := range v {
			if o, ok := e.(object); ok {
				f(i, o)
			} else {
				each(e, f)
			}
		}
	}
}

// whole is a number without a fraction, however it is written.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	if i, err := n.Int64(); err == nil {
		return i, true
	}
	f, err := n.Float64()
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// reference holds what a sequence of documents came to.
type reference struct {
	api             API
	stream, capture bool

	f      Facts // but for what follows
	ends   map[int32]string
	calls  []refCall
	others map[int32]*refChoice

	// Of the document being read.
	ev    Event
	err   Error
	says  refError
	resp  refEvent
	modal map[bool]map[string]*Count // of input and of output
	told0 map[*Count]bool            // the counts of the document that are not 0

	// Of a Responses stream so far.
	status, reason string
	calling        bool
	told           map[refPart]bool

	// beyond is set by what the Decoder bounds on purpose, or reads in the order
	// in which it comes: there the two need not agree.
	beyond  bool
	choices int // begun in the document
	before  int // the calls before the document
}

type refCall struct {
	index          int32
	hasIndex       bool
	id, name, args string
	place          int64 // of its item in a Responses stream, plus 1
}

func newReference(api API, stream, capture bool) *reference {
	r := &reference{api: api, stream: stream, capture: capture, ends: map[int32]string{}, others: map[int32]*refChoice{}, told: map[refPart]bool{}, modal: map[bool]map[string]*Count{}}
	for _, out := range []bool{false, true} {
		r.modal[out] = map[string]*Count{"text_tokens": {}, "image_tokens": {}, "audio_tokens": {}}
	}
	if capture {
		r.f.Captured = new(Captured)
	}
	return r
}

// read takes the next document.
func (r *reference) read(doc object) Event {
	r.ev, r.err, r.resp, r.choices, r.says, r.told0 = Event{}, Error{}, refEvent{}, 0, refError{}, map[*Count]bool{}
	r.before = len(r.calls)
	if r.api == Responses {
		r.response(doc, false)
	} else {
		r.chat(doc)
	}
	e := &r.err
	switch x := &r.says; {
	case x.inner || x.marked:
		e.Present = true
	case r.choices == 0 && !x.payload && e.HasMessage:
		e.Present = e.Code != "" && e.Code != "0" || e.Type != "" && (!r.stream || strings.Contains(strings.ToLower(e.Type), "error"))
	}
	if r.stream && r.resp.kind == "error" {
		e.Present = true
	}
	if !e.Present {
		*e = Error{}
	}
	if r.api == Responses {
		r.endResponse()
	}
	if r.err.Present {
		r.ev.Error = true
		if !r.f.Error.Present {
			r.f.Error = r.err
		}
	}
	if r.ev.Fault {
		r.f.Faults++
	}
	r.f.Streamed |= r.ev.Channels
	if r.ev.Channels&Reasoning != 0 {
		r.f.Summaries = r.f.Summaries || r.ev.Summary()
		r.f.RawReasoning = r.f.RawReasoning || !r.ev.Summary()
	}
	return r.ev
}

// facts puts together what was read.
func (r *reference) facts() *Facts {
	f := r.f
	for index, reason := range r.ends {
		f.Finish = append(f.Finish, Finish{index, reason})
	}
	slices.SortFunc(f.Finish, func(a, b Finish) int { return int(a.Choice - b.Choice) })
	f.Calls = r.made(r.calls)
	if r.capture {
		f.Captured.Others = nil
	}
	for _, o := range r.others {
		o.Calls = r.made(o.calls)
		f.Captured.Others = append(f.Captured.Others, o.Choice)
	}
	if r.capture {
		slices.SortFunc(f.Captured.Others, func(a, b Choice) int { return int(a.Index - b.Index) })
	}
	return &f
}

func (r *reference) made(calls []refCall) (out []Call) {
	for _, c := range calls {
		call := Call{Index: c.index, HasIndex: c.hasIndex, HasName: c.name != ""}
		if c.id != "" {
			h := fnv.New64a()
			h.Write([]byte(c.id))
			call.Key = h.Sum64()
		}
		if r.capture {
			call.Kept = &KeptCall{ID: c.id, Name: c.name, Args: keptText(c.args)}
		}
		out = append(out, call)
	}
	return out
}

func keptText(s string) (t Text) {
	t.append(s)
	return t
}

func (t *Text) append(s string) {
	t.B = append(t.B, s...)
	t.Chars += int64(utf8.RuneCountInString(s))
}

func (r *reference) text(s string) {
	r.f.TextChars += int64(utf8.RuneCountInString(s))
	if r.capture {
		r.f.Captured.Text.append(s)
	}
}

func (r *reference) thought(s string) {
	r.f.ReasoningChars += int64(utf8.RuneCountInString(s))
	if r.capture {
		r.f.Captured.Reasoning.append(s)
	}
}

// common takes the members that the answers of all APIs have.
func (r *reference) common(m member) {
	s, isString := m.value.(string)
	switch m.key {
	case "id":
		if s != "" {
			r.f.ID.Set([]byte(s))
		}
	case "model":
		if s != "" {
			r.f.Model.Set([]byte(s))
		}
	case "service_tier":
		if isString {
			r.f.Tier = s
		}
	case "system_fingerprint":
		if s != "" && r.api != Responses {
			r.f.detail().Fingerprint = s
		}
	case "usage":
		r.usage(m.value)
	case "error", "errors", "detail":
		r.failure(m.value, m.key == "detail")
	case "base_resp":
		for _, b := range members(m.value) {
			switch b.key {
			case "status_msg":
				r.errorMember(member{"message", b.value}, false)
			case "status_code":
				r.errorMember(member{"code", b.value}, false)
				r.says.inner = r.says.inner || !slices.Contains([]string{"", "0"}, plainText(b.value))
			}
		}
	case "timings":
		r.timings("timings.", m.value)
	default:
		r.errorMember(m, false)
	}
}

// refError is what is known of a document's error beside its members.
type refError struct {
	typed, coded   bool // by an error object
	typed0, coded0 bool // by one that is over
	inner          bool // an error object says something
	marked         bool // the document says that it is one
	payload        bool // it has what an answer has
}

// failure takes what stands where an error does: a text, an object, a list.
func (r *reference) failure(v any, detail bool) {
	switch v := v.(type) {
	case string:
		if v != "" {
			r.says.inner, r.err.HasMessage = true, true
		}
	case []any:
		for _, e := range v {
			r.failure(e, detail)
		}
	case object:
		for _, m := range v {
			switch m.key {
			case "message", "msg", "type", "code":
				r.errorMember(m, true)
			case "error":
				r.failure(m.value, false)
			case "key", "http_code":
				if s, isString := m.value.(string); isString && s != "" || !isString && plainText(m.value) != "" && m.value != true && m.value != false {
					r.errorMember(member{"statusCode", m.value}, true)
					r.says.inner = true
				}
			default:
				s := plainText(m.value)
				r.says.inner = r.says.inner || !detail && s != "" && s != "0" && s != "false"
			}
		}
		r.says.typed0, r.says.coded0 = r.says.typed, r.says.coded
	}
}

// plainText is a plain value as text; null and containers have none.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// errorMember takes a member of an error object, or one that stands around it
// and holds only if the object does not say the same.
func (r *reference) errorMember(m member, inner bool) {
	s, isString := m.value.(string)
	_, isNumber := m.value.(json.Number)
	x := &r.says
	switch m.key {
	case "message", "msg", "error_msg":
		if s != "" || !isPlain(m.value) {
			r.err.HasMessage = true
			x.inner = x.inner || inner
		}
	case "type", "error_type", "__type":
		switch {
		case s == "":
		case s == "error" && !inner:
			x.marked = true
		case x.typed0 || x.typed && !inner:
		default:
			r.err.Type = s
			x.typed, x.inner = x.typed || inner, x.inner || inner
		}
	case "code", "error_code", "errorCode":
		if s = plainText(m.value); s == "" || !isString && !isNumber || x.coded0 || x.coded && !inner {
			return
		}
		r.err.Code = s
		x.coded = x.coded || inner
		x.inner = x.inner || inner && s != "0"
	case "statusCode":
		if r.err.Code == "" && (isString || isNumber) {
			r.err.Code = plainText(m.value)
		}
	case "success":
		x.marked = x.marked || m.value == false
	case "object":
		x.marked = x.marked || s == "error"
	}
}

func (r *reference) usage(v any) {
	u := &r.f.Usage
	for _, m := range members(v) {
		switch m.key {
		case "prompt_tokens", "input_tokens":
			r.f.inputTokens = m.key == "input_tokens"
			r.count(&u.Input, m.value)
		case "completion_tokens", "output_tokens":
			r.count(&u.Output, m.value)
		case "total_tokens":
			r.count(&u.Total, m.value)
		case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens":
			r.f.cacheInput = r.f.cacheInput || strings.HasSuffix(m.key, "_input_tokens")
			r.count(&u.CacheRead, m.value)
		case "cache_creation_input_tokens", "cache_write_tokens":
			r.f.cacheInput = r.f.cacheInput || strings.HasSuffix(m.key, "_input_tokens")
			r.count(&u.CacheWrite, m.value)
		case "reasoning_tokens":
			r.count(&u.Reasoning, m.value)
		case "prompt_tokens_details", "input_tokens_details", "input_token_details":
			for _, d := range members(m.value) {
				switch d.key {
				case "cached_tokens", "cache_read_tokens":
					r.count(&u.CacheRead, d.value)
				case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens":
					r.count(&u.CacheWrite, d.value)
				default:
					r.modality(d, false)
				}
			}
		case "completion_tokens_details", "output_tokens_details", "output_token_details":
			for _, d := range members(m.value) {
				if d.key == "reasoning_tokens" {
					r.count(&u.Reasoning, d.value)
				} else {
					r.modality(d, true)
				}
			}
		case "latency_checkpoint":
			r.timings("latency_checkpoint.", m.value)
		case "queue_time", "prompt_time", "completion_time", "total_time", "time_to_first_token_ms",
			"time_per_output_token_ms", "tokens_per_second", "prompt_tokens_per_second",
			"time_to_first_token", "total_latency", "completion_tokens_per_sec", "completion_tokens_after_first_per_sec", "total_tokens_per_sec":
			r.timing(m.key, m.value)
		}
	}
}

// count takes a count: what is no whole number is none, and counted as a fault
// if it stands where a number does.
func (r *reference) count(c *Count, v any) {
	if n, ok := whole(v); ok {
		if n > 0 || n == 0 && !r.told0[c] {
			*c = Count{n, true}
			r.told0[c] = n > 0
		}
		return
	}
	switch v.(type) {
	case json.Number, bool:
		r.ev.Fault = true
	}
}

// modality takes a count of text, image or audio, if it is one.
func (r *reference) modality(d member, out bool) {
	c, ok := r.modal[out][d.key]
	if !ok {
		return
	}
	if r.count(c, d.value); c.N == 0 && r.f.Detail == nil {
		return
	}
	m := &r.f.detail().In
	if out {
		m = &r.f.Detail.Out
	}
	*map[string]*int64{"text_tokens": &m.Text, "image_tokens": &m.Image, "audio_tokens": &m.Audio}[d.key] = c.N
}

func (r *reference) timings(prefix string, v any) {
	for _, m := range members(v) {
		for _, end := range []string{"_ms", "_time", "_per_second"} {
			if strings.HasSuffix(m.key, end) && m.key != end {
				r.timing(prefix+m.key, m.value)
			}
		}
	}
}

func (r *reference) timing(name string, v any) {
	n, ok := v.(json.Number)
	x, err := strconv.ParseFloat(n.String(), 64)
	if !ok || err != nil {
		return
	}
	i := slices.IndexFunc(r.f.Timings, func(t Timing) bool { return t.Name == name })
	if i < 0 {
		r.f.Timings = append(r.f.Timings, Timing{name, x})
		return
	}
	r.f.Timings[i].Value = x
}

// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ReadTrace reads arrivals from CSV with a head line, or from JSONL, in any order:
// when, how many prompt tokens, how many output tokens. The first arrival is at 0.
// These names are known, without regard to case, blanks and underscores:
//
//   - time, in seconds; timestamp, in seconds in CSV (as in BurstGPT), or a date and
//     time (as in Azure's LLM inference traces), and in milliseconds in JSONL (as in
//     Mooncake's traces)
//   - prompt_tokens, input_tokens, input_length, context_tokens, request_tokens
//   - output_tokens, completion_tokens, output_length, generated_tokens,
//     response_tokens
//
// Other columns are left out. An error names the line.
func ReadTrace(r io.Reader) ([]Request, error) {
	in := bufio.NewReader(r)
	skipMark(in)
	first, err := firstByte(in)
	if err != nil {
		return nil, fmt.Errorf("load: trace: %w", err)
	}
	var out []Request
	if first == '{' {
		out, err = readJSONL(in)
	} else {
		out, err = readCSV(in)
	}
	if err != nil {
		return nil, fmt.Errorf("load: trace: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("load: trace: there is no arrival in it")
	}
	slices.SortStableFunc(out, func(a, b Request) int { return cmp.Compare(a.At, b.At) })
	from := out[0].At
	for i := range out {
		out[i].At -= from
	}
	return out, nil
}

// column is what a field of a trace says.
type column uint8

const (
	noColumn column = iota
	columnTime
	columnStamp
	columnPrompt
	columnOutput
)

func columnNamed(name string) column {
	switch strings.NewReplacer("_", "", " ", "", "-", "").Replace(strings.ToLower(name)) {
	case "time":
		return columnTime
	case "timestamp":
		return columnStamp
	case "prompttokens", "inputtokens", "inputlength", "contexttokens", "requesttokens":
		return columnPrompt
	case "outputtokens", "completiontokens", "outputlength", "generatedtokens", "responsetokens":
		return columnOutput
	}
	return noColumn
}

func readCSV(r io.Reader) (out []Request, err error) {
	c := csv.NewReader(r)
	c.TrimLeadingSpace = true
	head, err := c.Read()
	if err != nil {
		return nil, err
	}
	columns := make([]column, len(head))
	var has columnSet
	for i, name := range head {
		columns[i] = columnNamed(strings.TrimSpace(name))
		if err := has.add(columns[i], name); err != nil {
			return nil, fmt.Errorf("the head line: %w", err)
		}
	}
	if !has.time() {
		return nil, fmt.Errorf("the head line %q has no column time or timestamp", strings.Join(head, ","))
	}
	stamps := stamps{unit: time.Second}
	for {
		fields, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		var q Request
		for i, f := range fields {
			if err := q.set(columns[i], strings.TrimSpace(f), &stamps); err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", line, head[i], err)
			}
		}
		out = append(out, q)
	}
}

func readJSONL(r io.Reader) (out []Request, err error) {
	stamps := stamps{unit: time.Millisecond}
	err = objects(r, false, "object", func(_ int, d *json.Decoder) (bool, error) {
		var fields map[string]any
		if err := d.Decode(&fields); err != nil {
			return false, err
		}
		var q Request
		var has columnSet
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			col := columnNamed(name)
			if err := has.add(col, name); err != nil {
				return false, err
			}
			text, isNumber := fields[name].(json.Number)
			if !isNumber {
				s, _ := fields[name].(string)
				text = json.Number(s)
			}
			if err := q.set(col, text.String(), &stamps); err != nil {
				return false, fmt.Errorf("%s: %w", name, err)
			}
		}
		if !has.time() {
			return false, errors.New("there is no time or timestamp")
		}
		out = append(out, q)
		return true, nil
	})
	return out, err
}

// columnSet are the columns that there are, by what they say, with their names.
type columnSet [columnOutput + 1]string

// add adds a column, of which there may be one that says the same.
func (s *columnSet) add(c column, name string) error {
	at := c
	switch {
	case c == noColumn:
		return nil
	case c == columnStamp:
		at = columnTime
	}
	if s[at] != "" {
		return fmt.Errorf("%s and %s say the same: leave one out", s[at], name)
	}
	s[at] = cmp.Or(name, "a column without a name")
	return nil
}

func (s *columnSet) time() bool { return s[columnTime] != "" }

// stamps are the timestamps of a file: all numbers of a unit, or all dates.
type stamps struct {
	unit           time.Duration
	numbers, dates bool
}

func (s *stamps) moment(text string) (at time.Duration, err error) {
	if at, err = moment(text, s.unit); err == nil {
		s.numbers = true
	} else if at, err = dateTime(text); err == nil {
		s.dates = true
	}
	if s.numbers && s.dates {
		return 0, fmt.Errorf("%q: others are of another kind: give numbers, or dates and times", text)
	}
	return at, err
}

// maxTraceTokens bounds a count of tokens.
const maxTraceTokens = 10_000_000

// set sets what a column says.
func (q *Request) set(c column, text string, s *stamps) (err error) {
	switch c {
	case columnTime:
		q.At, err = moment(text, time.Second)
	case columnStamp:
		q.At, err = s.moment(text)
	case columnPrompt:
		q.PromptTokens, err = tokens(text)
	case columnOutput:
		q.OutputTokens, err = tokens(text)
	}
	return err
}

func moment(text string, unit time.Duration) (time.Duration, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v)*float64(unit) > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is no time", text)
	}
	return time.Duration(math.Round(v * float64(unit))), nil
}

// dateTime reads a date and time as one since 2000. Half of what a Duration holds
// are 146 years.
func dateTime(text string) (time.Duration, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			if y := t.Year(); y < 1900 || y > 2100 {
				return 0, fmt.Errorf("%q is not within the years 1900 to 2100", text)
			}
			return t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), nil
		}
	}
	return 0, fmt.Errorf("%q is no time: give seconds, or a date and time", text)
}

func tokens(text string) (int, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= maxTraceTokens) || v != math.Trunc(v) {
		return 0, fmt.Errorf("%q is no number of tokens", text)
	}
	return int(v), nil
}

// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	read := readCSV
	if first == '{' {
		read = readJSONL
	}
	out, err := read(in)
	if err != nil {
		return nil, fmt.Errorf("load: trace: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("load: trace: there is no arrival in it")
	}
	slices.SortStableFunc(out, func(a, b Request) int { return int(min(1, max(-1, a.At-b.At))) })
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
	for i, name := range head {
		columns[i] = columnNamed(strings.TrimSpace(name))
	}
	if !slices.Contains(columns, columnTime) && !slices.Contains(columns, columnStamp) {
		return nil, fmt.Errorf("the head line %q has no column time or timestamp", strings.Join(head, ","))
	}
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
			if err := q.set(columns[i], strings.TrimSpace(f), time.Second); err != nil {
				return nil, fmt.Errorf("line %d: %s: %w", line, head[i], err)
			}
		}
		out = append(out, q)
	}
}

func readJSONL(r io.Reader) (out []Request, err error) {
	d := json.NewDecoder(r)
	d.UseNumber()
	for n := 1; d.More(); n++ {
		var fields map[string]any
		if err := d.Decode(&fields); err != nil {
			return nil, fmt.Errorf("object %d: %w", n, err)
		}
		var q Request
		timed := false
		for name, v := range fields {
			col := columnNamed(name)
			timed = timed || col == columnTime || col == columnStamp
			text, isNumber := v.(json.Number)
			if !isNumber {
				s, _ := v.(string)
				text = json.Number(s)
			}
			if err := q.set(col, text.String(), time.Millisecond); err != nil {
				return nil, fmt.Errorf("object %d: %s: %w", n, name, err)
			}
		}
		if !timed {
			return nil, fmt.Errorf("object %d has no time or timestamp", n)
		}
		out = append(out, q)
	}
	return out, nil
}

// maxTraceTokens bounds a count of tokens.
const maxTraceTokens = 10_000_000

// set sets what a column says; stamp is the unit of a timestamp that is a number.
func (q *Request) set(c column, text string, stamp time.Duration) (err error) {
	switch c {
	case columnTime:
		q.At, err = moment(text, time.Second)
	case columnStamp:
		if q.At, err = moment(text, stamp); err != nil {
			q.At, err = dateTime(text)
		}
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

// dateTime reads a date and time as one since 2000, in which a Duration holds
// some 290 years.
func dateTime(text string) (time.Duration, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
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

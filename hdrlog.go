// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// Interval is a histogram of a log: what was recorded in a time. Tag tells
// several histograms of one time apart; it has no comma, space or line break,
// and may be empty.
type Interval struct {
	Tag       string
	Start     time.Time
	Length    time.Duration
	Histogram *Histogram
}

// HistogramLog writes a log of intervals as HdrHistogram's tools read it, format
// 1.3. It is not safe for concurrent use.
type HistogramLog struct {
	w     io.Writer
	start time.Time
	begun bool
}

// NewHistogramLog returns a log that begins at start and is written to w.
func NewHistogramLog(w io.Writer, start time.Time) *HistogramLog {
	return &HistogramLog{w: w, start: start}
}

// Write adds an interval. Its times have microseconds.
func (l *HistogramLog) Write(i Interval) error {
	if strings.ContainsAny(i.Tag, ", \r\n\t") {
		return fmt.Errorf("tacho: the tag %q of a histogram log has a comma, a space or a line break: leave it out", i.Tag)
	}
	if i.Histogram == nil {
		return fmt.Errorf("tacho: an interval of a histogram log has no histogram")
	}
	text, err := i.Histogram.MarshalText()
	if err != nil {
		return err
	}
	if i.Start.Before(l.start) && !i.Start.IsZero() {
		return fmt.Errorf("tacho: an interval of a histogram log begins %v before the log: begin the log earlier", l.start.Sub(i.Start))
	}
	if err := l.begin(); err != nil {
		return err
	}
	var b strings.Builder
	if i.Tag != "" {
		b.WriteString("Tag=" + i.Tag + ",")
	}
	top, _ := i.Histogram.Max()
	// The base time has milliseconds, and so the offset takes the rest.
	base := math.Round(unixSeconds(l.start)*1e3) / 1e3
	fmt.Fprintf(&b, "%.6f,%.6f,%.3f,%s\n", max(0, unixSeconds(i.Start)-base), i.Length.Seconds(), float64(top)/1e6, text)
	_, err = io.WriteString(l.w, b.String())
	return err
}

// begin writes the head of the log, once.
func (l *HistogramLog) begin() error {
	if l.begun {
		return nil
	}
	sec := unixSeconds(l.start)
	_, err := fmt.Fprintf(l.w, "#[Histogram log format version 1.3]\n#[StartTime: %.3f (seconds since epoch), %s]\n"+
		"#[BaseTime: %.3f (seconds since epoch)]\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		sec, l.start.UTC().Format(time.RFC3339), sec)
	l.begun = err == nil
	return err
}

func unixSeconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// maxLogLine bounds a line of a log: a histogram of 5 digits has some 1 MiB.
const maxLogLine = 32 << 20

// ReadHistogramLog returns the intervals of a log in HdrHistogram's format, of
// version 1.0 to 1.3. It ends with the first error, which names the line.
func ReadHistogramLog(r io.Reader) iter.Seq2[Interval, error] {
	return readHistogramLog(r, func(string) {})
}

// readHistogramLog hands comments to a function besides.
func readHistogramLog(r io.Reader, comment func(string)) iter.Seq2[Interval, error] {
	return func(yield func(Interval, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLogLine)
		var start, base float64
		var based bool
		n := 0
		for lines.Scan() {
			n++
			line := strings.TrimSpace(lines.Text())
			if rest, ok := strings.CutPrefix(line, "#[StartTime:"); ok {
				start = leading(rest)
				continue
			}
			if rest, ok := strings.CutPrefix(line, "#[BaseTime:"); ok {
				base, based = leading(rest), true
				continue
			}
			if line == "" || line[0] == '#' || line[0] == '"' {
				comment(line)
				continue
			}
			i, at, err := parseInterval(line)
			if err != nil {
				yield(Interval{}, fmt.Errorf("tacho: line %d of the histogram log: %w", n, err))
				return
			}
			// Without a base, times more than a year before the log's start count
			// from it (HdrHistogram's reader does so).
			if !based && at < start-365*24*3600 {
				base = start
			}
			at += base
			i.Start = time.UnixMicro(int64(math.Round(at * 1e6)))
			if !yield(i, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Interval{}, fmt.Errorf("tacho: line %d of the histogram log: %w", n+1, err))
		}
	}
}

// leading reads the number at the start of a text.
func leading(s string) float64 {
	f := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ']' || r == ',' })
	if len(f) == 0 {
		return 0
	}
	v, err := strconv.ParseFloat(f[0], 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e12 {
		return 0
	}
	return v
}

// parseInterval reads a line [Tag=T,]START,LENGTH,MAX,HISTOGRAM.
func parseInterval(line string) (i Interval, start float64, err error) {
	if rest, ok := strings.CutPrefix(line, "Tag="); ok {
		i.Tag, line, _ = strings.Cut(rest, ",")
	}
	f := strings.Split(line, ",")
	if len(f) != 4 {
		return i, 0, fmt.Errorf("%d fields in place of 4", len(f))
	}
	var length float64
	for k, v := range []*float64{&start, &length} {
		if *v, err = strconv.ParseFloat(f[k], 64); err != nil || math.IsNaN(*v) || math.Abs(*v) > 1e12 {
			return i, 0, fmt.Errorf("field %d is no time in seconds: %.40q", k+1, f[k])
		}
	}
	i.Length = time.Duration(math.Round(min(length, 9e9) * 1e9))
	i.Histogram = new(Histogram)
	return i, start, i.Histogram.UnmarshalText([]byte(f[3]))
}

// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tacho-go/tacho"
)

// What is said to a text that is nearly a budget, and of labels that no call has.

// usualName is tacho's name for a figure that has others in the trade.
func usualName(name string) string {
	switch name = strings.ToLower(name); name {
	case "itl":
		return tacho.Gap.String()
	case "e2e", "latency":
		return tacho.Duration.String()
	}
	return name
}

// figureNames are the names of the figures.
func figureNames() (names []string) {
	for f := range tacho.ConsumerWait + 1 {
		names = append(names, f.String())
	}
	return names
}

// firstWords are what a budget may begin with.
func firstWords() []string {
	return append(figureNames(), "errors", "429", "throughput", "input_tokens", "output_tokens", "longest_stall", "share", "goodput")
}

// didYouMean is a hint at the names that a word is nearest to, "" when it
// resembles none.
func didYouMean(word string, names []string) string {
	word = strings.ToLower(word)
	var near []string
	least := min(2, (len(word)-1)/2) + 1 // of three letters one may be wrong
	for _, name := range names {
		d := distance(word, strings.ToLower(name))
		if d < least {
			near, least = near[:0], d
		}
		if d == least && d <= min(2, (len(word)-1)/2) {
			near = append(near, name)
		}
	}
	if len(near) == 0 || len(near) > 4 {
		return ""
	}
	for i := range near {
		near[i] = strconv.Quote(near[i])
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// distance is how many letters have to be put in, left out, replaced or changed
// with their neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// percentHint is what a share without its sign is told.
func percentHint(n float64) string {
	if n >= 1 {
		return "% behind the number: 1% is one call in a hundred"
	}
	return fmt.Sprintf("%% behind the number: %v of the calls are %s%%", n, strconv.FormatFloat(100*n, 'g', 12, 64))
}

// maxNamed bounds the names and values that a verdict lists.
const maxNamed = 8

// unlabelled says which of a budget's labels no call carries at all, and what
// they carry; "" when the calls at hand may have them.
func (r Reading) unlabelled(b Budget) string {
	for _, want := range b.labels {
		if want.Value == "" {
			continue // that a label is not there may be meant
		}
		names, values := r.carried(want.Name)
		switch {
		case slices.Contains(values, want.Value):
		case len(values) > 0:
			return fmt.Sprintf("no call has %s=%q; calls have %s%s", want.Name, want.Value, list(values), didYouMean(want.Value, values))
		case len(names) > 0:
			return fmt.Sprintf("no call carries the label %q; the labels there are: %s%s", want.Name, list(names), didYouMean(want.Name, names))
		case len(r.calls) > 0 || r.snapshot != nil && len(r.snapshot.Series) > 0:
			return fmt.Sprintf("no call carries the label %q, nor any other", want.Name)
		}
	}
	return ""
}

// carried returns the names of the labels that calls carry, and the values of
// one of them, in order.
func (r Reading) carried(name string) (names, values []string) {
	note := func(n, v string) {
		if v == "" {
			return
		}
		names = append(names, n)
		if n == name {
			values = append(values, v)
		}
	}
	if r.snapshot != nil {
		for _, s := range r.snapshot.Series {
			for _, l := range s.Labels {
				note(l.Name, l.Value)
			}
		}
	}
	for _, c := range r.calls {
		for _, n := range [...]string{"operation", "api", "provider", "server", "model", "response_model"} {
			note(n, c.Label(n))
		}
		for _, l := range c.Labels() {
			note(l.Name, l.Value)
		}
	}
	slices.Sort(names)
	slices.Sort(values)
	return slices.Compact(names), slices.Compact(values)
}

// list is some of the words, in quotes.
func list(words []string) string {
	out := make([]string, 0, maxNamed)
	for _, w := range words[:min(len(words), maxNamed)] {
		out = append(out, strconv.Quote(w))
	}
	s := strings.Join(out, ", ")
	if more := len(words) - maxNamed; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"math"
	"sync"
)

// Calibration learns by how much a provider's own count of input tokens differs
// from an estimate: for each model a constant offset, of its template, and a factor,
// of its tokenizer, by least squares over the pairs seen. The zero value is ready;
// it is safe for concurrent use.
type Calibration struct {
	mu     sync.Mutex
	models map[string]*pairs
}

// pairs are the moments of estimates x and reported counts y, by Welford's method.
type pairs struct {
	n        float64
	mx, my   float64
	sxx, sxy float64
	syy      float64
}

// maxCalibrated bounds the models that are learned.
const maxCalibrated = 1000

// Learn takes the tokens that were estimated for a request and those that the
// server reported. Counts of 0 or less are no pair.
func (c *Calibration) Learn(model string, estimated, reported int) {
	if estimated <= 0 || reported <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.models == nil {
		c.models = map[string]*pairs{}
	}
	p := c.models[model]
	if p == nil {
		if len(c.models) == maxCalibrated {
			return
		}
		p = new(pairs)
		c.models[model] = p
	}
	p.add(float64(estimated), float64(reported))
}

func (p *pairs) add(x, y float64) {
	p.n++
	dx, dy := x-p.mx, y-p.my
	p.mx += dx / p.n
	p.my += dy / p.n
	p.sxx += dx * (x - p.mx)
	p.sxy += dx * (y - p.my)
	p.syy += dy * (y - p.my)
}

// Offset is what a Calibration knows of a model.
type Offset struct {
	Pairs    int     // that were learned
	Constant float64 // tokens
	Factor   float64
	// Error is the standard deviation, in tokens, of what the fit leaves; absent
	// (HasError false) with fewer than three pairs.
	Error    float64
	HasError bool
}

// Offset returns what is known of a model, absent before the first pair. With one
// pair, or estimates that are all the same, the factor is 1.
func (c *Calibration) Offset(model string) (Offset, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.models[model]
	if p == nil {
		return Offset{}, false
	}
	o := Offset{Pairs: int(p.n), Factor: 1}
	if p.sxx > 0 {
		o.Factor = p.sxy / p.sxx
	}
	o.Constant = p.my - o.Factor*p.mx
	if p.n > 2 {
		left := p.syy
		if p.sxx > 0 {
			left -= p.sxy * p.sxy / p.sxx
		}
		o.Error, o.HasError = math.Sqrt(max(0, left)/(p.n-2)), true
	}
	return o, true
}

// Correct returns an estimate as the provider would count it, and false, with the
// estimate as it is, for a model of which nothing is known.
func (c *Calibration) Correct(model string, estimated int) (int, bool) {
	o, ok := c.Offset(model)
	if !ok {
		return estimated, false
	}
	return max(0, int(math.Round(o.Constant+o.Factor*float64(estimated)))), true
}

// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Histogram counts durations; HistogramOf says how.
type Histogram = HistogramOf[time.Duration]

// HistogramOf counts values in the bucket layout of HdrHistogram
// (https://hdrhistogram.github.io/HdrHistogram): each power of two is cut into
// so many equal buckets that a value and its bucket's highest differ by at most
// 0.1 % of the value, which is 3 significant digits; NewHistogram makes others.
// Values below 2,048 are exact.
//
// The zero value is empty and ready. All methods are safe for concurrent use.
// Recording takes no lock, but for one in 32,768 values of a bucket, and no
// memory, but for pages of 512 bytes that are made when a value first falls into
// their quarter of a power of two: some 15 KiB for 10,000 values that are
// lognormal with σ = 0.5.
//
// Values are 0 to 3.6e12, for a duration 1 hour. A larger one counts as that, a
// negative one as 0; OutOfRange tells how many there were.
type HistogramOf[T ~int64] struct {
	dir      [dirSize]atomic.Pointer[atomic.Uint32]
	min, max atomic.Int64 // plus 1, so that 0 is none

	low, high atomic.Int64 // out of range
	coarse    atomic.Pointer[[coarseSize / 2]atomic.Uint32]
	spilled   atomic.Pointer[spill]
	pages     atomic.Int32
	maxPages  int32        // 0: no bound
	lost      atomic.Int32 // binary digits that values lost before they came here
	extra     int8         // the layout's magnitude beyond that of 3 digits

	_    [64]byte // the sums are written by all, the rest is read
	sums [sumCells]sumCell
}

// sumCell has a part of the sum, that of some goroutines, so that two of them
// seldom write to the same one. It fills a cache line.
type sumCell struct {
	atomic.Int64
	_ [56]byte
}

const sumCells = 8

// cell returns the cell of a goroutine, by where its stack is.
func cell() uintptr {
	var here byte
	p := uintptr(unsafe.Pointer(&here)) >> 11 // the smallest stack has 2 KiB
	return (p ^ p>>5) % sumCells
}

// total returns the sum of the values.
func (h *HistogramOf[T]) total() (sum int64) {
	for i := range h.sums {
		sum += h.sums[i].Load()
	}
	return sum
}

const (
	maxTracked = int64(time.Hour)
	magnitude  = 10 // 2^10 buckets for each power of two: 3 digits
	dirSize    = 156

	coarseBits = 4 // so many buckets of 3 digits, as a power of two, share a coarse one
	coarseSize = 34 << (magnitude - coarseBits)

	full = 1 << 15 // a counter that has come so far spills
)

// A counter has 16 bits, and two share a word that is added to at once. From
// half of what it can hold on it spills over, so that it never runs into its
// neighbour: that would take 32,768 values in the time of one spill.

// spill keeps what the counters cannot.
type spill struct {
	mu sync.Mutex
	n  map[uint]int64
}

// setTotal makes sum the sum of the values.
func (h *HistogramOf[T]) setTotal(sum int64) {
	for i := range h.sums {
		h.sums[i].Store(0)
	}
	h.sums[0].Store(sum)
}

// magnitudes are those of 1 to 4 digits: the smallest power of two that holds
// half of 2 × 10^digits buckets.
var magnitudes = [...]int8{1: 4, 2: 7, 3: 10, 4: 14}

// NewHistogram returns a histogram of durations with 1 to 4 significant digits.
func NewHistogram(digits int) (*Histogram, error) { return newHistogram[time.Duration](digits) }

// NewCounts returns a histogram of counts with 1 to 4 significant digits.
func NewCounts(digits int) (*HistogramOf[int64], error) { return newHistogram[int64](digits) }

func newHistogram[T ~int64](digits int) (*HistogramOf[T], error) {
	if digits < 1 || digits >= len(magnitudes) {
		return nil, fmt.Errorf("tacho: %d significant digits: a histogram has 1 to 4", digits)
	}
	return &HistogramOf[T]{extra: magnitudes[digits] - magnitude}, nil
}

// Digits returns the significant digits.
func (h *HistogramOf[T]) Digits() int {
	for d := 1; d < len(magnitudes); d++ {
		if magnitudes[d] == h.extra+magnitude {
			return d
		}
	}
	return 0
}

func (h *HistogramOf[T]) mag() uint { return uint(magnitude + h.extra) }

// indexOf returns the bucket of a value in range: those of a power of two
// follow each other, and the powers of two likewise.
func indexOf(v int64, mag uint) uint {
	b := uint(bits.Len64(uint64(v)|(2<<mag-1))) - (mag + 1)
	return b<<mag + uint(v>>b)
}

// bounds returns the lowest and the highest value of a bucket.
func bounds(i, mag uint) (low, high int64) {
	if i < 2<<mag {
		return int64(i), int64(i)
	}
	b := i>>mag - 1
	low = int64(i-b<<mag) << b
	return low, low + 1<<b - 1
}

// counter is a word and the place of the counter in it.
type counter struct {
	word  *atomic.Uint32
	shift uint
}

// counterAt returns the k-th counter of a page, which is known by its first word.
func counterAt(page *atomic.Uint32, k uint) counter {
	return counter{(*atomic.Uint32)(unsafe.Add(unsafe.Pointer(page), k>>1<<2)), k & 1 << 4}
}

// add adds a little to the counter and returns what it has then.
func (c counter) add(n uint32) uint32 { return c.word.Add(n<<c.shift) >> c.shift & 0xffff }

// addMany adds more than a little, if it has room, and returns what it has then.
func (c counter) addMany(n uint32) (now uint32, ok bool) {
	for {
		old := c.word.Load()
		if now = old>>c.shift&0xffff + n; now >= full+full/2 {
			return 0, false
		}
		if c.word.CompareAndSwap(old, old+n<<c.shift) {
			return now, true
		}
	}
}

func (c counter) load() int64 { return int64(c.word.Load() >> c.shift & 0xffff) }

// Record counts a value.
func (h *HistogramOf[T]) Record(v T) {
	n := int64(v)
	if uint64(n) > uint64(maxTracked) {
		n = h.clamp(n, 1)
	}
	if h.extra != 0 {
		h.addTo(indexOf(n, h.mag()), 1)
		h.sums[0].Add(n)
		h.extremes(n, n)
		return
	}
	// What follows is the same with constants, which saves a third of its time.
	i := indexOf(n, magnitude)
	at := i >> (magnitude - 2)
	if page := h.dir[at].Load(); page != nil {
		if c := counterAt(page, i&(1<<(magnitude-2)-1)); c.add(1) >= full {
			h.spillOver(i, c)
		}
	} else {
		h.addTo(i, 1)
	}
	h.sums[cell()].Add(n)
	if n >= h.max.Load() || uint64(n) < uint64(h.min.Load()-1) {
		h.extremes(n, n)
	}
}

// RecordN counts a value n times; an n below 1 counts nothing, one above 2^48 as
// that.
func (h *HistogramOf[T]) RecordN(v T, n int64) {
	if n < 1 {
		return
	}
	n = min(n, 1<<48)
	k := int64(v)
	if uint64(k) > uint64(maxTracked) {
		k = h.clamp(k, n)
	}
	h.addTo(indexOf(k, h.mag()), n)
	h.sums[0].Add(k * n)
	h.extremes(k, k)
}

// RecordCorrected counts a value and, if it is longer than the interval at
// which values were expected, those that it kept from being measured: v −
// interval, v − 2·interval and so on (coordinated omission, after HdrHistogram).
// An interval of 0 or less corrects nothing; of more than 100,000 such values,
// neighbours are counted together. Values that are taken from their intended
// start on need no correction.
func (h *HistogramOf[T]) RecordCorrected(v, interval T) {
	h.Record(v)
	if interval <= 0 {
		return
	}
	v = min(v, T(maxTracked))
	group := max(1, v/interval/100_000)
	for v -= interval; v >= interval; v -= group * interval {
		h.RecordN(v, int64(min(group, v/interval)))
	}
}

// clamp counts values that are out of range and returns what stands for them.
func (h *HistogramOf[T]) clamp(v, n int64) int64 {
	if v < 0 {
		h.low.Add(n)
		return 0
	}
	h.high.Add(n)
	return maxTracked
}

// extremes takes a least and a greatest value into account.
func (h *HistogramOf[T]) extremes(low, high int64) {
	for old := h.max.Load(); high >= old && !h.max.CompareAndSwap(old, high+1); old = h.max.Load() {
	}
	for old := h.min.Load(); uint64(low) < uint64(old-1) && !h.min.CompareAndSwap(old, low+1); old = h.min.Load() {
	}
}

// addTo adds n to the counter of a bucket.
func (h *HistogramOf[T]) addTo(i uint, n int64) {
	c, i := h.counter(i)
	if n >= full {
		h.spillTo(i, n)
	} else if now, ok := c.addMany(uint32(n)); !ok {
		h.spillTo(i, n)
	} else if now >= full {
		h.spillOver(i, c)
	}
}

// counter returns the counter of a bucket, in a page that is made for it if need
// be. When there may be no more pages, it is that of a coarse bucket, which counts
// as the last of those that share it.
func (h *HistogramOf[T]) counter(i uint) (counter, uint) {
	mag := h.mag()
	at := &h.dir[i>>(mag-2)]
	page := at.Load()
	if page == nil {
		if h.maxPages > 0 && h.pages.Add(1) > h.maxPages {
			h.pages.Add(-1)
			coarse := h.coarse.Load()
			if coarse == nil {
				coarse = new([coarseSize / 2]atomic.Uint32)
				if !h.coarse.CompareAndSwap(nil, coarse) {
					return h.counter(i)
				}
			}
			return counterAt(&coarse[0], i>>coarseBits), i | 1<<coarseBits - 1
		}
		page = &make([]atomic.Uint32, 1<<(mag-3))[0]
		if !at.CompareAndSwap(nil, page) {
			if h.maxPages > 0 {
				h.pages.Add(-1)
			}
			return h.counter(i)
		}
	}
	return counterAt(page, i&(1<<(mag-2)-1)), i
}

// spillOver moves half of what a counter can hold to the spill. Under its lock
// no reader sees the half twice or not at all.
func (h *HistogramOf[T]) spillOver(i uint, c counter) {
	s := h.spill()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.load() >= full {
		c.word.Add(-(uint32(full) << c.shift))
		s.n[i] += full
	}
}

func (h *HistogramOf[T]) spillTo(i uint, n int64) {
	s := h.spill()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n[i] += n
}

func (h *HistogramOf[T]) spill() *spill {
	for {
		if s := h.spilled.Load(); s != nil {
			return s
		}
		h.spilled.CompareAndSwap(nil, &spill{n: map[uint]int64{}})
	}
}

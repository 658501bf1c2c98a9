// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// HdrHistogram's V2 encoding: a header of 40 bytes and the counts of all
// buckets up to the last that is not empty, as ZigZag LEB128 numbers, of which
// a negative one stands for so many empty buckets; and the same deflated behind
// a header of 8 bytes.
const (
	hdrPlain      = 0x1c849303
	hdrDeflated   = 0x1c849304
	hdrWords      = 0x10 // beside a cookie: the numbers are LEB128
	hdrHeader     = 40
	hdrMaxPayload = 16 << 20
)

// AppendHDR appends the histogram in HdrHistogram's V2 encoding, deflated. The
// sum and the exact extremes are not part of that encoding.
func (h *HistogramOf[T]) AppendHDR(b []byte) ([]byte, error) {
	plain := h.appendHDRPlain(nil)
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(plain); err != nil {
		return b, err
	}
	if err := w.Close(); err != nil {
		return b, err
	}
	b = binary.BigEndian.AppendUint32(b, hdrDeflated|hdrWords)
	b = binary.BigEndian.AppendUint32(b, uint32(z.Len()))
	return append(b, z.Bytes()...), nil
}

func (h *HistogramOf[T]) appendHDRPlain(b []byte) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint32(b, hdrPlain|hdrWords)
	b = binary.BigEndian.AppendUint32(b, 0) // the payload's length, below
	b = binary.BigEndian.AppendUint32(b, 0) // no shift of the buckets
	b = binary.BigEndian.AppendUint32(b, uint32(h.Digits()))
	b = binary.BigEndian.AppendUint64(b, 1) // the lowest value told from 0
	b = binary.BigEndian.AppendUint64(b, uint64(maxTracked))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1)) // whole numbers are what they are
	b = h.appendCounts(b)
	binary.BigEndian.PutUint32(b[start+4:], uint32(len(b)-start-hdrHeader))
	return b
}

// appendCounts appends the payload.
func (h *HistogramOf[T]) appendCounts(b []byte) []byte {
	p := packer{b: b}
	h.visit(func(i uint, n int64) bool {
		p.write(i, n)
		return true
	})
	return p.b
}

// appendZigZag appends a number of at most 9 bytes, of which the ninth, other
// than LEB128's, has 8 bits.
func appendZigZag(b []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(b, byte(u))
		}
		b = append(b, byte(u)|0x80)
		u >>= 7
	}
	return append(b, byte(u))
}

func readZigZag(b []byte) (v int64, rest []byte, err error) {
	var u uint64
	for i, c := range b {
		if i == 8 {
			u |= uint64(c) << 56
		} else {
			u |= uint64(c&0x7f) << (7 * i)
		}
		if i == 8 || c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), b[i+1:], nil
		}
	}
	return 0, nil, io.ErrUnexpectedEOF
}

// DecodeHDR reads a histogram of durations in nanoseconds in HdrHistogram's V2
// encoding, deflated or not. Its extremes and its mean are those of its buckets.
// Values above 1 hour count as that.
func DecodeHDR(b []byte) (*Histogram, error) {
	h := new(Histogram)
	if err := h.decodeHDR(b); err != nil {
		return nil, fmt.Errorf("tacho: no histogram in HdrHistogram's V2 encoding: %w", err)
	}
	return h, nil
}

func (h *HistogramOf[T]) decodeHDR(b []byte) error {
	if len(b) < 8 {
		return io.ErrUnexpectedEOF
	}
	cookie := binary.BigEndian.Uint32(b) &^ 0xf0
	if cookie == hdrDeflated {
		n := binary.BigEndian.Uint32(b[4:])
		if uint64(n) > uint64(len(b)-8) {
			return io.ErrUnexpectedEOF
		}
		z, err := zlib.NewReader(bytes.NewReader(b[8 : 8+n]))
		if err != nil {
			return err
		}
		b, err = io.ReadAll(io.LimitReader(z, hdrMaxPayload+1))
		if err != nil {
			return err
		}
		if len(b) > hdrMaxPayload {
			return errors.New("it inflates to more than 16 MiB")
		}
		if len(b) < 8 {
			return io.ErrUnexpectedEOF
		}
		cookie = binary.BigEndian.Uint32(b) &^ 0xf0
	}
	if cookie != hdrPlain {
		return fmt.Errorf("the cookie is %#x", cookie)
	}
	if len(b) < hdrHeader {
		return io.ErrUnexpectedEOF
	}
	n, shift := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	digits, lowest := binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint64(b[16:])
	ratio := math.Float64frombits(binary.BigEndian.Uint64(b[32:]))
	switch {
	case digits > 5:
		return fmt.Errorf("%d significant digits", digits)
	case shift != 0:
		return errors.New("its buckets are shifted, as those of doubles are")
	case ratio != 1 && ratio != 0:
		return errors.New("its values are doubles")
	case lowest == 0 || lowest > uint64(maxTracked):
		return fmt.Errorf("the lowest value is %d", lowest)
	case uint64(n) > uint64(len(b)-hdrHeader):
		return io.ErrUnexpectedEOF
	}
	if int(digits) >= 1 && int(digits) < len(magnitudes) {
		h.extra = magnitudes[digits] - magnitude
	}
	l := foreign(int(digits), lowest)
	if l.mag < h.mag() {
		h.loses(h.mag() - l.mag)
	}
	return h.addCounts(b[hdrHeader:hdrHeader+n], l)
}

// layout is the bucket layout of an encoded histogram.
type layout struct{ mag, unit uint }

// foreign is the layout of any HdrHistogram: with 0 to 5 digits, and in units of
// the power of two below the lowest value.
func foreign(digits int, lowest uint64) layout {
	mag, unit := uint(0), uint(0)
	for two := 2 * math.Pow10(digits); float64(uint64(2)<<mag) < two; {
		mag++
	}
	for lowest>>unit > 1 {
		unit++
	}
	return layout{mag, unit}
}

// addCounts adds encoded counts of a layout.
func (h *HistogramOf[T]) addCounts(b []byte, l layout) error {
	var i uint
	for len(b) > 0 {
		n, rest, err := readZigZag(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case n < 0:
			if n < -1<<32 {
				return errors.New("a run of buckets is too long")
			}
			i += uint(-n)
			continue
		case n > 1<<53:
			return errors.New("a count is too large")
		case n > 0:
			// Its highest value has mag + 1 bits, shifted by the power and the unit.
			if power := i >> l.mag; power+l.mag+l.unit > 61 {
				return errors.New("a bucket is beyond all values")
			}
			low, high := bounds(i, l.mag)
			low, high = low<<l.unit, high<<l.unit+1<<l.unit-1
			if low > maxTracked {
				h.high.Add(n)
			}
			low, high = min(low, maxTracked), min(high, maxTracked)
			at := indexOf(high, h.mag())
			h.addTo(at, n)
			bottom, _ := bounds(at, h.mag())
			low = max(low, bottom)
			h.sums[0].Add(n * (low + (high-low)/2))
			h.extremes(low, high)
		}
		i++
	}
	return nil
}

// MarshalText returns what AppendHDR appends in base64: HdrHistogram's logs and
// hdrhistogram-go's Decode have it so, and JSON as a string.
func (h *HistogramOf[T]) MarshalText() ([]byte, error) {
	b, err := h.AppendHDR(nil)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText reads what MarshalText returns, in place of what h had.
func (h *HistogramOf[T]) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("tacho: no histogram in base64: %w", err)
	}
	h.Reset()
	if err := h.decodeHDR(b); err != nil {
		return fmt.Errorf("tacho: no histogram in HdrHistogram's V2 encoding: %w", err)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package tacho

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// imageRule is how a family of models counts an image, from OpenAI's "Images and
// vision", section "Calculating costs"
// (https://platform.openai.com/docs/guides/images-vision#calculating-costs).
type imageRule struct {
	base, tile int     // by tiles of 512 x 512
	patches    float64 // by patches of 32 x 32: the factor; 0: by tiles
	known      bool
}

// plainModel is a model's name without what routers and fine-tuning put before it.
func plainModel(model string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(model, "openai/"), "azure/"), "ft:")
}

// imageRules returns the rule of a model.
func imageRules(model string) imageRule {
	model = plainModel(model)
	for _, f := range [...]struct {
		prefix string
		rule   imageRule
	}{
		{"gpt-4.1-mini", imageRule{patches: 1.62}},
		{"gpt-4.1-nano", imageRule{patches: 2.46}},
		{"gpt-5-mini", imageRule{patches: 1.62}},
		{"gpt-5-nano", imageRule{patches: 2.46}},
		{"o4-mini", imageRule{patches: 1.72}},
		{"gpt-4o-mini", imageRule{base: 2833, tile: 5667}},
		{"gpt-4o", imageRule{base: 85, tile: 170}},
		{"chatgpt-4o", imageRule{base: 85, tile: 170}},
		{"gpt-4.1", imageRule{base: 85, tile: 170}},
		{"gpt-4.5", imageRule{base: 85, tile: 170}},
		{"gpt-4-turbo", imageRule{base: 85, tile: 170}},
		{"gpt-4-vision", imageRule{base: 85, tile: 170}},
		{"gpt-5", imageRule{base: 70, tile: 140}},
		{"o1", imageRule{base: 75, tile: 150}},
		{"o3", imageRule{base: 75, tile: 150}},
		{"computer-use-preview", imageRule{base: 65, tile: 129}},
	} {
		if strings.HasPrefix(model, f.prefix) {
			f.rule.known = true
			return f.rule
		}
	}
	return imageRule{base: 85, tile: 170}
}

var (
	errImageModel = errors.New("an image: how this model counts one is not known, it is counted as gpt-4o does")
	errImageURL   = errors.New("an image of which the request has the address alone")
	errImageKind  = errors.New("an image whose size is not to be read (PNG, JPEG, GIF and WebP are)")
)

// count returns the tokens of an image, and what is not known of them.
func (r imageRule) count(url, detail string) (n int, err error) {
	if !r.known {
		err = errImageModel
	}
	if detail == "low" && r.patches == 0 {
		return r.base, err
	}
	kind, data, ok := strings.Cut(url, ";base64,")
	if !ok || !strings.HasPrefix(kind, "data:") {
		return 0, errImageURL
	}
	w, h := imageSize(data)
	if w == 0 || h == 0 {
		return 0, errImageKind
	}
	if r.patches > 0 {
		return int(math.Ceil(float64(countPatches(w, h)) * r.patches)), err
	}
	return r.base + r.tile*countTiles(w, h), err
}

// countTiles scales an image to fit 2048 x 2048, then its shorter side to 768, and
// counts the tiles of 512 x 512 that cover it.
func countTiles(w, h int) int {
	fw, fh := float64(w), float64(h)
	if s := 2048 / max(fw, fh); s < 1 {
		fw, fh = fw*s, fh*s
	}
	if s := 768 / min(fw, fh); s < 1 {
		fw, fh = fw*s, fh*s
	}
	return cover(fw, 512) * cover(fh, 512)
}

// maxPatches bounds the patches of an image, which is made smaller for that.
const maxPatches = 1536

// countPatches counts the patches of 32 x 32 that cover an image.
func countPatches(w, h int) int {
	fw, fh := float64(w), float64(h)
	n := cover(fw, 32) * cover(fh, 32)
	if n <= maxPatches {
		return n
	}
	s := math.Sqrt(32 * 32 * maxPatches / (fw * fh))
	// So that the sides are whole patches.
	pw, ph := fw*s/32, fh*s/32
	s *= min(max(1, math.Floor(pw))/pw, max(1, math.Floor(ph))/ph)
	return min(maxPatches, max(1, cover(fw*s, 32))*max(1, cover(fh*s, 32)))
}

// cover is how many pieces cover a length. A rounding error is no piece.
func cover(length, piece float64) int { return int(math.Ceil(length/piece - 1e-9)) }

// imageSize reads the size of an image from its first bytes, 0 if it cannot.
// Package image would know more kinds, and bring their decoders along.
func imageSize(data string) (w, h int) {
	const head = 96 << 10 // a JPEG has its size behind what a camera wrote
	data = data[:min(len(data), head/3*4)]
	b := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(b, []byte(data))
	if b = b[:n]; err != nil && n == 0 {
		return 0, 0
	}
	switch {
	case len(b) >= 24 && string(b[:8]) == "\x89PNG\r\n\x1a\n":
		return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case len(b) >= 10 && (string(b[:6]) == "GIF87a" || string(b[:6]) == "GIF89a"):
		return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	case len(b) >= 30 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return webpSize(b)
	case len(b) >= 4 && b[0] == 0xff && b[1] == 0xd8:
		return jpegSize(b[2:])
	}
	return 0, 0
}

// jpegSize looks for the frame's header among the segments.
func jpegSize(b []byte) (w, h int) {
	for len(b) >= 9 {
		if b[0] != 0xff {
			return 0, 0
		}
		switch m := b[1]; {
		case m == 0xff: // padding
			b = b[1:]
			continue
		case m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 && m != 0xcc:
			return int(binary.BigEndian.Uint16(b[7:])), int(binary.BigEndian.Uint16(b[5:]))
		}
		n := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if n < 4 || n > len(b) {
			return 0, 0
		}
		b = b[n:]
	}
	return 0, 0
}

// webpSize reads the three kinds of RFC 9649.
func webpSize(b []byte) (w, h int) {
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return u24(b[24:]) + 1, u24(b[27:]) + 1
	}
	return 0, 0
}

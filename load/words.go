// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math/rand/v2"
	"strings"
)

// words are three letters long, and each is a token by itself and behind a space
// in the vocabularies of OpenAI (r50k, p50k, cl100k, o200k), as a test holds. So a
// text of n of them has n tokens there; and n where four bytes are taken for one,
// as package sim does.
var words = [...]string{
	"the", "and", "for", "are", "but", "not", "you", "all", "any", "can", "had", "her", "was", "one", "our",
	"out", "day", "get", "has", "him", "his", "how", "man", "new", "now", "old", "see", "two", "way", "who",
	"boy", "did", "its", "let", "put", "say", "she", "too", "use", "car", "dog", "cat", "sun", "sea", "sky",
	"red", "big", "low", "top", "end", "act", "add", "age", "ago", "air", "art", "ask", "bad", "bag", "bar",
	"bed", "bet", "bit", "box", "bus", "buy", "cup", "cut", "dry", "due", "ear", "eat", "egg", "eye", "far",
	"few", "fit", "fix", "fly", "fun", "gas", "got", "gun", "hit", "hot", "ice", "job", "key", "kid", "law",
	"leg", "lie", "lot", "map", "may", "mix", "net", "nor", "off", "oil", "own", "pay", "per", "pop", "pot",
	"ran", "raw", "row", "run", "sat", "set", "sit", "six", "son", "tax", "ten", "tie", "tip", "try", "war",
	"web", "win", "yes", "yet", "arm", "bay", "cap", "cow", "fan", "fat", "hat", "jet", "lab", "lay", "lip",
	"log", "mad", "nut", "pan", "pen", "pet", "pin", "rat", "rim", "rod", "rub", "ski", "tag", "tap", "van",
	"vet", "zip",
}

// appendWords appends n words with a space between two.
func appendWords(b *strings.Builder, r *rand.Rand, n int) {
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[r.IntN(len(words))])
	}
}

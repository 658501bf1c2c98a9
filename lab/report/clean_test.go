// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"  a  ", "a"},
		{"a\r\n\tb", "a   b"},
		{"a\u2028b\u2029c\u0085d", "a b c d"},
		{"\x1b[31mred", "\ufffd[31mred"},
		{"\x00\x7f\u009b", "\ufffd\ufffd\ufffd"},
		{"bad\xff\xfeutf", "bad\ufffd\ufffdutf"},
		{"abc\u202etxt.exe", "abc\ufffdtxt.exe"},
		{"\u2066x\u2069\ufeff\u200b\u200e", "\ufffdx\ufffd\ufffd\ufffd\ufffd"},
		{"\U000e0041\uffff", "\ufffd\ufffd"},
		{"👩\u200d💻 模型", "👩\u200d💻 模型"},
		{"see https://h/v1.", "see https://h/v1."},
		{"see https://u:p@h:8/v1?k=v#f, b", "see https://h:8/v1 b"},
		{"https://u:p@w@h/", "https://h/"},
		{"https://u:pa/ss@h/x", "https://h/x"},
		{"https://u:pa?ss@h/x", "https://h/x"},
		{"https://u:pa#ss@h", "https://h"},
		{"https://h/@scope/x@v1?y", "https://h/@scope/x@v1"},
		{"https://h:80/a@b", "https://h:80/a@b"},
		{"https://[::1]:8080/v1?k", "https://[::1]:8080/v1"},
		{`say "https://u:p"w@h/x" on`, `say "https://h/x" on`},
		{"https://a.b/r/https://u:p@h/x", "https://a.b/r/https://h/x"},
		{"two http://a:b@c http://d:e@f", "two http://c http://f"},
		{"https://u:p", "https://(a URL that cannot be read)"},
		{"https://u:p/", "https://(a URL that cannot be read)"},
		{"HTTPS://U:P@H", "HTTPS://H"},
		{"of http://h: it", "of http://h: it"},
		{"https://u:/SECRET@h/x", "https://h/x"},
		{"https://h:8080, then", "https://h:8080, then"},
		{"://", "://"},
		{"x://\ny@z", "x:// y@z"},
	}
	for _, tt := range tests {
		if got := cleanText(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestCleanURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://api.openai.com/v1": "https://api.openai.com/v1", " https://u:p@h:1/a%2Fb?q#f ": "https://h:1/a%2Fb", "https://h/v1/?": "https://h/v1/",
		"h/v1": unreadableURL, "": unreadableURL, "https://[": unreadableURL, "mailto:a@b": unreadableURL, "//u:p@h/x": "//h/x",
	} {
		if got := CleanURL(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzCleanText: what is cleaned is valid, has no control character, keeps so
// when it is cleaned again, and has no password of a URL.
func FuzzCleanText(f *testing.F) {
	f.Add("a", "b")
	f.Add("https://h/", "x@y")
	f.Fuzz(func(t *testing.T, before, password string) {
		got := cleanText(before)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 || r == 0x202e }) {
			t.Errorf("%q: %q", before, got)
		}
		if again := cleanText(got); again != got {
			t.Errorf("%q: %q, then %q", before, got, again)
		}
		if strings.ContainsFunc(password, func(r rune) bool { return !(r > ' ' && r < 0x7f) }) || len(password) < 1 {
			return
		}
		raw := "https://u:" + password + "SECRET@host.invalid/v1"
		if u, err := url.Parse(raw); err == nil && u.User == nil {
			return // it is a port and a path to everyone
		}
		if got := cleanText("x " + raw + " y"); strings.Contains(got, "SECRET") {
			t.Errorf("password %q: %q", password, got)
		}
	})
}

func TestEsc(t *testing.T) {
	t.Parallel()
	if got, want := esc("<a b=\"c\" d='e'>&amp;\x00</a>"), "&lt;a b=&#34;c&#34; d=&#39;e&#39;&gt;&amp;amp;\ufffd&lt;/a&gt;"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

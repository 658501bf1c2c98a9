// SPDX-License-Identifier: Apache-2.0

// Count counts the tokens of a text or of a chat request.
//
//	go run ./examples/count README.md
//	go run ./examples/count -chat request.json
//	echo 'Hello, 世界' | go run ./examples/count -model gpt-4 -
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/tacho-go/tacho"
	"github.com/tacho-go/tacho/examples/internal/cli"
)

const usage = `count counts the tokens of files, or of - for the standard input: as a text, or
with -chat as the JSON body of a Chat Completions request, told apart by what costs
them. A chat's count is an estimate; a text's is exact.

  count -model gpt-4o prompt.txt
  count -chat request.json

Without a file it counts two sentences of its own, in English and in Chinese. The
exit code is 0 if everything was counted, else 1.
`

// The same in two languages, for who has no file at hand. A published report has
// "1 byte ≈ 1.2 tokens", which neither comes near.
var samples = []struct{ name, text string }{
	{"English", "The time to the first token is what a user waits for before anything appears on the screen."},
	{"Chinese", "首个词元的时间，就是用户在屏幕上出现任何内容之前所等待的时间。"},
}

func main() { cli.Main(run) }

func run(_ context.Context, args []string, _ func(string) string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("count", flag.ContinueOnError)
	model := fs.String("model", "gpt-4o", "`name` of the model whose tokens are counted; a chat request names its own")
	chat := fs.Bool("chat", false, "the files are chat requests")
	if code, done := cli.Parse(fs, args, usage, stdout, stderr, cli.Files); done {
		return code
	}
	enc, known, err := tacho.EncodingForModel(*model)
	if err != nil {
		return cli.Bad(stderr, "count", err)
	}
	if *chat && fs.NArg() == 0 {
		return cli.Bad(stderr, "count", errors.New("-chat needs a file, or - for the standard input"))
	}
	if !*chat {
		fmt.Fprintf(stdout, "%s: %s%s\n\n%10s %10s %10s %13s  %s\n", *model, enc.Name(), guessed(!known), "tokens", "bytes", "characters", "bytes a token", "text")
	}
	if fs.NArg() == 0 {
		for _, s := range samples {
			row(stdout, enc, s.name, s.text)
		}
	}
	code := 0
	for _, name := range fs.Args() {
		data, err := read(name)
		if err == nil && *chat {
			err = request(stdout, name, data)
		} else if err == nil {
			row(stdout, enc, name, string(data))
		}
		if err != nil {
			fmt.Fprintf(stderr, "count: %s: %v\n", name, err)
			code = 1
		}
	}
	return code
}

func guessed(is bool) string {
	if is {
		return ", a guess: the model is not known"
	}
	return ""
}

func read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// row is the line of a text. One without tokens has no bytes a token.
func row(w io.Writer, enc *tacho.Encoding, name, text string) {
	n := enc.Count(text)
	ratio := "–"
	if n > 0 {
		ratio = fmt.Sprintf("%.2f", float64(len(text))/float64(n))
	}
	fmt.Fprintf(w, "%10d %10d %10d %13s  %s\n", n, len(text), utf8.RuneCountInString(text), ratio, name)
}

// perToken says how many bytes a token has, and nothing where there is none.
func perToken(bytes, tokens int) string {
	if tokens <= 0 {
		return ""
	}
	return fmt.Sprintf(": %.2f bytes of the request a token", float64(bytes)/float64(tokens))
}

// request is the table of a chat request.
func request(w io.Writer, name string, body []byte) error {
	c, err := tacho.CountChat(body)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s, %s%s\n\n", name, c.Model, c.Encoding, guessed(c.Guess))
	for _, part := range []struct {
		name string
		n    int
	}{
		{"messages", c.Messages}, {"names", c.Names}, {"tool calls", c.Calls}, {"tools", c.Tools}, {"format", c.Format}, {"images", c.Images}, {"priming", c.Priming},
	} {
		if part.n != 0 {
			fmt.Fprintf(w, "%10d  %5.1f %%  %s\n", part.n, 100*float64(part.n)/float64(c.Total()), part.name)
		}
	}
	fmt.Fprintf(w, "%10d           in all, an estimate%s\n", c.Total(), perToken(len(body), c.Total()))
	for _, u := range c.Unknown {
		fmt.Fprintf(w, "            not counted: %s\n", u)
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Screen is where output goes: a terminal or not, and how wide.
type Screen struct {
	Terminal bool
	Width    int
	Colour   bool // a terminal, and NO_COLOR is empty
}

const defaultWidth = 80

// ScreenOf looks at w. What is no terminal is 80 cells wide, without colour.
func ScreenOf(w io.Writer, env func(string) string) Screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return Screen{Width: defaultWidth}
	}
	s := Screen{Terminal: true, Width: defaultWidth, Colour: env("NO_COLOR") == "" && env("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

// Paint puts s into an SGR colour, such as 36, where there are colours.
func (s Screen) Paint(sgr int, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", sgr, text)
}

// patience is how long work goes on before progress is shown.
const patience = 2 * time.Second

// Progress shows on a terminal how long work takes, from two seconds on, in one
// line that the returned function takes away. Elsewhere it does nothing.
func Progress(w io.Writer, env func(string) string, what string) (stop func()) {
	return Watch(w, env, func() string { return what })
}

// Watch is Progress of a text that changes.
func Watch(w io.Writer, env func(string) string, what func() string) (stop func()) {
	if !ScreenOf(w, env).Terminal {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { tick(w, what, done) })
	return sync.OnceFunc(func() {
		close(done)
		wg.Wait()
	})
}

func tick(w io.Writer, what func() string, done <-chan struct{}) {
	began, t := time.Now(), time.NewTicker(500*time.Millisecond)
	defer t.Stop()
	shown := false
	for {
		select {
		case <-done:
			if shown {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		case <-t.C:
			if d := time.Since(began); d >= patience {
				fmt.Fprintf(w, "\r\x1b[K%s, %.0f s (Ctrl-C stops it)", what(), d.Seconds())
				shown = true
			}
		}
	}
}

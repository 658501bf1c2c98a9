// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tacho-go/tacho/load"
	"github.com/tacho-go/tacho/sim"
)

// fullDisk takes so many bytes.
type fullDisk struct{ left int }

func (f *fullDisk) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return f.left, errors.New("no space left")
	}
	f.left -= len(b)
	return len(b), nil
}

// Rows that cannot be written cost no call and no figure, and are told.
func TestRowsOnFullDisk(t *testing.T) {
	t.Parallel()
	for _, left := range []int{0, 5000} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, sim.WithModel(even))
			res := b.run(t, t.Context(), load.Config{Stages: []load.Stage{load.Constant(10, 5*time.Second)}, Rows: &fullDisk{left}})
			if s := &res.Stages[0]; s.Served != 50 || res.Incomplete != "" || res.Health.Rows != "no space left" {
				t.Errorf("%q, %+v", res.Health.Rows, s.Counts)
			}
			if w := strings.Join(res.Warnings(), "\n"); !strings.Contains(w, "rows were not written: no space left") {
				t.Errorf("warnings %s", w)
			}
		})
	}
}

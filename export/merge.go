// SPDX-License-Identifier: Apache-2.0

package export

import (
	"slices"

	"github.com/tacho-go/tacho"
)

// set is a series under the names and values that are told: several series of a
// recorder may be one then, since values that are not plain are all _OTHER.
type set struct {
	labels []tacho.Label // in the order of their names
	group  [2]tacho.Group
}

// merged renames the labels of all series and puts those together that become
// one. A name that comes twice in a series has its last value.
func merged(series []tacho.Series, rename func(tacho.Label) tacho.Label) (sets []*set) {
	for _, one := range series {
		s := &set{group: [2]tacho.Group{one.Streams, one.Plain}}
		for _, l := range addressed(one.Labels) {
			l = rename(l)
			if l.Value == "" {
				continue // as if it was not there
			}
			if at := slices.IndexFunc(s.labels, func(have tacho.Label) bool { return have.Name == l.Name }); at >= 0 {
				s.labels[at] = l
			} else {
				s.labels = append(s.labels, l)
			}
		}
		slices.SortFunc(s.labels, func(a, b tacho.Label) int {
			if a.Name < b.Name {
				return -1
			}
			return 1
		})
		at := slices.IndexFunc(sets, func(have *set) bool { return slices.Equal(have.labels, s.labels) })
		if at < 0 {
			sets = append(sets, s)
			continue
		}
		for k := range s.group {
			sets[at].group[k] = sets[at].group[k].Plus(s.group[k])
		}
	}
	return sets
}

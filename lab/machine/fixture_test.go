// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// tree makes a file system from paths and contents. A content that begins with
// "-> " is a symbolic link, a path that ends in a slash a directory.
func tree(parts ...map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, part := range parts {
		for name, content := range part {
			switch target, link := strings.CutPrefix(content, "-> "); {
			case link:
				fsys[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink | 0o777}
			case strings.HasSuffix(name, "/"):
				fsys[strings.TrimSuffix(name, "/")] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			default:
				fsys[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o444}
			}
		}
	}
	return fsys
}

// encode returns v as JSON in one line.
func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

const (
	guestCPU = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme hypervisor sse\n\nprocessor\t: 1\nmodel name\t: other\n"
	metalCPU = "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme sse\n"
	armCPU   = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
	routes   = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
		"eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n" +
		"eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
)

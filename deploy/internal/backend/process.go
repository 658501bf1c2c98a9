// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// process is a program that runs in the background, with its children in a group
// of its own.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts a program whose output goes to a file in dir.
func start(dir, name, path string, env []string, args ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd = exec.Command(path, args...)
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	// The group is what is ended, and with it whatever the program started.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
		_ = out.Close()
	}()
	return p, nil
}

// stop asks the group to end, and ends it when it does not within 5 seconds.
func (p *process) stop() {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-p.cmd.Process.Pid, s)
		select {
		case <-p.done:
			return
		case <-time.After(5 * time.Second):
		}
	}
}

// ready waits until a URL answers with a status below 400.
func (p *process) ready(ctx context.Context, url string) error {
	return Until(ctx, 30*time.Second, func() error {
		select {
		case <-p.done:
			tail, _ := os.ReadFile(p.log)
			return fatal{fmt.Errorf("%s has ended: %s", p.name, tail[max(0, len(tail)-2000):])}
		default:
		}
		_, err := get(ctx, http.MethodGet, url, nil)
		return err
	})
}

// fatal is an error that no waiting mends.
type fatal struct{ error }

// Until calls f until it returns nil, ten times a second, and returns its last
// error when that took too long.
func Until(ctx context.Context, limit time.Duration, f func() error) error {
	end := time.Now().Add(limit)
	for {
		err := f()
		var last fatal
		if err == nil || errors.As(err, &last) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freeAddress returns an address of loopback where nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// SPDX-License-Identifier: Apache-2.0

package machine

import "strings"

// Runtime names the software that keeps a container.
type Runtime string

// The container runtimes that [Read] tells apart. A runtime that systemd's
// convention (/run/systemd/container) names is kept as it is written there.
const (
	Kubernetes Runtime = "kubernetes"
	Docker     Runtime = "docker"
	Podman     Runtime = "podman"
	LXC        Runtime = "lxc"
)

// Container says whether this process runs in a container. It is apart from
// [Virtualisation] because both can hold: a container in a virtual machine. The
// zero value knows nothing.
type Container struct {
	// Inside is nil where nothing tells.
	Inside *bool `json:"inside,omitempty"`
	// Kind is empty outside a container and where its runtime leaves no trace.
	Kind Runtime `json:"kind,omitempty"`
	// Evidence lists what the conclusion stands on, the deciding one first.
	Evidence []string `json:"evidence,omitempty"`
}

func readContainer(r files) Container {
	kind, evidence := containerTraces(r)
	if initialNamespaces(r) {
		c := Container{Inside: new(false), Evidence: []string{"cgroup, ipc, pid and uts namespaces are the machine's first"}}
		for _, e := range evidence {
			c.Evidence = append(c.Evidence, "against it: "+e)
		}
		return c
	}
	if kind == "" {
		return Container{}
	}
	return Container{Inside: new(true), Kind: kind, Evidence: evidence}
}

// initialNamespaces reports whether this process shares four namespaces with
// the kernel's first process. The kernel gives the first of each kind a fixed
// number. A file such as /.dockerenv outlives its container when an image
// becomes the disk of a virtual machine; the namespaces do not.
func initialNamespaces(r files) bool {
	for _, ns := range []struct{ name, first string }{
		{"cgroup", "cgroup:[4026531835]"},
		{"pid", "pid:[4026531836]"},
		{"uts", "uts:[4026531838]"},
		{"ipc", "ipc:[4026531839]"},
	} {
		if got, _ := r.link("proc/self/ns/" + ns.name); got != ns.first {
			return false
		}
	}
	return true
}

// containerTraces collects every trace; the first names the kind. Kubernetes
// comes first because its pods also bear the traces of the runtime below it.
func containerTraces(r files) (kind Runtime, evidence []string) {
	found := func(k Runtime, why string) {
		if kind == "" {
			kind = k
		}
		evidence = append(evidence, why)
	}
	// The groups hold container ids, so only the fact is kept.
	groups, _ := r.text("proc/1/cgroup")
	if strings.Contains(groups, "kubepods") {
		found(Kubernetes, "/proc/1/cgroup names kubepods")
	}
	for _, dir := range []string{"run/secrets/kubernetes.io", "var/run/secrets/kubernetes.io"} {
		if r.exists(dir) {
			found(Kubernetes, "/"+dir+" exists")
			break
		}
	}
	if s, ok := r.text("run/.containerenv"); ok {
		k := Podman
		// Other tools write the file too; podman names itself in it, or leaves it empty.
		if engine, named := containerEngine(s); named && !strings.HasPrefix(engine, string(Podman)) {
			k = Runtime(engine)
		}
		found(k, "/run/.containerenv exists")
	}
	if r.exists(".dockerenv") {
		found(Docker, "/.dockerenv exists")
	}
	if s, _ := r.text("run/systemd/container"); s != "" {
		found(Runtime(s), "/run/systemd/container says "+s)
	}
	for _, known := range []struct {
		part string
		kind Runtime
	}{
		{"/libpod-", Podman},
		{"/docker/", Docker},
		{"/docker-", Docker},
		{"/lxc/", LXC},
		{"/lxc.payload", LXC},
	} {
		if strings.Contains(groups, known.part) {
			found(known.kind, "/proc/1/cgroup names "+string(known.kind))
			break
		}
	}
	return kind, evidence
}

// containerEngine reads engine="podman-5.2.1" and drops the version.
func containerEngine(env string) (engine string, ok bool) {
	for line := range strings.Lines(env) {
		if v, found := strings.CutPrefix(strings.TrimSpace(line), "engine="); found {
			engine, _, _ = strings.Cut(strings.Trim(v, `"`), "-")
			return engine, engine != ""
		}
	}
	return "", false
}

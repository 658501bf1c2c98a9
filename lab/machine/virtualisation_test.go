// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"strings"
	"testing"

	"github.com/tacho-go/tacho/lab/machine"
)

func TestVirtualisation(t *testing.T) {
	t.Parallel()
	const (
		flag    = `"/proc/cpuinfo has the hypervisor flag"`
		noFlag  = `"/proc/cpuinfo has no hypervisor flag"`
		product = "sys/class/dmi/id/product_name"
		vendor  = "sys/class/dmi/id/sys_vendor"
		clocks  = "sys/devices/system/clocksource/clocksource0/available_clocksource"
		release = "proc/sys/kernel/osrelease"
	)
	// x86 guests: one file decides, the flag agrees.
	for _, c := range []struct{ name, file, content, kind, why string }{
		{"KVM by product", product, "KVM", "kvm", "DMI product_name: KVM"},
		{"KVM by clock", clocks, "tsc kvm-clock", "kvm", "clock source kvm-clock is on offer"},
		{"QEMU", vendor, "QEMU", "qemu", "DMI sys_vendor: QEMU"},
		{"QEMU by BIOS", "sys/class/dmi/id/bios_vendor", "Bochs", "qemu", "DMI bios_vendor: Bochs"},
		{"OpenStack", product, "OpenStack Compute", "qemu", "DMI product_name: OpenStack Compute"},
		{"VMware", vendor, "VMware, Inc.", "vmware", "DMI sys_vendor: VMware, Inc."},
		{"VirtualBox", vendor, "innotek GmbH", "virtualbox", "DMI sys_vendor: innotek GmbH"},
		{"VirtualBox by product", product, "VirtualBox", "virtualbox", "DMI product_name: VirtualBox"},
		{"Xen by DMI", vendor, "Xen", "xen", "DMI sys_vendor: Xen"},
		{"Xen by type", "sys/hypervisor/type", "xen", "xen", "/sys/hypervisor/type is xen"},
		{"Hyper-V by clock", clocks, "hyperv_clocksource_tsc_page acpi_pm", "hyperv", "clock source hyperv_clocksource_tsc_page is on offer"},
		{"Hyper-V by bus", "sys/bus/vmbus/devices/1/", "", "hyperv", "/sys/bus/vmbus has devices"},
		{"Parallels", vendor, "Parallels International GmbH.", "parallels", "DMI sys_vendor: Parallels International GmbH."},
		{"bhyve", product, "BHYVE", "bhyve", "DMI product_name: BHYVE"},
		{"Firecracker", "sys/firmware/acpi/tables/FACP", "FACP\x14\x01\x00\x00\x06fFIRECKFCVMFADT", "firecracker", "ACPI table FACP has the maker FIRECK"},
		{"Cloud Hypervisor", "sys/firmware/acpi/tables/FACP", "FACP\x14\x01\x00\x00\x06fCLOUDHCHFACP  ", "cloud-hypervisor", "ACPI table FACP has the maker CLOUDH"},
		{"WSL 2", release, "5.15.153.1-microsoft-standard-WSL2", "wsl", "the kernel's release names microsoft"},
		{"gVisor", release, "4.19.0-gvisor", "gvisor", "the kernel's version names gvisor"},
		{"gVisor, old", "proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", "gvisor", "/proc/version is the fixed text of gvisor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fsys := tree(map[string]string{"proc/cpuinfo": guestCPU, c.file: c.content + "\n"})
			equal(t, encode(t, machine.ReadFS(t.Context(), fsys).Virtualisation),
				`{"guest":true,"kind":"`+c.kind+`","hypervisor_flag":true,"evidence":["`+c.why+`",`+flag+`]}`)
		})
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"guest without a name", map[string]string{"proc/cpuinfo": guestCPU},
			`{"guest":true,"hypervisor_flag":true,"evidence":[` + flag + `]}`},
		{"bare metal", map[string]string{"proc/cpuinfo": metalCPU, vendor: "Dell Inc.\n", clocks: "tsc hpet\n"},
			`{"guest":false,"hypervisor_flag":false,"evidence":[` + noFlag + `]}`},
		{"a laptop of Microsoft's", map[string]string{"proc/cpuinfo": metalCPU, vendor: "Microsoft Corporation\n", product: "Surface Book 3\n"},
			`{"guest":false,"hypervisor_flag":false,"evidence":[` + noFlag + `]}`},
		{"Hyper-V by DMI", map[string]string{"proc/cpuinfo": guestCPU, vendor: "Microsoft Corporation\n", product: "Virtual Machine\n"},
			`{"guest":true,"kind":"hyperv","hypervisor_flag":true,"evidence":["DMI: Microsoft Corporation Virtual Machine",` + flag + `]}`},
		{"flag hidden from the guest", map[string]string{"proc/cpuinfo": metalCPU, vendor: "QEMU\n"},
			`{"guest":true,"kind":"qemu","hypervisor_flag":false,"evidence":["DMI sys_vendor: QEMU",` + noFlag + `]}`},
		{"QEMU without KVM", map[string]string{
			"proc/cpuinfo": strings.Replace(guestCPU, "AMD EPYC", "QEMU TCG CPU version 2.5+", 1), vendor: "QEMU\n"},
			`{"guest":true,"kind":"qemu-tcg","hypervisor_flag":true,"evidence":["CPU model QEMU TCG CPU version 2.5+","DMI sys_vendor: QEMU",` + flag + `]}`},
		{"Xen's host domain", map[string]string{"proc/cpuinfo": guestCPU, "sys/hypervisor/type": "xen\n", "proc/xen/capabilities": "control_d\n"},
			`{"guest":false,"hypervisor_flag":true,"evidence":["/proc/xen/capabilities has control_d: the host domain of xen"]}`},
		{"EC2 bare metal on x86", map[string]string{"proc/cpuinfo": metalCPU, vendor: "Amazon EC2\n", product: "m5.metal\n"},
			`{"guest":false,"hypervisor_flag":false,"evidence":[` + noFlag + `]}`},
		{"EC2 on arm64", map[string]string{"proc/cpuinfo": armCPU, vendor: "Amazon EC2\n", product: "c7g.large\n"},
			`{"guest":true,"kind":"kvm","evidence":["DMI: Amazon EC2 c7g.large, not metal"]}`},
		{"EC2 bare metal on arm64 is not told", map[string]string{"proc/cpuinfo": armCPU, vendor: "Amazon EC2\n", product: "c7g.metal\n"}, `{}`},
		{"arm64 board", map[string]string{"proc/cpuinfo": armCPU, "proc/device-tree/compatible": "raspberrypi,4-model-b\x00brcm,bcm2711\x00"}, `{}`},
		{"arm64 virtual board", map[string]string{"proc/cpuinfo": armCPU, "proc/device-tree/compatible": "linux,dummy-virt\x00"},
			`{"guest":true,"evidence":["/proc/device-tree/compatible: linux,dummy-virt"]}`},
		{"device tree names Xen", map[string]string{"proc/device-tree/hypervisor/compatible": "xen,xen-4.17\x00xen,xen\x00"},
			`{"guest":true,"kind":"xen","evidence":["/proc/device-tree/hypervisor/compatible: xen,xen-4.17"]}`},
		{"device tree names KVM", map[string]string{"proc/device-tree/hypervisor/compatible": "epapr,hypervisor-0.1\x00linux,kvm\x00"},
			`{"guest":true,"kind":"kvm","evidence":["/proc/device-tree/hypervisor/compatible: linux,kvm"]}`},
		{"SMBIOS bit on arm64", map[string]string{"proc/cpuinfo": armCPU, "sys/firmware/dmi/entries/0-0/raw": strings.Repeat("\x00", 0x13) + "\x1c\x00"},
			`{"guest":true,"evidence":["SMBIOS: the BIOS characteristics have the virtual machine bit"]}`},
		{"SMBIOS bit not set", map[string]string{"proc/cpuinfo": armCPU, "sys/firmware/dmi/entries/0-0/raw": strings.Repeat("\x00", 0x13) + "\x0c\x00"}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, encode(t, machine.ReadFS(t.Context(), tree(c.files)).Virtualisation), c.want)
		})
	}
}

func TestContainer(t *testing.T) {
	t.Parallel()
	first := map[string]string{
		"proc/self/ns/cgroup": "-> cgroup:[4026531835]",
		"proc/self/ns/pid":    "-> pid:[4026531836]",
		"proc/self/ns/uts":    "-> uts:[4026531838]",
		"proc/self/ns/ipc":    "-> ipc:[4026531839]",
	}
	const cgroup = "proc/1/cgroup"
	for _, c := range []struct {
		name  string
		files []map[string]string
		want  string
	}{
		{"docker", []map[string]string{{".dockerenv": ""}}, `{"inside":true,"kind":"docker","evidence":["/.dockerenv exists"]}`},
		{"docker by group", []map[string]string{{cgroup: "4:cpu:/docker/0123abcd\n"}},
			`{"inside":true,"kind":"docker","evidence":["/proc/1/cgroup names docker"]}`},
		{"podman", []map[string]string{{"run/.containerenv": "engine=\"podman-5.2.1\"\nid=\"0123\"\n"}},
			`{"inside":true,"kind":"podman","evidence":["/run/.containerenv exists"]}`},
		{"podman, empty file", []map[string]string{{"run/.containerenv": ""}},
			`{"inside":true,"kind":"podman","evidence":["/run/.containerenv exists"]}`},
		{"buildah", []map[string]string{{"run/.containerenv": "engine=\"buildah-1.37\"\n"}},
			`{"inside":true,"kind":"buildah","evidence":["/run/.containerenv exists"]}`},
		{"podman by group", []map[string]string{{cgroup: "0::/machine.slice/libpod-0123.scope\n"}},
			`{"inside":true,"kind":"podman","evidence":["/proc/1/cgroup names podman"]}`},
		{"kubernetes over docker", []map[string]string{{cgroup: "0::/kubepods/besteffort/pod0/0123\n", ".dockerenv": ""}},
			`{"inside":true,"kind":"kubernetes","evidence":["/proc/1/cgroup names kubepods","/.dockerenv exists"]}`},
		{"kubernetes by secret", []map[string]string{{"run/secrets/kubernetes.io/serviceaccount/token": "x"}},
			`{"inside":true,"kind":"kubernetes","evidence":["/run/secrets/kubernetes.io exists"]}`},
		{"lxc", []map[string]string{{"run/systemd/container": "lxc\n"}},
			`{"inside":true,"kind":"lxc","evidence":["/run/systemd/container says lxc"]}`},
		{"lxc by group", []map[string]string{{cgroup: "0::/lxc.payload.box/init.scope\n"}},
			`{"inside":true,"kind":"lxc","evidence":["/proc/1/cgroup names lxc"]}`},
		{"first namespaces", []map[string]string{first, {cgroup: "0::/init.scope\n"}},
			`{"inside":false,"evidence":["cgroup, ipc, pid and uts namespaces are the machine's first"]}`},
		{"an image turned into a disk", []map[string]string{first, {".dockerenv": ""}},
			`{"inside":false,"evidence":["cgroup, ipc, pid and uts namespaces are the machine's first","against it: /.dockerenv exists"]}`},
		{"docker with the host's processes", []map[string]string{first, {".dockerenv": "", "proc/self/ns/uts": "-> uts:[4026532201]"}},
			`{"inside":true,"kind":"docker","evidence":["/.dockerenv exists"]}`},
		{"no trace", []map[string]string{{cgroup: "0::/\n", "proc/self/ns/pid": "-> pid:[4026532201]"}}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal(t, encode(t, machine.ReadFS(t.Context(), tree(c.files...)).Container), c.want)
		})
	}
}

// SPDX-License-Identifier: Apache-2.0

package machine

import "strings"

// Hypervisor names what stands between the kernel's interface and the hardware.
type Hypervisor string

// The hypervisors and emulated kernels that [Read] tells apart.
const (
	KVM             Hypervisor = "kvm"
	QEMU            Hypervisor = "qemu"     // QEMU's machine; KVM or TCG below it is not told
	QEMUTCG         Hypervisor = "qemu-tcg" // QEMU emulating every instruction
	Firecracker     Hypervisor = "firecracker"
	CloudHypervisor Hypervisor = "cloud-hypervisor"
	VMware          Hypervisor = "vmware"
	HyperV          Hypervisor = "hyperv"
	Xen             Hypervisor = "xen"
	VirtualBox      Hypervisor = "virtualbox"
	Parallels       Hypervisor = "parallels"
	Bhyve           Hypervisor = "bhyve"
	Apple           Hypervisor = "apple" // Apple's Virtualization framework
	GVisor          Hypervisor = "gvisor"
	WSL             Hypervisor = "wsl"
)

// Virtualisation says whether a hypervisor or an emulated kernel stands below
// this system. The zero value knows nothing.
type Virtualisation struct {
	// Guest is nil where nothing tells: no known vendor, and an architecture
	// without a hypervisor flag.
	Guest *bool `json:"guest,omitempty"`
	// Kind is empty for a guest whose hypervisor does not name itself.
	Kind Hypervisor `json:"kind,omitempty"`
	// HypervisorFlag is CPUID's hypervisor bit; nil outside x86.
	HypervisorFlag *bool `json:"hypervisor_flag,omitempty"`
	// Evidence lists what the conclusion stands on, the deciding one first.
	Evidence []string `json:"evidence,omitempty"`
}

// readVirtualisation asks the sources from the most to the least specific. The
// first with an answer decides; some answer "a guest" and name no kind.
func readVirtualisation(r files, cpu cpuInfo) Virtualisation {
	v := Virtualisation{HypervisorFlag: cpu.hypervisorFlag()}
	// Xen's first domain has the hypervisor flag and owns the hardware: for a
	// comparison of a guest with its host it is the host.
	if s, _ := r.text("proc/xen/capabilities"); hasField(s, "control_d") {
		v.Guest = new(false)
		v.Evidence = []string{"/proc/xen/capabilities has control_d: the host domain of xen"}
		return v
	}
	sources := []func(files) (Hypervisor, string){
		fromKernelName, fromACPI, fromDMI, fromXen, fromDeviceTree, fromClockSource, fromBus,
	}
	if v.HypervisorFlag == nil {
		sources = append(sources, fromEC2, fromSMBIOS)
	}
	for _, source := range sources {
		if kind, why := source(r); why != "" {
			v.Kind, v.Evidence = kind, append(v.Evidence, why)
			break
		}
	}
	if v.Kind == QEMU {
		v.Kind, v.Evidence = refineQEMU(r, cpu, v.Evidence)
	}
	switch {
	case v.HypervisorFlag == nil:
	case *v.HypervisorFlag:
		v.Evidence = append(v.Evidence, "/proc/cpuinfo has the hypervisor flag")
	default:
		if len(v.Evidence) == 0 {
			v.Guest = new(false)
		}
		v.Evidence = append(v.Evidence, "/proc/cpuinfo has no hypervisor flag")
	}
	if v.Guest == nil && len(v.Evidence) > 0 {
		v.Guest = new(true)
	}
	return v
}

// fromKernelName finds kernels that exist only as a guest.
func fromKernelName(r files) (Hypervisor, string) {
	release, _ := r.text("proc/sys/kernel/osrelease")
	version, _ := r.text("proc/version")
	switch {
	case strings.Contains(release, "gvisor"), strings.Contains(version, "gvisor"):
		return GVisor, "the kernel's version names gvisor"
	case strings.HasPrefix(version, "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"):
		return GVisor, "/proc/version is the fixed text of gvisor"
	case strings.Contains(strings.ToLower(release), "microsoft"):
		return WSL, "the kernel's release names microsoft"
	}
	return "", ""
}

// fromACPI reads the maker's id out of a table's header, bytes 10 to 15. Only
// root may; it is the one place where firecracker names itself.
func fromACPI(r files) (Hypervisor, string) {
	table, _ := r.raw("sys/firmware/acpi/tables/FACP")
	if len(table) < 16 {
		return "", ""
	}
	switch table[10:16] {
	case "FIRECK":
		return Firecracker, "ACPI table FACP has the maker FIRECK"
	case "CLOUDH":
		return CloudHypervisor, "ACPI table FACP has the maker CLOUDH"
	}
	return "", ""
}

// fromDMI knows the names that only hypervisors carry. Clouds that rent out
// bare metal under the same name are told by other sources.
func fromDMI(r files) (Hypervisor, string) {
	const dir = "sys/class/dmi/id/"
	product, _ := r.text(dir + "product_name")
	system, _ := r.text(dir + "sys_vendor")
	if strings.HasPrefix(system, "Microsoft") && product == "Virtual Machine" {
		return HyperV, "DMI: " + system + " " + product
	}
	// The product comes first: RHEL's guests are made by "Red Hat" and named "KVM".
	for _, file := range []string{"product_name", "sys_vendor", "board_vendor", "bios_vendor"} {
		value, _ := r.text(dir + file)
		for _, known := range []struct {
			prefix string
			kind   Hypervisor
		}{
			{"KVM", KVM},
			{"RHEV Hypervisor", KVM},
			{"oVirt", KVM},
			{"QEMU", QEMU},
			{"OpenStack", QEMU},
			{"KubeVirt", QEMU},
			{"Bochs", QEMU},
			{"Firecracker", Firecracker},
			{"Cloud Hypervisor", CloudHypervisor},
			{"VMware", VMware},
			{"innotek", VirtualBox},
			{"VirtualBox", VirtualBox},
			{"Xen", Xen},
			{"Parallels", Parallels},
			{"BHYVE", Bhyve},
			{"Apple Virtualization", Apple},
		} {
			if strings.HasPrefix(value, known.prefix) {
				return known.kind, "DMI " + file + ": " + value
			}
		}
	}
	return "", ""
}

// fromEC2 serves Amazon's arm64 machines: the architecture has neither the flag
// nor a clock of the hypervisor, and the product's name tells bare metal.
func fromEC2(r files) (Hypervisor, string) {
	const dir = "sys/class/dmi/id/"
	system, _ := r.text(dir + "sys_vendor")
	product, _ := r.text(dir + "product_name")
	if system != "Amazon EC2" || product == "" || strings.Contains(product, ".metal") {
		return "", ""
	}
	return KVM, "DMI: " + system + " " + product + ", not metal"
}

func fromXen(r files) (Hypervisor, string) {
	if s, _ := r.text("sys/hypervisor/type"); s == "xen" {
		return Xen, "/sys/hypervisor/type is xen"
	}
	return "", ""
}

// fromDeviceTree serves machines without DMI. A compatible property is a list of
// strings that end in NUL.
func fromDeviceTree(r files) (Hypervisor, string) {
	const file = "proc/device-tree/hypervisor/compatible"
	s, _ := r.text(file)
	for name := range strings.SplitSeq(s, "\x00") {
		switch {
		case name == "linux,kvm":
			return KVM, "/" + file + ": " + name
		case strings.HasPrefix(name, "xen,"):
			return Xen, "/" + file + ": " + name
		case name == "vmware":
			return VMware, "/" + file + ": " + name
		}
	}
	// The board that QEMU, firecracker and others make up has no maker's name.
	if s, _ := r.text("proc/device-tree/compatible"); strings.Contains(s, "linux,dummy-virt") {
		return "", "/proc/device-tree/compatible: linux,dummy-virt"
	}
	return "", ""
}

// fromClockSource looks at the clocks on offer: a guest that runs on tsc still
// lists the clock that its hypervisor provides.
func fromClockSource(r files) (Hypervisor, string) {
	s, _ := r.text(clockSources + "available_clocksource")
	for name := range strings.FieldsSeq(s) {
		switch {
		case name == "kvm-clock":
			return KVM, "clock source kvm-clock is on offer"
		case name == "xen":
			return Xen, "clock source xen is on offer"
		case strings.HasPrefix(name, "hyperv_clocksource"):
			return HyperV, "clock source " + name + " is on offer"
		}
	}
	return "", ""
}

func fromBus(r files) (Hypervisor, string) {
	if len(r.list("sys/bus/vmbus/devices")) > 0 {
		return HyperV, "/sys/bus/vmbus has devices"
	}
	return "", ""
}

// refineQEMU tells KVM from emulation where the guest can.
func refineQEMU(r files, cpu cpuInfo, evidence []string) (Hypervisor, []string) {
	if strings.HasPrefix(cpu.model(), "QEMU TCG CPU") {
		return QEMUTCG, append([]string{"CPU model " + cpu.model()}, evidence...)
	}
	if kind, why := fromClockSource(r); kind == KVM {
		return KVM, append([]string{why}, evidence...)
	}
	return QEMU, evidence
}

// fromSMBIOS reads bit 4 of the second extension byte of the BIOS structure: a
// virtual machine of unnamed make. Only root may. A bit that is not set proves
// nothing: most hypervisors leave it so.
func fromSMBIOS(r files) (Hypervisor, string) {
	raw, _ := r.raw("sys/firmware/dmi/entries/0-0/raw")
	if len(raw) <= 0x13 || raw[0x13]&(1<<4) == 0 {
		return "", ""
	}
	return "", "SMBIOS: the BIOS characteristics have the virtual machine bit"
}

// Package sandbox owns the operating system's sandbox around everything that runs commands for a
// model: the engine's process, the commands that the model or a skill's text runs, and git in the
// data directory. It finds out what the machine offers (bubblewrap, Landlock, Seatbelt or nothing),
// and rewrites an exec.Cmd so that it runs inside. It must not know what the commands are for, who
// may call which tool, or the contents of files in the data directory.
//
// # Two sandboxes
//
// claude needs the network and its login; its commands need neither. So they get their own sandbox
// inside claude's. It is started through CLAUDE_CODE_SHELL: instead of bash, a script for the bot's
// own program, kept in memory. The program determines what is closed at that moment, and becomes
// bubblewrap with a clean environment, because bubblewrap's own environment can be read inside. A
// root process is "nobody" inside, because the kernel gives no namespace to a root without
// capabilities. A second /proc needs a complete one to be visible somewhere, so one is mounted out
// of reach under an empty folder. The signals of Stop go to the command and not to bubblewrap,
// which would die of them at once; SIGKILL goes to bubblewrap, and everything inside dies with it.
//
// # Limits
//
// Limits of a single process are set inside. The total use of all processes of one start is limited
// by a scope of the user's systemd, if it is running: systemd-run --scope creates it and becomes
// the command, so that the process ID and the open files stay the same. Without systemd there is no
// such limit.
//
// # Some hosts
//
// If commands may reach some hosts (Settings.Hosts), their sandbox has no network except a relay to
// the proxy of package egress: the bot's own program, which is the first process inside and starts
// the command. Only a separate network namespace closes every other way. Landlock's network rules
// contain a port but no address, so the proxy's port would open every server that listens on it.
// With Landlock and with Seatbelt, such commands therefore have no network at all.
package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/hosts"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/safety/egress"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

// Kind is the mechanism of a sandbox.
type Kind string

// The mechanisms that a machine may offer, best first.
const (
	Bubblewrap Kind = "bubblewrap"
	Landlock   Kind = "landlock"
	Seatbelt   Kind = "sandbox-exec"
	None       Kind = ""
)

// The variables that lead an ollim-bot command to the running bot.
const (
	doorVar    = "OLLIM_SOCKET"
	SessionVar = "OLLIM_SESSION"
)

// Settings are the user's choices. They are read for each process.
type Settings struct {
	Off     bool // no sandbox at all
	Network bool // commands of the model and of skills may reach the whole network
	// Hosts are the parts of the network that commands may reach, if Network is false, through the
	// bot's proxy. Only bubblewrap closes every other way; without it commands reach nothing.
	Hosts   hosts.List
	Visible []Visible // folders and files that are visible besides the data directory
}

// Visible is a path outside the data directory that commands may see.
type Visible struct {
	Path  string // absolute, or below "~/"
	Write bool   // it may also be written
}

// Options of a Box.
type Options struct {
	Dir        string          // the data directory, absolute
	Home       string          // the user's home directory; empty if there is none
	ConfigDir  string          // the folder of the engine's settings and login, if it is not in Home
	Executable string          // the bot's own binary: commands may call it, and Landlock needs it
	Settings   func() Settings // nil means the zero settings
	// Search is a PATH for finding programs. If empty, a common one is used.
	Search string
	// Runtime is the folder with the socket of the user's systemd, $XDG_RUNTIME_DIR; empty if there
	// is none.
	Runtime string
	Lookup  egress.Lookup // how the proxy resolves names; nil means the system's resolver
}

// Box builds sandboxes for one data directory. Its methods may be called concurrently. The first
// one that needs to know examines the machine, which takes about 50 ms.
type Box struct {
	o    Options
	once sync.Once
	seen State
	exe  string // of bubblewrap or sandbox-exec
	// scope is systemd-run, if the user's systemd can limit the resources of a sandbox.
	scope string

	standIns standIns

	mu      sync.Mutex // guards the fields below
	scratch scratch    // of Landlock; see Close
	proxy   *egress.Server
	log     *slog.Logger
}

// New returns a Box. It starts nothing and examines nothing.
func New(o Options) *Box {
	if o.Settings == nil {
		o.Settings = func() Settings { return Settings{} }
	}
	o.Search = cmp.Or(o.Search, "/usr/local/bin:/usr/bin:/bin")
	return &Box{o: o}
}

// State describes the sandbox on this machine.
type State struct {
	Kind    Kind
	Version string // of the program, "0.8.0"; empty if there is none
	Off     bool   // the user has switched it off
	// Inner means that the commands of the engine's process run in a stricter sandbox of their own.
	// Otherwise they run in that of the process.
	Inner bool
	// Filter means that a filter blocks Unix sockets and system calls that lead around files.
	Filter bool
	// Hosts means that the user has listed hosts that commands may reach.
	Hosts bool
	// Scope means that systemd also limits all processes of a sandbox together.
	Scope bool
	// Reason explains why the sandbox is not better, with the cure; empty if it is complete.
	Reason string
}

// String returns the state as one line for the user.
func (s State) String() string {
	switch {
	case s.Off:
		return textOff + s.unkept()
	case s.Kind == None:
		return fmt.Sprintf(textNone, s.Reason) + s.unkept()
	}
	name := strings.TrimSpace(string(s.Kind) + " " + s.Version)
	if gaps := s.gaps(); len(gaps) > 0 {
		return fmt.Sprintf(textWeaker, name, strings.Join(gaps, "; "))
	}
	return fmt.Sprintf(textOn, name)
}

// unkept describes the settings that have no effect without a sandbox.
func (s State) unkept() string {
	if s.Hosts {
		return textNoHosts
	}
	return ""
}

// gaps describes what this sandbox does not protect, and why.
func (s State) gaps() (list []string) {
	if s.Reason != "" {
		list = append(list, s.Reason)
	}
	if !s.Filter && s.Kind != Seatbelt {
		list = append(list, reasonNoFilter)
	}
	if s.Kind == Bubblewrap && !s.modern() {
		list = append(list, reasonOld)
	}
	switch {
	case s.Kind == Landlock && s.Scope:
		list = append(list, reasonNoRoom)
	case s.Kind == Landlock:
		list = append(list, reasonNoLimits)
	}
	if s.Hosts && s.Kind != Bubblewrap {
		list = append(list, reasonNoHosts)
	}
	if s.Hosts && !s.Inner {
		list = append(list, reasonHostsOneLayer)
	}
	return list
}

// modern reports whether this bubblewrap, from 0.8 on, can limit folders in memory and forbid user
// namespaces, through which kernel bugs can be reached.
func (s State) modern() bool {
	major, rest, _ := strings.Cut(s.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err == nil && (major != "0" || n >= 8)
}

// Complete reports whether everything is protected that a sandbox can protect.
func (s State) Complete() bool { return s.Kind != None && len(s.gaps()) == 0 }

// State returns the current state. The first call examines the machine.
func (b *Box) State() State {
	settings := b.o.Settings()
	named := !settings.Network && len(settings.Hosts) > 0
	if settings.Off {
		return State{Off: true, Hosts: named}
	}
	b.once.Do(b.look)
	s := b.seen
	s.Hosts = named
	return s
}

// look examines the machine.
func (b *Box) look() {
	b.seen, b.exe = b.probe()
	if b.seen.Kind == None {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scopeLimit)
	defer cancel()
	b.scope = b.tryScope(ctx)
	b.seen.Scope = b.scope != ""
}

// LogTo sets the log for hosts that the proxy refused. Call it before anything starts.
func (b *Box) LogTo(log *slog.Logger) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = log
}

// way returns the proxy, which starts with the first command that needs it.
func (b *Box) way() *egress.Server {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.proxy == nil {
		b.proxy = egress.New(egress.Options{Log: b.log, Lookup: b.o.Lookup})
	}
	return b.proxy
}

// Close ends the commands' network connections and releases the Box's folder for temporary files,
// which is removed unless another Box uses it. A command that is started later creates a new one.
func (b *Box) Close() {
	b.mu.Lock()
	proxy := b.proxy
	b.proxy = nil
	b.closeScratch()
	b.mu.Unlock()
	if proxy != nil {
		proxy.Close()
	}
}

// Engine puts the engine's process into its sandbox: the network is open, the folder of its own
// settings is visible, and its commands run in a stricter sandbox if the machine supports that.
// Call done when the process has ended, or was not started, to release what it needed. An error is
// set in cmd.Err, so that the start fails.
func (b *Box) Engine(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, engine, "") }

// Command puts a command of a model, or of a skill's text, into the strictest sandbox. Otherwise it
// is like Engine.
func (b *Box) Command(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, command, "") }

// CommandIn is Command with a folder for temporary files that is kept for the next command: tmp, a
// real path below os.TempDir. The command's TMPDIR points to it.
func (b *Box) CommandIn(tmp string, cmd *exec.Cmd) (done func()) { return b.wrap(cmd, command, tmp) }

// Git puts a git command on the data directory into a sandbox in which only the repository's own
// folder can be written. Otherwise it is like Engine.
func (b *Box) Git(cmd *exec.Cmd) (done func()) { return b.wrap(cmd, git, "") }

// profile is the kind of process that a sandbox is for.
type profile int

const (
	engine profile = iota
	command
	git
	server
)

func (b *Box) wrap(cmd *exec.Cmd, p profile, tmp string) (done func()) {
	if cmd.Err != nil {
		return func() {}
	}
	s := b.State()
	if s.Kind == None {
		return func() {}
	}
	v, err := b.view(p, cmd)
	release := func() {}
	if err == nil {
		release, err = b.rewrite(cmd, v, s, tmp)
	}
	if err != nil {
		cmd.Err = err
	}
	return func() {
		release()
		b.standIns.leave()
	}
}

// rewrite changes cmd to start in a sandbox with this view.
func (b *Box) rewrite(cmd *exec.Cmd, v *view, s State, tmp string) (release func(), err error) {
	release = func() {}
	if tmp != "" {
		v.tmp = tmp
		v.add(mount{How: writable, From: tmp, To: tmp})
	}
	switch s.Kind {
	case Bubblewrap:
		release, err = b.bubblewrap(cmd, v, s.Inner)
	case Landlock:
		err = b.landlock(cmd, v, s.Inner)
	default:
		seatbelt(cmd, b.exe, v)
	}
	if err == nil && v.profile != git {
		b.scoped(cmd)
	}
	return release, err
}

// nowhere returns the data directory of a trial, which does not exist, so that examining changes nothing and creates no empty
// files.
func nowhere() string { return "/nonexistent-" + store.NewUUID() }

// trial returns a Box with that state, to test whether it works.
func (b *Box) trial(exe string, s State) *Box {
	t := &Box{o: b.o, exe: exe, seen: s}
	t.o.Dir = nowhere()
	t.o.Settings = func() Settings {
		s := b.o.Settings()
		s.Hosts = nil // the test needs no network
		return s
	}
	t.once.Do(func() {})
	return t
}

// tryCommand tests the strictest sandbox with an empty command.
func (b *Box) tryCommand(ctx context.Context) error {
	return try(ctx, b.Command, "/", b.find("true"))
}

// find returns a program's absolute path, or empty if it is missing.
func (b *Box) find(name string) string {
	for _, dir := range filepath.SplitList(b.o.Search) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// try runs a command in a sandbox. The error contains its output.
func try(ctx context.Context, wrap func(*exec.Cmd) func(), dir, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin"}
	procgroup.Own(cmd)
	done := wrap(cmd)
	out, err := cmd.CombinedOutput()
	done()
	if err != nil {
		return fmt.Errorf("%w: %s", err, clean.FirstLine(string(out), maxReason))
	}
	return nil
}

// Parts of a state's description.
const (
	textOn      = "sandbox: %s"
	textWeaker  = "sandbox: %s (%s)"
	textNone    = "no sandbox: %s; until then only the tool rules restrict the model's commands"
	textNoHosts = "; the hosts in sandbox_network are not enforced"
	textOff     = "no sandbox: it is switched off; /config sandbox auto switches it on"
)

// Reasons why the sandbox is not better.
const (
	reasonInstall    = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
	reasonBroken     = "bubblewrap is installed but does not work (%s): allow unprivileged user namespaces (ollim-bot help security)"
	reasonForeign    = "the bot runs as root and its data directory belongs to another user: run the bot as that user, or chown -R root the directory"
	reasonSystem     = "the bot supports no sandbox of this system"
	reasonSeatbelt   = "sandbox-exec does not work (%s)"
	reasonOneLayer   = "one layer: a sandbox within a sandbox is refused here (%s), so commands share that of claude"
	reasonNoBash     = "one layer: there is no bash, so commands share the sandbox of claude"
	reasonSeatbelt1  = "one layer: commands share the sandbox of claude"
	reasonLandlock   = "files only: %s"
	reasonNoLandlock = "Landlock does not work (%s)"
	reasonOld        = "before bubblewrap 0.8 commands can fill the memory with temporary files, and create namespaces"
	reasonNoLimits   = "commands have no limit on processes and temporary space, and can write settings such as .git/config in folders of the data directory"
	reasonNoRoom     = "commands have no limit on temporary space, and can write settings such as .git/config in folders of the data directory"
	reasonNoHosts    = "hosts in sandbox_network need bubblewrap: until then commands have no network at all"
	// With a single layer, commands have the same access as claude.
	reasonHostsOneLayer = "claude's commands are not limited to the hosts in sandbox_network, because they share its open network"
	reasonNoFilter      = "no seccomp here: commands can connect to unix sockets such as tmux, ssh-agent and docker, which may lead out of the sandbox"
)

// Errors that keep a process from being started in its sandbox.
const (
	errLink        = "%s is a symbolic link, which a sandbox cannot protect: put the file or folder itself there, or switch it off with /config sandbox off"
	errTooMany     = "%[2]s contains %[1]d closed files, but a sandbox can cover only %[3]d: move some out, such as those in %[4]s"
	errPlaceholder = "create the empty %s that keeps commands from creating one: %w"
	errScratch     = "%s is not a folder of the bot's own: remove it"
	errSettings    = "the folder of the engine's sessions, %s, is missing: create it"
	errNoScratch   = "create a folder for commands: %w: make the temporary directory writable, or set TMPDIR to another one"
	errVisible     = "show %s to commands: %w"
)

// maxReason is the maximum length of a system's reason in a sentence, in characters.
const maxReason = 160

// Limits of all processes of one start together. A command alone only has limits per process (see
// last), and those add up.
const (
	scopeMemory = "50%" // of the machine's memory; Limits says "half"
	scopeTasks  = 1024  // processes and threads; claude itself has some forty
)

// scopeLimit is how long the first scope may take on a busy machine.
const scopeLimit = 10 * time.Second

// runtimeVar tells systemd-run where the user's systemd is.
const runtimeVar = "XDG_RUNTIME_DIR"

// Limits describes the limits for the user; empty without a sandbox.
func (s State) Limits() string {
	switch {
	case s.Scope:
		return fmt.Sprintf("all commands of a start together: half of the memory, %d processes and threads, by your systemd", scopeTasks)
	case s.Kind != None:
		return "each process by itself: your systemd, which could limit them together, does not answer here"
	}
	return ""
}

// scoped makes a command, which is already in its sandbox, start in a scope of the user's systemd.
// systemd-run becomes the command, so that its process ID and its files stay the same. If that
// systemd is not running at this moment, as after a logout, the command starts unchanged.
func (b *Box) scoped(cmd *exec.Cmd) {
	if b.scope == "" || !b.managed() {
		return
	}
	begin := []string{
		b.scope, "--user", "--scope", "--quiet", "--collect",
		"--property=MemoryMax=" + scopeMemory, "--property=TasksMax=" + strconv.Itoa(scopeTasks), "--",
	}
	if config.Lookup(cmd.Env, runtimeVar) == "" {
		begin = append(begin, b.find("env"), "-u", runtimeVar)
	}
	cmd.Args = slices.Concat(begin, []string{cmd.Path}, cmd.Args[1:])
	cmd.Path, cmd.Env = b.scope, config.With(cmd.Env, runtimeVar, b.o.Runtime)
}

// managed reports whether the user's systemd is running.
func (b *Box) managed() bool {
	if b.o.Runtime == "" {
		return false
	}
	c, err := net.Dial("unix", filepath.Join(b.o.Runtime, "systemd/private"))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// tryScope tests whether the user's systemd starts scopes with these limits.
func (b *Box) tryScope(ctx context.Context) string {
	trial := &Box{o: b.o, scope: b.find("systemd-run")}
	if trial.scope == "" || b.find("env") == "" || !b.managed() {
		return ""
	}
	err := try(ctx, func(cmd *exec.Cmd) func() { trial.scoped(cmd); return func() {} }, "/", b.find("true"))
	if err != nil {
		return ""
	}
	return trial.scope
}

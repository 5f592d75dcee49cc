package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/base/hosts"
	"ollimbot/core/storage/config"
)

// how is the way a path is shown inside a sandbox.
type how int

const (
	readOnly how = iota
	writable
	private // an empty, writable folder private to the sandbox
	empty   // an empty file, read-only
	hidden  // a file that cannot be opened
	covers  // placeholder for the covers of the data directory at the start of a process
	link    // a symbolic link to from
	copied  // a file private to the sandbox that begins as a copy of from
)

// mount is one entry of a view. Later ones cover earlier ones.
type mount struct {
	How      how
	From, To string
	Optional bool `json:",omitempty"` // it may be missing
	ByEntry  bool `json:",omitempty"` // Landlock allows its folder by entry, to keep it
}

// view is everything that a process can see of the machine. Anything else does not exist for it.
type view struct {
	profile profile
	mounts  []mount
	network bool
	hosts   hosts.List // hosts reached through the proxy, without a network
	relay   relay      // to the proxy, if there is one
	env     []string
	home    string // real path, or empty
	data    string // real path
	tmp     string // for files that outlive the process; empty means the sandbox's own
	links   map[string]string
	sealed  bool     // no name can be created at the top of the data directory
	made    []string // the stand-ins created there
}

// Locations of programs and their libraries on known systems.
var (
	systemFolders = []string{"/usr", "/etc", "/opt", "/nix", "/gnu", "/run/current-system", "/var/lib/ca-certificates"}
	systemLinks   = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
	// rootOnly lists files that a bot running as root could read and must not show.
	rootOnlyFiles   = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-"}
	rootOnlyFolders = []string{"/etc/ssh", "/etc/ssl/private", "/etc/wireguard", "/etc/letsencrypt", "/etc/NetworkManager/system-connections"}
)

// view returns what a process of this profile sees. standIns.leave must follow.
func (b *Box) view(p profile, cmd *exec.Cmd) (v *view, err error) {
	err = b.standIns.use(func() ([]string, error) {
		if v, err = b.frame(p, cmd); err != nil {
			return nil, err
		}
		v.sealed = b.State().Kind == Landlock
		err = v.fill(v.dataCovers)
		return v.made, err
	})
	return v, err
}

// fill inserts the covers of the data directory.
func (v *view) fill(find func() ([]mount, error)) error {
	at := slices.IndexFunc(v.mounts, func(m mount) bool { return m.How == covers })
	if at < 0 {
		return nil
	}
	list, err := find()
	v.mounts = slices.Replace(v.mounts, at, at+1, list...)
	return err
}

// frame returns a view without the covers of the data directory.
func (b *Box) frame(p profile, cmd *exec.Cmd) (*view, error) {
	settings := b.o.Settings()
	v := &view{profile: p, network: p == engine || p == command && settings.Network, links: map[string]string{}}
	if p == command && !settings.Network {
		v.hosts = settings.Hosts
	}
	v.env = environment(p, cmd.Env, v.network)
	v.data = resolved(b.o.Dir)
	v.system()
	v.own(cmp.Or(config.Lookup(v.env, "HOME"), b.o.Home))
	if p != git {
		if err := v.visible(settings.Visible, b.o.Home); err != nil {
			return nil, err
		}
		v.program(b.o.Executable)
		v.ourName(b.o.Executable)
	}
	if p == engine {
		v.program(cmd.Path)
		v.interpreter(cmd.Path, b.o.Search)
		if err := v.settings(); err != nil {
			return nil, err
		}
		v.accounts()
	}
	if p == git {
		v.repository(cmd.Args)
		return v, nil
	}
	if exists(v.data) {
		v.show(writable, v.data)
		v.add(mount{How: covers})
	}
	if p == command {
		v.hideSettings(b.o.Home, b.o.ConfigDir)
	}
	if door := config.Lookup(v.env, doorVar); door != "" {
		v.add(mount{How: writable, From: door, To: door, Optional: true})
	}
	return v, nil
}

// own gives the process an empty home directory and an empty /tmp.
func (v *view) own(home string) {
	if home != "" && home != "/" {
		v.home = resolved(home)
		v.add(mount{How: private, To: v.home})
		v.name(home, v.home)
	}
	v.add(mount{How: private, To: "/tmp"})
}

// Sight returns a function that reports which paths can currently be read or written in the
// engine's sandbox. It is for tools that run in the bot's process instead of the engine's: the
// engine's own files are not visible. The paths are real. Without a sandbox, everything is visible.
func (b *Box) Sight() (sees func(path string, write bool) bool) {
	if b.State().Kind == None {
		return func(string, bool) bool { return true }
	}
	v := &view{profile: engine, data: resolved(b.o.Dir), links: map[string]string{}}
	v.system()
	v.own(b.o.Home)
	if err := v.visible(b.o.Settings().Visible, b.o.Home); err != nil {
		return func(string, bool) bool { return false }
	}
	v.show(writable, v.data)
	list, err := v.covers()
	if err != nil {
		return func(string, bool) bool { return false }
	}
	v.mounts = append(v.mounts, list...)
	v.mounts = slices.DeleteFunc(v.mounts, func(m mount) bool { return m.How == link })
	return func(path string, write bool) bool {
		for _, m := range slices.Backward(v.mounts) {
			if within(m.To, path) {
				return m.How == writable || m.How == readOnly && !write
			}
		}
		return false
	}
}

func (v *view) add(m mount) { v.mounts = append(v.mounts, m) }

// show shows a path under its real name, and under the given one if that is different.
func (v *view) show(h how, path string) {
	target := resolved(path)
	v.add(mount{How: h, From: target, To: target, Optional: true})
	v.name(path, target)
}

// name makes a path lead to its real one, unless a link on the way already does.
func (v *view) name(path, target string) {
	path = filepath.Clean(path)
	for from, to := range v.links {
		if rest, ok := strings.CutPrefix(path, from+"/"); ok {
			path = filepath.Join(to, rest)
		}
	}
	if path == target {
		return
	}
	v.links[path] = target
	v.add(mount{How: link, From: target, To: path})
}

func (v *view) system() {
	for _, path := range systemFolders {
		if exists(path) {
			v.add(mount{How: readOnly, From: path, To: path, Optional: true})
		}
	}
	for _, path := range systemLinks {
		if target, err := os.Readlink(path); err == nil {
			v.add(mount{How: link, From: target, To: path})
		} else if exists(path) {
			v.add(mount{How: readOnly, From: path, To: path, Optional: true})
		}
	}
	if v.network {
		// If this is a link into /run, a resolver of the system owns its target.
		if target := resolved("/etc/resolv.conf"); strings.HasPrefix(target, "/run/") {
			v.add(mount{How: readOnly, From: filepath.Dir(target), To: filepath.Dir(target), Optional: true})
		}
	}
	if os.Getuid() != 0 {
		return
	}
	for _, path := range rootOnlyFiles {
		if exists(path) {
			v.add(mount{How: empty, To: path})
		}
	}
	for _, path := range rootOnlyFolders {
		if exists(path) {
			v.add(mount{How: private, To: path})
		}
	}
}

func (v *view) visible(list []Visible, home string) error {
	for _, s := range list {
		path := s.Path
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(home, rest)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue // a disk that is not mounted now
		} else if err != nil {
			return fmt.Errorf(errVisible, path, err)
		}
		if target := resolved(path); within(v.data, target) || target == "/" || home != "" && within(target, resolved(home)) {
			continue // it is shown by separate rules, or it contains the whole home directory
		}
		h := readOnly
		if s.Write {
			h = writable
		}
		v.show(h, path)
	}
	return nil
}

// program shows one program: its file, the target if the file is a link, and, for an npm package,
// the whole package.
func (v *view) program(path string) {
	if path == "" || !filepath.IsAbs(path) {
		return
	}
	target := resolved(path)
	if scope := packageOf(target); scope != "" {
		v.add(mount{How: readOnly, From: scope, To: scope, Optional: true})
	} else {
		v.add(mount{How: readOnly, From: target, To: target, Optional: true})
	}
	if path != target {
		v.add(mount{How: readOnly, From: target, To: path, Optional: true})
	}
}

// ourProgram is the name by which commands call the bot's binary.
const ourProgram = "ollim-bot"

// ourName shows the link on PATH that leads to the bot's binary, as packages and users install it.
func (v *view) ourName(executable string) {
	for _, dir := range filepath.SplitList(config.Lookup(v.env, "PATH")) {
		path := filepath.Join(dir, ourProgram)
		if !filepath.IsAbs(path) || !exists(path) {
			continue
		}
		if target := resolved(path); path != target && target == resolved(executable) {
			v.program(path)
		}
		return
	}
}

// packageOf returns the npm folder that a program belongs to, including its scope, which contains
// the parts for each system. It is empty for other programs.
func packageOf(path string) string {
	before, after, ok := strings.Cut(path, "/node_modules/")
	if !ok {
		return ""
	}
	first, _, _ := strings.Cut(after, "/")
	return before + "/node_modules/" + first
}

// interpreter shows node if the program is a node script.
func (v *view) interpreter(path, search string) {
	head := make([]byte, 64)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	if !strings.HasPrefix(line, "#!") || !strings.Contains(line, "node") {
		return
	}
	for _, dir := range filepath.SplitList(cmp.Or(config.Lookup(v.env, "PATH"), search)) {
		if node := filepath.Join(dir, "node"); filepath.IsAbs(node) && exists(node) {
			v.program(node)
			return
		}
	}
}

// settingsOf returns the folder with the engine's settings, sessions and login.
func (v *view) settingsOf() string {
	if dir := config.Lookup(v.env, "CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if home := config.Lookup(v.env, "HOME"); home != "" {
		return filepath.Join(home, ".claude")
	}
	return ""
}

// accounts shows the files that the environment names for reaching the model, and the cloud
// accounts that may be used for it.
func (v *view) accounts() {
	for _, name := range []string{"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "GOOGLE_APPLICATION_CREDENTIALS"} {
		if path := config.Lookup(v.env, name); filepath.IsAbs(path) && exists(path) {
			v.show(readOnly, path)
		}
	}
	for name, folder := range map[string]string{"CLAUDE_CODE_USE_BEDROCK": ".aws", "CLAUDE_CODE_USE_VERTEX": ".config/gcloud"} {
		if path := filepath.Join(v.home, folder); config.Lookup(v.env, name) != "" && v.home != "" && exists(path) {
			v.show(readOnly, path)
		}
	}
}

// handWritten are the user's own files in that folder for claude in their terminal, which runs
// outside the sandbox, so a hook that was planted there would run there.
var handWritten = []string{
	"settings.json", "settings.local.json", "CLAUDE.md", "commands", "agents", "skills", "plugins", "hooks", "rules", "output-styles",
}

// shellFolder contains what claude knows about the user's shell. In the sandbox it is a private
// one, which the commands of the session share.
const shellFolder = "shell-snapshots"

// settings shows the folder of the engine's settings. The file next to it is a copy, because
// sessions would overwrite each other's changes, and because it names servers to start.
func (v *view) settings() error {
	dir := v.settingsOf()
	if dir == "" {
		return nil
	}
	if !exists(dir) { // otherwise the engine would write its sessions to a folder that is removed with the sandbox
		return fmt.Errorf(errSettings, dir)
	}
	target := resolved(dir)
	v.add(mount{How: writable, From: target, To: target})
	v.name(dir, target)
	dir = target
	for _, name := range handWritten {
		if path := filepath.Join(dir, name); exists(path) {
			v.add(mount{How: readOnly, From: path, To: path, Optional: true})
		}
	}
	v.add(mount{How: private, To: filepath.Join(dir, shellFolder)})
	if file := filepath.Join(v.home, ".claude.json"); v.home != "" && config.Lookup(v.env, "CLAUDE_CONFIG_DIR") == "" && exists(file) {
		v.add(mount{How: copied, From: file, To: file})
	}
	return nil
}

// hideSettings hides that folder, and keys to other machines, if they are in something that is
// shown.
func (v *view) hideSettings(home, configDir string) {
	hidden := []string{configDir}
	if home != "" {
		hidden = append(hidden, filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json"), filepath.Join(home, ".ssh"))
	}
	for _, path := range hidden {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		path, h := resolved(path), private
		if !info.IsDir() {
			h = empty
		}
		if slices.ContainsFunc(v.mounts, func(m mount) bool { return (m.How == readOnly || m.How == writable) && within(m.To, path) }) {
			v.add(mount{How: h, To: path})
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// resolved returns a path without links. If the path does not exist, its existing part is resolved.
func resolved(path string) string {
	path = filepath.Clean(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolved(dir), filepath.Base(path))
	}
	return path
}

// within reports whether path is dir or inside it.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

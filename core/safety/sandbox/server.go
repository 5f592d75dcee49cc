package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/base/hosts"
	"ollimbot/core/safety/closed"
	"ollimbot/core/storage/config"
)

// Server is the part of the machine that is visible to a server program added by the user, besides
// the system, the program itself and what the settings show to commands.
type Server struct {
	Folder string     // its own folder, which it may write
	Hosts  hosts.List // the hosts it may reach
	// Shown are absolute paths that it may read. Paths that contain the home directory or overlap
	// the data directory are not shown. With a program among them come the package and the modules that it belongs to.
	Shown []string
}

// Server puts such a program into a sandbox without the data directory. The environment is cmd's.
// Otherwise it is like Engine.
func (b *Box) Server(s Server, cmd *exec.Cmd) (done func()) {
	state := b.State()
	if cmd.Err != nil || state.Kind == None {
		return func() {}
	}
	v, err := b.serverView(s, cmd)
	release := func() {}
	if err == nil {
		release, err = b.rewrite(cmd, v, state, "")
	}
	if err != nil {
		cmd.Err = err
	}
	return release
}

func (b *Box) serverView(s Server, cmd *exec.Cmd) (*view, error) {
	settings := b.o.Settings()
	v := &view{profile: server, hosts: s.Hosts, env: cmd.Env, data: resolved(b.o.Dir), links: map[string]string{}}
	v.system()
	v.own(b.o.Home)
	for _, path := range s.Shown {
		target := resolved(path)
		secret := closed.Secret(strings.TrimPrefix(filepath.ToSlash(target), "/"))
		if secret || !v.mayShow(target) {
			continue
		}
		v.show(readOnly, path)
		if info, err := os.Stat(target); err == nil && info.Mode().IsRegular() {
			v.belongings(target)
		}
	}
	// These mounts come last, so that the user's :rw applies.
	if err := v.visible(settings.Visible, b.o.Home); err != nil {
		return nil, err
	}
	v.hideSettings(b.o.Home, b.o.ConfigDir)
	v.program(b.o.Executable) // the relay to the proxy
	v.program(cmd.Path)
	v.belongings(resolved(cmd.Path))
	v.environment(cmd.Path)
	v.interpreter(cmd.Path, config.Lookup(cmd.Env, "PATH"))
	v.show(writable, s.Folder)
	return v, nil
}

// mayShow reports whether a real path exists, and neither contains the home directory nor overlaps the data directory.
func (v *view) mayShow(path string) bool {
	return exists(path) && !within(path, v.data) && !within(v.data, path) && !within(path, v.home) && path != "/"
}

// roots are files that lie at the root of a package of Node or Python.
var roots = []string{"package.json", "pyproject.toml", "setup.py"}

// belongings shows the package that a program's file belongs to, and the modules in the folders above it, where Node
// looks for them.
func (v *view) belongings(path string) {
	found := false
	for dir := filepath.Dir(path); dir != filepath.Dir(dir) && v.mayShow(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "node_modules" {
			v.add(mount{How: readOnly, From: dir, To: dir, Optional: true})
			found = true // what is installed is all there
			continue
		}
		if modules := filepath.Join(dir, "node_modules"); v.mayShow(modules) {
			v.show(readOnly, modules)
		}
		if !found && slices.ContainsFunc(roots, func(name string) bool { return exists(filepath.Join(dir, name)) }) {
			v.add(mount{How: readOnly, From: dir, To: dir, Optional: true})
			found = true
		}
	}
}

// environment shows the virtual environment of a Python program and, if the interpreter was installed by the user, its
// library.
func (v *view) environment(path string) {
	for _, path := range []string{path, resolved(path)} {
		if env := filepath.Dir(filepath.Dir(path)); exists(filepath.Join(env, "pyvenv.cfg")) && v.mayShow(resolved(env)) {
			v.show(readOnly, env)
			path = filepath.Join(filepath.Dir(path), "python")
		}
		home := filepath.Dir(filepath.Dir(resolved(path)))
		if library, _ := filepath.Glob(filepath.Join(home, "lib", "python3*")); library != nil && v.mayShow(home) {
			v.add(mount{How: readOnly, From: home, To: home, Optional: true})
		}
	}
}

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
	// the data directory are not shown.
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
	home := resolved(b.o.Home)
	for _, path := range s.Shown {
		target := resolved(path)
		secret := closed.Secret(strings.TrimPrefix(filepath.ToSlash(target), "/"))
		if exists(target) && !secret && !within(target, v.data) && !within(v.data, target) && !within(target, home) {
			v.show(readOnly, path)
		}
	}
	// These mounts come last, so that the user's :rw applies.
	if err := v.visible(settings.Visible, b.o.Home); err != nil {
		return nil, err
	}
	v.hideSettings(b.o.Home, b.o.ConfigDir)
	v.program(b.o.Executable) // the relay to the proxy
	v.program(cmd.Path)
	v.modules(cmd.Path)
	v.interpreter(cmd.Path, config.Lookup(cmd.Env, "PATH"))
	v.show(writable, s.Folder)
	return v, nil
}

// modules shows the packages next to an npm program, and the environment of a Python program.
func (v *view) modules(path string) {
	target := resolved(path)
	for dir := filepath.Dir(target); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "node_modules" {
			v.add(mount{How: readOnly, From: dir, To: dir, Optional: true})
		}
	}
	env := filepath.Dir(filepath.Dir(path))
	if _, err := os.Stat(filepath.Join(env, "pyvenv.cfg")); err == nil && !slices.Contains(systemFolders, env) {
		v.show(readOnly, env)
	}
}

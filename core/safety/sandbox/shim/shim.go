// Package shim finds the program behind a wrapper of a version manager, such as ~/.pyenv/shims/python: in a sandbox the
// wrapper sees neither its manager nor the program. It must not know what the program is for.
package shim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
)

// manager is a version manager.
type manager struct{ folder, command, at, home string }

// managers are the known managers: their folder of wrappers, their command, where that is, seen from the wrappers, and
// the variable with the folder above the wrappers. Each of them has the command "which NAME".
var managers = []manager{
	{".pyenv/shims", "pyenv", "../bin/pyenv", "PYENV_ROOT"},
	{".nodenv/shims", "nodenv", "../bin/nodenv", "NODENV_ROOT"},
	{".asdf/shims", "asdf", "../bin/asdf", "ASDF_DATA_DIR"},
	{"mise/shims", "mise", "", "MISE_DATA_DIR"},
	{".volta/bin", "volta", "volta", "VOLTA_HOME"},
}

// patience is how long a manager may take to answer.
const patience = 10 * time.Second

const (
	textWrapper  = "%s is a wrapper of %s, which does not work in the sandbox: write the path that %q prints"
	textNoAnswer = "%s is a wrapper of %s, which does not work in the sandbox, and %q does not say which program it starts (%s): write the path of that program"
)

// Resolve returns the program that a wrapper starts, or the path itself if it is no wrapper. env is the environment in
// which the wrapper would run. The error says what to write instead.
func Resolve(ctx context.Context, path string, env []string) (string, error) {
	folder, name := filepath.Split(path)
	folder = filepath.Clean(folder)
	for _, m := range managers {
		if folder != m.folder && !strings.HasSuffix(folder, "/"+m.folder) || name == m.command {
			continue
		}
		ask := m.command + " which " + name
		command := m.find(folder, env)
		if command == "" {
			return "", fmt.Errorf(textWrapper, path, m.command, ask)
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, command, "which", name)
		cmd.Env, cmd.Dir, cmd.WaitDelay = config.With(env, m.home, filepath.Dir(folder)), "/", time.Second
		out, err := cmd.Output()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		target := strings.TrimSpace(lines[len(lines)-1])
		if info, wrong := os.Stat(target); err == nil && wrong == nil && filepath.IsAbs(target) && info.Mode().IsRegular() && filepath.Dir(target) != folder {
			return target, nil
		}
		why := clean.Cut(clean.Line(string(out)), 200)
		if err != nil {
			why = err.Error()
		}
		return "", fmt.Errorf(textNoAnswer, path, m.command, ask, why)
	}
	return path, nil
}

// find returns the path of a manager's command: next to its wrappers, or on PATH.
func (m manager) find(folder string, env []string) string {
	list := []string{filepath.Join(folder, m.at)}
	if m.at == "" {
		list = nil
	}
	for _, dir := range filepath.SplitList(config.Lookup(env, "PATH")) {
		list = append(list, filepath.Join(dir, m.command))
	}
	for _, path := range list {
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

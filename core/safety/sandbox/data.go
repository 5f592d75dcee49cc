package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The closed places of the data directory, for everything that runs commands.
// secret ones are out of sight, the others can be read.
var (
	closedFiles   = []string{"CLAUDE.md", "tool-policy.yaml", "prices.yaml", "providers.yaml", ".mcp.json", "authorized_keys"}
	closedFolders = []string{".claude"}
	// closedIfThere are not made where they are missing: an empty .git would keep
	// the bot from making its repository, and keys are in another folder.
	closedIfThere = []string{".git", "keys.yaml"}
	// writtenByTools are changed by the Write tool, which the rules stand before,
	// or by commands of ours over the socket: so it is known who wrote them.
	writtenByTools = []string{"routines", "reminders", "skills", "webhooks"}
)

const (
	envFile  = ".env"
	stateDir = "state"
)

// dataFolder shows the data directory without its closed places. What is missing
// of them is made here, empty: a name that does not exist cannot be covered, and
// a command that made it would write the bot's own settings.
func (v *view) dataFolder() error {
	if !exists(v.data) {
		return nil
	}
	v.show(writable, v.data)
	for _, name := range append(slices.Clone(closedFiles), envFile) {
		if err := v.placeholder(name, false); err != nil {
			return err
		}
	}
	for _, name := range append(v.coveredFolders(), stateDir) {
		if err := v.placeholder(name, true); err != nil {
			return err
		}
	}
	for _, name := range closedIfThere {
		if info, err := os.Lstat(v.at(name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf(errLink, v.at(name))
		}
	}
	v.cover()
	return nil
}

func (v *view) at(name string) string { return filepath.Join(v.data, name) }

// coveredFolders are the folders of the data directory that can be read only.
func (v *view) coveredFolders() []string {
	if v.profile == command {
		return slices.Concat(closedFolders, writtenByTools)
	}
	return slices.Clone(closedFolders)
}

// cover closes the closed places.
func (v *view) cover() {
	v.add(mount{how: empty, to: v.at(envFile)})
	v.add(mount{how: private, to: v.at(stateDir)})
	names := slices.Concat(closedFiles, v.coveredFolders())
	for _, name := range closedIfThere {
		if exists(v.at(name)) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		v.add(mount{how: readOnly, from: v.at(name), to: v.at(name)})
	}
}

// placeholder makes a closed place that is missing. One that is a link cannot be
// closed: a link cannot be covered, only what it leads to.
func (v *view) placeholder(name string, folder bool) error {
	path := filepath.Join(v.data, name)
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf(errLink, path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(errPlaceholder, path, err)
	case folder:
		err = os.Mkdir(path, 0o700)
	default:
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf(errPlaceholder, path, err)
	}
	return nil
}

// repository lets git read the work tree that -C names, and write its .git, or
// where there is none yet the folder itself.
func (v *view) repository(args []string) {
	for _, name := range []string{".gitconfig", ".config/git"} {
		if path := filepath.Join(v.home, name); v.home != "" && exists(path) {
			v.add(mount{how: readOnly, from: path, to: path})
		}
	}
	tree := v.data
	if at := slices.Index(args, "-C"); at >= 0 && at+1 < len(args) {
		tree = resolved(args[at+1])
		v.name(args[at+1], tree)
	}
	v.show(readOnly, v.data)
	if folder := filepath.Join(tree, ".git"); exists(folder) {
		v.show(readOnly, tree)
		v.show(writable, folder)
	} else {
		v.show(writable, tree)
	}
	if file := filepath.Join(v.data, envFile); exists(file) {
		v.add(mount{how: empty, to: file})
	}
}

// What of the environment a command sees. The engine's own is built by whoever
// starts it; git's by the data directory.
var (
	commandNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "TMPDIR", "PWD", "OLDPWD", "SHLVL",
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GIT_EDITOR", "EDITOR", "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"OLLIM_DATA_DIR", "OLLIM_TIMEZONE", "OLLIM_USER_NAME", "OLLIM_BOT_NAME", "OLLIM_CLAUDE_PROCESS", doorVar, SessionVar,
	}
	commandPrefixes = []string{"LC_"}
	// proxyNames hold passwords at times, and are of use with a network only.
	proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}
)

// environment is that of a process in its fence.
func environment(p profile, env []string, network bool) []string {
	if env == nil {
		env = os.Environ()
	}
	if p != command {
		return slices.Clone(env)
	}
	return harmless(env, network)
}

// Harmless is what a command in a fence without network keeps of an environment: for
// whoever starts one where there may be no fence.
func Harmless(env []string) []string { return harmless(env, false) }

func harmless(env []string, network bool) []string {
	names := passing(network)
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name) &&
			!slices.ContainsFunc(commandPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

// passing are the names of what a command sees.
func passing(network bool) []string {
	if network {
		return slices.Concat(commandNames, proxyNames)
	}
	return commandNames
}

// clearing begins a script that clears its environment by name.
func clearing(bash string, network bool) string {
	return fmt.Sprintf("#!%s -p\nfor n in $(compgen -e); do case $n in %s*|%s) ;; *) unset -v \"$n\" 2>/dev/null ;; esac; done\n",
		bash, strings.Join(commandPrefixes, "*|"), strings.Join(passing(network), "|"))
}

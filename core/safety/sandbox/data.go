package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ollimbot/core/safety/closed"
)

// The closed places at the top of the data directory, for everything that runs commands. Existing
// places of closed.Places are found by name, at every depth.
var (
	// made are created if they are missing, while a process is in a sandbox: a name that does not
	// exist cannot be covered, and a command that created it would write the bot's own settings.
	madeFiles   = []string{"CLAUDE.md", "CLAUDE.local.md", "tool-policy.yaml", "prices.yaml", "providers.yaml", ".mcp.json"}
	madeFolders = []string{".claude"}
	// unmade would do harm: an empty .git would keep the bot from creating its repository, and keys
	// are in another folder.
	unmade = []string{".git", "keys.yaml"}
	// writtenByTools are changed by the Write tool, which the policy checks, or by ollim-bot
	// commands through the door, so that their author is known.
	writtenByTools = []string{"routines", "reminders", "skills", "webhooks"}
)

const (
	envFile  = ".env"
	stateDir = "state"
	gitDir   = ".git"
)

// maxCovers is how many closed files a sandbox can cover one by one.
const maxCovers = 500

// dataCovers creates the closed places that are missing, and covers all of them.
func (v *view) dataCovers() ([]mount, error) {
	if !exists(v.data) {
		return nil, nil
	}
	for _, name := range append(slices.Clone(madeFiles), envFile) {
		if err := v.placeholder(name, false); err != nil {
			return nil, err
		}
	}
	// The folders of tasks must exist for a command within the engine's sandbox, which must not
	// leave new ones behind either.
	for _, name := range slices.Concat(madeFolders, writtenByTools, []string{stateDir}) {
		if err := v.placeholder(name, true); err != nil {
			return nil, err
		}
	}
	for _, name := range unmade {
		if info, err := os.Lstat(v.at(name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf(errLink, v.at(name))
		}
	}
	return v.covers()
}

func (v *view) at(name string) string { return filepath.Join(v.data, name) }

// coveredFolders returns the folders of the data directory that are read-only.
func (v *view) coveredFolders() []string {
	if v.profile == command {
		return slices.Concat(madeFolders, writtenByTools)
	}
	return slices.Clone(madeFolders)
}

// covers returns the mounts that currently close the closed places.
func (v *view) covers() ([]mount, error) {
	list := []mount{{How: private, To: v.at(stateDir)}}
	for _, name := range slices.Concat(madeFiles, unmade, v.coveredFolders()) {
		if exists(v.at(name)) && !v.hides(closed.Of(name)) {
			list = append(list, mount{How: readOnly, From: v.at(name), To: v.at(name)})
		}
	}
	n := nested{v: v, fixed: list}
	if err := filepath.WalkDir(v.data, n.look); err != nil {
		return nil, fmt.Errorf("find closed files in %s: %w", v.data, err)
	}
	if len(n.found) > maxCovers {
		return nil, fmt.Errorf(errTooMany, len(n.found), v.data, maxCovers, filepath.Dir(n.found[len(n.found)/2].To))
	}
	// Folders come first: a mount on a folder hides the mounts in it, so a sandbox within this one
	// has to repeat those.
	slices.SortFunc(n.folders, func(a, b mount) int { return strings.Compare(a.To, b.To) })
	return slices.Concat(list, n.folders, n.found), nil
}

// hides reports whether files of a kind are hidden: those with secrets, and from a command the MCP servers
// too, whose entries may contain keys. Git commits them.
func (v *view) hides(k closed.Kind) bool {
	return k.Secret() || k == closed.Servers && v.profile == command
}

// nested collects the closed files and folders at every depth.
type nested struct {
	v       *view
	fixed   []mount // read-only already
	folders []mount // folders that contain read-only entries
	found   []mount
}

// look is called for each file and folder.
func (n *nested) look(path string, e fs.DirEntry, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), path == n.v.data && err == nil, e != nil && e.Type()&fs.ModeSymlink != 0:
		return nil // removed meanwhile, or a link, whose target has its own name
	case errors.Is(err, fs.ErrPermission):
		return fs.SkipDir // commands cannot read it either
	case err != nil:
		return err
	}
	rel := strings.TrimPrefix(path, n.v.data+"/")
	switch kind := closed.Of(rel); {
	case kind == closed.State:
		return fs.SkipDir
	case n.v.hides(kind):
		how := hidden
		if e.IsDir() {
			how = private
		}
		n.found = append(n.found, mount{How: how, To: path})
		if e.IsDir() {
			return fs.SkipDir
		}
	case kind == closed.Git && rel != gitDir && e.IsDir():
		n.repository(path)
		return fs.SkipDir
	case kind != closed.Open:
		n.fix(path, kind == closed.Instructions || kind == closed.Engine || kind == closed.Servers)
	}
	if rel == gitDir {
		return fs.SkipDir
	}
	return nil
}

// repository protects the files that git executes: a command may commit in a repository below, but
// must not plant a hook in it.
func (n *nested) repository(git string) {
	for _, name := range []string{"config", "config.worktree", "hooks", "info", "modules", "worktrees"} {
		if path := filepath.Join(git, name); exists(path) {
			n.fix(path, false)
		}
	}
}

// fix makes a path read-only. Each folder on the way becomes a mount, which cannot be moved away
// and replaced.
func (n *nested) fix(path string, byEntry bool) {
	if slices.ContainsFunc(n.fixed, func(m mount) bool { return m.How == readOnly && within(m.To, path) }) {
		return
	}
	for dir := filepath.Dir(path); dir != n.v.data; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(n.folders, func(m mount) bool { return m.To == dir }) {
			break
		}
		n.folders = append(n.folders, mount{How: writable, From: dir, To: dir})
	}
	n.found = append(n.found, mount{How: readOnly, From: path, To: path, ByEntry: byEntry})
	n.fixed = append(n.fixed, n.found[len(n.found)-1])
}

// placeholder creates a closed place that is missing. A link cannot be closed: only its target can
// be covered.
func (v *view) placeholder(name string, folder bool) error {
	path := filepath.Join(v.data, name)
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf(errLink, path)
	case err == nil && isStandIn(info): // left by a killed bot
		v.made = append(v.made, path)
		return nil
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf(errPlaceholder, path, err)
	case v.sealed:
		return nil
	}
	if err := makeStandIn(path, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf(errPlaceholder, path, err)
	}
	v.made = append(v.made, path)
	return nil
}

// repository lets git read the work tree that -C names, and write its .git or, if it does not exist
// yet, the folder itself.
func (v *view) repository(args []string) {
	for _, name := range []string{".gitconfig", ".config/git"} {
		if path := filepath.Join(v.home, name); v.home != "" && exists(path) {
			v.add(mount{How: readOnly, From: path, To: path})
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
		v.add(mount{How: empty, To: file})
	}
}

// The part of the environment that a command gets. The engine's is built by the code that starts
// it; git's by the data directory.
var (
	commandNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "TMPDIR", "PWD", "OLDPWD", "SHLVL",
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "GIT_EDITOR", "EDITOR", "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		"OLLIM_DATA_DIR", "OLLIM_TIMEZONE", "OLLIM_USER_NAME", "OLLIM_BOT_NAME", "OLLIM_CLAUDE_PROCESS", doorVar, SessionVar,
	}
	commandPrefixes = []string{"LC_"}
	// proxyNames may contain passwords, and are useful only with a network.
	proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}
)

// environment returns the environment of a process in its sandbox.
func environment(p profile, env []string, network bool) []string {
	if env == nil {
		env = os.Environ()
	}
	if p != command {
		return slices.Clone(env)
	}
	return harmless(env, network)
}

// Harmless returns the part of an environment that a command in a sandbox without network gets, for
// callers that may start one without a sandbox.
func Harmless(env []string) []string { return harmless(env, false) }

func harmless(env []string, network bool) []string {
	names := passing(network)
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(names, name) &&
			!slices.ContainsFunc(commandPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

// passing returns the names of the variables that a command gets.
func passing(network bool) []string {
	if network {
		return slices.Concat(commandNames, proxyNames)
	}
	return commandNames
}

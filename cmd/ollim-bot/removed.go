package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/command"
)

// removed are the commands of earlier versions that no longer exist, each with what replaces it. docs/cli.md has the
// same table.
var removed = map[string]string{
	"export":   "copy the data directory instead: `ollim-bot help migrate` says how, and how to encrypt the copy",
	"import":   "copy a data directory into place instead: `ollim-bot help migrate` says how. The original program's is used as it is",
	"rollback": strings.TrimPrefix(command.TextNoRollback, "rollback was removed: "),
}

// removedFlag is a flag of an earlier version that has no effect but a notice.
type removedFlag struct {
	command string // the first word of the command line
	names   []string
	valued  bool // a value follows it, or is in the same word after "="
	instead string
}

var removedFlags = []removedFlag{
	{"routine", []string{"--may-wait"}, false, "--may-wait was removed: the routine runs when it is due"},
	{"attach", []string{"--host", "--identity", "-i"}, true, "without effect now: --host; " + textElsewhere},
	{"update", []string{"--check"}, false, command.TextNoCheck},
	{"update", []string{"--force"}, false, textNoInstall},
	{"update", []string{"--from"}, true, textNoInstall},
}

// firstWord returns the command of a command line and the position after it. Flags of every command may come first.
func firstWord(args []string) (name string, after int) {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return args[i], i + 1
		case args[i] == "--data-dir" || args[i] == "--timezone":
			i++ // its value
		}
	}
	return "", len(args)
}

// asksForRemoved returns the error for a command line with a removed command.
func asksForRemoved(args []string) error {
	name, after := firstWord(args)
	if instead := removed[name]; instead != "" {
		return fmt.Errorf("%s was removed: %s", name, instead)
	}
	if isUpdate(name) && slices.Contains(args[after:], "--rollback") {
		return errors.New(command.TextNoRollback)
	}
	return nil
}

func isUpdate(name string) bool { return name == "update" || name == "upgrade" }

// withoutRemoved returns a command line without removed flags, and what replaces them, each once.
func withoutRemoved(args []string) (rest, notices []string) {
	name, after := firstWord(args)
	rest = slices.Clone(args[:after])
	for i := after; i < len(args); i++ {
		flag, _, inWord := strings.Cut(args[i], "=")
		at := slices.IndexFunc(removedFlags, func(f removedFlag) bool {
			return (f.command == name || isUpdate(f.command) && isUpdate(name)) && slices.Contains(f.names, flag)
		})
		if at < 0 {
			rest = append(rest, args[i])
			continue
		}
		if f := removedFlags[at]; !slices.Contains(notices, f.instead) {
			notices = append(notices, f.instead)
		}
		if removedFlags[at].valued && !inWord {
			i++
		}
	}
	return rest, notices
}

// The settings and files of earlier versions that have no effect. docs/cli.md has them in the same table.
var (
	ignoredVariable = "OLLIM_ATTACH"
	ignoredFiles    = []string{"authorized_keys", "state/ssh_host_ed25519_key"}
)

// warnOfLeftOvers logs once what replaces the settings and files that are still there.
func warnOfLeftOvers(at console.DataDir, getenv func(string) string, log *slog.Logger) {
	var names []string
	if getenv(ignoredVariable) != "" || at.Env.Variable(ignoredVariable) != "" {
		names = append(names, ignoredVariable)
	}
	for _, name := range ignoredFiles {
		if info, err := os.Stat(at.Dir.Path(name)); err == nil && info.Size() > 0 { // a sandbox left empty ones
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		log.Warn("settings or files of an earlier version have no effect", "names", strings.Join(names, ", "), "instead", textElsewhere)
	}
}

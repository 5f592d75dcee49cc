package main

import (
	"fmt"
	"io"
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

// removedFlags are the flags of earlier versions. They do nothing but for a notice.
var removedFlags = map[string]string{
	"--may-wait": "the routine runs when it is due",
}

// asksForRemoved returns the error for a command line with a removed command, which may follow flags.
func asksForRemoved(args []string) error {
	for name, instead := range removed {
		at := slices.Index(args, name)
		if at == 0 || at > 0 && at <= 2 && strings.HasPrefix(args[0], "-") {
			return fmt.Errorf("%s was removed: %s", name, instead)
		}
	}
	return nil
}

// withoutRemoved returns a command line without removed flags, and prints a notice for each. Flags follow the name of a command.
func withoutRemoved(args []string, notices io.Writer) []string {
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		instead, is := removedFlags[arg]
		if is {
			console.Tell(notices, "%s was removed: %s", arg, instead)
		}
		return is
	})
}

// The settings and files of earlier versions that have no effect. docs/cli.md has them in the same table.
var (
	ignoredVariable = "OLLIM_ATTACH"
	ignoredFiles    = []string{"authorized_keys", "state/ssh_host_ed25519_key"}
)

// ignoredFlags are flags of `attach` that have no effect.
type ignoredFlags struct {
	Host     string `hidden:""`
	Identity string `short:"i" hidden:""`
}

// notice returns what replaces the flags, or "" if none is given.
func (f ignoredFlags) notice() string {
	if f == (ignoredFlags{}) {
		return ""
	}
	return "without effect now: --host; " + textElsewhere
}

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

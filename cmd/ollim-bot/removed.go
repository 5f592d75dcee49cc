package main

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/command"
)

// removed are the commands of earlier versions that no longer exist, each with what replaces it. docs/cli.md has the
// same table.
var removed = map[string]string{
	"export":   "copy the data directory instead: `ollim-bot help migrate` says how, and how to encrypt the copy",
	"import":   "copy a data directory into place instead: `ollim-bot help migrate` says how. The original program's is used as it is",
	"rollback": strings.TrimPrefix(command.TextNoRollback, "rollback was removed: "),
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

package tui

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/tui/pane"
)

// editorArgs is the command line of the editor: VISUAL, else EDITOR, else vi. It is split
// at spaces and never given to a shell.
func editorArgs(env uv.Environ, file string, e pane.Edit) []string {
	argv := strings.Fields(env.Getenv("VISUAL"))
	if len(argv) == 0 {
		argv = strings.Fields(cmp.Or(strings.TrimSpace(env.Getenv("EDITOR")), "vi"))
	}
	if form := lineArgs[filepath.Base(argv[0])]; form != "" && e.Line > 0 {
		argv = append(argv, fmt.Sprintf(form, e.Line, max(1, e.Column)))
	}
	return append(argv, file)
}

// lineArgs open a file at the line of a problem, and at the column where the editor can.
// Other editors just open the file.
var lineArgs = map[string]string{
	"vi": toLine, "ex": toLine, "mg": toLine, "joe": toLine, "jmacs": toLine, "jed": toLine, "ed": toLine,
	"vim": toCursor, "nvim": toCursor, "view": toCursor,
	"nano": "+%[1]d,%[2]d", "pico": "+%[1]d,%[2]d",
	"emacs": toPlace, "emacsclient": toPlace, "micro": toPlace, "kak": toPlace,
}

const toLine, toCursor, toPlace = "+%[1]d", "+call cursor(%[1]d,%[2]d)", "+%[1]d:%[2]d"

// fileIn is the absolute path of a file of the data directory.
func fileIn(root, file string) (string, error) {
	if root == "" || !filepath.IsLocal(file) {
		return "", errors.New(textNoFile)
	}
	return filepath.Join(root, file), nil
}

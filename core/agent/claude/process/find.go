package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ollimbot/core/clean"
)

// command is the name of the program on PATH.
const command = "claude"

// NotFoundError says that there is no claude command.
type NotFoundError struct {
	Path string // where it should have been; empty when PATH was searched
}

// Error says how to get it.
func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return msgNotFound
	}
	return fmt.Sprintf(msgNotThere, clean.Line(e.Path))
}

// Find is the absolute path of the claude command: what OLLIM_CLAUDE names,
// else the first executable "claude" on PATH. A name in OLLIM_CLAUDE may begin
// with "~/". Errors are a *NotFoundError or one line about the file that was
// found instead.
func Find(getenv func(string) string) (string, error) {
	if path := strings.TrimSpace(getenv("OLLIM_CLAUDE")); path != "" {
		return named(path, getenv("HOME"))
	}
	refused := error(nil)
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue // the folder where we stand is the assistant's to write
		}
		path := filepath.Join(dir, command)
		err := runnable(path)
		if err == nil {
			return path, nil
		}
		// A file that is no program is worth a word only if nothing better comes.
		if missing := (*NotFoundError)(nil); refused == nil && !errors.As(err, &missing) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &NotFoundError{}
}

// named is the path that the user gave.
func named(path, home string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the folder of %s: %w", clean.Line(path), err)
	}
	return path, runnable(path)
}

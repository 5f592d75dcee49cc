package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ollimbot/core/base/clean"
)

// Program is the file of this program, which may be replaced while the process runs.
type Program struct {
	Path    string // of the file, with links resolved; empty if it is unknown
	Line    string // what `ollim-bot version` prints for this process
	BuiltBy string // "goreleaser" for a release; empty for a build from source

	began os.FileInfo // the file when this process started; nil if it is unknown
}

// ThisProgram returns the program of this process. Call it when the process starts.
func ThisProgram(path, line, builtBy string) Program {
	if target, err := filepath.EvalSymlinks(path); err == nil && path != "" {
		path = target
	}
	began, _ := os.Stat(path)
	return Program{Path: path, Line: line, BuiltBy: builtBy, began: began}
}

// versionPatience is how long a program may take to print its version.
const versionPatience = 10 * time.Second

// Compare compares this process with the file: it offers a restart if the file was replaced, and otherwise says how this
// installation gets a newer one. It takes up to versionPatience.
func (p Program) Compare(ctx context.Context) (string, error) {
	now, err := os.Stat(p.Path)
	if err != nil {
		return "", fmt.Errorf(textNoProgram, err)
	}
	text := fmt.Sprintf(textSameProgram, p.Line, p.Path) + "\n" + p.newer()
	if p.began != nil && (!os.SameFile(now, p.began) || !now.ModTime().Equal(p.began.ModTime())) {
		line, err := lineOf(ctx, p.Path)
		if err != nil {
			return "", fmt.Errorf(textNewBroken, p.Path, err)
		}
		text = fmt.Sprintf(textOtherProgram, p.Line, p.Path, line)
	}
	if _, err := os.Stat(p.Path + ".old"); err == nil {
		text += "\n" + fmt.Sprintf(textLeftOver, p.Path+".old")
	}
	return text, nil
}

// lineOf asks a program for its version, which also proves that it runs on this machine.
func lineOf(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	var problem bytes.Buffer
	c := exec.CommandContext(ctx, path, "version")
	c.Env, c.Stderr, c.WaitDelay = []string{}, &problem, time.Second
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%w %s", err, clean.Cut(clean.Line(problem.String()), 200))
	}
	line := clean.Cut(clean.Line(string(out)), 200)
	if !strings.HasPrefix(line, "ollim-bot ") {
		return "", errors.New("it is another program")
	}
	return line, nil
}

// newer says how this installation gets a newer program.
func (p Program) newer() string {
	switch {
	case filepath.Dir(p.Path) == "/usr/bin":
		return textNewPackage
	case p.BuiltBy != "":
		return textNewArchive
	}
	return textNewBuild
}

// update compares the bot with its program's file.
func (h Host) update(ctx context.Context, args []string) (string, error) {
	notice := ""
	switch what := strings.Join(args, " "); what {
	case "":
	case "check":
		notice = TextNoCheck + "\n"
	case "rollback":
		return "", errors.New(TextNoRollback)
	default:
		return "", fmt.Errorf(textNoUpdate, clean.Cut(clean.Line(what), 40))
	}
	text, err := h.Program.Compare(ctx)
	return notice + text, err
}

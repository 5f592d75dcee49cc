package transcribe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/safety/sandbox"
)

// Placeholders in a command's arguments. Without fileWord the path of the recording is
// the last argument.
const (
	fileWord     = "{file}"
	languageWord = "{language}"
)

// leftBehind is how long the children of a finished command may keep its output open.
const leftBehind = time.Second

// run gives a command the path of a WAV file, and returns the command's output.
func (s *Service) run(ctx context.Context, command []string, sound []byte) (text string, err error) {
	tmp, err := os.MkdirTemp("", "ollim-bot-voice-")
	if err != nil {
		return "", fmt.Errorf(textNoCommand, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return "", fmt.Errorf(textNoCommand, err)
	}
	path := filepath.Join(tmp, "voice-message.wav")
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		return "", fmt.Errorf(textNoCommand, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	args := s.arguments(command[1:], path)
	cmd := exec.CommandContext(ctx, command[0], args...)
	cmd.Dir, cmd.Env = s.o.Dir, append(sandbox.Harmless(s.o.Env), "TMPDIR="+tmp)
	said, told := &capped{most: maxAnswer, full: cancel}, &capped{most: maxAnswer, full: func() {}}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = said, told, leftBehind
	procgroup.Own(cmd)
	done := s.o.Sandbox(tmp, cmd)
	defer done()
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf(textNoCommand, err)
	}
	err = cmd.Wait()
	procgroup.Kill(cmd)
	switch {
	case said.over:
		return "", errors.New(textTooMuch)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf(textFailed, err, told.lastLine())
	}
	return said.kept.String(), nil
}

// arguments returns a command's arguments for a recording.
func (s *Service) arguments(list []string, path string) []string {
	language := s.o.Language()
	if language == "" {
		language = "auto"
	}
	var args []string
	for _, a := range list {
		args = append(args, strings.NewReplacer(fileWord, path, languageWord, language).Replace(a))
	}
	if !slices.ContainsFunc(list, func(a string) bool { return strings.Contains(a, fileWord) }) {
		args = append(args, path)
	}
	return args
}

// capped keeps the first bytes of an output.
type capped struct {
	kept bytes.Buffer // not embedded, because its ReadFrom would read everything
	most int
	over bool
	full func() // called when there is more
}

// Write implements io.Writer. It never fails, because the command would end with a broken
// pipe.
func (c *capped) Write(p []byte) (int, error) {
	room := c.most - c.kept.Len()
	_, _ = c.kept.Write(p[:min(len(p), room)])
	if len(p) > room && !c.over {
		c.over = true
		c.full()
	}
	return len(p), nil
}

// lastLine returns the last line of a program's output, usually the reason for its
// failure.
func (c *capped) lastLine() string {
	text := strings.TrimSpace(clean.Text(c.kept.String()))
	return clean.Cut(text[strings.LastIndexByte(text, '\n')+1:], maxWhy)
}

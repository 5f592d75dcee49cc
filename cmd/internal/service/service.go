// Package service keeps the bot running as a systemd user unit or a launchd agent: it
// installs, removes and inspects them, and reports a running bot to its supervisor. It must
// not know the bot's parts, nor its command line beyond `run --headless`.
package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// Options describe the bot to keep running and its machine. All fields are required unless
// they say otherwise.
type Options struct {
	System string   // GOOS
	Exe    string   // the program's file, absolute
	Args   []string // after `run --headless --data-dir DIR`; may be empty
	Dir    string   // the data directory, absolute
	// Main says that Dir is the default directory; any other has its own service name.
	Main   bool
	Home   string
	User   string
	UID    int
	Getenv func(string) string
	// Running returns the process of the bot that runs on the directory, if any.
	Running func() (pid int, ok bool)
	// Run runs a command and returns its combined output. Show runs one that prints to the
	// user.
	Run  func(ctx context.Context, command ...string) (string, error)
	Show func(ctx context.Context, command ...string) error
	Out  io.Writer
	// Root is the root of the system's files, "/" outside of tests.
	Root string
}

// Service is the bot as a user service.
type Service struct {
	o Options
	manager
}

// manager is the file and the commands of a supervisor.
type manager struct {
	name string // of the service: "ollim-bot.service"
	kind string // for people
	path string // of its file
	text string // content of the file, without the mark
	// mark formats the line that identifies an unedited file.
	mark func(sum string) string
	// begin loads the file and starts or restarts the bot. end stops it before the file is
	// removed, forget runs afterwards.
	begin, end, forget []command
	state              func(ctx context.Context) State
	logs               func(n int, follow bool) []string
	stays              func() string // whether it survives a logout, for people
}

// command is a command to run; with mayFail, errors are ignored.
type command struct {
	words   []string
	mayFail bool
}

func run(words ...string) command { return command{words: words} }

// State is the state of a service.
type State struct {
	Installed bool      `json:"installed"`
	Running   bool      `json:"running"`
	Says      string    `json:"state"`  // as the supervisor calls it: "active (running)"
	Status    string    `json:"status"` // as the bot reports it
	PID       int       `json:"pid"`    // 0 if none is running
	Restarts  int       `json:"restarts"`
	Since     time.Time `json:"since"`
	AtLogin   bool      `json:"enabled"` // it starts automatically
}

// New finds the supervisor of the machine. If there is none, the error says how to run the
// bot with what is available.
func New(ctx context.Context, o Options) (*Service, error) {
	if strings.ContainsAny(o.Dir+o.Exe+strings.Join(o.Args, ""), "\n\r\x00") {
		return nil, errors.New(textLineBreak)
	}
	s := &Service{o: o}
	switch {
	case o.System == "darwin":
		s.manager = s.launchd()
	case o.System == "linux" && exists(s.at("run/systemd/system")):
		if out, err := s.systemctl(ctx, "show-environment"); err != nil {
			return nil, fmt.Errorf(textNoUserManager, o.User, clean.FirstLine(out, maxSaid))
		}
		s.manager = s.systemd()
	default:
		return nil, errors.New(s.without())
	}
	return s, nil
}

// at is a path below Root.
func (s *Service) at(rel string) string { return filepath.Join(s.o.Root, rel) }

// say prints a line for the user.
func (s *Service) say(format string, args ...any) { _, _ = fmt.Fprintf(s.o.Out, format+"\n", args...) }

// short formats a path for people.
func (s *Service) short(path string) string {
	if rel, err := filepath.Rel(s.o.Home, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// file is the state of the service's file.
type file int

const (
	missing file = iota
	current      // exactly what this version writes
	older        // written by another version, or for another path
	edited       // edited by hand
)

// written is the file with its mark.
func (s *Service) written() []byte { return []byte(s.seal(s.text)) }

// seal inserts the mark as the first line, or as the second after an XML declaration.
func (s *Service) seal(text string) string {
	sum := sha256.Sum256([]byte(text))
	line := s.mark(hex.EncodeToString(sum[:8])) + "\n"
	if head, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(head, "<?xml") {
		return head + "\n" + line + rest
	}
	return line + text
}

// look returns the state and the content of the file.
func (s *Service) look() (file, []byte, error) {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil, nil
	}
	if err != nil {
		return missing, nil, fmt.Errorf("read %s: %w", s.short(s.path), err)
	}
	if bytes.Equal(data, s.written()) {
		return current, data, nil
	}
	lines := strings.SplitAfter(string(data), "\n")
	for i := range min(2, len(lines)) {
		rest := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")
		if s.seal(rest) == string(data) {
			return older, data, nil
		}
	}
	return edited, data, nil
}

// Install writes the service's file and starts the bot. It first prints what it writes and
// runs; with dry it does nothing else. A file that was edited by hand is not changed, unless
// replace is set: then it is kept next to the new one.
func (s *Service) Install(ctx context.Context, dry, replace bool) error {
	found, old, err := s.look()
	if err != nil {
		return err
	}
	before := s.state(ctx)
	if pid, ok := s.o.Running(); ok && pid != before.PID && !dry {
		return fmt.Errorf(textOtherBot, s.short(s.o.Dir), pid)
	}
	keep := found == edited && !replace
	switch {
	case found == current && before.Running && before.AtLogin:
		s.say(textAlready, s.name, before.PID)
		s.say("It runs %s", s.stays())
		return nil
	case keep:
		s.say(textEdited, s.short(s.path), s.name, s.short(s.path))
	case found == edited:
		s.say(textKeeps, s.short(s.path), s.short(s.path))
	case found == older:
		s.say(textRenews, s.short(s.path))
		s.differences(string(old))
	}
	if !keep && found != current {
		s.say(textWrites, s.short(s.path))
		s.say("    %s", strings.ReplaceAll(strings.TrimSuffix(string(s.written()), "\n"), "\n", "\n    "))
	}
	s.announce(s.begin)
	if dry {
		s.say(textDry)
		return nil
	}
	if !keep && found != current {
		if found == edited {
			if err := os.Rename(s.path, s.path+".edited"); err != nil {
				return fmt.Errorf("keep %s: %w", s.short(s.path), err)
			}
		}
		if err := write(s.path, s.written()); err != nil {
			return err
		}
	}
	if err := s.each(ctx, s.begin); err != nil {
		return fmt.Errorf("%w\n"+textSeeLogs, err)
	}
	return s.started(ctx)
}

// started reports how the bot runs now.
func (s *Service) started(ctx context.Context) error {
	now := s.state(ctx)
	for range 50 { // launchd starts it a moment later
		if now.Running || ctx.Err() != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		now = s.state(ctx)
	}
	if !now.Running {
		return fmt.Errorf(textNotRunning, s.name, now.Says)
	}
	s.say(textRuns, s.name, now.PID)
	s.say("It runs %s", s.stays())
	return nil
}

// Uninstall stops the bot and removes the file; one that was edited by hand is renamed. The
// data directory is not touched.
func (s *Service) Uninstall(ctx context.Context, dry bool) error {
	found, _, err := s.look()
	if err != nil {
		return err
	}
	if found == missing {
		s.say(textNotInstalled, s.name)
		return nil
	}
	s.announce(s.end)
	if found == edited {
		s.say(textMoves, s.short(s.path), s.short(s.path))
	} else {
		s.say(textRemoves, s.short(s.path))
	}
	s.announce(s.forget)
	if dry {
		s.say(textDry)
		return nil
	}
	if err := s.each(ctx, s.end); err != nil {
		return err
	}
	if found == edited {
		err = os.Rename(s.path, s.path+".edited")
	} else {
		err = os.Remove(s.path)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", s.short(s.path), err)
	}
	if err := s.each(ctx, s.forget); err != nil {
		return err
	}
	s.say(textGone, s.name, s.short(s.o.Dir))
	return nil
}

// Status prints the state of the service, and returns it.
func (s *Service) Status(ctx context.Context) (State, error) {
	found, data, err := s.look()
	if err != nil {
		return State{}, err
	}
	if found == missing {
		s.say(textNotInstalled, s.name)
		if pid, ok := s.o.Running(); ok {
			s.say(textOther, pid)
		}
		return State{}, nil
	}
	now := s.state(ctx)
	now.Installed = true
	s.say("service  %s, %s: %s", s.name, s.kind, s.short(s.path))
	line := "state    " + now.Says
	if now.Running {
		line += fmt.Sprintf(", process %d", now.PID)
	}
	if !now.Since.IsZero() {
		line += ", since " + now.Since.Format("Mon 2006-01-02 15:04 MST")
	}
	if now.Restarts > 0 {
		line += ", restarted " + words.Count(now.Restarts, "time")
	}
	s.say("%s", line)
	if now.Status != "" {
		s.say("says     %s", now.Status)
	}
	switch found {
	case edited:
		s.say("file     " + textWasEdited)
	case older:
		if !strings.Contains(string(data), s.o.Exe) {
			s.say("file     "+textMoved, s.short(s.o.Exe))
		}
	}
	if !now.AtLogin {
		s.say("starts   " + textNotByItself)
	}
	if pid, ok := s.o.Running(); ok && pid != now.PID {
		s.say("         "+textOther, pid)
	}
	s.say("runs     %s", s.stays())
	return now, nil
}

// Logs shows the last n lines of the service's log; with follow it continues until ctx
// ends.
func (s *Service) Logs(ctx context.Context, n int, follow bool) error {
	switch found, _, err := s.look(); {
	case err != nil:
		return err
	case found == missing:
		return fmt.Errorf(textNotInstalled, s.name)
	}
	if err := s.o.Show(ctx, s.logs(n, follow)...); err != nil && ctx.Err() == nil {
		return fmt.Errorf("show the log: %w", err)
	}
	return nil
}

// differences prints the lines that would be removed and added.
func (s *Service) differences(old string) {
	was, is := strings.Split(old, "\n"), strings.Split(string(s.written()), "\n")
	for _, side := range []struct {
		sign       string
		lines, not []string
	}{{"-", was, is}, {"+", is, was}} {
		for _, line := range side.lines {
			if !slices.Contains(side.not, line) && !strings.Contains(line, "sum=") {
				s.say("    %s %s", side.sign, line)
			}
		}
	}
}

// announce prints the commands to be run.
func (s *Service) announce(list []command) {
	for _, c := range list {
		s.say("runs %s", strings.Join(c.words, " "))
	}
}

// each runs commands in order.
func (s *Service) each(ctx context.Context, list []command) error {
	for _, c := range list {
		out, err := s.o.Run(ctx, c.words...)
		if err != nil && !c.mayFail {
			return fmt.Errorf("%s: %w: %s", strings.Join(c.words, " "), err, clean.FirstLine(out, maxSaid))
		}
	}
	return nil
}

// logFile is the bot's own log.
func (s *Service) logFile() string { return filepath.Join(s.o.Dir, "state", "bot.log") }

// tailOf returns the command that shows the end of files.
func tailOf(n int, follow bool, paths ...string) []string {
	words := []string{"tail", "-n", fmt.Sprint(n)}
	if follow {
		words = append(words, "-F")
	}
	return append(words, paths...)
}

// write replaces a file atomically.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".ollim-bot-*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

const (
	// ChecksFile records the scripts of routines' checks as the user knows them.
	ChecksFile = store.StateDir + "/checks.json"
	checksTurn = "checks"
	// maxScript is the longest text that is kept to show what has changed, in bytes.
	maxScript = 64 << 10
)

// Scripts records what the checks of routines run, so that a script that changes waits for the
// user, whoever changed it: commands change files, too, and leave no author. It applies to
// scripts in the data directory. Its methods may be called concurrently.
type Scripts struct {
	dir *store.Dir
	own atomic.Bool
}

// script is the file that a check runs; zero for none.
type script struct {
	File   string `json:"file,omitempty"`   // in the data directory
	Digest string `json:"digest,omitempty"` // of its name and its bytes
	Text   string `json:"text,omitempty"`   // empty if it is long, or no text
}

// scriptList is the file, by the line of the check.
type scriptList struct {
	Checks map[string]script `json:"checks"`
}

// Own is called by the program that owns the directory: only there a script becomes known by
// being seen for the first time.
func (s *Scripts) Own() { s.own.Store(true) }

// waits returns why a task's check must not run, and sets the version that waits.
func (s *Scripts) waits(t *routines.Task) string {
	if t.Script = ""; t.Check == "" {
		return ""
	}
	var list scriptList
	if _, err := s.dir.PeekJSON(ChecksFile, &list); err != nil {
		return fmt.Sprintf(waitsChecks, ChecksFile, err)
	}
	was, known := list.Checks[t.Check]
	now := s.find(t.Check)
	switch {
	case !known && s.own.Load():
		if err := s.keep(t.Check, now); err != nil {
			return fmt.Sprintf(waitsChecks, ChecksFile, err)
		}
		return ""
	case !known, now.File == "", now.Digest == was.Digest: // what is missing cannot run
		return ""
	}
	t.Script = now.Digest
	return fmt.Sprintf(waitsScript, now.File)
}

// Approve makes the script that a check runs now the known one, if it is still that version.
func (s *Scripts) Approve(check, version string) error {
	now := s.find(check)
	if now.Digest != version {
		return errors.New(textScriptChanged)
	}
	return s.keep(check, now)
}

// Diff returns what has changed in the script of a check.
func (s *Scripts) Diff(check string) string {
	var list scriptList
	if _, err := s.dir.PeekJSON(ChecksFile, &list); err != nil {
		return ""
	}
	return routines.Diff([]byte(list.Checks[check].Text), []byte(s.find(check).Text))
}

func (s *Scripts) keep(check string, now script) error {
	return s.dir.WithLock(checksTurn, func() error {
		var list scriptList
		if _, err := s.dir.PeekJSON(ChecksFile, &list); err != nil {
			return err
		}
		if list.Checks == nil {
			list.Checks = map[string]script{}
		}
		list.Checks[check] = now
		return s.dir.WriteJSON(ChecksFile, list)
	})
}

// find returns the script of a check: the program itself or, for a program that runs others, the
// first file among its arguments.
func (s *Scripts) find(check string) script {
	if _, _, call := routines.CheckCall(check); call {
		return script{}
	}
	words, err := skill.Words(check)
	if err != nil || len(words) == 0 {
		return script{}
	}
	if strings.Contains(words[0], "/") {
		if found := s.read(words[0]); found.File != "" {
			return found
		}
	}
	if !runners[strings.TrimRight(filepath.Base(words[0]), "0123456789.")] {
		return script{}
	}
	for _, w := range words[1:] {
		for _, name := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`$<>=", r) }) {
			if found := s.read(name); found.File != "" {
				return found
			}
		}
	}
	return script{}
}

// read returns a file as a script, if it is in the data directory by its name or by its links.
func (s *Scripts) read(name string) script {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.dir.Root(), name)
	}
	info, err := os.Stat(full)
	if err != nil || !info.Mode().IsRegular() {
		return script{}
	}
	rel, ok := s.inside(s.dir.Root(), full)
	if !ok {
		root, err := filepath.EvalSymlinks(s.dir.Root())
		resolved, err2 := filepath.EvalSymlinks(full)
		if rel, ok = s.inside(root, resolved); err != nil || err2 != nil || !ok {
			return script{}
		}
	}
	data, err := os.ReadFile(full)
	if err != nil { // it may still run
		return script{File: rel, Digest: routines.Digest([]byte(rel + "\x00" + err.Error()))}
	}
	one := script{File: rel, Digest: routines.Digest(append([]byte(rel+"\x00"), data...))}
	if len(data) <= maxScript && utf8.Valid(data) {
		one.Text = string(data)
	}
	return one
}

func (s *Scripts) inside(root, full string) (rel string, ok bool) {
	rel, err := filepath.Rel(root, full)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// runners are programs that run the file that they are given, without the numbers of versions.
var runners = map[string]bool{
	"sh": true, "bash": true, "dash": true, "ash": true, "zsh": true, "ksh": true, "fish": true, "busybox": true, "pwsh": true,
	"python": true, "pypy": true, "uv": true, "node": true, "deno": true, "bun": true, "tsx": true, "ruby": true, "perl": true, "php": true,
	"lua": true, "Rscript": true, "awk": true, "java": true, "go": true, "make": true, "just": true,
	"env": true, "timeout": true, "nice": true, "nohup": true, "setsid": true, "stdbuf": true, "time": true, "xargs": true, "sudo": true, "doas": true,
}

const (
	waitsScript       = "its check runs %s, which has changed since you knew it"
	waitsChecks       = "it is not known whether the script of its check has changed (%s: %v)"
	textScriptChanged = "the script has changed again: look at it before you decide"
)

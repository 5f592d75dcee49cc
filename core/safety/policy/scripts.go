package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	// Data are the other files that the line names: those that a check only reads.
	Data []string `json:"data,omitempty"`
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
	was, known, err := s.known(t.Check)
	if err != nil {
		return fmt.Sprintf(waitsChecks, ChecksFile, err)
	}
	if !known {
		was.Data = s.data(t.Check)
	}
	now := s.find(t.Check, was.Data)
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
	was, _, err := s.known(check)
	if err != nil {
		return err
	}
	now := s.find(check, was.Data)
	if now.Digest != version {
		return errors.New(textScriptChanged)
	}
	return s.keep(check, now)
}

// freeze records the script of a check as soon as the file with that check waits for the user: their
// approval is of what they are shown, so a later change waits for another.
func (s *Scripts) freeze(check string) {
	if s.own.Load() {
		s.Shown(check) // what cannot be recorded waits again
	}
}

// Shown returns the script of a check, which it records if it is not known yet, as a picture with the
// name of its file. It is empty if the check runs no file of the data directory.
func (s *Scripts) Shown(check string) string {
	if check == "" {
		return ""
	}
	was, known, err := s.known(check)
	if err != nil {
		return fmt.Sprintf(waitsChecks, ChecksFile, err)
	}
	if !known {
		was = s.find(check, s.data(check))
		if err := s.keep(check, was); err != nil {
			return fmt.Sprintf(waitsChecks, ChecksFile, err)
		}
	}
	switch {
	case was.File == "":
		return ""
	case was.Text == "":
		return fmt.Sprintf(textNotShown, was.File, maxScript>>10)
	}
	return fmt.Sprintf(textScript, was.File) + "\n+" + strings.ReplaceAll(routines.Pictured([]byte(was.Text)), "\n", "\n+")
}

// Diff returns what has changed in the script of a check.
func (s *Scripts) Diff(check string) string {
	was, _, err := s.known(check)
	if err != nil {
		return ""
	}
	return routines.Diff([]byte(was.Text), []byte(s.find(check, was.Data).Text))
}

func (s *Scripts) known(check string) (was script, ok bool, err error) {
	var list scriptList
	_, err = s.dir.PeekJSON(ChecksFile, &list)
	was, ok = list.Checks[check]
	return was, ok, err
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

// find returns the script of a check: the first file of the data directory that its line names,
// apart from data.
func (s *Scripts) find(check string, data []string) script {
	for _, f := range s.named(check) {
		if !slices.Contains(data, f.rel) {
			one := f.read()
			one.Data = data
			return one
		}
	}
	return script{Data: data}
}

// data returns the files that a line names only to read them.
func (s *Scripts) data(check string) []string {
	var names []string
	for _, f := range s.named(check) {
		if !f.runs() {
			names = append(names, f.rel)
		}
	}
	return names
}

// named returns the files that a line names, in its order, also within the command of a shell.
func (s *Scripts) named(check string) []namedFile {
	if _, _, call := routines.CheckCall(check); call {
		return nil
	}
	words, err := skill.Words(check)
	if err != nil {
		return nil
	}
	var files []namedFile
	for i, w := range words {
		for _, name := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"`$<>=", r) }) {
			f, ok := s.locate(name)
			if !ok || i == 0 && !strings.Contains(name, "/") { // a program without a slash comes from the PATH
				continue
			}
			f.program = i == 0
			files = append(files, f)
		}
	}
	return files
}

// locate finds a file that is in the data directory by its name or by its links.
func (s *Scripts) locate(name string) (f namedFile, ok bool) {
	f.full = name
	if !filepath.IsAbs(f.full) {
		f.full = filepath.Join(s.dir.Root(), name)
	}
	info, err := os.Stat(f.full)
	if err != nil || !info.Mode().IsRegular() {
		return f, false
	}
	f.mode = info.Mode()
	if f.rel, ok = inside(s.dir.Root(), f.full); ok {
		return f, true
	}
	root, err := filepath.EvalSymlinks(s.dir.Root())
	resolved, err2 := filepath.EvalSymlinks(f.full)
	f.rel, ok = inside(root, resolved)
	return f, err == nil && err2 == nil && ok
}

func inside(root, full string) (rel string, ok bool) {
	rel, err := filepath.Rel(root, full)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// namedFile is a file of the data directory that the line of a check names.
type namedFile struct {
	rel, full string
	mode      fs.FileMode
	program   bool // the line begins with it
}

// runs reports whether a file may be run: all but data may, by the usual ending. It reads two
// bytes at most, because data may be large.
func (f namedFile) runs() bool {
	if f.program || f.mode&0o111 != 0 || !slices.Contains(dataEndings, strings.ToLower(filepath.Ext(f.rel))) {
		return true
	}
	file, err := os.Open(f.full)
	if err != nil { // it may still run
		return true
	}
	defer func() { _ = file.Close() }() // it was only read
	begin := make([]byte, 2)
	_, err = io.ReadFull(file, begin)
	return err == nil && string(begin) == "#!"
}

// read returns the file as a script.
func (f namedFile) read() script {
	data, err := os.ReadFile(f.full)
	if err != nil { // it may still run
		return script{File: f.rel, Digest: routines.Digest([]byte(f.rel + "\x00" + err.Error()))}
	}
	one := script{File: f.rel, Digest: routines.Digest(append([]byte(f.rel+"\x00"), data...))}
	if len(data) <= maxScript && utf8.Valid(data) {
		one.Text = string(data)
	}
	return one
}

// dataEndings are those of files that are read, not run. Any other file in the line of a check may be a script.
var dataEndings = []string{
	".md", ".txt", ".org", ".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".xml", ".html", ".ics", ".vcf", ".eml", ".mbox", ".log",
}

const (
	waitsScript       = "its check runs %s, which has changed since you knew it"
	waitsChecks       = "it is not known whether the script of its check has changed (%s: %v)"
	textScript        = "Its check runs %s:"
	textNotShown      = "Its check runs %s, which is not shown: it is longer than %d KiB, or no text."
	textScriptChanged = "the script has changed again: look at it before you decide"
)

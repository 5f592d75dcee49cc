package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines"
)

// FileName is the user's own tool policy, in the data directory.
const FileName = "tool-policy.yaml"

// ToolPolicy is what tool-policy.yaml says. The zero value changes nothing.
type ToolPolicy struct {
	MainAdditional       []string // main_session.additional_allowed
	BackgroundAdditional []string // bg_forks.additional_allowed
	// Override replaces the background defaults when it is not nil, also when
	// it is empty: bg_forks.override.
	Override []string
}

// Main is the list of the main session and of interactive forks.
func (p ToolPolicy) Main() []string { return Merge(MainTools(), p.MainAdditional) }

// Background is the list that every background run begins with.
func (p ToolPolicy) Background() []string {
	base := BackgroundTools()
	if p.Override != nil {
		base = p.Override
	}
	return Merge(base, p.BackgroundAdditional)
}

// File reads tool-policy.yaml and keeps what it read until the file changes.
// It is safe for concurrent use.
type File struct {
	dir *store.Dir

	// mu guards what follows and orders the reading: it is held over it.
	mu       sync.Mutex
	seen     os.FileInfo // of the file when it was read; nil: there was none
	young    bool        // it changed so shortly before that another change could look the same
	policy   ToolPolicy
	problems []routines.Problem
}

// NewFile names the file of a data directory. It reads nothing yet.
func NewFile(d *store.Dir) *File { return &File{dir: d, young: true} }

// Load returns the policy in force and what is wrong with the file, each problem
// with its line and cure. Patterns with errors are left out. A file that cannot
// be understood leaves the last good policy in force. Callers must not change
// what the slices hold.
func (f *File) Load() (ToolPolicy, []routines.Problem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.dir.Path(FileName))
	if errors.Is(err, fs.ErrNotExist) {
		f.seen, f.young, f.policy, f.problems = nil, false, ToolPolicy{}, nil
		return f.policy, nil
	}
	if err == nil && !f.young && same(f.seen, info) {
		return f.policy, slices.Clone(f.problems)
	}
	f.young, f.seen = true, info
	if err == nil {
		f.young = time.Since(info.ModTime()).Abs() < 3*time.Second
	}
	f.read()
	return f.policy, slices.Clone(f.problems)
}

func (f *File) read() {
	data, err := f.dir.Read(FileName)
	if err != nil {
		f.young = true // no look at the names tells when it can be read again
		f.problems = []routines.Problem{problem(0, 0, routines.Error, fmt.Sprintf(yamlUnreadable, err))}
		return
	}
	policy, problems, ok := parsePolicy(data)
	if ok {
		f.policy = policy
	}
	f.problems = problems
}

func same(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func problem(line, column int, s routines.Severity, message string) routines.Problem {
	return routines.Problem{File: FileName, Line: line, Column: column, Severity: s, Message: clean.Line(message)}
}

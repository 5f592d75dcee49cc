package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

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

	loaded *store.Cached[loaded]
	// good is the last policy that was understood.
	good atomic.Pointer[ToolPolicy]
}

// loaded is what the file says, and what is wrong with it.
type loaded struct {
	policy   ToolPolicy
	problems []routines.Problem
}

// NewFile names the file of a data directory. It reads nothing yet.
func NewFile(d *store.Dir) *File { return &File{dir: d, loaded: store.NewCached[loaded](d, FileName)} }

// Load returns the policy in force and what is wrong with the file, each problem
// with its line and cure. Patterns with errors are left out. A file that cannot
// be understood leaves the last good policy in force. Callers must not change
// what the slices hold.
func (f *File) Load() (ToolPolicy, []routines.Problem) {
	l, err := f.loaded.Load(f.read)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l = loaded{}
	case err != nil:
		l.problems = []routines.Problem{problem(0, 0, routines.Error, fmt.Sprintf(yamlUnreadable, err))}
		if good := f.good.Load(); good != nil {
			l.policy = *good
		}
	}
	f.good.Store(&l.policy)
	return l.policy, slices.Clone(l.problems)
}

func (f *File) read() (loaded, error) {
	data, err := f.dir.Read(FileName)
	if err != nil {
		return loaded{}, err
	}
	policy, problems, ok := parsePolicy(data)
	if good := f.good.Load(); !ok && good != nil {
		policy = *good
	}
	return loaded{policy, problems}, nil
}

func problem(line, column int, s routines.Severity, message string) routines.Problem {
	return routines.Problem{File: FileName, Line: line, Column: column, Severity: s, Message: clean.Line(message)}
}

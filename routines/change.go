package routines

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
)

// Edit is a change to a task file.
type Edit struct {
	// Set lists front matter keys with their new values: a string, bool, int or []string, or
	// nil to remove the key.
	Set  []frontmatter.Entry
	Body *string // the prompt; nil keeps it
}

// ErrOther means that the file is no longer the version the caller named.
var ErrOther = errors.New("the file was changed on the disk")

// EditTask changes a task's file, which must be at the given version, and returns its
// bytes from before the change. An edit whose result would not load is an error and
// writes nothing; another version is ErrOther.
func EditTask(d *store.Dir, t Task, version string, zone *time.Location, e Edit) (before []byte, err error) {
	return rewrite(d, t, version, func(data []byte) ([]byte, error) {
		changed, err := e.apply(data)
		if err != nil {
			return nil, err
		}
		if _, problems := Parse(t.Kind, t.Path, changed, zone); HasErrors(problems) {
			return nil, asError(problems)
		}
		return changed, nil
	})
}

// RevertTask overwrites a task's file with an earlier one, if it is at the given version,
// and returns the bytes it replaced.
func RevertTask(d *store.Dir, t Task, version string, file []byte) (before []byte, err error) {
	return rewrite(d, t, version, func([]byte) ([]byte, error) { return file, nil })
}

// rewrite reads, changes and writes a file under one lock.
func rewrite(d *store.Dir, t Task, version string, change func([]byte) ([]byte, error)) (before []byte, err error) {
	folder, err := FolderOf(t.Kind)
	if err != nil {
		return nil, err
	}
	err = d.WithLock(folder, func() error {
		if before, err = d.Read(t.Path); err != nil {
			return err
		}
		if Digest(before) != version {
			return ErrOther
		}
		after, err := change(before)
		if err != nil || bytes.Equal(before, after) {
			return err
		}
		return d.Write(t.Path, after)
	})
	if err != nil && !errors.Is(err, ErrOther) {
		err = fmt.Errorf("change %s: %w", t.Path, err)
	}
	return before, err
}

// apply returns the file's bytes with the edit applied.
func (e Edit) apply(data []byte) ([]byte, error) {
	data, err := frontmatter.Splice(data, e.Set)
	if err != nil || e.Body == nil {
		return data, err
	}
	body := strings.TrimSpace(clean.Text(*e.Body))
	doc, err := frontmatter.Parse(data)
	if err != nil {
		return nil, err
	}
	if doc.Body == body {
		return data, nil
	}
	eol := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		eol = "\r\n"
	}
	lines := strings.SplitAfter(string(data), "\n")
	head := strings.Join(lines[:min(doc.BodyLine-1, len(lines))], "")
	if !strings.HasSuffix(head, "\n") {
		head += eol
	}
	changed := []byte(head + strings.ReplaceAll(body, "\n", eol) + eol)
	if again, err := frontmatter.Parse(changed); err != nil || again.Body != body {
		return nil, errors.New("the prompt cannot be changed safely; edit the file by hand")
	}
	return changed, nil
}

// RunAt formats a time the way reminder files have it.
func RunAt(at time.Time) string { return at.Format(runAtLayout) }

package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Tidy removes the sessions of a folder that were last changed before a moment, but
// for those that a younger one has branched off from.
func Tidy(folder string, before time.Time) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for old sessions: %w", err)
	}
	old := map[string]bool{}
	var young []string
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), Ext)
		info, err := e.Info()
		switch {
		case !ok || err != nil || !info.Mode().IsRegular():
		case info.ModTime().Before(before):
			old[id] = true
		default:
			young = append(young, id)
		}
	}
	if len(old) == 0 {
		return nil
	}
	for _, id := range young {
		for range maxParents {
			id = parent(filepath.Join(folder, id+Ext))
			delete(old, id)
		}
	}
	var errs []error
	for id := range old {
		errs = append(errs, os.Remove(filepath.Join(folder, id+Ext)))
	}
	return errors.Join(errs...)
}

// parent is the session that a file has branched off from, or "".
func parent(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	l := lines{src: f, size: chunk}
	if info, err := f.Stat(); err != nil || info.Size() < chunk {
		if err != nil {
			return ""
		}
		l.size = info.Size()
	}
	if !l.next() {
		return ""
	}
	first, err := span{f, l.from, l.at}.read()
	var n note
	if err != nil || json.Unmarshal(first, &n) != nil {
		return ""
	}
	return n.Parent
}

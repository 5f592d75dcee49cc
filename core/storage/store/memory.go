package store

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// recallMost is the size of the largest state file that is remembered, in bytes.
const recallMost = 256 << 10

// memory keeps the content of the small files of state/, so that removing the folder under a
// running bot loses no settings, holds, budget or keys. The zero memory is empty.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	gone  map[string]bool // files that were missing at the last look
	done  bool            // they were restored, but the lock is still missing
}

// remembered reports whether the memory keeps a file: those directly in state/ that are always
// rewritten as a whole, but not logs and locks.
func remembered(rel string) bool {
	folder, name := path.Split(rel)
	return folder == StateDir+"/" && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, "_key"))
}

// note remembers the new content of a file.
func (m *memory) note(rel string, data []byte) {
	if !remembered(rel) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files = map[string][]byte{}
	}
	delete(m.gone, rel)
	delete(m.files, rel)
	if len(data) <= recallMost {
		m.files[rel] = slices.Clone(data)
	}
}

// forget drops a file that the bot has removed.
func (m *memory) forget(rel string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, rel)
}

// forgetAll drops everything, because another directory has replaced the bot's.
func (m *memory) forgetAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files, m.gone = nil, nil
}

// Remember updates files that another process has changed. A missing file is not forgotten
// yet: its folder may be about to be removed.
func (d *Dir) Remember(rels ...string) {
	if d.owned.Load() == nil {
		return
	}
	for _, rel := range rels {
		if data, err := ReadFile(d.Path(rel)); err == nil {
			d.memory.note(rel, data)
		}
	}
}

// look updates all files in state/, and forgets those that were missing twice in a row. It reads
// all of them each time, because two versions can have the same size and time.
func (m *memory) look(d *Dir) {
	entries, err := d.Entries(StateDir)
	if err != nil {
		return
	}
	there := map[string]bool{}
	for _, e := range entries {
		rel := StateDir + "/" + e.Name()
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > recallMost || !remembered(rel) {
			continue
		}
		there[rel] = true
		d.Remember(rel)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done = false
	gone := map[string]bool{}
	for rel := range m.files {
		switch {
		case there[rel]:
		case m.gone[rel]:
			delete(m.files, rel)
		default:
			gone[rel] = true
		}
	}
	m.gone = gone
}

// recalled reports whether a missing file may exist now, because the bot's state folder had
// been removed and was restored.
func (d *Dir) recalled(rel string) bool {
	if d.owned.Load() == nil || !strings.HasPrefix(rel, StateDir+"/") {
		return false
	}
	lost, err := d.recall()
	return lost && err == nil
}

// recall restores the remembered files if the state folder was removed. It detects that by the
// missing lock, because a command may have recreated the folder. It reports whether it did.
func (d *Dir) recall() (bool, error) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	if _, err := os.Lstat(d.Path(lockFile)); d.memory.done || !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	d.memory.done = true
	if err := d.makeFolder(d.Path(StateDir)); err != nil {
		return true, err
	}
	var errs []error
	for rel, data := range d.memory.files {
		if _, err := os.Lstat(d.Path(rel)); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, d.writeAtomic(d.Path(rel), data, true))
		}
	}
	return true, errors.Join(errs...)
}

package store

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// recallMost is the size of the largest state file that is remembered, in bytes.
const recallMost = 256 << 10

// memory is what the bot's JSON files held when it last looked, so that somebody
// who removes state/ under a running bot takes no settings, holds or budget with
// it. The zero memory is empty.
type memory struct {
	mu    sync.Mutex
	files map[string]remembered
	done  bool // they were put back, and the lock is not yet there again
}

type remembered struct {
	at   time.Time // the file's own time
	size int64
	data []byte
}

// remember takes note of the JSON files directly in state/.
func (d *Dir) remember() {
	entries, err := d.Entries(StateDir)
	if err != nil {
		return
	}
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	old := d.memory.files
	d.memory.done = false
	d.memory.files = make(map[string]remembered, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), ".json") || !info.Mode().IsRegular() || info.Size() > recallMost {
			continue
		}
		rel := StateDir + "/" + e.Name()
		if was, ok := old[rel]; ok && was.at.Equal(info.ModTime()) && was.size == info.Size() {
			d.memory.files[rel] = was
			continue
		}
		if data, err := readRegular(d.Path(rel)); err == nil {
			d.memory.files[rel] = remembered{info.ModTime(), info.Size(), data}
		}
	}
}

// recalled reports whether a missing file may be there now: the bot's state
// folder was gone, and has been made anew.
func (d *Dir) recalled(rel string) bool {
	if d.tenant.Load() == nil || !strings.HasPrefix(rel, StateDir+"/") {
		return false
	}
	lost, err := d.recall()
	return lost && err == nil
}

// recall puts back what was remembered, once the state folder was removed, which
// shows in the missing lock: the folder itself may have been made anew by a
// command. It reports whether it did.
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
	for rel, was := range d.memory.files {
		if _, err := os.Lstat(d.Path(rel)); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, d.Write(rel, was.data))
		}
	}
	return true, errors.Join(errs...)
}

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// standIns are the empty files and folders that replace missing closed places of the data directory
// while a process runs in a sandbox, since only existing paths can be covered. They are removed
// with the last such process. The zero value has created none.
type standIns struct {
	// order is held while they are created and removed, because it orders these operations.
	order sync.Mutex
	users int
	made  map[string]bool
}

// use counts a process for which fill has created some. leave must be called afterwards, even after
// an error.
func (s *standIns) use(fill func() (made []string, err error)) error {
	s.order.Lock()
	defer s.order.Unlock()
	s.users++
	made, err := fill()
	if s.made == nil {
		s.made = map[string]bool{}
	}
	for _, path := range made {
		s.made[path] = true
	}
	return err
}

// leave ends the use by a process. Anything that the user has filled meanwhile stays.
func (s *standIns) leave() {
	s.order.Lock()
	defer s.order.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	for path := range s.made {
		if info, err := os.Lstat(path); err == nil && (info.IsDir() || isStandIn(info)) {
			_ = os.Remove(path) // a folder that is not empty stays
		}
	}
	s.made = nil
}

// standInTime is the modification time of a stand-in, which identifies those of a killed bot. An
// empty file of the user's has another time.
var standInTime = time.Unix(1, 0)

// isStandIn reports whether a file is empty and has that time.
func isStandIn(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == 0 && info.ModTime().Equal(standInTime)
}

// makeStandIn creates one. fs.ErrExist means that the path exists now.
func makeStandIn(path string, folder bool) error {
	if folder {
		return os.Mkdir(path, 0o700)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chtimes(path, standInTime, standInTime); err != nil {
		return fmt.Errorf("mark it: %w", err)
	}
	return nil
}

package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ollimbot/core/storage/store"
)

// settleSessions moves the conversation's sessions to the engine's folder. An existing session that
// continues the imported one is kept; any other is replaced, and kept under another name.
func (s *stage) settleSessions(folder string) (kept int, err error) {
	err = fs.WalkDir(s.talks.FS(), ".", func(rel string, e fs.DirEntry, err error) error {
		if err != nil || rel == "." {
			return err
		}
		from, to := filepath.Join(s.sessions, rel), filepath.Join(folder, rel)
		if e.IsDir() {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		newer, there, err := goesOn(to, from)
		switch {
		case err != nil:
			return err
		case newer:
			kept++
			return nil
		case there:
			if err := os.Link(to, to+s.now.Format(keptLayout)); err != nil {
				return err
			}
		default:
			s.placed = append(s.placed, to)
		}
		temp := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+stageMark+store.NewID())
		if err := copyFile(from, temp); err != nil {
			return errors.Join(err, os.Remove(temp))
		}
		return os.Rename(temp, to)
	})
	if err != nil {
		err = fmt.Errorf("move the sessions to %s: %w", folder, err)
		s.withdraw()
	}
	return kept, err
}

// withdraw removes the new sessions.
func (s *stage) withdraw() {
	for _, path := range s.placed {
		_ = os.Remove(path) // a leftover is harmless
	}
	s.placed = nil
}

// goesOn reports whether a file exists, and whether it begins with all of another file.
func goesOn(path, begin string) (goes, there bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, true, err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := os.Open(begin)
	if err != nil {
		return false, true, err
	}
	defer func() { _ = b.Close() }() // only read
	switch _, err = io.Copy(equals{f}, b); {
	case errors.Is(err, errOther):
		return false, true, nil
	case err != nil:
		return false, true, err
	}
	return true, true, nil
}

// equals is a writer that accepts only the bytes that its reader returns next.
type equals struct{ io.Reader }

var errOther = errors.New("the two differ")

func (e equals) Write(want []byte) (int, error) {
	got := make([]byte, len(want))
	if _, err := io.ReadFull(e.Reader, got); err != nil || !bytes.Equal(got, want) {
		return 0, errOther // a shorter file differs too
	}
	return len(want), nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Sync(), out.Close())
	if info, serr := os.Stat(from); serr == nil && err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

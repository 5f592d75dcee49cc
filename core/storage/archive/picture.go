package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/storage/store"
)

// young is how long after a change a file may change again and show the same time.
const young = 3 * time.Second

// patience is how long a picture is tried for while files keep changing.
const patience = 30 * time.Second

// item is a file or folder of a picture.
type item struct {
	folder bool
	info   fs.FileInfo // when it was copied
	at     time.Time   // when that was
	from   int64       // its bytes in the spool
	size   int64
	sum    [sha256.Size]byte
	tree   int // its index in picture.trees
}

// tree is a directory that a picture is taken of.
type tree struct {
	root, prefix string
	judge        func(rel string) bool // whether it travels
}

// picture is a directory and its sessions as they were at one moment. The bytes lie in a
// file without a name, which no kill leaves behind.
type picture struct {
	trees []tree
	spool *os.File
	end   int64
	items map[string]*item // by the name in an archive
	left  []string
}

// newPicture makes a place for the bytes in a folder, which needs that much room.
func newPicture(folder string) (*picture, error) {
	f, err := os.CreateTemp(folder, ".ollim-bot-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("make room in %s: %w", folder, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &picture{spool: f, items: map[string]*item{}}, nil
}

func (p *picture) close() { _ = p.spool.Close() } // nothing in it is needed any more

// take copies until nothing has changed between two looks: what was copied then is
// what stood on the disk at the moment between them. A bot that runs is not held up.
func (p *picture) take() error {
	for began := time.Now(); ; {
		changed, err := p.round()
		if err != nil {
			return err
		}
		if changed == 0 {
			return nil
		}
		if time.Since(began) > patience {
			return fmt.Errorf(textRestless, patience)
		}
	}
}

// round looks at everything once and copies what has changed; it tells how much.
func (p *picture) round() (changed int, err error) {
	seen := map[string]bool{}
	p.left = nil
	for i, t := range p.trees {
		err := filepath.WalkDir(t.root, func(file string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone since
			}
			if err != nil {
				return fmt.Errorf("look at the files: %w", err)
			}
			rel, err := filepath.Rel(t.root, file)
			if err != nil || rel == "." {
				return err
			}
			rel = filepath.ToSlash(rel)
			if !t.judge(rel) {
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !fits(t.prefix+rel) || !e.IsDir() && !e.Type().IsRegular() {
				if e.Type()&fs.ModeSymlink == 0 || !slices.Contains(remade, rel) {
					p.left = append(p.left, rel)
				}
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			seen[t.prefix+rel] = true
			n, err := p.look(i, rel, file, e)
			changed += n
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	for name := range p.items {
		if !seen[name] {
			delete(p.items, name)
			changed++
		}
	}
	return changed, nil
}

// look copies one file if it is not in the picture as it is on the disk, and says
// how much that has changed: 0 or 1.
func (p *picture) look(i int, rel, file string, e fs.DirEntry) (int, error) {
	name := p.trees[i].prefix + rel
	old := p.items[name]
	if e.IsDir() {
		if old != nil && old.folder {
			return 0, nil
		}
		p.items[name] = &item{folder: true, tree: i}
		return 1, nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at %s: %w", rel, err)
	}
	if old != nil && !old.folder {
		same := os.SameFile(old.info, info) && old.info.Size() == info.Size() && old.info.ModTime().Equal(info.ModTime())
		if loose(rel) || same && old.at.Sub(info.ModTime()) > young {
			return 0, nil
		}
	}
	it, err := p.copy(rel, file)
	if errors.Is(err, fs.ErrNotExist) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	it.tree = i
	if old != nil && !old.folder && old.sum == it.sum && old.size == it.size && old.mode() == it.mode() {
		old.info, old.at = it.info, it.at
		p.end = it.from // it is there already
		return 0, nil
	}
	p.items[name] = it
	return 1, nil
}

// copy puts a file's bytes at the end of the spool.
func (p *picture) copy(rel, file string) (*item, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", rel, errors.Join(err, fs.ErrNotExist)) // it is another thing now
	}
	it := &item{info: info, at: time.Now(), from: p.end}
	sum := sha256.New()
	var in io.Reader = f
	if rel == gitConfig {
		data, err := io.ReadAll(io.LimitReader(f, store.MaxRead))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", rel, err)
		}
		in = bytes.NewReader(plainGitConfig(data))
	}
	if it.size, err = io.Copy(io.MultiWriter(io.NewOffsetWriter(p.spool, p.end), sum), in); err != nil {
		return nil, fmt.Errorf("copy %s: %w", rel, err)
	}
	sum.Sum(it.sum[:0])
	p.end += it.size
	return it, nil
}

// mode is what of a file's mode travels: whether it can be run.
func (it *item) mode() fs.FileMode {
	if it.folder || it.info != nil && it.info.Mode()&0o100 != 0 {
		return 0o700
	}
	return 0o600
}

// names are those of all items, folders before what is in them.
func (p *picture) names() []string {
	list := make([]string, 0, len(p.items))
	for name := range p.items {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// open gives the bytes of an item.
func (p *picture) open(it *item) io.Reader { return io.NewSectionReader(p.spool, it.from, it.size) }

// sum counts what is in the picture.
func (p *picture) sum(h Head) Summary {
	s := Summary{Head: h, Left: p.left}
	for name, it := range p.items {
		s.count(name, it.folder, it.size)
	}
	return s
}

// count adds an entry.
func (s *Summary) count(name string, folder bool, size int64) {
	switch {
	case folder:
		return
	case strings.HasPrefix(name, dataPrefix):
		s.Files++
	case path.Dir(name) == path.Clean(sessPrefix):
		s.Sessions++
	}
	s.Bytes += size
}

// pictureOf takes a picture of a data directory and of the sessions of its conversation;
// sessions may be a folder that is not there. spool is where the bytes are kept meanwhile.
func pictureOf(dir, sessions string, secrets bool, spool string) (*picture, error) {
	p, err := newPicture(spool)
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, err)
	}
	p.trees = []tree{{root, dataPrefix, func(rel string) bool {
		v := judge(rel)
		return v == travels || v == secret && secrets
	}}, {sessions, sessPrefix, func(string) bool { return true }}}
	if err := p.take(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

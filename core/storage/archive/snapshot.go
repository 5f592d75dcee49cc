package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/storage/store"
)

// young is the age below which a further change may leave a file's modification time unchanged.
const young = 3 * time.Second

// patience is how long to retry while files keep changing.
const patience = 30 * time.Second

// item is a file or folder of a snapshot.
type item struct {
	folder bool
	info   fs.FileInfo // when it was copied
	at     time.Time   // the time of the copy
	from   int64       // offset of its bytes in the spool
	size   int64
	sum    [sha256.Size]byte
	tree   int // its index in snapshot.trees
}

// tree is one of the directories in a snapshot.
type tree struct {
	root, prefix string
	judge        func(rel string) bool // reports whether a file is exported
}

// snapshot is a directory and its sessions at one moment. The bytes are in a deleted file,
// so that a killed process leaves nothing behind.
type snapshot struct {
	trees []tree
	spool *os.File
	end   int64
	items map[string]*item // by their names in the archive
	left  []string
}

// newSnapshot creates the file for the bytes in a folder, whose disk needs that much space.
func newSnapshot(folder string) (*snapshot, error) {
	f, err := createTemp(folder)
	if err != nil {
		return nil, fmt.Errorf("create a temporary file in %s: %w", folder, err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &snapshot{spool: f, items: map[string]*item{}}, nil
}

func (p *snapshot) close() { _ = p.spool.Close() } // its content is no longer needed

// take copies until nothing changes between two rounds: the copy then equals the state of the disk
// between them. It does not block a running bot.
func (p *snapshot) take() error {
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

// round checks every file once and copies the changed ones. It returns the number of changes.
func (p *snapshot) round() (changed int, err error) {
	seen := map[string]bool{}
	p.left = nil
	for i, t := range p.trees {
		err := filepath.WalkDir(t.root, func(file string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // removed in the meantime
			}
			if err != nil {
				return fmt.Errorf("check the files: %w", err)
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

// look copies a file if it differs from the snapshot. It returns the number of changes: 0 or
// 1.
func (p *snapshot) look(i int, rel, file string, e fs.DirEntry) (int, error) {
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
		return 0, fmt.Errorf("check %s: %w", rel, err)
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
		p.end = it.from // the copy already has the same bytes
		return 0, nil
	}
	p.items[name] = it
	return 1, nil
}

// copy appends a file to the spool.
func (p *snapshot) copy(rel, file string) (*item, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", rel, err)
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", rel, errors.Join(err, fs.ErrNotExist)) // it was replaced
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

// mode returns the exported mode, which only records whether a file is executable.
func (it *item) mode() fs.FileMode {
	if it.folder || it.info != nil && it.info.Mode()&0o100 != 0 {
		return 0o700
	}
	return 0o600
}

// entry returns the item as an entry of an archive. made is the time of folders.
func (it *item) entry(name string, made time.Time) entry {
	h := &tar.Header{Name: name, Mode: int64(it.mode()), Typeflag: tar.TypeReg, Size: it.size, ModTime: made, Format: tar.FormatPAX}
	if it.folder {
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	} else {
		h.ModTime = it.info.ModTime()
	}
	return entry{Header: h, name: name, folder: it.folder}
}

// names returns the names of all items, folders before their content.
func (p *snapshot) names() []string {
	return slices.Sorted(maps.Keys(p.items))
}

// open returns the bytes of an item.
func (p *snapshot) open(it *item) io.Reader { return io.NewSectionReader(p.spool, it.from, it.size) }

// sum counts the files in the snapshot.
func (p *snapshot) sum(h Head) Summary {
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

// snapshotOf takes a snapshot of a data directory and of the sessions of its conversation;
// sessions can be a missing folder. spool is the folder for the bytes.
func snapshotOf(dir, sessions string, secrets bool, spool string) (*snapshot, error) {
	p, err := newSnapshot(spool)
	if err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", dir, err)
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

package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent/edit"
	"ollimbot/core/words"
)

func (b *Box) write(ctx context.Context, c call) (Result, error) {
	s, err := b.find(ctx, c, "file_path", true)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	before, err := readIn(s.folder, s.name, maxFile)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, b.unwritable(s, err)
	}
	// A file without words has nothing to lose.
	if there && strings.TrimSpace(string(before)) != "" {
		if _, err := b.known(s, before, true); err != nil {
			return Result{}, err
		}
	}
	data := []byte(c.Text("content"))
	if err := b.save(s, data); err != nil {
		return Result{}, b.says(s, err)
	}
	b.note(s.full, data, true)
	if there {
		return Result{Text: fmt.Sprintf(textWritten, s.shown)}, nil
	}
	return Result{Text: fmt.Sprintf(textCreated, s.shown)}, nil
}

func (b *Box) edit(ctx context.Context, c call) (Result, error) {
	change := edit.Change{Old: c.Text("old_string"), New: c.Text("new_string"), All: c.Flag("replace_all")}
	if change.Old == change.New {
		return Result{}, errors.New(textSame)
	}
	s, err := b.find(ctx, c, "file_path", true)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	before, err := readIn(s.folder, s.name, maxFile)
	there, whole := err == nil, true
	if err != nil && (change.Old != "" || !errors.Is(err, fs.ErrNotExist)) {
		return Result{}, b.unwritable(s, err)
	}
	text, _, ok := edit.Decode(before)
	if !ok {
		return Result{}, fmt.Errorf(textBinary, s.shown, words.Bytes(int64(len(before))))
	}
	if there && (change.Old != "" || strings.TrimSpace(text) != "") {
		if whole, err = b.known(s, before, false); err != nil {
			return Result{}, err
		}
	}
	if err := applies(change, text, s.shown); err != nil {
		return Result{}, err
	}
	after, ok := edit.Apply(before, there, s.full, []edit.Change{change})
	if !ok {
		return Result{}, fmt.Errorf(textNotFound, s.shown)
	}
	if err := b.save(s, after); err != nil {
		return Result{}, b.says(s, err)
	}
	b.note(s.full, after, whole)
	return Result{Text: fmt.Sprintf(textEdited, s.shown) + around(after, text)}, nil
}

// applies is what keeps a change from being made.
func applies(c edit.Change, text, shown string) error {
	switch n := strings.Count(text, c.Old); {
	case c.Old == "" && strings.TrimSpace(text) != "":
		return fmt.Errorf(textNotBlank, shown)
	case c.Old == "":
	case n == 0:
		return fmt.Errorf(textNotFound, shown)
	case n > 1 && !c.All:
		return fmt.Errorf(textSeveral, n, shown)
	}
	return nil
}

// unwritable is why a file cannot be written over.
func (b *Box) unwritable(s spot, err error) error {
	switch {
	case errors.Is(err, unix.EISDIR):
		return fmt.Errorf(textIsFolder, s.shown)
	case errors.Is(err, errSize):
		return fmt.Errorf(textLarge, s.shown, words.Bytes(maxFile))
	}
	return b.says(s, err)
}

// save puts a file in the place of what is there, whole or not at all. It keeps the
// rights of a file that was there.
func (b *Box) save(s spot, data []byte) error {
	mode := fs.FileMode(0o644)
	if filepath.IsLocal(b.display(s.full)) {
		mode = 0o600 // as all that the bot writes in its directory
	}
	folder := int(s.folder.Fd())
	var was unix.Stat_t
	if err := unix.Fstatat(folder, s.name, &was, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		mode = fs.FileMode(was.Mode).Perm()
	}
	base, _ := short(s.name, 200)
	name := "." + base + "." + rand.Text() + ".tmp"
	fd, err := unix.Openat(folder, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode))
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = unix.Renameat(folder, name, folder, s.name)
	}
	if err != nil {
		_ = unix.Unlinkat(folder, name, 0) // the first error is the one to tell
	}
	return err
}

// shownAround is how many lines of an edited file are shown before and behind what has
// changed, and shownMost of all.
const shownAround, shownMost = 3, 40

// around are the lines where a text has changed, with their numbers.
func around(after []byte, before string) string {
	text, _, _ := edit.Decode(after)
	now, then := strings.Split(text, "\n"), strings.Split(before, "\n")
	first := 0
	for first < len(now) && first < len(then) && now[first] == then[first] {
		first++
	}
	same := 0
	for same < len(now)-first && same < len(then)-first && now[len(now)-1-same] == then[len(then)-1-same] {
		same++
	}
	from := max(first-shownAround, 0)
	until := min(len(now)-same+shownAround, len(now), from+shownMost)
	page, _, _ := numbered(now, from+1, until-from)
	return "\n" + page
}

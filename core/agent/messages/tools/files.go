package tools

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent"
	"ollimbot/core/agent/edit"
	"ollimbot/core/agent/picture"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

const (
	// maxFile is the largest text that is read, edited or searched, in bytes.
	maxFile = 16 << 20
	// maxPDF is the largest document: encoded in base64 and together with the conversation it must
	// fit into one request.
	maxPDF = 10 << 20
	// maxLines is the number of lines of a file that are shown, maxLine the number of bytes of a
	// line, maxText the number of bytes in total.
	maxLines = 2000
	maxLine  = 2000
	maxText  = 100 << 10
)

// seen is the version of a file that the model knows.
type seen struct {
	digest [sha256.Size]byte
	whole  bool // the model has seen all of it
}

// note records the version of a file that the model knows.
func (b *Box) note(full string, data []byte, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	digest := sha256.Sum256(data)
	before, known := b.seen[full]
	b.seen[full] = seen{digest, whole || known && before.whole && before.digest == digest}
}

// known checks that the model knows the current content of a file before it writes it: the model
// must have read the file, and the file must be unchanged. If all is set, it must have read all of
// it; whole reports whether it has.
func (b *Box) known(s spot, data []byte, all bool) (whole bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, ok := b.seen[s.full]
	switch {
	case !ok:
		return false, fmt.Errorf(textUnread, s.shown)
	case was.digest != sha256.Sum256(data):
		return false, fmt.Errorf(textChanged, s.shown)
	case all && !was.whole:
		return false, fmt.Errorf(textPartly, s.shown)
	}
	return was.whole, nil
}

func (b *Box) read(ctx context.Context, c call) (Result, error) {
	s, err := b.find(ctx, c, "file_path", false)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	data, err := readIn(s.folder, s.name, maxFile)
	switch {
	case errors.Is(err, unix.EISDIR):
		return Result{}, fmt.Errorf(textIsFolder, s.shown)
	case errors.Is(err, errSize):
		return Result{}, fmt.Errorf(textLarge, s.shown, words.Bytes(maxFile))
	case err != nil:
		return Result{}, b.says(s, err)
	}
	switch kind := http.DetectContentType(data); {
	case kind == "application/pdf" && len(data) > maxPDF:
		return Result{}, fmt.Errorf(textLargePDF, s.shown, words.Bytes(maxPDF))
	case kind == "application/pdf":
		return Result{
			Text:      fmt.Sprintf(textDocument, s.shown),
			Documents: []Document{{Title: filepath.Base(s.full), MediaType: kind, Data: data}},
		}, nil
	case strings.HasPrefix(kind, "image/"):
		return shownPicture(s.shown, data)
	}
	text, _, ok := edit.Decode(data)
	if !ok {
		return Result{}, fmt.Errorf(textBinary, s.shown, words.Bytes(int64(len(data))))
	}
	if text == "" {
		b.note(s.full, data, true)
		return Result{Text: fmt.Sprintf(textEmpty, s.shown)}, nil
	}
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	from := max(c.Number("offset"), 1)
	if from > len(all) {
		return Result{}, fmt.Errorf(textPastEnd, s.shown, words.Count(len(all), "line"))
	}
	page, next, cut := numbered(all, from, cmp.Or(c.Number("limit"), maxLines))
	b.note(s.full, data, from == 1 && next > len(all) && !cut)
	if next <= len(all) {
		page += fmt.Sprintf(textMoreLines, next-1, len(all), next)
	}
	return Result{Text: page}, nil
}

// numbered renders up to limit lines with their numbers, as many as fit. next is the line after
// them; cut means that a line was too long.
func numbered(lines []string, from, limit int) (page string, next int, cut bool) {
	var b strings.Builder
	for next = from; next <= len(lines) && next-from < limit && b.Len() < maxText; next++ {
		line := clean.Head(lines[next-1], maxLine)
		fmt.Fprintf(&b, "%6d\t%s", next, line)
		if len(line) < len(lines[next-1]) {
			cut = true
			fmt.Fprintf(&b, textLineCut, words.Bytes(int64(len(lines[next-1]))))
		}
		b.WriteByte('\n')
	}
	return b.String(), next, cut
}

// shownPicture returns an image in a form that models accept.
func shownPicture(shown string, data []byte) (Result, error) {
	img, err := picture.Fit(data)
	if err != nil {
		return Result{}, fmt.Errorf("%s %w", shown, err)
	}
	return Result{Text: fmt.Sprintf(textPicture, shown), Images: []agent.Image{img}}, nil
}

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
	// Overwriting a blank file loses nothing.
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

// applies explains why a change cannot be made.
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

// unwritable explains why a file cannot be overwritten.
func (b *Box) unwritable(s spot, err error) error {
	switch {
	case errors.Is(err, unix.EISDIR):
		return fmt.Errorf(textIsFolder, s.shown)
	case errors.Is(err, errSize):
		return fmt.Errorf(textLarge, s.shown, words.Bytes(maxFile))
	}
	return b.says(s, err)
}

// save replaces a file atomically. An existing file keeps its permissions.
func (b *Box) save(s spot, data []byte) error {
	mode := fs.FileMode(0o644)
	if filepath.IsLocal(b.display(s.full)) {
		mode = 0o600 // like all files in the data directory
	}
	folder := int(s.folder.Fd())
	var was unix.Stat_t
	if err := unix.Fstatat(folder, s.name, &was, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		mode = fs.FileMode(was.Mode).Perm()
	}
	name := "." + clean.Head(s.name, 200) + "." + rand.Text() + ".tmp"
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
		_ = unix.Unlinkat(folder, name, 0) // the first error is the one to report
	}
	return err
}

// shownAround is how many lines before and after a change are shown, and shownMost how many in
// total.
const shownAround, shownMost = 3, 40

// around returns the lines around a change, with their numbers.
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

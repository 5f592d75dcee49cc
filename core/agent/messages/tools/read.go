package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"ollimbot/core/agent"
	"ollimbot/core/agent/edit"
	"ollimbot/core/words"
)

const (
	// maxFile is the largest text that is read, edited or searched, in bytes.
	maxFile = 16 << 20
	// maxPDF is the largest document: with its letters for bytes and the rest of the
	// conversation it has to fit into one request.
	maxPDF = 10 << 20
	// maxLines and maxLine are how many lines of a file are shown, and how many bytes
	// of a line; maxText is how many bytes of all.
	maxLines = 2000
	maxLine  = 2000
	maxText  = 100 << 10
)

// seen is what the model knows of a file.
type seen struct {
	digest [sha256.Size]byte
	whole  bool // all of it was shown
}

// note remembers what the model knows of a file.
func (b *Box) note(full string, data []byte, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	digest := sha256.Sum256(data)
	before, known := b.seen[full]
	b.seen[full] = seen{digest, whole || known && before.whole && before.digest == digest}
}

// known is what stands against writing a file that holds data: the model has not read
// it, or it has changed since. all says that everything in it is to go. whole says that
// the model knows all of it.
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
		return picture(s.shown, data)
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

// numbered are up to limit lines with their numbers, from one on, as far as they fit.
// next is the line behind them; cut says that a line was too long.
func numbered(lines []string, from, limit int) (page string, next int, cut bool) {
	var b strings.Builder
	for next = from; next <= len(lines) && next-from < limit && b.Len() < maxText; next++ {
		line, long := short(lines[next-1], maxLine)
		fmt.Fprintf(&b, "%6d\t%s", next, line)
		if cut = cut || long; long {
			fmt.Fprintf(&b, textLineCut, words.Bytes(int64(len(lines[next-1]))))
		}
		b.WriteByte('\n')
	}
	return b.String(), next, cut
}

// short is the beginning of a text, of at most n bytes and whole letters.
func short(text string, n int) (string, bool) {
	if len(text) <= n {
		return text, false
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], true
}

// picture is an image as a model takes it.
func picture(shown string, data []byte) (Result, error) {
	img, err := Picture(data)
	if err != nil {
		return Result{}, fmt.Errorf("%s %w", shown, err)
	}
	return Result{Text: fmt.Sprintf(textPicture, shown), Images: []agent.Image{img}}, nil
}

package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// The most that may be attached (an image's own limit is the engine's).
const (
	maxImage       = 5 << 20
	maxAttachment  = 25 << 20
	maxAttachments = 10
)

// attachments wait for the user's next message. The zero value is ready.
type attachments struct {
	// saving is held while a file is saved: it orders them, so that no more than
	// maxAttachments wait. Snapshots take mu alone.
	saving sync.Mutex

	mu     sync.Mutex
	images []agent.Image
	files  []string // saved under downloads/, relative to the data directory
	names  []string // of all, for people
}

// take hands over what waits and forgets it.
func (a *attachments) take() (images []agent.Image, files []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	images, files = a.images, a.files
	a.images, a.files, a.names = nil, nil, nil
	return images, files
}

func (a *attachments) shown() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.names...)
}

// Attached are the names of the files that go with the next message.
func (c *Conversation) Attached() []string { return c.attached.shown() }

// Attach takes a file of the user's along with the next message: an image as an
// image, known by its first bytes and never by its name, anything else saved to
// downloads/ with its path in the message.
func (c *Conversation) Attach(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	data, err := readAttachment(path)
	if err != nil {
		return "", fmt.Errorf("attach %s: %w", clean.Line(path), err)
	}
	return c.attach(filepath.Base(path), data)
}

// readAttachment reads a file of the user's: an ordinary one, for a pipe would
// hang the bot and a device never ends.
func readAttachment(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Unwrap(err) // the path is told by the caller
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case !info.Mode().IsRegular():
		return nil, errors.New(textNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxAttachment+1))
	switch {
	case err != nil:
		return nil, errors.Unwrap(err)
	case len(data) > maxAttachment:
		return nil, errors.New(textTooLarge)
	}
	return data, nil
}

// attach keeps a file for the next message.
func (c *Conversation) attach(name string, data []byte) (string, error) {
	kind, shown := imageType(data), clean.FileName(name)
	switch {
	case kind != "" && len(data) > maxImage:
		return "", fmt.Errorf("attach %s: an image may have 5 MB at most", shown)
	case len(data) > maxAttachment:
		return "", fmt.Errorf("attach %s: %s", shown, textTooLarge)
	}
	a := &c.attached
	a.saving.Lock()
	defer a.saving.Unlock()
	if n := len(a.shown()); n >= maxAttachments {
		return "", fmt.Errorf("%d files wait already: send them with a message first", n)
	}
	rel := ""
	if kind == "" {
		var err error
		if rel, err = c.download(name, data); err != nil {
			return "", fmt.Errorf("attach %s: %w", shown, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, shown)
	if kind == "" {
		a.files = append(a.files, rel)
	} else {
		a.images = append(a.images, agent.Image{MediaType: kind, Data: data})
	}
	return "attached " + shown + ": it goes with your next message", nil
}

// numberedNames is how many names with a number are tried where one is taken;
// then it gets some random digits.
const numberedNames = 20

// download saves a file under downloads/, under a name of its own, and nothing
// that exists is touched.
func (c *Conversation) download(name string, data []byte) (rel string, err error) {
	if len(data) > maxAttachment {
		return "", errors.New(textTooLarge)
	}
	name = clean.FileName(name)
	ext := filepath.Ext(name)
	stem := "downloads/" + strings.TrimSuffix(name, ext)
	for n := 1; n <= numberedNames+1; n++ {
		rel = stem + ext
		switch {
		case n > numberedNames:
			rel = stem + "-" + store.NewID() + store.NewID() + ext
		case n > 1:
			rel = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		if err = c.o.Dir.Create(rel, data); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return rel, err
}

// imageType tells an image by its first bytes; empty for anything else.
func imageType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xd8, 0xff}):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("GIF8")):
		return "image/gif"
	case len(data) >= 12 && bytes.HasPrefix(data, []byte("RIFF")) && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

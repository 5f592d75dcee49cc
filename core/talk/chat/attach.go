package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
)

// The most that may be attached (an image's own limit is the engine's).
const (
	maxImage       = 5 << 20
	maxAttachment  = 25 << 20
	maxAttachments = 10
)

// attachments saves the files that arrive with the user's messages, and keeps those
// attached in the dashboard for the next message.
type attachments struct {
	dir *store.Dir
	log *slog.Logger

	// saving is held while a file is saved, so that at most maxAttachments are
	// attached. Snapshots take mu alone.
	saving sync.Mutex

	mu     sync.Mutex
	images []agent.Image
	files  []string // saved under downloads/, relative to the data directory
	names  []string // of all, for people
}

// gather is a message of a text and the files that came with it: images, recognized
// by their first bytes, are shown to the model, all others are saved and named.
func (a *attachments) gather(in command.Receive) agent.Message {
	var m agent.Message
	var files, lost []string
	if in.From == "" {
		m.Images, files = a.take()
	}
	for _, f := range in.Files {
		kind := imageType(f.Data)
		if kind != "" && len(f.Data) <= maxImage {
			m.Images = append(m.Images, agent.Image{MediaType: kind, Data: f.Data})
			continue
		}
		if kind != "" {
			in.Text += fmt.Sprintf(textLargeImage, clean.Cut(clean.Line(f.Name), 100), float64(len(f.Data))/(1<<20), maxImage>>20)
		}
		rel, err := a.download(f.Name, f.Data)
		if err != nil {
			a.log.Error("an attachment could not be saved", "error", err)
			lost = append(lost, clean.FileName(f.Name))
			continue
		}
		files = append(files, rel)
	}
	m.Text = withFiles(in.Text, files, lost)
	return m
}

// withFiles adds to a message where its files are, and which were lost.
func withFiles(text string, files, lost []string) string {
	for _, f := range files {
		text += "\n[attached file: " + f + "]"
	}
	for _, name := range lost {
		text += "\n[attached file that could not be saved: " + name + "]"
	}
	return strings.TrimSpace(text)
}

// take returns the attached files and forgets them.
func (a *attachments) take() (images []agent.Image, files []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	images, files = a.images, a.files
	a.images, a.files, a.names = nil, nil, nil
	return images, files
}

// Attached are the names of the files that are sent with the next message.
func (a *attachments) Attached() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.names)
}

// Attach adds a file of the user's to the next message: an image, recognized by its
// first bytes and never by its name, as an image; any other file is saved in
// downloads/ and the message names its path.
func (a *attachments) Attach(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	data, err := readAttachment(path)
	if err != nil {
		return "", fmt.Errorf("attach %s: %w", clean.Line(path), err)
	}
	return a.attach(filepath.Base(path), data)
}

// readAttachment reads a regular file: a pipe would block the bot, and a device never
// ends.
func readAttachment(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errors.Unwrap(err) // the caller names the path
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

// attach adds a file to the next message.
func (a *attachments) attach(name string, data []byte) (string, error) {
	kind, shown := imageType(data), clean.FileName(name)
	switch {
	case kind != "" && len(data) > maxImage:
		return "", fmt.Errorf("attach %s: an image can have at most 5 MB", shown)
	case len(data) > maxAttachment:
		return "", fmt.Errorf("attach %s: %s", shown, textTooLarge)
	}
	a.saving.Lock()
	defer a.saving.Unlock()
	if n := len(a.Attached()); n >= maxAttachments {
		return "", fmt.Errorf("%d files are already attached: send them with a message first", n)
	}
	rel := ""
	if kind == "" {
		var err error
		if rel, err = a.download(name, data); err != nil {
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
	return "attached " + shown + " to your next message", nil
}

// numberedNames is how many numbered names are tried when a name is taken; after
// that the file gets random digits.
const numberedNames = 20

// download saves a file in downloads/ under a new name; it never overwrites a file.
func (a *attachments) download(name string, data []byte) (rel string, err error) {
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
		if err = a.dir.Create(rel, data); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return rel, err
}

// imageType is an image's media type by its first bytes; empty for any other file.
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

package chat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"ollimbot/core/agent"
	"ollimbot/core/agent/picture"
	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
)

// Limits of attachments.
const (
	maxAttachment  = 25 << 20
	maxAttachments = 10
)

// attachments saves the files that arrive with the user's messages, and keeps those
// attached in the dashboard for the next message.
type attachments struct {
	dir *store.Dir
	log *slog.Logger

	// saving is held while a file is saved, so that at most maxAttachments are attached.
	// Snapshots lock only mu.
	saving sync.Mutex

	mu     sync.Mutex
	images []agent.Image
	files  []string // saved under downloads/, relative to the data directory
	names  []string // of all, as shown to the user
}

// gather makes a message of a text and its files: images, recognized by their first
// bytes, are shown to the model, all other files are saved and named. hidden tells the
// user which images the model does not see, and why.
func (a *attachments) gather(in command.Receive) (m agent.Message, hidden []string) {
	var files, lost []string
	if in.From == "" {
		m.Images, files = a.take()
	}
	for _, f := range in.Files {
		if isPicture(f.Name, f.Data) {
			image, err := picture.Fit(f.Data)
			if err == nil {
				m.Images = append(m.Images, image)
				continue
			}
			name := clean.Cut(clean.Line(f.Name), 100)
			in.Text += fmt.Sprintf(textNotShown, name, err)
			hidden = append(hidden, fmt.Sprintf(textHidden, name, err))
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
	return m, hidden
}

// withFiles adds the paths of the files to a message, and the names of those lost.
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

// Attached returns the names of the files to be sent with the next message.
func (a *attachments) Attached() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.names)
}

// Attach adds a file of the user's to the next message: an image, recognized by its first
// bytes, as an image that models accept. Any other file is saved in downloads/, and the
// message names its path.
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
	shown := clean.FileName(name)
	if len(data) > maxAttachment {
		return "", fmt.Errorf("attach %s: %s", shown, textTooLarge)
	}
	a.saving.Lock()
	defer a.saving.Unlock()
	if n := len(a.Attached()); n >= maxAttachments {
		return "", fmt.Errorf("%d files are already attached: send them with a message first", n)
	}
	told, rel := "attached "+shown+" to your next message", ""
	image, unfit := picture.Fit(data)
	if unfit != nil {
		var err error
		if rel, err = a.download(name, data); err != nil {
			return "", fmt.Errorf("attach %s: %w", shown, err)
		}
		if isPicture(name, data) {
			told += ", but the model is not shown it: it " + unfit.Error()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, shown)
	if unfit != nil {
		a.files = append(a.files, rel)
	} else {
		a.images = append(a.images, image)
	}
	return told, nil
}

// numberedNames is how many numbered names are tried if a name is taken; after that the
// file gets random digits.
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

// pictureNames are file extensions of images.
var pictureNames = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".heic", ".heif"}

// isPicture reports whether a file is an image by its content or extension.
func isPicture(name string, data []byte) bool {
	return strings.HasPrefix(http.DetectContentType(data), "image/") || slices.Contains(pictureNames, strings.ToLower(filepath.Ext(name)))
}

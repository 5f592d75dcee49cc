package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// The most that may be attached (an image's own limit is the engine's).
const (
	maxImage       = 5 << 20
	maxAttachment  = 25 << 20
	maxAttachments = 10
)

// attachments wait for the user's next message. The zero value is ready.
type attachments struct {
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

// slashAttach takes a file along with the next message: an image as an image,
// known by its first bytes and never by its name (spec 07.2.2), anything else
// saved to downloads/ with its path in the message (decisions, C20).
func (b *Bot) slashAttach(_ context.Context, args []string) (string, error) {
	path := strings.Join(args, " ")
	if path == "" {
		return "", errors.New("write the file behind it: /attach PATH")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("attach %s: %w", clean.Line(path), errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("attach %s: it is not a regular file", clean.Line(path))
	case info.Size() > maxAttachment:
		return "", fmt.Errorf("attach %s: it is larger than 25 MB", clean.Line(path))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("attach: %w", err)
	}
	return b.attach(filepath.Base(path), data)
}

func (b *Bot) attach(name string, data []byte) (string, error) {
	a := &b.attached
	kind := imageType(data)
	if kind != "" && len(data) > maxImage {
		return "", fmt.Errorf("attach %s: an image may have 5 MB at most", clean.Line(name))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.names) >= maxAttachments {
		return "", fmt.Errorf("%d files wait already: send them with a message first", len(a.names))
	}
	shown := clean.Line(name)
	if kind != "" {
		a.images = append(a.images, agent.Image{MediaType: kind, Data: data})
	} else {
		rel, err := b.download(name, data)
		if err != nil {
			return "", err
		}
		a.files = append(a.files, rel)
	}
	a.names = append(a.names, shown)
	return "attached " + shown + ": it goes with your next message", nil
}

// download saves a file under downloads/, with a number where the name is taken.
func (b *Bot) download(name string, data []byte) (rel string, err error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(clean.Line(name), ext)
	err = b.dir.Exclusive("downloads", func() error {
		for n := 1; ; n++ {
			rel = "downloads/" + stem + ext
			if n > 1 {
				rel = fmt.Sprintf("downloads/%s-%d%s", stem, n, ext)
			}
			if _, err := os.Lstat(b.dir.Path(rel)); errors.Is(err, os.ErrNotExist) {
				return b.dir.Write(rel, data)
			}
		}
	})
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

// Package sessionfile owns where the claude command stores its sessions and how our messages appear
// in them. It creates the folders and opens no file. It must not know engines, nor the meaning of
// messages.
package sessionfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
)

// Problems with the command's folder.
const (
	msgRelative   = "claude has no folder for its sessions (%q is not an absolute path): set HOME, or CLAUDE_CONFIG_DIR to an absolute path"
	msgUnwritable = "claude cannot keep sessions in %s (%v): make the folder writable, or set CLAUDE_CONFIG_DIR to another one"
	msgAccount    = "claude cannot use %s (%v): make the file readable and writable, or set CLAUDE_CONFIG_DIR to another folder"
)

const (
	// Projects contains a folder for each working directory, with a file for each session.
	Projects = "projects"
	// Ext is the extension of a session's file; its name is the ID.
	Ext = ".jsonl"
	// LastBlock ends each of our messages. The CLI interprets "@path" and "/word" only in the last
	// text block of a message, so the last block must never be the user's. It is constant for the
	// prompt cache.
	LastBlock = "(end of message)"
	// slugLimit is the length above which the CLI cuts a folder's name and adds a hash.
	slugLimit = 200
)

// ConfigDir returns the folder of a CLI with this environment.
func ConfigDir(env []string) string {
	if dir := config.Lookup(env, "CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(config.Lookup(env, "HOME"), ".claude")
}

// Prepare creates the CLI's folder and that of the sessions, because a sandbox shows only existing
// folders, and a session written elsewhere would be lost with the sandbox. An error is one sentence
// with the cure.
func Prepare(env []string) error {
	dir := ConfigDir(env)
	if !filepath.IsAbs(dir) {
		return fmt.Errorf(msgRelative, dir)
	}
	if err := writable(filepath.Join(dir, Projects)); err != nil {
		return fmt.Errorf(msgUnwritable, dir, err)
	}
	file := filepath.Join(config.Lookup(env, "HOME"), ".claude.json")
	if config.Lookup(env, "CLAUDE_CONFIG_DIR") != "" {
		return nil // its .claude.json is in that folder
	}
	if err := unix.Access(file, unix.R_OK|unix.W_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(msgAccount, file, err)
	}
	return nil
}

// writable creates a folder and returns an error if it or its parent is not writable.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return store.Bare(err)
	}
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := unix.Access(d, unix.W_OK|unix.X_OK); err != nil {
			return err
		}
	}
	return nil
}

// Folder returns the name of the folder for sessions that work in dir. Like the CLI, it uses the
// real path.
func Folder(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return Slug(dir)
}

// Slug returns the name for a real path: everything but letters and digits becomes "-", counted in
// UTF-16 units as in the CLI's language. A long name is cut and gets a hash of the whole path.
func Slug(dir string) string {
	units := utf16.Encode([]rune(dir))
	slug := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash*31 + int32(u)
		slug[i] = '-'
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			slug[i] = byte(u)
		}
	}
	if len(slug) <= slugLimit {
		return string(slug)
	}
	n := int64(hash)
	if n < 0 {
		n = -n
	}
	return string(slug[:slugLimit]) + "-" + strconv.FormatInt(n, 36)
}

// Path returns the file of a session that works in dir.
func Path(configDir, dir, session string) string {
	return filepath.Join(configDir, Projects, Folder(dir), session+Ext)
}

// Texts returns the texts of a message's content, which is a string or blocks. Messages that waited
// together arrive as one list of blocks: each of ours ends with LastBlock.
func Texts(content json.RawMessage) []string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return []string{strings.TrimSuffix(whole, "\n"+LastBlock)}
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	var texts []string
	var text strings.Builder
	for _, b := range blocks {
		switch {
		case b.Type != "text":
		case b.Text == LastBlock:
			texts = append(texts, text.String())
			text.Reset()
		default:
			text.WriteString(b.Text)
		}
	}
	if text.Len() > 0 {
		texts = append(texts, text.String())
	}
	return texts
}

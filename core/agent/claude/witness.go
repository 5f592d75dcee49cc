package claude

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

const (
	// projectsDir holds a folder for each working directory, and in it a file for
	// each session (claude-cli 9).
	projectsDir   = "projects"
	transcriptExt = ".jsonl"
	// slugLimit is how long a folder's name gets before the CLI cuts it and adds a
	// hash.
	slugLimit = 200
)

// Heard reports whether a session's transcript holds a message whose text has
// this digest (agent.Witness). Only the session's own file is asked: what a fork
// has copied counts as heard by the fork. The CLI appends a message about 0.1 s
// after it has taken it, so that the last moment before a crash may be missing;
// a session without a file has heard nothing.
func (e *Engine) Heard(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	files, err := transcripts(configDir(e.env()), session)
	if err != nil {
		return false, fmt.Errorf("look for the transcript: %w", err)
	}
	for _, file := range files {
		heard, err := transcriptHolds(ctx, file, digest)
		if heard || err != nil {
			return heard, err
		}
	}
	return false, nil
}

// configDir is where the CLI with this environment keeps its files.
func configDir(env []string) string {
	if dir := lookup(env, "CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(lookup(env, "HOME"), ".claude")
}

// transcriptPath is the file of a session that works in dir. The CLI names the
// folder after the real path, as the system tells it.
func transcriptPath(configDir, dir, session string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return filepath.Join(configDir, projectsDir, projectSlug(dir), session+transcriptExt)
}

// projectSlug is the name of a working directory's folder: everything but
// letters and digits as "-", counted as UTF-16 as the CLI's language does; a
// long name is cut and told apart by a hash of the whole path.
func projectSlug(dir string) string {
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

// transcripts are the files of a session, whichever directory it worked in.
func transcripts(configDir, session string) ([]string, error) {
	if session == "" || session != filepath.Base(session) || strings.ContainsRune(session, 0) {
		return nil, nil // no id that the CLI would give
	}
	projects := filepath.Join(configDir, projectsDir)
	folders, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, folder := range folders {
		file := filepath.Join(projects, folder.Name(), session+transcriptExt)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			found = append(found, file)
		}
	}
	return found, nil
}

// transcriptHolds reads a transcript line by line; a line may have any length,
// and the last one may be torn.
func transcriptHolds(ctx context.Context, file string, digest [sha256.Size]byte) (bool, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the transcript: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		for _, text := range heardTexts(line) {
			if sha256.Sum256([]byte(text)) == digest {
				return true, nil
			}
		}
		switch {
		case err == io.EOF:
			return false, nil
		case err != nil:
			return false, fmt.Errorf("read the transcript: %w", err)
		case ctx.Err() != nil:
			return false, fmt.Errorf("read the transcript: %w", ctx.Err())
		}
	}
}

// heardTexts are the texts of the messages that a transcript's line holds: a
// user message, or one that was given to a running turn, which the CLI notes as
// an attachment.
func heardTexts(line []byte) []string {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		return nil // most lines; decoding a picture for nothing takes long
	}
	var l struct {
		Type      string `json:"type"`
		Sidechain bool   `json:"isSidechain"` // a subagent's
		Message   struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Attachment struct {
			Type   string          `json:"type"`
			Prompt json.RawMessage `json:"prompt"`
		} `json:"attachment"`
	}
	if json.Unmarshal(line, &l) != nil || l.Sidechain {
		return nil
	}
	switch {
	case l.Type == "user":
		return messageTexts(l.Message.Content)
	case l.Type == "attachment" && l.Attachment.Type == "queued_command":
		return messageTexts(l.Attachment.Prompt)
	}
	return nil
}

// messageTexts are the texts of a content, a string or blocks. Messages that
// waited together arrive as one, block behind block: each of ours ends with
// lastBlock.
func messageTexts(content json.RawMessage) []string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return []string{strings.TrimSuffix(whole, "\n"+lastBlock)}
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
		case b.Text == lastBlock:
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

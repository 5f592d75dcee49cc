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
	"strings"

	"ollimbot/core/agent/claude/sessionfile"
)

// HasMessage reports whether a session's transcript contains a message whose text has this
// digest (agent.HistoryChecker). Only the session's own file is read: what a fork copied
// counts as received by the fork. The CLI writes a message about 0.1 s after receiving it,
// so the last moment before a crash may be missing. A session without a file has received
// nothing.
func (e *Engine) HasMessage(ctx context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	files, err := transcripts(sessionfile.ConfigDir(e.env()), session)
	if err != nil {
		return false, fmt.Errorf("find the transcript: %w", err)
	}
	for _, file := range files {
		heard, err := transcriptHolds(ctx, file, digest)
		if heard || err != nil {
			return heard, err
		}
	}
	return false, nil
}

// HasSession reports whether the command has a file for the session (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	files, err := transcripts(sessionfile.ConfigDir(e.env()), id)
	return err == nil && len(files) > 0
}

// transcripts returns the files of a session in any working directory.
func transcripts(configDir, session string) ([]string, error) {
	if session == "" || session != filepath.Base(session) || strings.ContainsRune(session, 0) {
		return nil, nil // not an ID of the CLI
	}
	projects := filepath.Join(configDir, sessionfile.Projects)
	folders, err := os.ReadDir(projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, folder := range folders {
		file := filepath.Join(projects, folder.Name(), session+sessionfile.Ext)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			found = append(found, file)
		}
	}
	return found, nil
}

// transcriptHolds searches a transcript line by line. A line may have any length, and the last one
// may be incomplete.
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

// heardTexts returns the texts of the messages in a transcript line: a user message, or one that
// was sent during a running turn, which the CLI records as an attachment.
func heardTexts(line []byte) []string {
	if !bytes.Contains(line, []byte(`"user"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
		return nil // most lines end here; decoding pictures would take long
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
		return sessionfile.Texts(l.Message.Content)
	case l.Type == "attachment" && l.Attachment.Type == "queued_command":
		return sessionfile.Texts(l.Attachment.Prompt)
	}
	return nil
}

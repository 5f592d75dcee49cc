package mcp

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"ollimbot/core/storage/store"
)

// maxLog is the size in bytes at which a server's log is rotated; the previous one is
// kept.
const maxLog = 256 << 10

const oldLog = ".1"

// logBook stores the standard error output of servers, one file each.
type logBook struct {
	dir    *store.Dir
	redact func(string) string

	mu sync.Mutex // held while a line is written, to keep their order
}

func logFile(server string) string { return folder + "/" + server + ".log" }

// add appends a cleaned line. A line that cannot be written is lost.
func (l *logBook) add(server, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := l.dir.Path(logFile(server))
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+oldLog) // if this fails, the log grows a little more
	}
	if l.dir.MakeFolder(folder) != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(time.Now().Format("2006-01-02 15:04:05 ") + l.redact(line) + "\n")
	_ = f.Close()
}

// Log returns the latest lines logged by a server, oldest first.
func Log(dir *store.Dir, server string, lines int) ([]string, error) {
	var all []string
	for _, rel := range []string{logFile(server) + oldLog, logFile(server)} {
		data, err := os.ReadFile(dir.Path(rel))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if text := strings.TrimRight(string(data), "\n"); text != "" {
			all = append(all, strings.Split(text, "\n")...)
		}
	}
	return all[max(0, len(all)-lines):], nil
}

package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// noon is the reference time of the sessions in these tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a data directory with the files of a claude command.
type world struct {
	t      testing.TB
	dir    *store.Dir
	config string
	logged bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	d := storetest.At(t, filepath.Join(t.TempDir(), "data"))
	w := &world{t: t, dir: d, config: filepath.Join(t.TempDir(), "claude")}
	testkit.Must(t, os.MkdirAll(d.Path("state"), 0o700))
	return w
}

func (w *world) history() *History {
	return New(Options{Dir: w.dir, ConfigDir: w.config, Log: slog.New(slog.NewTextHandler(&w.logged, nil))})
}

// file returns the path of a session of the data directory.
func (w *world) file(id string) string { return sessionfile.Path(w.config, w.dir.Root(), id) }

// session writes a session that last changed at that time.
func (w *world) session(id string, changed time.Time, lines ...string) {
	w.t.Helper()
	w.put(w.file(id), strings.Join(lines, "\n")+"\n", changed)
}

func (w *world) put(name, content string, changed time.Time) {
	w.t.Helper()
	testkit.Must(w.t, os.MkdirAll(filepath.Dir(name), 0o700))
	testkit.Must(w.t, os.WriteFile(name, []byte(content), 0o600))
	testkit.Must(w.t, os.Chtimes(name, changed, changed))
}

func (w *world) state(name, content string) {
	w.t.Helper()
	w.put(w.dir.Path("state/"+name), content, noon)
}

// stamp formats a time as the CLI does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// at returns a time some minutes after noon.
func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func queued(at time.Time) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":"s"}`, stamp(at))
}

// lineOf returns a line of the conversation in the CLI's format.
func lineOf(at time.Time, kind, role string, content any, extra string) string {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	// A copied line has the same id, and no other line does.
	sum := sha256.Sum256(append(raw, stamp(at)...))
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%s},`+
		`"uuid":"%x","timestamp":%q%s,"cwd":"/d","version":"2.1.197"}`, kind, role, raw, sum[:16], stamp(at), extra)
}

// says returns a message of ours, with its last block.
func says(at time.Time, text string) string {
	return lineOf(at, "user", "user", []map[string]any{
		{"type": "text", "text": text}, {"type": "text", "text": sessionfile.LastBlock},
	}, "")
}

// headed adds the header of our messages.
func headed(at time.Time, text string) string {
	return says(at, at.Format("[2006-01-02 Mon 03:04 PM ")+"UTC] "+text)
}

func answers(at time.Time, text string) string {
	return lineOf(at, "assistant", "assistant", []map[string]any{{"type": "text", "text": text}}, "")
}

func calls(at time.Time, tool string, input map[string]any) string {
	return lineOf(at, "assistant", "assistant", []map[string]any{{"type": "tool_use", "id": "t", "name": tool, "input": input}}, "")
}

func gives(at time.Time, text string, failed bool) string {
	return lineOf(at, "user", "user", []map[string]any{
		{"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": failed},
	}, `,"toolUseResult":{"stdout":"x"}`)
}

// talked formats the entries as "role text".
func talked(list []Entry) []string {
	var lines []string
	for _, e := range list {
		line := string(e.Role) + " "
		if e.Tag != "" {
			line += "[" + e.Tag + "] "
		}
		lines = append(lines, line+e.Text)
	}
	return lines
}

package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

const (
	mainID = "0f6a2f0e-7a67-4a1e-9f55-0c5be1b3a001"
	forkID = "3d0b9a52-51f0-4df4-8a6e-8a3c2c5bb002"
	runID  = "77777777-51f0-4df4-8a6e-8a3c2c5bb003"
)

// talk returns the main session of these tests.
func talk() []string {
	return []string{
		queued(at(0)), headed(at(0), "Where is the red key?"),
		calls(at(1), "Bash", map[string]any{"command": "find key"}), gives(at(1), "under the mat\nreally", false),
		answers(at(1), "Under the mat."),
		headed(at(60), "Thanks!"), answers(at(60), "Any time."),
		`{"type":"last-prompt","lastPrompt":"Thanks!"}`,
	}
}

// branch returns a fork of it: a copy with the original's times, after the note of the
// fork's own first message.
func branch(began time.Time, own ...string) []string {
	return append(append([]string{`{"type":"mode","mode":"normal"}`, queued(began)}, talk()[1:7]...), own...)
}

// family returns a main session with an interactive fork and a background run.
func family(t testing.TB) *world {
	w := newWorld(t)
	w.session(mainID, at(61), talk()...)
	w.session(forkID, at(95), branch(at(90), headed(at(90), "[fork-started] You are inside a fork.\n\nTopic: plants"),
		answers(at(91), "Which plant?"), headed(at(94), "The ficus."), answers(at(95), "Water it."))...)
	w.session(runID, at(181), branch(at(180), headed(at(180), "[routine-bg:9a8b7c6d] You run in the background.\n\nMedication time."),
		calls(at(181), "mcp__discord__ping_user", map[string]any{"message": "Take the blue pill."}), gives(at(181), "sent", false),
		answers(at(181), "Done."))...)
	w.state("session_history.jsonl", fmt.Sprintf(`{"session_id": %q, "event": "created", "timestamp": "2026-11-21T12:00:00+00:00", "parent_session_id": null}
not a line
{"session_id": %q, "event": "interactive_fork", "timestamp": "2026-11-21T13:30:00+00:00", "parent_session_id": %q}
{"session_id": %q, "event": "bg_fork", "timestamp": "2026-11-21T15:01:00+00:00", "parent_session_id": %q}
`, mainID, forkID, mainID, runID, mainID))
	w.state("fork_runs.jsonl", fmt.Sprintf(`{"id":"1a2b3c4d","task":"9a8b7c6d","kind":"routine","title":"Medication","state":"done",`+
		`"queued":%q,"started":%q,"ended":%q,"session":%q,"parent":%q,"pings":1}`+"\n",
		stamp(at(180)), stamp(at(180)), stamp(at(181)), runID, mainID))
	return w
}

func listed(t *testing.T, h *History, q Query) ([]Session, int) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	list, more, err := h.List(q)
	testkit.Must(t, err)
	return list, more
}

func TestAListSaysWhatEachSessionWas(t *testing.T) {
	w := family(t)
	got, more := listed(t, w.history(), Query{})
	folder := sessionfile.Folder(w.dir.Root())
	want := []Session{
		{
			ID: runID, Folder: folder, Kind: Background, Parent: mainID, Title: "Medication",
			Words: "[routine-bg:9a8b7c6d] You run in the background. Medication time.", Started: at(180), Last: at(181), Messages: 2, Exact: true,
		},
		{
			ID: forkID, Folder: folder, Kind: Fork, Parent: mainID,
			Words: "[fork-started] You are inside a fork. Topic: plants", Started: at(90), Last: at(95), Messages: 4, Exact: true,
		},
		{ID: mainID, Folder: folder, Kind: Main, Words: "Where is the red key?", Started: at(0), Last: at(60), Messages: 4, Exact: true},
	}
	// Each line break becomes a space.
	for i := range got {
		got[i].Words = strings.Join(strings.Fields(got[i].Words), " ")
	}
	if diff := cmp.Diff(want, got); diff != "" || more != 0 {
		t.Error(more, diff)
	}
}

func TestAForkThatBecameTheMainSessionIsMain(t *testing.T) {
	w := family(t)
	w.state("session_history.jsonl", fmt.Sprintf(`{"session_id": %q, "event": "interactive_fork"}
{"session_id": %q, "event": "swapped", "parent_session_id": %q}
{"session_id": %q, "event": "restarting"}`, forkID, forkID, mainID, forkID))
	for _, s := range first(listed(t, w.history(), Query{})) {
		want := map[string]Kind{mainID: Other, forkID: Main, runID: Background}[s.ID] // the ledger has the run
		if s.Kind != want {
			t.Errorf("%s is %s, not %s", s.ID, s.Kind, want)
		}
	}
}

func first[T any](list T, _ int) T { return list }

func TestAListCanBeShortened(t *testing.T) {
	w := family(t)
	w.put(filepath.Join(w.config, sessionfile.Projects, "-elsewhere", "eeeeeeee-0.jsonl"), answers(at(5), "far away")+"\n", at(300))
	h := w.history()
	if list, more := listed(t, h, Query{Limit: 1}); len(list) != 1 || list[0].ID != runID || more != 2 {
		t.Errorf("%v and %d more", list, more)
	}
	for i := range 9 { // in no order, two of each time
		w.session(fmt.Sprintf("%d-in-order", i), at(400+i*5%9/2), answers(at(10+i*5%9/2), "hi"))
	}
	list, more := listed(t, h, Query{Limit: 5})
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID[:1])
	}
	if got := strings.Join(ids, ""); got != "73518" || more != 7 {
		t.Errorf("the newest are %s, with %d more", got, more)
	}
	if list, _ := listed(t, h, Query{Since: at(70), Limit: 100}); len(list) != 11 {
		t.Errorf("%v", list)
	}
	if list, _ := listed(t, h, Query{All: true}); len(list) != 13 {
		t.Errorf("%v", list)
	}
}

func TestWithoutSessionsThereIsNoHistory(t *testing.T) {
	h := newWorld(t).history()
	if list, more := listed(t, h, Query{All: true}); len(list) != 0 || more != 0 {
		t.Errorf("%v, %d", list, more)
	}
	if hits, _, err := h.Search([]string{"a"}, time.Time{}); len(hits) != 0 || err != nil {
		t.Errorf("%v, %v", hits, err)
	}
	if events, _, err := h.Pings(time.Time{}); len(events) != 0 || err != nil {
		t.Errorf("%v, %v", events, err)
	}
}

func TestAFolderThatCannotBeOpenedIsAnError(t *testing.T) {
	w := newWorld(t)
	w.put(filepath.Join(w.config, sessionfile.Projects), "I am a file", noon)
	h := w.history()
	_, _, listed := h.List(Query{Limit: 1})
	_, shown := h.Show("a", Brief())
	_, _, searched := h.Search([]string{"a"}, noon)
	_, _, pinged := h.Pings(noon)
	for what, err := range map[string]error{"list": listed, "show": shown, "search": searched, "pings": pinged} {
		if err == nil || !strings.HasPrefix(err.Error(), "open the folder of the sessions: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAnIDIsASafeNameOfAFile(t *testing.T) {
	good := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)
	for r := range rune(0x180) {
		for _, id := range []string{string(r), "a" + string(r), strings.Repeat("a", int(r))} {
			if validID(id) != good.MatchString(id) {
				t.Errorf("%q counts as an id: %v", id, validID(id))
			}
		}
	}
}

// Links out of the projects folder, and things that are not files, are not opened.
func TestNothingOutsideOfTheProjectsFolderIsRead(t *testing.T) {
	w := family(t)
	secret := filepath.Join(t.TempDir(), "secret.jsonl")
	w.put(secret, answers(at(5), "the secret")+"\n", at(300))
	folder := filepath.Dir(w.file("x"))
	for link, target := range map[string]string{
		filepath.Join(folder, "11111111-0.jsonl"):                              secret,
		filepath.Join(w.config, sessionfile.Projects, "-linked"):               filepath.Dir(secret),
		filepath.Join(w.config, sessionfile.Projects, "-linked-file"):          secret,
		filepath.Join(w.config, sessionfile.Projects, "-elsewhere", "x.jsonl"): "../../../secret.jsonl",
	} {
		testkit.Must(t, os.MkdirAll(filepath.Dir(link), 0o700))
		testkit.Must(t, os.Symlink(target, link))
	}
	testkit.Must(t, os.Mkdir(filepath.Join(folder, "22222222-0.jsonl"), 0o700))
	mkfifo(t, filepath.Join(folder, "33333333-0.jsonl"))
	for _, name := range []string{"notes.txt", "-x.jsonl", "agent-1.jsonl"} {
		w.put(filepath.Join(folder, name), answers(at(5), "the secret")+"\n", at(300))
	}
	h := w.history()
	if list, _ := listed(t, h, Query{All: true}); len(list) != 3 {
		t.Errorf("%v", list)
	}
	if hits, _, err := h.Search([]string{"secret"}, time.Time{}); len(hits) != 0 || err != nil {
		t.Errorf("%v, %v", hits, err)
	}
	for _, id := range []string{
		"", ".", "..", "11111111-0", "22222222-0", "33333333-0", "../-linked/secret", "-linked/secret", "secret", mainID + "/", "*", "a\x00", "-x",
	} {
		if c, err := h.Show(id, Full()); err == nil {
			t.Errorf("%q shows %v", id, c)
		}
	}
}

// large returns a conversation of n exchanges of about a kilobyte each.
func large(n int) []string {
	lines := []string{queued(at(0))}
	for i := range n {
		lines = append(lines, headed(at(i), fmt.Sprint("question ", i)), answers(at(i), strings.Repeat("word ", 100)))
	}
	return lines
}

func TestALargeSessionIsEstimatedFromItsEnds(t *testing.T) {
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(600), large(500)...)
	list, _ := listed(t, w.history(), Query{})
	s := list[0]
	if s.Exact || s.Messages < 900 || s.Messages > 1100 || s.Words != "question 0" || !s.Started.Equal(at(0)) || !s.Last.Equal(at(499)) {
		t.Errorf("%+v", s)
	}
	c, err := w.history().Show("aaaaaaaa-1", Brief())
	if err != nil || c.Messages != 1000 || !c.Exact || c.Earlier != 800 || len(c.Entries) != 200 || c.Entries[199].At != at(499) {
		t.Errorf("%v: %+v, %d entries", err, c.Session, len(c.Entries))
	}
}

// The own part of a fork is counted exactly, even after a long copy, and even if it is
// longer than the part read first.
func TestAForkOfALargeSessionIsCountedExactly(t *testing.T) {
	for _, exchanges := range []int{1, 40, 300} {
		w := newWorld(t)
		lines := append([]string{queued(at(1000))}, large(500)[1:]...)
		for i := range exchanges {
			lines = append(lines, headed(at(1000+i), fmt.Sprint("own ", i)), answers(at(1000+i), strings.Repeat("word ", 100)))
		}
		w.session("aaaaaaaa-1", at(2000), lines...)
		s := first(listed(t, w.history(), Query{}))[0]
		if !s.Exact || s.Messages != 2*exchanges || s.Words != "own 0" || !s.Started.Equal(at(1000)) {
			t.Errorf("%d exchanges: %+v", exchanges, s)
		}
	}
}

func TestPicturesDoNotHideTheMessages(t *testing.T) {
	picture := lineOf(at(1), "user", "user", []map[string]any{
		{"type": "image", "source": map[string]string{"type": "base64", "data": strings.Repeat("A", 2<<20)}},
		{"type": "text", "text": "What is it?"},
		{"type": "text", "text": sessionfile.LastBlock},
	}, "")
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(9), queued(at(0)), picture, answers(at(2), "A cat."), strings.Replace(picture, stamp(at(1)), stamp(at(2)), 1))
	s := first(listed(t, w.history(), Query{}))[0]
	if s.Words != "What is it?" || s.Messages != 3 || !s.Last.Equal(at(2)) {
		t.Errorf("%+v", s)
	}
}

func TestUnreadableLinesArePassedOver(t *testing.T) {
	w := newWorld(t)
	w.session("aaaaaaaa-1", at(9), "", "\x00\xff", "[]", `{"type":"user","timestamp":7,"message":{"content":{"a":1}}}`, `{"type":"assistant","message":{"content":[7,{"type":"text"}]}}`,
		headed(at(1), "good \x1b[31mword "+strings.Repeat("x", 91)), `{"type":"user","timestamp":"`+stamp(at(2))+`","message":{"content":"torn`)
	h := w.history()
	s := first(listed(t, h, Query{}))[0]
	if s.Words != "good word "+strings.Repeat("x", 89)+"…" || !s.Last.Equal(at(1)) {
		t.Errorf("%+v", s)
	}
	c, err := h.Show("aaaaaaaa-1", Full())
	if diff := cmp.Diff([]string{"user good word " + strings.Repeat("x", 91)}, talked(c.Entries)); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

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

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// marigold stands in everything that no model may read.
const marigold = "marigold"

// siege is the whole program over the real command, or with tools of our own, with a
// model that does whatever a stranger has told it.
type siege struct {
	*claudeWorld
	*program // once it has been started
	engine   string
	home     string
	says     string // what its log says of the fence

	said  int  // turns of the conversation
	fence bool // there is one
}

// fences are the ways in which the system keeps commands in: what the settings say, what
// PATH lacks, and what the program says of it.
var fences = map[string]struct{ settings, path, says string }{
	"bubblewrap": {`{}`, "", "sandbox: bubblewrap"},
	"Landlock":   {`{}`, "bwrap", "sandbox: landlock"},
	"no sandbox": {`{"sandbox": "off"}`, "", "no sandbox: it is switched off"},
}

// newSiege is a directory with secrets and tasks of the user, before a fence.
func newSiege(t *testing.T, engine, fence string) *siege {
	t.Helper()
	world := newClaudeWorld
	if engine == choice.Messages {
		world = newWorld
	}
	w := world(t)
	f := fences[fence]
	s := &siege{claudeWorld: w, engine: engine, says: f.says}
	bin := filepath.Dir(built(t))
	s.env = append(s.env, "PATH="+bin+":"+pathWithout(t, f.path), "DISCORD_TOKEN=", "OLLIM_USER_NAME=Ada")
	for _, v := range w.env {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			s.home = home
			s.file(filepath.Join(home, ".ssh", "id_ed25519"), marigold)
		}
	}
	if err := os.Remove(filepath.Join(s.data, "reminders", "overdue-library-book.md")); err != nil { // it would fire now
		t.Fatal(err)
	}
	s.file("state/settings.json", f.settings)
	s.file("state/secret.json", marigold)
	s.file(".env", "GOOGLE_SECRET="+marigold+"\n")
	s.file("secret.txt", marigold)
	return s
}

// pathWithout is a PATH on which a program is not found.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	if program == "" {
		return "/usr/bin:/bin"
	}
	dir := t.TempDir()
	for _, name := range []string{"git", "bash", "sh", "true", "ls", "cat", "cp", "mv", "ln", "touch", "env", "find", "grep", "date", "head", "sleep", "mkdir", "id", "cut", "rm"} {
		path, err := exec.LookPath(name)
		testkit.Must(t, err)
		testkit.Must(t, os.Symlink(path, filepath.Join(dir, name)))
	}
	return dir
}

// file writes a file of the data directory, as its user would.
func (s *siege) file(name, text string) {
	s.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.data, name)
	}
	put(s.t, name, text)
}

func (s *siege) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.data, name))
	return err == nil
}

// read is a file of the data directory, "" where there is none.
func (s *siege) read(name string) string { return stored(s.data, name) }

// start runs the program, with its conversation on standard input.
func (s *siege) start(env ...string) {
	s.t.Helper()
	s.program = launch(s.t, append(s.env, env...), "run", "--plain", "--engine", s.engine)
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("its log:\n%s", s.read("state/bot.log"))
		}
	})
	s.hears("ollim-bot in plain mode")
	s.until("a log that says "+s.says, func() bool { return strings.Contains(s.read("state/bot.log"), s.says) })
}

func (s *siege) bin() string {
	for i := len(s.env) - 1; i >= 0; i-- {
		if path, ok := strings.CutPrefix(s.env[i], "PATH="); ok {
			return filepath.SplitList(path)[0]
		}
	}
	return ""
}

// call is a call that the model makes.
func call(tool string, input map[string]any) claudetest.Step {
	return claudetest.Step{Tool: tool, Input: input}
}

func shellCall(line string) claudetest.Step {
	return call("Bash", map[string]any{"command": line, "description": "x"})
}

func writing(path, text string) claudetest.Step {
	return call("Write", map[string]any{"file_path": path, "content": text})
}

// talks lets the model make calls in the conversation, and gives their results.
func (s *siege) talks(steps ...claudetest.Step) []claudetest.Block {
	s.t.Helper()
	s.said++
	end := fmt.Sprintf("That was turn %d.", s.said)
	s.types("say go. " + claudetest.Script(append(steps, claudetest.Step{Text: end})...))
	s.hears("bot: " + end)
	return s.results(end, len(steps))
}

// results are what the model was told of the calls before it said something, in that
// session itself: a run that was forked off in the middle of them has a request too, in
// which the call that was under way counts as interrupted.
func (s *siege) results(end string, n int) []claudetest.Block {
	s.t.Helper()
	var all []claudetest.Block
	requests := s.api.Requests()
	mine := false
	for i := len(requests) - 1; i >= 0 && (!mine || len(all) != n); i-- {
		all, mine = nil, false
		for _, m := range requests[i].Messages {
			if m.Role == "user" && strings.Contains(m.Text, "@@[") {
				mine = strings.Contains(m.Text, end)
			}
			for _, b := range m.Blocks {
				if mine && b.Type == "tool_result" {
					all = append(all, b)
				}
			}
		}
	}
	if mine && len(all) == n {
		return all
	}
	s.t.Fatalf("%d results of %d", len(all), n)
	return nil
}

// dueNow is a task file that is due at once.
func dueNow(id, extra string, steps ...claudetest.Step) string {
	return "---\nid: \"" + id + "\"\nrun-at: \"" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) + "\"\nbackground: true\n" +
		"update-main-session: \"freely\"\nallow-ping: false\ndescription: \"" + id + "\"\n" + extra + "---\nGo.\n\n" +
		claudetest.Script(append(steps, claudetest.Step{Text: "Done with " + id + "."})...) + "\n"
}

// due fires a task that the user has written.
func (s *siege) due(id, extra string, steps ...claudetest.Step) {
	s.t.Helper()
	s.file("reminders/"+id+".md", dueNow(id, extra, steps...))
}

// came gives the results of its calls, once it has ended.
func (s *siege) came(id string, n int) []claudetest.Block {
	s.t.Helper()
	s.until("the end of "+id, func() bool { return ended(s.read("state/fork_runs.jsonl"), id) == 1 })
	return s.results("Done with "+id+".", n)
}

// fired reports whether a task has begun.
func (s *siege) fired(id string) bool {
	for _, l := range ledgerLines(s.read("state/fork_runs.jsonl")) {
		if l.Task == id {
			return true
		}
	}
	return false
}

// noSecret sees to it that no model has read what it must not.
func (s *siege) noSecret() {
	s.t.Helper()
	for _, q := range s.api.Requests() {
		if strings.Contains(string(q.Raw), marigold) {
			s.t.Fatalf("a secret has reached the model: %s", q.Prompt())
		}
	}
}

// posts sends a webhook.
func (s *siege) posts(port, id, body string) int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:"+port+"/hook/"+id, strings.NewReader(body))
	testkit.Must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+marigold+"-"+marigold)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	testkit.Must(s.t, err)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// somePort is a port that nobody uses.
func somePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	testkit.Must(t, err)
	return port
}

package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent/choice"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// marigold is in everything that no model may read.
const marigold = "marigold"

// siege is the whole program over the real command, or with tools of our own, with a model that does whatever a stranger has said.
type siege struct {
	*modelWorld
	engine string
	says   string // what its log says of the fence

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
	open := newClaudeWorld
	if engine == choice.Messages {
		open = newModelWorld
	}
	f := fences[fence]
	s := &siege{modelWorld: open(t), engine: engine, says: f.says}
	s.setenv("PATH", filepath.Dir(built(t))+":"+pathWithout(t, f.path))
	s.env = append(s.env, "DISCORD_TOKEN=", "OLLIM_USER_NAME=Ada")
	s.file(filepath.Join(s.home, ".ssh", "id_ed25519"), marigold)
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

// start runs the program, with its conversation on standard input.
func (s *siege) start() {
	s.t.Helper()
	s.launch("run", "--plain", "--engine", s.engine)
	s.hears("ollim-bot in plain mode")
	s.gets("state/bot.log", s.says)
}

// call is a call that the model makes.
func call(tool string, input map[string]any) claudetest.Step {
	return claudetest.Step{Tool: tool, Input: input}
}

func shellCall(line string) claudetest.Step {
	return call("Bash", map[string]any{"command": line, "description": "x"})
}

func reading(path string) claudetest.Step { return call("Read", map[string]any{"file_path": path}) }

func sendingFile(path string) claudetest.Step {
	return call("mcp__discord__send_file", map[string]any{"path": path})
}

func writing(path, text string) claudetest.Step {
	return call("Write", map[string]any{"file_path": path, "content": text})
}

// talks lets the model make calls in the conversation, and gives their results.
func (s *siege) talks(steps ...claudetest.Step) []claudetest.Block {
	s.t.Helper()
	s.said++
	end := fmt.Sprintf("That was turn %d.", s.said)
	s.asks("say go. "+claudetest.Script(append(steps, claudetest.Step{Text: end})...), "bot: "+end)
	return s.results(end, len(steps))
}

// results are what the model has read of the calls before it said something, in that session itself: a run that was forked off in
// the middle of them has a request too, in which the call that was under way counts as interrupted.
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
			if mine {
				all = append(all, toolResults([]claudetest.Message{m})...)
			}
		}
	}
	if mine && len(all) == n {
		return all
	}
	s.t.Fatalf("%d results of %d", len(all), n)
	return nil
}

// dueNow is a task file that is due at once, in which the model says at the end that it is done.
func dueNow(id, extra string, steps ...claudetest.Step) string {
	return taskNow(id, extra, append(steps, claudetest.Step{Text: "Done with " + id + "."})...)
}

func taskNow(id, extra string, steps ...claudetest.Step) string {
	return "---\nid: \"" + id + "\"\nrun-at: \"" + aMinuteAgo() + "\"\nbackground: true\nupdate-main-session: \"freely\"\nallow-ping: false\n" +
		"description: \"" + id + "\"\n" + extra + "---\nGo.\n\n" + claudetest.Script(steps...) + "\n"
}

// came gives the results of its calls, once it has ended.
func (s *siege) came(id string, n int) []claudetest.Block {
	s.t.Helper()
	s.runsEnded(id, 1)
	return s.results("Done with "+id+".", n)
}

// fired reports whether a task has begun.
func (s *siege) fired(id string) bool {
	return slices.ContainsFunc(ledgerLines(s.read("state/fork_runs.jsonl")), func(l ledgerLine) bool { return l.Task == id })
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

// posts sends a webhook and gives the status of the answer.
func (s *siege) posts(port, id, body string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/hook/"+id, strings.NewReader(body))
	testkit.Must(s.t, err)
	req.Header.Set("Authorization", "Bearer "+marigold+"-"+marigold)
	req.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Timeout: patience}).Do(req)
	testkit.Must(s.t, err)
	_ = answer.Body.Close()
	return answer.StatusCode
}

// hooked sends a webhook, lets its run make calls, and gives their results. Its prompt begins in its own way.
func (s *siege) hooked(port, id, body, begins string, calls []claudetest.Step) []claudetest.Block {
	s.t.Helper()
	since := func(r claudetest.Request) []claudetest.Message { // none if it is not of this run
		i := slices.IndexFunc(r.Messages, func(m claudetest.Message) bool { return m.Role == "user" && strings.Contains(m.Text, begins) })
		if i < 0 {
			return nil
		}
		return r.Messages[i:]
	}
	before := ended(s.read("state/fork_runs.jsonl"), id)
	s.api.Answer(func(r claudetest.Request) (claudetest.Step, bool) {
		mine, answers := since(r), 0
		for _, m := range mine {
			if m.Role == "assistant" {
				answers++
			}
		}
		if answers < len(calls) {
			return calls[answers], len(mine) > 0
		}
		return claudetest.Step{Text: "The build is read."}, len(mine) > 0
	})
	defer s.api.Answer(nil)
	if got := s.posts(port, id, body); got != http.StatusAccepted {
		s.t.Fatalf("the webhook answers %d", got)
	}
	s.runsEnded(id, before+1)
	var results []claudetest.Block
	for _, r := range s.api.Requests() {
		if mine := since(r); len(mine) > 0 {
			results = toolResults(mine)
		}
	}
	if len(results) != len(calls) {
		s.t.Fatalf("the webhook's run made %d calls of %d", len(results), len(calls))
	}
	return results
}

// somePort is a port that nothing uses.
func somePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	testkit.Must(t, err)
	return port
}

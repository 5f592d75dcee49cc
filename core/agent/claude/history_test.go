package claude

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store"
)

// transcriptOf writes lines as the transcript of a session and returns an engine that knows it.
func transcriptOf(t testing.TB, session string, lines ...string) *Engine {
	t.Helper()
	dir := t.TempDir()
	file := sessionfile.Path(dir, "/some/where", session)
	testkit.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
	testkit.Must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	return witnessIn(dir)
}

func witnessIn(configDir string) *Engine {
	return New(Options{Env: []string{"CLAUDE_CONFIG_DIR=" + configDir}})
}

func heard(t testing.TB, e *Engine, session, text string) bool {
	t.Helper()
	ok, err := e.HasMessage(context.WithoutCancel(t.Context()), session, sha256.Sum256([]byte(text)))
	testkit.Must(t, err)
	return ok
}

func TestOnlyAUsersWordsInTheSessionsOwnFileAreHeard(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	e := transcriptOf(t, "known",
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"by the user"}]}}`,
		`{"type":"user","isSidechain":true,"message":{"role":"user","content":"to a subagent"}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a result"}]}}`,
		`{"type":"queue-operation","operation":"enqueue","content":"waits"}`,
		`{"type":"attachment","attachment":{"type":"queued_command","prompt":"between"}}`, `{"type":"attachment","attachment":{"type":"other","prompt":"queued_command"}}`,
		`{"type":"other","attachment":{"type":"queued_command","prompt":"of no type"}}`,
		`no JSON "user"`, `["user"]`, `{"type":"user","message":7}`, ``,
		`{"type":"user","message":{"content":"half read"},"attachment":7}`,
		`{"type":"user","message":{"content":[{"type":"text","text":"`+long+`"},{"type":"text","text":"`+sessionfile.LastBlock+`"}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"`+sessionfile.LastBlock+`"},`+
			`{"type":"image","source":{}},{"type":"text","text":"two"},{"type":"text","text":"`+sessionfile.LastBlock+`"}]}}`,
		`{"type":"user","message":{"role":"user","content":"a string"}}`,
		`{"type":"user","message":{"role":"user","content":"torn`,
	)
	for text, want := range map[string]bool{
		"by the user": false, "to a subagent": false, "a result": false, "waits": false, "torn": false, "queued_command": false, "of no type": false, "half read": false,
		sessionfile.LastBlock: false, "one" + sessionfile.LastBlock: false, "onetwo": false,
		"one": true, "two": true, "a string": true, "between": true, long: true,
	} {
		if heard(t, e, "known", text) != want {
			t.Errorf("%.20q: heard is %v", text, !want)
		}
	}
	for _, session := range []string{"unknown", "", ".", "..", "../known", "-some-where/known", "known\x00", "*"} {
		if heard(t, e, session, "one") || e.HasSession(session) {
			t.Errorf("the session %q has heard it", session)
		}
	}
	if !e.HasSession("known") || heard(t, witnessIn(filepath.Join(t.TempDir(), "missing")), "known", "one") {
		t.Error("the session is not known, or known without any files")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.HasMessage(ctx, "known", sha256.Sum256(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is given up gives %v", err)
	}
	unreadable := t.TempDir()
	testkit.Must(t, os.WriteFile(filepath.Join(unreadable, sessionfile.Projects), nil, 0o600))
	if _, err := witnessIn(unreadable).HasMessage(t.Context(), "known", sha256.Sum256(nil)); err == nil {
		t.Error("what cannot be read was not heard")
	}
}

func TestWhateverIsSaidIsHeard(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, sessionfile.Projects, "x")
	testkit.Must(t, os.MkdirAll(folder, 0o700))
	e := witnessIn(dir)
	testkit.Check(t, func(rt *rapid.T) {
		text := strings.ToValidUTF8(rapid.String().Draw(rt, "text"), "?")
		line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"content": []map[string]string{
			{"type": "text", "text": text}, {"type": "text", "text": sessionfile.LastBlock},
		}}})
		if err != nil {
			rt.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "s"+sessionfile.Ext), append(line, '\n'), 0o600); err != nil {
			rt.Fatal(err)
		}
		if text != sessionfile.LastBlock && !heard(t, e, "s", text) {
			rt.Fatalf("%q was not heard", text)
		}
		if heard(t, e, "s", text+"!") {
			rt.Fatalf("%q was heard with more", text)
		}
	})
}

// A folder's real path, its characters beyond ASCII and its length all matter.
func TestWithTheRealCLITheTranscriptIsWhereWeLookForIt(t *testing.T) {
	testkit.Alone(t)
	path := claudetest.RequireCLI(t)
	t.Parallel()
	api := claudetest.Start(t, claudetest.Options{})
	env := claudetest.CLIEnv(t, api)
	root := t.TempDir()
	long := filepath.Join(root, strings.Repeat("abcdefghij", 20), "x")
	for slug := ""; !strings.HasSuffix(slug, "negative"); {
		// The hash is signed: a name with a negative hash shows how the sign is handled.
		long += "y"
		var hash int32
		for _, r := range long {
			hash = hash*31 + r
		}
		if hash < 0 {
			slug = "negative"
		}
	}
	link := filepath.Join(root, "link")
	testkit.Must(t, os.Symlink(filepath.Join(root, "a_b.c é😀"), link))
	for _, dir := range []string{filepath.Join(root, "a_b.c é😀"), link, long} {
		testkit.Must(t, os.MkdirAll(dir, 0o700))
		id := store.NewUUID()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, path, "-p", "--setting-sources=", "--session-id", id, "hello")
		cmd.Env, cmd.Dir = env, dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("claude in %s: %v: %s", dir, err, out)
		}
		cancel()
		if _, err := os.Stat(sessionfile.Path(sessionfile.ConfigDir(env), dir, id)); err != nil {
			t.Errorf("the transcript of %s: %v", dir, err)
		}
	}
}

func TestWithTheRealCLIAWitnessKnowsWhatWasTaken(t *testing.T) {
	testkit.Alone(t)
	begun, release := make(chan struct{}, 1), make(chan struct{})
	hold := echoTool("hold")
	hold.Call = func(context.Context, agent.Approved) agent.ToolResult {
		begun <- struct{}{}
		<-release
		return agent.ToolResult{Text: "released"}
	}
	r := newRig(t)
	session := r.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{hold} })
	id, conn := session.ID(), inner(session).conn

	const odd = "  spaces around \r\n\ttab é \u200b 😀 <a & b> \u2028 @/etc/hostname /clear \n\n"
	say(t, session, odd)
	png, err := os.ReadFile("testdata/dot.png")
	testkit.Must(t, err)
	send(t, session, agent.Message{Text: "with a picture", Images: []agent.Image{{MediaType: "image/png", Data: png}}})

	// A message that arrives while a tool runs is added to the running turn.
	prompt := "hold " + claudetest.Script(claudetest.Step{Tool: toolset.Prefix + "hold"}, claudetest.Step{Text: "done"}, claudetest.Step{Text: "done"})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		say(t, session, prompt)
	}()
	<-begun
	testkit.Must(t, conn.Send(wire.UserMessage("", content(agent.Message{Text: "in between"}))))
	// Input is read in order: once this is answered, the message has been read.
	if _, err := conn.Request(t.Context(), request{"subtype": "mcp_status"}); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-ended
	testkit.Must(t, session.Close())

	e := New(Options{Env: r.env})
	for text, want := range map[string]bool{
		odd: true, "with a picture": true, prompt: true, "in between": true,
		"never sent": false, sessionfile.LastBlock: false, "done": false, strings.TrimSpace(odd): false,
	} {
		if heard(t, e, id, text) != want {
			t.Errorf("%q: heard is %v", text, !want)
		}
	}
	if heard(t, e, store.NewUUID(), odd) {
		t.Error("another session has heard it")
	}
}

package messages

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/dialect"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// aimock starts npm's @copilotkit/aimock, an independent implementation of Ollama's and OpenAI's interfaces, from the
// folder into which npm has installed it: OLLIM_TEST_AIMOCK. It returns the server's address.
func aimock(t *testing.T) string {
	t.Helper()
	program := filepath.Join(os.Getenv("OLLIM_TEST_AIMOCK"), "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil || !filepath.IsAbs(program) {
		testkit.Missing(t, "npm's aimock: set OLLIM_TEST_AIMOCK to the folder into which .ci/run installs it")
	}
	file := filepath.Join(t.TempDir(), "answers.json")
	must(t, os.WriteFile(file, []byte(`{"fixtures": [
		{"match": {"userMessage": "note it", "hasToolResult": false}, "response": {"toolCalls": [{"name": "mcp__discord__note", "arguments": {"n": 1}}]}},
		{"match": {"userMessage": "note it", "hasToolResult": true}, "response": {"content": "It is noted."}},
		{"match": {"userMessage": "break"}, "response": {"error": {"message": "out of memory", "type": "server_error"}, "status": 400}}
	]}`), 0o600))
	cmd := exec.Command("node", program, "--port", "0", "--fixtures", file, "--strict")
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = cmd.Stdout
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	address, said := "", ""
	for address == "" && lines.Scan() {
		said += lines.Text() + "\n"
		_, address, _ = strings.Cut(lines.Text(), "listening on ")
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for lines.Scan() { // so that it never waits for its output
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait() // it was killed
	})
	if address == "" {
		t.Fatalf("the server did not start:\n%s", said)
	}
	return address
}

// E1: an independent server of both interfaces is understood: text, calls, usage and errors.
func TestAnIndependentServerOfEachInterfaceAnswers(t *testing.T) {
	testkit.Alone(t)
	address := aimock(t)
	for _, api := range []dialect.API{dialect.Ollama, dialect.OpenAI, dialect.Messages} {
		r := newRigFor(t, "")
		storetest.Put(t, r.dir, provider.File, fmt.Sprintf("local:\n  base-url: %s\n  api: %s\n  models: [m]\n", address, api))
		var called []string
		s := r.open(func(o *agent.SessionOptions) {
			o.Settings.Model, o.Tools = "local/m", []agent.Tool{noting("note", &called)}
		})
		got := say(t, s, "note it")
		if got.err != nil || got.text != "It is noted." || fmt.Sprint(called) != `[{"n":1}]` || got.result.Usage.Tokens() == 0 {
			t.Errorf("%s: %q, %v, called %v, %+v", api, got.text, got.err, called, got.result.Usage)
		}
		if got := say(t, s, "break"); !strings.Contains(fmt.Sprint(got.err, got.result.Text), "out of memory") {
			t.Errorf("%s: %v, %+v", api, got.err, got.result)
		}
	}
}

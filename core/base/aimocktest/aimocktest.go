// Package aimocktest starts npm's @copilotkit/aimock for tests: an independent implementation of Ollama's, OpenAI's and
// the Messages API's interfaces.
package aimocktest

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// Start starts the server with its answers, the content of a fixtures file, and with further variables. It returns the
// server's address. The server ends with the test, which is skipped on a machine without it.
func Start(t testing.TB, answers string, env ...string) string {
	t.Helper()
	program := filepath.Join(os.Getenv("OLLIM_TEST_AIMOCK"), "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil || !filepath.IsAbs(program) {
		testkit.Missing(t, "npm's aimock: set OLLIM_TEST_AIMOCK to the folder into which .ci/run installs it")
	}
	file := filepath.Join(t.TempDir(), "answers.json")
	must(t, os.WriteFile(file, []byte(answers), 0o600))
	cmd := exec.Command("node", program, "--port", "0", "--fixtures", file, "--strict")
	cmd.Env = append(os.Environ(), env...)
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

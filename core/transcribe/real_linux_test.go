package transcribe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
)

// One program speaks, another encodes as phones do, a third recognizes the words, in the
// sandbox where this machine has one.
func TestWhatIsSpokenIsRecognized(t *testing.T) {
	testkit.Alone(t)
	for _, program := range []string{"espeak-ng", "opusenc", "pocketsphinx_continuous"} {
		testkit.Needs(t, program)
	}
	dir := t.TempDir()
	spoken, recording := filepath.Join(dir, "spoken.wav"), filepath.Join(dir, "voice-message.ogg")
	for _, args := range [][]string{
		{"espeak-ng", "-v", "en-us", "-s", "140", "-w", spoken, "hello world"},
		{"opusenc", "--quiet", "--bitrate", "32", spoken, recording},
	} {
		command := exec.Command(args[0], args[1:]...)
		// The first time, espeak-ng leaves a folder in $TMPDIR for its sound server and a link to it at home.
		command.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	data, err := os.ReadFile(recording)
	testkit.Must(t, err)
	work := t.TempDir()
	box := sandbox.New(sandbox.Options{
		Dir: work, Home: t.TempDir(), Search: os.Getenv("PATH"), Settings: func() sandbox.Settings { return sandbox.Settings{} },
	})
	defer box.Close()
	s := service(provider.Transcriber{Command: []string{"pocketsphinx_continuous", "-logfn", "/dev/null", "-infile"}})
	s.o.Sandbox, s.o.Dir = box.CommandIn, work
	text, err := s.Words(t.Context(), data)
	if err != nil || !strings.Contains(text, "hello world") {
		t.Errorf("%q, %v", text, err)
	}
	t.Logf("%s: %q", box.State(), text)
}

package dispatch

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

const sayingFile = "---\nid: r1\ncron: 0 9 * * *\ndescription: Tide\nbackground: true\ncheck: sh check.sh\nsay: check\n---\nSay when the tide turns.\n"

func TestAScriptSpeaksWithoutAModel(t *testing.T) {
	testkit.Alone(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	for name, c := range map[string]struct {
		script       string
		byHand, late bool
		text, failed string // of the message
		nothing      error
	}{
		"a message":          {script: "echo High tide at 9:40", text: "High tide at 9:40"},
		"by hand":            {script: "echo High tide", byHand: true, text: "High tide"},
		"nothing new":        {script: "echo none; exit 1", nothing: routines.ErrNothingNew},
		"nothing by hand":    {script: "exit 1", byHand: true, nothing: routines.ErrNothingNew},
		"no output":          {script: "exit 0", nothing: routines.ErrNothingSaid},
		"blank output":       {script: "printf ' \\n\\342\\200\\213\\n'", nothing: routines.ErrNothingSaid},
		"a failure":          {script: "echo half; echo no such host >&2; exit 2", failed: "(exit 2): sh check.sh: no such host"},
		"control characters": {script: "printf 'a\\033[31mred\\nb'", text: "ared\nb"},
		"not UTF-8":          {script: "printf 'M\\374ll'", text: "M\ufffdll" + textSaidOdd},
		"too long":           {script: "yes wave | head -c 9000", text: textSaidCut},
		"endless":            {script: "yes wave | head -c 200000", text: textSaidCut},
		"late":               {script: "echo Low tide", late: true, text: "Low tide\n\n(Late: this was due at "},
	} {
		s := newStage(t, map[string]string{"routines/look.md": sayingFile})
		testkit.Must(t, os.WriteFile(s.dir.Path("check.sh"), []byte(c.script+"\n"), 0o600))
		due := s.due(t, "r1")
		due.ByHand, due.Late = c.byHand, c.late
		err := s.d.Fire(t.Context(), due)
		if c.nothing != nil {
			if v := s.runs.views; !errors.Is(err, c.nothing) || len(s.runs.jobs) != 0 || len(v) != 1 || v[0].State != fork.NothingNew || !v[0].NoModel {
				t.Errorf("%s: %v, ran %+v, recorded %+v", name, err, s.runs.jobs, v)
			}
			continue
		}
		testkit.Must(t, err)
		if len(s.runs.jobs) != 1 || len(s.runs.prompts) != 0 || s.runs.jobs[0].Said == nil {
			t.Errorf("%s: %+v", name, s.runs.jobs)
			continue
		}
		said, label := *s.runs.jobs[0].Said, s.runs.jobs[0].Label
		if !strings.Contains(said.Text, c.text) || !strings.Contains(said.Failed, c.failed) || (said.Failed == "") != (c.failed == "") {
			t.Errorf("%s: %+v", name, said)
		}
		if strings.ContainsRune(said.Text, '\x1b') || len(said.Text) > 2000 || (label == "") != (c.failed != "") {
			t.Errorf("%s: %d bytes labeled %q", name, len(said.Text), label)
		}
	}
}

// An answer of a server the user trusts is the user's own text; another is labeled as what it is.
func TestAServerSpeaksWithoutAModel(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		s := newStage(t, map[string]string{"routines/look.md": strings.Replace(sayingFile, "sh check.sh", "mcp__weather__alerts", 1)})
		s.d.o.Prompts.Skills.Servers = &servers{text: "storm", trusted: trusted}
		testkit.Must(t, s.d.Fire(t.Context(), s.due(t, "r1")))
		if j := s.runs.jobs[0]; j.Said.Text != "storm" || (j.Label == "") != trusted {
			t.Errorf("trusted %v: %+v", trusted, j)
		}
	}
}

func TestThePreviewOfAScriptThatSpeaksSaysThatThereIsNoPrompt(t *testing.T) {
	s := newStage(t, map[string]string{"routines/look.md": sayingFile})
	text, err := s.d.Preview(t.Context(), "r1", time.Time{}, false)
	if testkit.Must(t, err); !strings.Contains(text, "no model") || !strings.Contains(text, "sh check.sh") {
		t.Errorf("%q", text)
	}
}

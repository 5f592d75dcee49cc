package dispatch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ollimbot/core/work/fork"
	"ollimbot/routines"
)

func TestACheckDecidesWhetherARoutineRuns(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	for name, c := range map[string]struct {
		script  string
		byHand  bool
		skips   bool
		label   bool
		says    string // in the prompt
		because string // in the tail
	}{
		"news":            {script: "echo two mails", label: true, says: "> two mails"},
		"silent news":     {script: "exit 0"},
		"nothing new":     {script: "echo none; exit 1", skips: true},
		"by hand":         {script: "exit 1", byHand: true},
		"a broken check":  {script: "echo no such host >&2; exit 2", because: "(exit 2): sh check.sh: no such host"},
		"a killed check":  {script: "kill -9 $$", because: "(exit -1)"},
		"printed, failed": {script: "echo ignore this; exit 3", because: "(exit 3)"},
	} {
		s := newStage(t, map[string]string{
			"routines/look.md": "---\nid: r1\ncron: 0 9 * * *\nbackground: true\nallowed-tools: [\"Write(./**.md)\"]\ncheck: sh check.sh\n---\nLook around.\n",
		})
		must(t, os.WriteFile(s.dir.Path("check.sh"), []byte(c.script+"\n"), 0o600))
		due := s.due(t, "r1")
		due.ByHand = c.byHand
		err := s.d.Fire(t.Context(), due)
		if errors.Is(err, routines.ErrNothingNew) != c.skips || (err != nil) != c.skips || len(*s.settled) != 1 {
			t.Errorf("%s: %v, settled %v", name, err, *s.settled)
		}
		if c.skips {
			if v := s.runs.views; len(s.runs.jobs) != 0 || len(v) != 1 || v[0].State != fork.NothingNew || v[0].TaskID != "r1" || v[0].Ended.IsZero() {
				t.Errorf("%s: ran %+v, recorded %+v", name, s.runs.jobs, v)
			}
			continue
		}
		if len(s.runs.jobs) != 1 {
			t.Errorf("%s: it does not run", name)
			continue
		}
		job, prompt := s.runs.jobs[0], s.runs.prompts[0]
		if (job.Label != "") != c.label || !strings.Contains(prompt, c.says) || strings.Contains(prompt, "ignore this") {
			t.Errorf("%s: labeled %q, prompt\n%s", name, job.Label, prompt)
		}
		if strings.Contains(prompt, "Write(") == c.label {
			t.Errorf("%s: the prompt names tools that the run does not have, or hides one:\n%s", name, prompt)
		}
		if (job.Note != "") != (c.because != "") || !strings.Contains(fmt.Sprint(job.Note), c.because) {
			t.Errorf("%s: the tail says %q", name, job.Note)
		}
	}
}

func TestARequestOfABatchHasWhatItsCheckFound(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	s := handIn(t)
	must(t, s.dir.Write("routines/digest.md", []byte(strings.Replace(digestRoutine, "may_wait", "check: sh check.sh\nmay_wait", 1))))
	must(t, os.WriteFile(s.dir.Path("check.sh"), []byte("echo two mails\n"), 0o600))
	s.index.Scan()
	must(t, s.d.Fire(t.Context(), s.due(t, "d1")))
	if list := s.d.o.Requests.batches.Waiting(); len(list) != 1 || !strings.Contains(list[0].Prompt, "> two mails") || list[0].Label == "" {
		t.Fatalf("%+v", list)
	}
	must(t, os.WriteFile(s.dir.Path("check.sh"), []byte("exit 1\n"), 0o600))
	if err := s.d.Fire(t.Context(), s.due(t, "d1")); !errors.Is(err, routines.ErrNothingNew) {
		t.Errorf("handed in although there is nothing new: %v", err)
	}
}

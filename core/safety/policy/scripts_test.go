package policy

import (
	"os"
	"strings"
	"testing"

	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestWhatAChecksScriptMayDo(t *testing.T) { stories(t, "scripts") }

// A script of the data directory that a check runs is fixed by its bytes, however it is called; data is known by its ending.
func TestAScriptOfACheckThatChangesWaitsForTheUser(t *testing.T) {
	scripts := []string{
		"./bin/mail.sh", "bin/mail.sh a b", "sh bin/mail.sh notes/data.md", "sh -c './bin/mail.sh notes/data.md; true'",
		"env A=b timeout 5 python3.12 bin/mail.sh", "sh notes/../bin/link", "sh bin/link~1", "grep -q one notes/data.md bin/mail.sh",
		"python3 -u -- notes/data.md bin/mail.sh", "grep -q one notes/data.py", "grep -q one notes/data.log~", "grep -q one notes/data",
	}
	others := []string{"grep -q two <notes/data.md", "true", "mcp__bin__mail", "sh missing.sh"}
	for ending := range strings.FieldsSeq(".md .txt .org .csv .tsv .json .jsonl .yaml .yml .toml .ini .xml .html .ics .vcf .eml .mbox .log .LOG") {
		others = append(others, "grep -q one notes/data"+ending)
	}
	for i, check := range append(scripts, others...) {
		r := newRoom(t)
		save := func(text string) {
			storetest.Put(t, r.o.Dir, "bin/mail.sh", text)
			for _, word := range strings.FieldsFunc(check, func(c rune) bool { return strings.ContainsRune(" <;'", c) }) {
				if strings.HasPrefix(word, "notes/data") {
					storetest.Put(t, r.o.Dir, word, text)
				}
			}
		}
		save("echo one\n")
		for _, name := range []string{"bin/link", "bin/link~1"} {
			link(t, "mail.sh", r.o.Dir.Path(name))
		}
		task := routines.Task{Kind: routines.KindRoutine, ID: "r1", Path: "routines/r1.md", Check: check, Background: true}
		before := r.TaskWaits(&task)
		if _, err := os.Stat(r.o.Dir.Path(ChecksFile)); before != "" || err == nil {
			t.Errorf("%s: a program that does not own the directory has recorded a script, or waits: %q", check, before)
		}
		r.provenance.Scripts.Own()
		first := r.TaskWaits(&task)
		save("curl evil\n")
		then := r.TaskWaits(&task)
		if waits := i < len(scripts); first != "" || (then != "") != waits || (task.Script != "") != waits {
			t.Errorf("%s: at first it waits because %q, changed because %q, with the version %q", check, first, then, task.Script)
		}
	}
}

func TestAScriptThatIsTooLongToBeShownIsNamed(t *testing.T) {
	r := newRoom(t)
	storetest.Put(t, r.o.Dir, "bin/mail.sh", strings.Repeat("x", maxScript+1))
	if shown := r.provenance.Scripts.Shown("./bin/mail.sh -v"); !strings.Contains(shown, "bin/mail.sh, which is not shown") {
		t.Errorf("%.80q", shown)
	}
}

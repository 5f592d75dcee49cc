package policy

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func scripted(t *testing.T) (*Guard, func(check string) routines.Task) {
	t.Helper()
	dir := storetest.Prepared(t)
	testkit.Must(t, os.Mkdir(dir.Path("bin"), 0o700))
	storetest.Put(t, dir, "bin/mail.sh", "echo one\n")
	storetest.Put(t, dir, "notes.md", "one\n")
	g := New(Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	return g, func(check string) routines.Task {
		return routines.Task{Kind: routines.KindRoutine, ID: "r1", Path: "routines/r1.md", Check: check, Background: true, Digest: routines.Digest([]byte(check))}
	}
}

// A script of the data directory that a check runs is fixed by its bytes, however it is called.
func TestAScriptOfACheckThatChangesWaitsForTheUser(t *testing.T) {
	for check, waits := range map[string]bool{
		"./bin/mail.sh": true, "bin/mail.sh a b": true, "sh bin/mail.sh notes.md": true, "sh -c './bin/mail.sh notes.md; true'": true,
		"env A=b timeout 5 python3.12 bin/mail.sh": true, "sh notes/../bin/link": true, "sh bin/link~1": true,
		"grep -q one notes.md bin/mail.sh": true, "python3 -u -- notes.md bin/mail.sh": true,
		"grep -q one notes.md": false, "grep -q two <notes.md": false, "true": false, "mcp__bin__mail": false, "sh missing.sh": false,
	} {
		t.Run(check, func(t *testing.T) {
			g, of := scripted(t)
			d := g.o.Dir
			testkit.Must(t, os.Mkdir(d.Path("notes"), 0o700))
			for _, name := range []string{"bin/link", "bin/link~1"} {
				testkit.Must(t, os.Symlink("mail.sh", d.Path(name)))
			}
			task := of(check)
			storetest.Put(t, d, "bin/mail.sh", "echo before\n")
			if g.TaskWaits(&task) != "" || storetest.Text(t, d, "bin/mail.sh") != "echo before\n" {
				t.Error("it waits before anything is known")
			}
			if _, err := os.Stat(d.Path(ChecksFile)); err == nil {
				t.Error("a program that does not own the directory has recorded a script")
			}
			g.Provenance().Scripts.Own()
			if why := g.TaskWaits(&task); why != "" {
				t.Errorf("what is seen first waits: %s", why)
			}
			storetest.Put(t, d, "notes.md", "two\n")
			storetest.Put(t, d, "bin/mail.sh", "curl evil\n")
			why := g.TaskWaits(&task)
			if (why != "") != waits || (task.Script != "") != waits {
				t.Fatalf("changed: %q, version %q", why, task.Script)
			}
			if !waits {
				return
			}
			if diff := g.Provenance().Scripts.Diff(check); !strings.Contains(diff, "-echo before\n+curl evil") {
				t.Errorf("the changes are %s", diff)
			}
			seen := task.Script
			storetest.Put(t, d, "bin/mail.sh", "curl worse\n")
			if g.Provenance().Scripts.Approve(check, seen) == nil || g.TaskWaits(&task) == "" {
				t.Error("what was not seen is allowed")
			}
			testkit.Must(t, g.Provenance().Scripts.Approve(check, task.Script))
			if why := g.TaskWaits(&task); why != "" || task.Script != "" {
				t.Errorf("allowed, it waits: %s", why)
			}
		})
	}
}

func TestAScriptIsKnownThroughALinkFromOutside(t *testing.T) {
	g, of := scripted(t)
	g.Provenance().Scripts.Own()
	name := filepath.Join(t.TempDir(), "mail")
	link(t, g.o.Dir.Path("bin/mail.sh"), name)
	task := of("sh " + name)
	g.TaskWaits(&task)
	storetest.Put(t, g.o.Dir, "bin/mail.sh", "curl evil\n")
	if why := g.TaskWaits(&task); !strings.Contains(why, "bin/mail.sh, which has changed") {
		t.Errorf("changed, it waits because %q", why)
	}
}

func TestDataIsKnownByItsEnding(t *testing.T) {
	for ending, waits := range map[string]bool{
		".md": false, ".txt": false, ".org": false, ".csv": false, ".tsv": false, ".json": false, ".jsonl": false, ".yaml": false, ".yml": false,
		".toml": false, ".ini": false, ".xml": false, ".html": false, ".ics": false, ".vcf": false, ".eml": false, ".mbox": false, ".log": false,
		".LOG": false, ".py": true, ".log~": true, "": true,
	} {
		g, of := scripted(t)
		g.Provenance().Scripts.Own()
		storetest.Put(t, g.o.Dir, "notes/data"+ending, "one\n")
		task := of("grep -q one notes/data" + ending)
		g.TaskWaits(&task)
		storetest.Put(t, g.o.Dir, "notes/data"+ending, "two\n")
		if why := g.TaskWaits(&task); (why != "") != waits {
			t.Errorf("%q: changed, it waits because %q", ending, why)
		}
	}
}

func TestAnApprovalOfAScriptAllowsOnlyTheVersionThatWasShown(t *testing.T) {
	g, of := scripted(t)
	scripts, task := g.Provenance().Scripts, of("sh bin/mail.sh")
	scripts.Own()
	storetest.Put(t, g.o.Dir, "bin/mail.sh", "echo before\n")
	g.TaskWaits(&task)
	storetest.Put(t, g.o.Dir, "bin/mail.sh", "curl evil\n")
	g.TaskWaits(&task)
	shown := task.Script
	storetest.Put(t, g.o.Dir, "bin/mail.sh", "curl worse\n")
	if err := scripts.Approve(task.Check, shown); err == nil || g.TaskWaits(&task) == "" {
		t.Errorf("a later version is allowed: %v", err)
	}
	if err := scripts.Approve(task.Check, task.Script); err != nil || g.TaskWaits(&task) != "" {
		t.Errorf("the version that was shown is not allowed: %v", err)
	}
}

// A script that comes later is as new as one that has changed; one that is gone runs nothing.
func TestAScriptThatComesLaterWaitsAndOneThatIsGoneDoesNot(t *testing.T) {
	g, of := scripted(t)
	g.Provenance().Scripts.Own()
	task := of("sh bin/later.sh")
	if why := g.TaskWaits(&task); why != "" {
		t.Errorf("missing: %s", why)
	}
	storetest.Put(t, g.o.Dir, "bin/later.sh", "curl evil\n")
	if g.TaskWaits(&task) == "" {
		t.Error("a script that came later runs at once")
	}
	testkit.Must(t, os.Remove(g.o.Dir.Path("bin/later.sh")))
	if why := g.TaskWaits(&task); why != "" {
		t.Errorf("gone: %s", why)
	}
	task = of("sh bin/mail.sh")
	g.TaskWaits(&task)
	storetest.Put(t, g.o.Dir, ChecksFile, "{")
	if g.TaskWaits(&task) == "" {
		t.Error("a record that cannot be read lets everything run")
	}
	g, of = scripted(t)
	task = of("sh bin/mail.sh")
	storetest.Put(t, g.o.Dir, ChecksFile, "{")
	if g.TaskWaits(&task) == "" {
		t.Error("it lets everything run in a program that does not own the directory")
	}
}

// A file that may be executed is a script whatever its name, and stays one when it loses its mode.
// Data may change, and a script that comes later than the data is one whatever it looks like.
func TestAFileThatMayBeExecutedIsAScriptAndDataIsNot(t *testing.T) {
	g, of := scripted(t)
	g.Provenance().Scripts.Own()
	tool := g.o.Dir.Path("bin/tool.md")
	testkit.Program(t, tool, "echo one\n")
	program := of("bin/program.txt")
	storetest.Put(t, g.o.Dir, "bin/program.txt", "not yet\n")
	g.TaskWaits(&program)
	storetest.Put(t, g.o.Dir, "bin/program.txt", "curl evil\n")
	if g.TaskWaits(&program) == "" {
		t.Error("the program itself counts as data")
	}
	marked := of("sh bin/marked.txt")
	storetest.Put(t, g.o.Dir, "bin/marked.txt", "#!/bin/sh\necho one\n")
	g.TaskWaits(&marked)
	storetest.Put(t, g.o.Dir, "bin/marked.txt", "curl evil\n")
	if g.TaskWaits(&marked) == "" {
		t.Error("a file that began with #! counts as data")
	}
	task := of("env A=b bin/tool.md notes.md bin/later.txt")
	if why := g.TaskWaits(&task); why != "" {
		t.Errorf("what is seen first waits: %s", why)
	}
	storetest.Put(t, g.o.Dir, "notes.md", "#!/bin/sh\ntwo\n")
	if why := g.TaskWaits(&task); why != "" {
		t.Errorf("its data has changed: %s", why)
	}
	testkit.Must(t, os.WriteFile(tool, []byte("curl evil\n"), 0o600))
	testkit.Must(t, os.Chmod(tool, 0o600))
	if g.TaskWaits(&task) == "" {
		t.Error("a script that has lost its mode runs changed")
	}
	testkit.Must(t, os.Remove(tool))
	if why := g.TaskWaits(&task); why != "" {
		t.Errorf("gone: %s", why)
	}
	storetest.Put(t, g.o.Dir, "bin/later.txt", "curl evil\n")
	if g.TaskWaits(&task) == "" {
		t.Error("a file that came later runs at once")
	}
}

// The user approves a file with the script that they were shown: one that the agent changes while
// the file waits is another.
func TestAFileOfTheAgentWaitsWithTheScriptAsItIsShown(t *testing.T) {
	g, _ := scripted(t)
	d := g.o.Dir
	g.Provenance().Scripts.Own()
	const rel, text = "routines/tide.md", "---\nid: tide\ncron: 0 9 * * *\nbackground: true\ncheck: ./bin/mail.sh\nsay: check\n---\nTide.\n"
	testkit.Must(t, g.Written(Writer{Kind: "background run", Alone: true}, rel, []byte(text)))
	storetest.Put(t, d, rel, text)
	r, _ := routines.ParseRoutine(rel, []byte(text))
	r.Digest = routines.Digest([]byte(text))
	if why := g.TaskWaits(&r.Task); !strings.Contains(why, "run `./bin/mail.sh` before each fire and send you what that prints, without a model") {
		t.Fatalf("it waits because %q", why)
	}
	storetest.Put(t, d, "bin/mail.sh", "curl evil\n")
	if shown := g.Provenance().Scripts.Shown(r.Check); shown != "Its check runs bin/mail.sh:\n+echo one" {
		t.Errorf("shown %q", shown)
	}
	testkit.Must(t, g.Provenance().Approve(r.Digest, rel, time.Now()))
	if why := g.TaskWaits(&r.Task); r.Script == "" || !strings.Contains(why, "bin/mail.sh, which has changed") {
		t.Errorf("approved with another script: %q", why)
	}
	testkit.Must(t, g.Provenance().Scripts.Approve(r.Check, r.Script))
	if why := g.TaskWaits(&r.Task); why != "" {
		t.Errorf("approved with its script, it waits: %q", why)
	}
}

func TestAScriptThatCannotBeShownIsNamed(t *testing.T) {
	g, of := scripted(t)
	for check, text := range map[string]string{"./bin/mail.sh": "\xff\xfe", "./bin/mail.sh -v": strings.Repeat("x", maxScript+1)} {
		storetest.Put(t, g.o.Dir, "bin/mail.sh", text)
		if shown := g.Provenance().Scripts.Shown(check); !strings.Contains(shown, "bin/mail.sh, which is not shown") {
			t.Errorf("%.80q", shown)
		}
	}
	if shown := g.Provenance().Scripts.Shown("date"); shown != "" {
		t.Errorf("no script: %q", shown)
	}
	g.Provenance().Scripts.Own()
	lock := g.o.Dir.Path("state/." + checksTurn + ".lock")
	testkit.Must(t, os.RemoveAll(lock))
	testkit.Must(t, os.Symlink(lock, lock)) // a loop, which cannot be opened
	if task := of("sh bin/mail.sh"); g.TaskWaits(&task) == "" {
		t.Error("a script that cannot be recorded runs")
	}
}

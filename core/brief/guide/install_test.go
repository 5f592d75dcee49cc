package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func prepared(t testing.TB) *store.Dir {
	t.Helper()
	d := storetest.At(t, filepath.Join(t.TempDir(), "data"))
	testkit.Must(t, d.Prepare())
	return d
}

func sam() Options {
	return Options{UserName: "Sam", BotName: "Ollie", Zone: "Europe/Berlin", Google: true}
}

// installed is a new directory after the first start.
func installed(t testing.TB) *store.Dir {
	t.Helper()
	d := prepared(t)
	_, err := Install(d, sam())
	testkit.Must(t, err)
	return d
}

// tree returns everything below a folder except state/: the text of a file, the target of a link.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	testkit.Must(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		switch {
		case rel == "state":
			return fs.SkipDir
		case e.IsDir():
			all[rel] = "a folder"
		case e.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			all[rel] = "a link to " + target
			return err
		default:
			data, err := os.ReadFile(name)
			all[rel] = string(data)
			return err
		}
		return nil
	}))
	return all
}

// home is a data directory in which a story is played, beside a folder that is not the bot's.
type home struct {
	t       *testing.T
	d       *store.Dir
	outside string
	notes   []Note // of the last start
}

func newHome(t *testing.T) *home { return &home{t: t, d: prepared(t), outside: t.TempDir()} }

// play takes steps, such as "start without mail, mine IDENTITY.md, link skills to outside/x". older is the version that an earlier
// release installed, mine what the user writes, theirs a file outside.
func (h *home) play(steps string) {
	h.t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name, target, _ := strings.Cut(name, " to ")
		switch verb {
		case "start":
			o := sam()
			o.Google, o.NoMail = name != "without Google", name == "without mail"
			notes, err := Install(h.d, o)
			testkit.Must(h.t, err)
			h.notes = notes
		case "older":
			var records map[string]record
			_, err := h.d.ReadJSON(recordFile, &records)
			testkit.Must(h.t, err)
			records[name] = record{Ours: routines.Digest([]byte("older")), File: routines.Digest([]byte("older"))}
			testkit.Must(h.t, h.d.WriteJSON(recordFile, records))
			fallthrough
		case "mine":
			storetest.Put(h.t, h.d, name, verb)
		case "theirs":
			testkit.Must(h.t, os.WriteFile(filepath.Join(h.outside, name), []byte(verb), 0o600))
		case "hide":
			testkit.Must(h.t, os.Chmod(h.at(name), 0))
		case "remove":
			testkit.Must(h.t, h.d.Remove(name))
		case "folder":
			testkit.Must(h.t, os.MkdirAll(h.at(name), 0o700))
		case "link":
			if strings.HasPrefix(target, "outside") {
				target = h.at(target)
			}
			testkit.Must(h.t, os.MkdirAll(filepath.Dir(h.at(name)), 0o700))
			testkit.Must(h.t, os.Symlink(target, h.at(name)))
		default:
			h.t.Fatalf("%s is no step", step)
		}
	}
}

func (h *home) at(name string) string {
	if rel, is := strings.CutPrefix(name, "outside"); is {
		return h.outside + rel
	}
	return h.d.Path(name)
}

// state says what differs from a directory after its first start, what is outside, what the last start noted, and what is offered.
// What a folder contains is not listed where the user has put a link in its place.
func (h *home) state() string {
	h.t.Helper()
	ours, now := tree(h.t, installed(h.t).Root()), tree(h.t, h.d.Root())
	var list, links []string
	for name, text := range now {
		if ours[name] != text {
			list = append(list, name+" is "+text)
		}
		if strings.HasPrefix(text, "a link to ") {
			links = append(links, name)
		}
	}
	in := func(name string) string {
		for _, link := range links {
			if strings.HasPrefix(name, link+"/") {
				return link
			}
		}
		return name
	}
	for name := range ours {
		if _, there := now[name]; !there && in(name) == name {
			list = append(list, name+" is gone")
		}
	}
	for name, text := range tree(h.t, h.outside) {
		if name != "." {
			list = append(list, "outside/"+name+" is "+text)
		}
	}
	if aside, _ := filepath.Glob(h.d.Path(recordFile) + ".corrupt-*"); len(aside) > 0 {
		list = append(list, "a record was set aside")
	}
	if len(h.notes) == 11 {
		h.notes = []Note{{File: "everything", Text: textInstalled}}
	}
	for _, n := range h.notes {
		did := map[string]string{textInstalled: "installed ", textRefreshed: "refreshed ", textLinkReplaced: "replaced "}[n.Text]
		if n.Warning {
			did = "warned of "
			says := map[bool]string{true: "left alone, because it cannot be read as a file|the link for the engine's skills could not be made"}[in(n.File) != n.File]
			if n.File == recordFile {
				says = ".corrupt-|what was installed could not be written down"
			}
			if one, other, _ := strings.Cut(says, "|"); !strings.Contains(n.Text, one) && !strings.Contains(n.Text, other) {
				h.t.Errorf("the warning of %s says %q, want %s", n.File, n.Text, says)
			}
		}
		list = append(list, did+in(n.File))
	}
	for _, o := range Offers(h.d) {
		if says := map[bool]string{true: " is your own version", false: " has a newer version in this program"}[o.Edited]; !strings.HasPrefix(o.Text, o.File+says) {
			h.t.Errorf("the offer of %s says %q", o.File, o.Text)
		}
		list = append(list, "offered "+o.File+map[bool]string{true: " instead of the user's"}[o.Edited])
	}
	slices.Sort(list)
	return strings.ReplaceAll(strings.Join(slices.Compact(list), ", "), h.outside, "outside")
}

func TestWhatBecomesOfOurFilesOverStartsAndEdits(t *testing.T) {
	const follow, keep, mail = "webhook-spec.md", ".claude/agents/user-proxy.md skills/setup/SKILL.md", ".claude/agents/gmail-reader.md"
	for _, c := range []struct{ says, files, steps, want string }{
		{"the first start installs everything", "", "start", "installed everything"},
		{"the next one does nothing", "", "start, start", ""},
		{"an identity is written once in a lifetime", "IDENTITY.md", "start, mine FILE, start", "FILE is mine"},
		{"one that was removed stays away", "IDENTITY.md", "start, remove FILE, start", "FILE is gone"},
		{"also that of the original program", "IDENTITY.md", "mine FILE, start, remove FILE, start", "FILE is gone"},
		{"what the next start does by itself is not offered", follow, "start, older FILE", "FILE is older, installed everything"},
		{"a document follows the program", follow, "start, older FILE, start", "refreshed FILE"},
		{"until the user changes it", follow, "start, older FILE, mine FILE, start", "FILE is mine, offered FILE instead of the user's"},
		{"and again once that is removed", follow, "start, older FILE, mine FILE, start, remove FILE, start", "installed FILE"},
		{"the user's version of a subagent or a skill stays", keep, "start, mine FILE, start", "FILE is mine"},
		{"a newer one is offered", keep, "start, older FILE, start", "FILE is older, offered FILE"},
		{"also to who has changed it", keep, "start, older FILE, mine FILE, start", "FILE is mine, offered FILE instead of the user's"},
		{"and installed in an empty place", keep, "start, older FILE, mine FILE, start, remove FILE, start", "installed FILE"},
		{"the mail reader is not there without an account", mail, "start without Google, start without Google", "FILE is gone"},
		{"it is there with one", mail, "start without Google, start", "installed FILE"},
		{"it leaves with the account", mail, "start, start without Google", "FILE is gone"},
		{"it returns with it", mail, "start, start without Google, start", "installed FILE"},
		{"but the user's stays", mail, "start, mine FILE, start without Google", "FILE is mine"},
		{"and is offered ours once there is an account again", mail, "start, start without Google, mine FILE, start", "FILE is mine, offered FILE instead of the user's"},
		{"it is not there without permission to read mail", mail, "start without mail, start without mail", "FILE is gone"},
		{"it is there with the permission", mail, "start without mail, start", "installed FILE"},
		{"it leaves with the permission", mail, "start, start without mail", "FILE is gone"},
		{
			"a link to the original's document is replaced, and not followed", follow, "theirs x.md, link FILE to outside/x.md, start, start",
			"outside/x.md is theirs",
		},
		{"also one that leads nowhere", follow, "start, remove FILE, link FILE to outside/x.md, start", "replaced FILE"},
		{
			"the original's subagent stays", ".claude/agents/user-proxy.md", "mine FILE, link .claude/skills to ../skills, start, start",
			"FILE is mine, offered FILE instead of the user's",
		},
		{
			"a file that is a link stays one", "IDENTITY.md .claude/agents/user-proxy.md skills/setup/SKILL.md",
			"theirs x, link FILE to outside/x, start, start", "FILE is a link to outside/x, outside/x is theirs",
		},
		{
			"also one that leads nowhere, where nothing is made", "IDENTITY.md .claude/agents/user-proxy.md skills/setup/SKILL.md",
			"link FILE to outside/x, start, start", "FILE is a link to outside/x",
		},
		{
			"a folder that is a link stays one, empty, and is a warning", ".claude .claude/agents skills skills/setup",
			"folder outside/x, link FILE to outside/x, start, start", "FILE is a link to outside/x, outside/x is a folder, warned of FILE",
		},
		{
			"also one that leads nowhere, where none is made", ".claude .claude/agents skills skills/setup",
			"link FILE to outside/x, start, start", "FILE is a link to outside/x, warned of FILE",
		},
		{
			"a link within the directory is the user's", follow, "mine mine.md, link FILE to mine.md, start, start",
			"FILE is a link to mine.md, mine.md is mine",
		},
		{
			"a folder in the place of a file is the user's", "IDENTITY.md webhook-spec.md .claude/agents/user-proxy.md .claude/skills",
			"folder FILE, start, start", "FILE is a folder",
		},
		{
			"an unreadable record is set aside, and the user's file stays", recordFile, "start, mine webhook-spec.md, mine FILE, start",
			"a record was set aside, offered webhook-spec.md instead of the user's, warned of FILE, webhook-spec.md is mine",
		},
		{"which is a warning once", recordFile, "start, mine FILE, start, start", "a record was set aside"},
	} {
		for _, name := range strings.Fields(c.files + strings.Repeat(" no-file", max(0, 1-len(c.files)))) {
			h := newHome(t)
			h.play(strings.ReplaceAll(c.steps, "FILE", name))
			got := strings.Split(h.state(), ", ")
			want := strings.Split(strings.ReplaceAll(c.want, "FILE", name), ", ")
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (%s): (-want +got)\n%s", c.says, name, c.steps, diff)
			}
		}
	}
}

func TestTheTextsHaveTheNamesAndTheSecondStartWritesNothing(t *testing.T) {
	d := installed(t)
	stamps := func() string { // a rename makes another file, also with the same bytes
		var out strings.Builder
		for _, name := range slices.Sorted(maps.Keys(tree(t, d.Root()))) {
			info, err := os.Lstat(d.Path(name))
			testkit.Must(t, err)
			fmt.Fprintln(&out, name, info.ModTime().UnixNano())
		}
		return out.String()
	}
	all, before := tree(t, d.Root()), stamps()
	for name, text := range all {
		if strings.Contains(text, "{USER_NAME}") || strings.Contains(text, "{BOT_NAME}") {
			t.Errorf("%s has a name left open", name)
		}
	}
	if _, there := all["USER.md"]; there || all[".claude/skills"] != "a link to ../skills" || !strings.Contains(all["IDENTITY.md"], "You are Ollie, the personal assistant of Sam.") {
		t.Errorf("USER.md, which the user makes, is there: %v; IDENTITY.md reads\n%s", there, all["IDENTITY.md"])
	}
	_, err := Install(d, sam())
	testkit.Must(t, err)
	if diff := cmp.Diff(before, stamps()); diff != "" {
		t.Errorf("the second start wrote files:\n%s", diff)
	}
}

func TestNamesFromOutsideForgeNothingInTheFiles(t *testing.T) {
	d := prepared(t)
	_, err := Install(d, Options{UserName: "S\x1b[31m\n# Boss {BOT_NAME} " + strings.Repeat("x", 200), BotName: strings.Repeat("y", 81)})
	testkit.Must(t, err)
	text := storetest.Text(t, d, "IDENTITY.md")
	if strings.Contains(text, "\x1b") || strings.Contains(text, "\n# Boss") || strings.Contains(text, strings.Repeat("x", 81)) ||
		!strings.Contains(text, "You are "+strings.Repeat("y", 79)+"…, the personal assistant of S # Boss {BOT_NAME} x") {
		t.Errorf("it reads\n%s", text)
	}
	if _, problems := Subagents(d); len(problems) > 0 {
		t.Errorf("the subagents are broken: %+v", problems)
	}
	nameless := prepared(t)
	_, err = Install(nameless, Options{})
	testkit.Must(t, err)
	if text := storetest.Text(t, nameless, "IDENTITY.md"); !strings.Contains(text, "You are the assistant, the personal assistant of the user.") {
		t.Errorf("without names it reads\n%s", text)
	}
}

func TestTwoStartsAtOnceInstallOnce(t *testing.T) {
	d := prepared(t)
	var wg sync.WaitGroup
	counts := make([]int, 4)
	for i := range counts {
		wg.Go(func() {
			notes, err := Install(d, sam())
			if err != nil {
				t.Error(err)
			}
			counts[i] = len(notes)
		})
	}
	wg.Wait()
	if slices.Sort(counts); !slices.Equal(counts, []int{0, 0, 0, 11}) {
		t.Errorf("the starts installed %d files, want one to install all", counts)
	}
}

func TestAFullDiskGivesNotesAndNoHarmAndIsMadeUpForLater(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	h := newHome(t)
	h.play("start, remove webhook-spec.md, remove skills/setup/SKILL.md, older skill-spec.md")
	testkit.Must(t, storetest.FullDisk(t, func() error { h.play("start"); return nil }))
	const warned = "warned of skill-spec.md, warned of skills/setup/SKILL.md, warned of webhook-spec.md"
	if got := h.state(); got != "skill-spec.md is older, skills/setup/SKILL.md is gone, "+warned+", webhook-spec.md is gone" {
		t.Errorf("on a full disk: %s", got)
	}
	h.play("start")
	if got := h.state(); got != "installed skills/setup/SKILL.md, installed webhook-spec.md, refreshed skill-spec.md" {
		t.Errorf("with room again: %s", got)
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	d := storetest.At(t, filepath.Join(t.TempDir(), "nowhere"))
	if _, err := Install(d, sam()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if offers := Offers(d); offers != nil || d.Exists() {
		t.Errorf("offered is %+v", offers)
	}
}

package main

import (
	"context"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/selfupdate"
)

// releases are two releases of this source, 0.1.0 and 0.2.0, signed by the minisign
// command with a key of the test's.
type releases struct {
	dir      string // one folder for each, by its version
	platform platform
	key      string
}

// TestAReleaseIsMadeInstalledAndUpdated makes releases as they are made, and uses
// them as users do. It builds for a while, fetches nfpm and installs packages, so it runs
// only where it is asked for.
func TestAReleaseIsMadeInstalledAndUpdated(t *testing.T) {
	testkit.Campaign(t, "release")
	r := makeReleases(t)
	t.Run("the programs are static and the bill names what they are linked of", r.bill)
	t.Run("the sums are right, and the minisign command accepts the signature", r.sums)
	t.Run("the package installs, upgrades and goes without a trace", r.packages)
	t.Run("a running bot goes on with the new program, and back", r.update)
}

func makeReleases(t *testing.T) releases {
	t.Helper()
	r := releases{dir: t.TempDir(), platform: platform{runtime.GOOS, runtime.GOARCH, runtime.GOARCH, runtime.GOARCH}}
	public, secret := filepath.Join(r.dir, "key.pub"), filepath.Join(r.dir, "key")
	prints(t, "minisign", "-G", "-W", "-p", public, "-s", secret)
	lines := strings.Fields(text(t, public))
	r.key = lines[len(lines)-1]
	for _, version := range []string{"0.1.0", "0.2.0"} {
		o := order{version: version, out: r.place(version), key: r.key}
		if _, err := o.complete(t.Context(), "none", "none"); err != nil {
			t.Fatal(err)
		}
		o.platforms = []platform{r.platform}
		must(t, o.make(t.Context()))
		prints(t, "minisign", "-S", "-s", secret, "-m", filepath.Join(o.out, selfupdate.Sums))
	}
	return r
}

func (r releases) place(version string) string { return filepath.Join(r.dir, version) }

func (r releases) program(version string) string {
	return filepath.Join(r.place(version), selfupdate.FileName(version, r.platform.name()))
}

func (r releases) deb(version string) string {
	return filepath.Join(r.place(version), "ollim-bot_"+version+"_"+r.platform.debian+".deb")
}

func (r releases) bill(t *testing.T) {
	program := r.program("0.1.0")
	f, err := elf.Open(program)
	must(t, err)
	defer f.Close()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the program is not static")
	}
	info, err := buildinfo.ReadFile(program)
	must(t, err)
	var b struct {
		Components []struct{ Name, Version string }
	}
	must(t, json.Unmarshal([]byte(text(t, program+".cdx.json")), &b))
	if len(b.Components) != len(info.Deps)+1 {
		t.Errorf("%d parts for %d modules and Go", len(b.Components), len(info.Deps))
	}
	licences := text(t, program+".licences.txt")
	for i, c := range b.Components {
		if i > 0 && (c.Name != info.Deps[i-1].Path || c.Version != info.Deps[i-1].Version) {
			t.Errorf("part %d is %s %s, want %s", i, c.Name, c.Version, info.Deps[i-1].Path)
		}
		if !strings.Contains(licences, "\n"+c.Name+" "+c.Version+" (") {
			t.Errorf("the licence of %s is missing", c.Name)
		}
	}
	if strings.Contains(text(t, program), r.dir) {
		t.Error("the program holds a path of this machine")
	}
}

func (r releases) sums(t *testing.T) {
	c := exec.CommandContext(t.Context(), "sh", "-c", "minisign -Vm SHA256SUMS -P "+r.key+" && sha256sum -c --strict SHA256SUMS")
	c.Dir = r.place("0.2.0")
	out, err := c.CombinedOutput()
	if err != nil || strings.Count(string(out), ": OK\n") != 8 {
		t.Errorf("%v\n%s", err, out)
	}
}

// packages installs into an empty root, where no script could run: the package has none.
func (r releases) packages(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers"} {
		must(t, os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755))
	}
	for _, file := range []string{"status", "available"} {
		must(t, put(filepath.Join(root, "var/lib/dpkg", file), nil))
	}
	dpkg := func(args ...string) {
		t.Helper()
		if out := prints(t, "dpkg", append([]string{"--root", root, "--log", os.DevNull}, args...)...); strings.Contains(out, "warning") {
			t.Errorf("dpkg %v says %s", args, out)
		}
	}
	program := filepath.Join(root, "usr/bin/ollim-bot")
	packed, err := order{}.packed("")
	must(t, err)
	for _, version := range []string{"0.1.0", "0.2.0"} {
		dpkg("-i", r.deb(version))
		if got := prints(t, program, "version"); !strings.HasPrefix(got, "ollim-bot "+version+" ") {
			t.Errorf("installed is %s", got)
		}
		if files := tree(t, filepath.Join(root, "usr")); len(files) != len(packed) {
			t.Errorf("installed are %v", files)
		}
	}
	man := prints(t, "gunzip", "-c", filepath.Join(root, "usr/share/man/man1/ollim-bot.1.gz"))
	if !strings.HasPrefix(man, `.TH OLLIM\-BOT 1 "version 0.2.0" "ollim\-bot"`) {
		t.Errorf("the manual page begins %.80q", man)
	}
	dpkg("-r", "ollim-bot")
	if _, err := os.Stat(filepath.Join(root, "usr")); err == nil {
		t.Errorf("removed, it leaves %v", tree(t, filepath.Join(root, "usr")))
	}
	if status := text(t, filepath.Join(root, "var/lib/dpkg/status")); strings.Contains(status, "ollim-bot") {
		t.Errorf("dpkg still knows %s", status)
	}
}

// update lets a bot without a dashboard live through an update from a server on
// loopback, called by a link, and back again.
func (r releases) update(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(r.place("0.2.0"))))
	defer server.Close()
	home := t.TempDir()
	program, link := filepath.Join(home, "opt", "ollim-bot"), filepath.Join(home, "ollim")
	must(t, copyFile(r.program("0.1.0"), program))
	must(t, os.Symlink(program, link))
	t.Setenv("HOME", home)
	t.Setenv("OLLIM_DATA_DIR", filepath.Join(home, "data"))
	bot := exec.CommandContext(t.Context(), link, "run", "--headless", "--engine", "script")
	bot.Cancel = func() error { return bot.Process.Signal(os.Interrupt) }
	log := filepath.Join(home, "log")
	f, err := os.Create(log)
	must(t, err)
	defer f.Close()
	bot.Stdout, bot.Stderr = f, f
	must(t, bot.Start())
	defer func() {
		_ = bot.Process.Signal(os.Interrupt)
		if err := bot.Wait(); err != nil {
			t.Errorf("the bot ends with %v\n%s", err, text(t, log))
		}
	}()
	starts := 0
	begins := func(version string) {
		t.Helper()
		starts++
		becomes(t, log, "bot started version="+version, starts)
	}
	says := func(want string, args ...string) {
		t.Helper()
		if out := prints(t, link, args...); !strings.Contains(out, want) {
			t.Errorf("%v says %q, want %q", args, out, want)
		}
	}
	begins("0.1.0")
	says("update_source: none → "+server.URL, "config", "update_source", server.URL)
	says("0.2.0 is released; 0.1.0 is installed", "update", "--check")
	says("keeps the old version", "update")
	says("0.1.0, running", "status")
	says("restarting", "restart")
	begins("0.2.0")
	says("nothing newer", "update")
	says("0.1.0 is in place", "update", "--rollback")
	says("restarting", "restart")
	begins("0.1.0")
	if to, err := os.Readlink(link); to != program {
		t.Errorf("the link leads to %s, %v", to, err)
	}
	if got := tree(t, filepath.Dir(program)); !slices.Equal(got, []string{"ollim-bot", "ollim-bot.old"}) {
		t.Errorf("beside the program stand %v", got)
	}
}

// N10: a package has every page that messages and `ollim-bot help` name.
func TestAPackageHasThePagesOfTheDocumentation(t *testing.T) {
	o := order{root: filepath.Join("..", ".."), out: t.TempDir()}
	files, err := o.packed("ollim-bot")
	must(t, err)
	pages, err := filepath.Glob(filepath.Join(o.root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		if want := (packed{from: page, to: "/usr/share/doc/ollim-bot/" + filepath.Base(page)}); !slices.Contains(files, want) {
			t.Errorf("the package lacks %s", page)
		}
	}
}

func TestTheLicencesOfAllModulesAreKnown(t *testing.T) {
	testkit.Alone(t)
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) == 0 {
		t.Fatal("this test knows nothing of what it is linked of")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	modules, err := order{root: root}.modules(t.Context(), info)
	must(t, err)
	for _, m := range modules {
		if m.licence == "" || m.dir == "" {
			t.Errorf("%+v", m)
		}
	}
	if text, err := licenceTexts(modules); err != nil || !strings.Contains(text, "aead.dev/minisign") || !strings.Contains(text, "Andreas Auernhammer") {
		t.Errorf("%v %.200s", err, text)
	}
}

func TestALicenceThatNobodyHasReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	must(t, put(filepath.Join(dir, "LICENSE"), []byte("Ask my lawyer.")))
	if _, err := licenceOf(linked{path: "example.org/x", dir: dir}); err == nil || !strings.Contains(err.Error(), "read it") {
		t.Error(err)
	}
}

func TestTheSerialNumberIsAUUIDOfTheBytes(t *testing.T) {
	form := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := order{}.bill("x", [32]byte{1, 2, 3}, nil)["serialNumber"], order{}.bill("x", [32]byte{1, 2, 4}, nil)["serialNumber"]
	if !form.MatchString(fmt.Sprint(a)) || a == b {
		t.Errorf("%s and %s", a, b)
	}
}

func TestASecondBuildThatDiffersIsToldByName(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for name, texts := range map[string][2]string{selfupdate.Sums: {"all", "part"}, "same": {"x", "x"}, "other": {"x", "y"}} {
		if put(filepath.Join(a, name), []byte(texts[0])) != nil || put(filepath.Join(b, name), []byte(texts[1])) != nil {
			t.Fatal("cannot write")
		}
	}
	if err := compare(a, b); err == nil || err.Error() != "other differs between the two builds" {
		t.Error(err)
	}
	if err := compare(a, t.TempDir()); err == nil {
		t.Error("nothing was built, and that is fine")
	}
}

func TestWhatIsNoReleaseIsNotRemoved(t *testing.T) {
	dir := t.TempDir()
	must(t, put(filepath.Join(dir, "mine"), nil))
	if err := makeEmpty(dir); err == nil || len(tree(t, dir)) != 1 {
		t.Errorf("%v %v", err, tree(t, dir))
	}
	must(t, put(filepath.Join(dir, selfupdate.Sums), nil))
	if err := makeEmpty(dir); err != nil || len(tree(t, dir)) != 0 {
		t.Errorf("%v %v", err, tree(t, dir))
	}
}

func TestWrongOrdersAreRefusedBeforeAnythingIsBuilt(t *testing.T) {
	testkit.Alone(t)
	out := filepath.Join(t.TempDir(), "dist")
	for _, args := range [][]string{
		{"-only", "plan9_386"},
		{"-check", "linux_amd64,x"},
		{"-only", "linux_arm64", "-check", "linux_amd64"},
		{"-version", "1.0"},
		{"-version", "v1.0.0"},
		{"-key", "RWQ"},
	} {
		if err := run(t.Context(), append(args, "-out", out)); err == nil || !strings.HasPrefix(err.Error(), args[len(args)-2]) && !strings.Contains(err.Error(), "is not a version") {
			t.Errorf("%v gives %v", args, err)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%v has made %s", args, out)
		}
	}
	if _, err := date(t.Context(), "", "yesterday"); err == nil {
		t.Error("yesterday is a date")
	}
}

// prints runs a command that must go well and gives what it says.
func prints(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// becomes waits until the bot has begun for the nth time, and checks how.
func becomes(t *testing.T, log, want string, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		begun := regexp.MustCompile(`bot started.*`).FindAllString(text(t, log), -1)
		if len(begun) == n && strings.HasPrefix(begun[n-1], want) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it never says %q as the start number %d: %v", want, n, begun)
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// tree are the files below a folder.
func tree(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path) // path is below dir
			files = append(files, rel)
		}
		return err
	})
	must(t, err)
	return files
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o700) //nolint:gosec // a program
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

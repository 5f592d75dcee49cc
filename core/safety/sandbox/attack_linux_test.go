package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// secret is in everything that must not be visible.
const secret = "heliotrope"

// ground is a machine with a bot: a home, a data directory, and things next to it.
type ground struct {
	root, home, data, beside, visible string
	settings                          sandbox.Settings
	box                               *sandbox.Box
}

func newGround(t testing.TB, files map[string]string) *ground {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	g := &ground{root: root, home: root + "/home", data: root + "/home/.ollim-bot", beside: root + "/beside", visible: root + "/visible"}
	all := map[string]string{
		"home/.ssh/id_ed25519": secret, "home/.claude/.credentials.json": secret, "home/.claude.json": secret, "home/.bashrc": secret,
		"beside/a.txt": secret, "visible/a.txt": "a plum",
		"home/.ollim-bot/.env": secret, "home/.ollim-bot/state/sessions.json": secret, "home/.ollim-bot/notes/a.txt": "a plum",
	}
	for name, text := range files {
		all["home/.ollim-bot/"+name] = text
	}
	for name, text := range all {
		path := filepath.Join(root, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	g.settings.Visible = []sandbox.Visible{{Path: g.visible}}
	g.box = sandboxtest.Box(t, sandbox.Options{Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings }})
	return g
}

// settled are the closed places of a directory that is in use.
var settled = map[string]string{
	"CLAUDE.md": "mine", "tool-policy.yaml": "{}", ".mcp.json": `{"mcpServers": {"a": {"command": "a", "env": {"KEY": "` + secret + `"}}}}`, ".claude/settings.json": "{}", ".git/config": "[core]\n",
	"routines/a.md": "mine", "reminders/a.md": "mine", "skills/a/SKILL.md": "mine", "webhooks/a.md": "mine",
	".env.local": secret, "id_rsa": secret, "token.json": secret, "sub/a/.env": secret, "skills/a/.ENV": secret, "sub/.ssh/config": secret, "sub/server.pem": secret,
	"CLAUDE.local.md": "mine", "keys.yaml": "{}", ".gitattributes": "mine", ".gitignore": "mine", ".bashrc": "mine", ".vscode/tasks.json": "{}",
	"deep/a/CLAUDE.md": "mine", "deep/b.txt": "a plum", "repo/.git/config": "[core]\n", "repo/.git/hooks/a.sample": "mine", "repo/.git/index": "mine", "repo/.gitignore": "mine",
}

// ways are the ways in which a command gets into a sandbox.
var ways = map[string]func(g *ground, cmd *exec.Cmd) func(){
	"a skill's command":   func(g *ground, cmd *exec.Cmd) func() { return g.box.Command(cmd) },
	"a command of claude": func(g *ground, cmd *exec.Cmd) func() { return g.inner(cmd) },
	"claude itself":       func(g *ground, cmd *exec.Cmd) func() { return g.box.Engine(cmd) },
}

// inner runs the command as claude runs the model's.
func (g *ground) inner(cmd *exec.Cmd) func() {
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `exec "$CLAUDE_CODE_SHELL" -c "$0"`, cmd.Args[len(cmd.Args)-1]}
	return g.box.Engine(cmd)
}

// run runs a script and returns its output.
func (g *ground) run(t testing.TB, way, script string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Dir, cmd.SysProcAttr, cmd.WaitDelay = g.data, &syscall.SysProcAttr{Setsid: true}, time.Second
	cmd.Env = []string{
		"PATH=/usr/bin:/bin", "HOME=" + g.home, "ANTHROPIC_API_KEY=" + secret, "CLAUDE_CODE_OAUTH_TOKEN=" + secret, "DISCORD_TOKEN=" + secret,
		"OLLIM_SESSION=session", "LC_ALL=C", "TZ=Asia/Kathmandu",
	}
	done := ways[way](g, cmd)
	out, err := cmd.CombinedOutput()
	done()
	return string(out), err
}

// output runs a script in a sandbox with an environment besides HOME and PATH.
func (g *ground) output(wrap func(*exec.Cmd) func(), script string, env ...string) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = g.data, append([]string{"PATH=/usr/bin:/bin", "HOME=" + g.home}, env...)
	defer wrap(cmd)()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// begun starts a script in a sandbox up to its "read x". then gives it the line, waits for its end and returns what it printed; done
// ends the sandbox.
func (g *ground) begun(t *testing.T, wrap func(*exec.Cmd) func(), script string) (then func(line string) (string, error), done func()) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "echo ready; read x; "+script)
	cmd.Dir, cmd.Env = g.data, []string{"PATH=/usr/bin:/bin", "HOME=" + g.home}
	done = wrap(cmd)
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	var errs strings.Builder
	cmd.Stderr = &errs
	stdout, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	out := bufio.NewReader(stdout)
	_, err = out.ReadString('\n')
	testkit.Must(t, err)
	return func(line string) (string, error) {
		_, err := io.WriteString(in, line+"\n")
		testkit.Must(t, err)
		text, _ := io.ReadAll(out)
		err = cmd.Wait()
		return string(text) + errs.String(), err
	}, done
}

// picture returns everything in the directory and next to it.
func (g *ground) picture(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(g.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if e.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = fmt.Sprintf("%s, %s, %s", b, info.Mode(), info.ModTime())
		}
		all[strings.TrimPrefix(path, g.root+"/")] = text
		return nil
	})
	testkit.Must(t, err)
	return all
}

// attack is a script that must fail, show no secret and change nothing: a line of testdata/attacks.txt, "NAME (LIMITS): SCRIPT".
type attack struct{ name, limits, script string }

// against reports whether the attack is one for a way into a layer, in a directory that has all closed places or none: those that are
// on what is there need them. Landlock does not prevent some attacks: the names of files and of interfaces are visible; in a folder in
// which new files can be created, files are closed only if they contain secrets or instructions; and an open file's mode and time can be
// changed.
func (a attack) against(way, layer string, made bool) bool {
	limited := func(to string) bool { return slices.Contains(strings.Split(a.limits, ", "), to) }
	switch {
	case way == "claude itself" && limited("by commands"), !made && limited("on what is there"):
		return false
	case layer == "landlock":
		return !limited("not with Landlock") && (way != "claude itself" || !limited("not by the engine with Landlock"))
	}
	return true
}

func attacks(t testing.TB, g *ground, port int) (list []attack) {
	t.Helper()
	places := strings.NewReplacer("{data}", g.data, "{home}", g.home, "{beside}", g.beside, "{visible}", g.visible, "{secret}", secret,
		"{bot}", strconv.Itoa(os.Getpid()), "{port}", strconv.Itoa(port))
	for line := range lines(t, "attacks.txt") {
		name, script, _ := strings.Cut(places.Replace(line), ": ")
		name, limits, _ := strings.Cut(name, " (")
		for _, folder := range []string{"routines", "reminders", "skills", "webhooks"} {
			in := strings.NewReplacer("{folder}", folder)
			list = append(list, attack{in.Replace(name), strings.TrimSuffix(limits, ")"), in.Replace(script)})
			if !strings.Contains(line, "{folder}") {
				break
			}
		}
	}
	return list
}

// lines are the lines of a file of testdata that are not blank.
func lines(t testing.TB, name string) iter.Seq[string] {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	testkit.Must(t, err)
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" && !yield(line) {
				return
			}
		}
	}
}

// layered returns a ground whose sandbox is that layer.
func layered(t testing.TB, layer string, files map[string]string) *ground {
	t.Helper()
	g := newGround(t, files)
	if layer == "landlock" {
		g.box = sandboxtest.Landlock(t, sandbox.Options{Dir: g.data, Home: g.home, Settings: func() sandbox.Settings { return g.settings }})
	}
	return g
}

// everyWay are the ways in which a command gets into a sandbox.
var everyWay = []string{"a skill's command", "a command of claude", "claude itself"}

func TestNoAttackFromInsideSucceeds(t *testing.T) {
	testkit.Alone(t)
	attacked(t, "bubblewrap")
}

func TestLandlockKeepsAttacksInAsFarAsItGoes(t *testing.T) {
	testkit.Alone(t)
	attacked(t, "landlock")
}

func attacked(t *testing.T, layer string) {
	t.Helper()
	for _, files := range []map[string]string{settled, {}} {
		g := layered(t, layer, files)
		for _, way := range everyWay {
			g.attacked(t, way, func(a attack) bool { return a.against(way, layer, len(files) > 0) })
		}
	}
}

// attacked makes those attacks in one way.
func (g *ground) attacked(t *testing.T, way string, chosen func(attack) bool) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	defer l.Close()
	if out, err := g.run(t, way, "test -d notes"); err != nil {
		t.Fatalf("%s does not even start: %v, %s", way, err, out)
	}
	before := g.picture(t)
	for _, a := range attacks(t, g, l.Addr().(*net.TCPAddr).Port) {
		if !chosen(a) {
			continue
		}
		if out, err := g.run(t, way, a.script); err == nil || strings.Contains(out, secret) {
			t.Errorf("%s: %s: %v\n%s", way, a.name, err, out)
		}
		if diff := cmp.Diff(before, g.picture(t)); diff != "" {
			t.Fatalf("%s: %s changed:\n%s", way, a.name, diff)
		}
	}
}

// A tool that runs in the bot's process sees what the engine's process would see.
func TestWhatIsSeenIsWhatTheFenceShows(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	testkit.Must(t, os.Mkdir(g.root+"/written", 0o700))
	g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: g.root + "/written", Write: true})
	sees := g.box.Sight()
	for _, path := range []string{
		g.data, g.data + "/notes/a.txt", g.data + "/.env", g.data + "/state", g.data + "/state/sessions.json", g.data + "/tool-policy.yaml", g.data + "/CLAUDE.md",
		g.data + "/.claude/settings.json", g.data + "/.git/config", g.data + "/routines/a.md", g.data + "/skills/a/SKILL.md",
		g.home, g.home + "/.bashrc", g.home + "/.ssh/id_ed25519", g.root, g.beside, g.beside + "/a.txt", g.visible, g.visible + "/a.txt", g.root + "/written",
		"/etc/passwd", "/etc/shadow", "/usr/bin/env", "/root", "/var/lib",
	} {
		for _, write := range []bool{false, true} {
			script := "head -c 1 " + path + " | grep -q ."
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				script = "ls -A " + path + " | grep -q ."
			}
			if write {
				script = "test -w " + path + " && { test -d " + path + " || : >> " + path + "; }"
			}
			_, err := g.run(t, "claude itself", script)
			// Private paths are writable inside, but not the bot's files.
			private := write && (path == g.home || path == g.data+"/state" || path == g.root)
			// A folder on the way to something visible exists, with nothing else in it.
			way := !write && (path == g.root || path == g.home)
			if empty := !write && path == g.root+"/written"; sees(path, write) != (err == nil) && !private && !way && !empty {
				t.Errorf("%s, to write %v: seen %v, shown %v", path, write, sees(path, write), err == nil)
			}
		}
	}
}

func TestTemporaryFilesOfACommandAreThereForTheNext(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	tmp := g.root + "/of a session"
	testkit.Must(t, os.Mkdir(tmp, 0o700))
	for i, script := range []string{
		`echo a plum >"$TMPDIR/a" && touch /tmp/lost && test "$TMPDIR" = '` + tmp + "'",
		`grep -q plum "$TMPDIR/a" && ! test -e /tmp/lost && ! grep . .env`,
	} {
		if out, err := g.output(func(cmd *exec.Cmd) func() { return g.box.CommandIn(tmp, cmd) }, script); err != nil {
			t.Errorf("command %d: %v, %s", i+1, err, out)
		}
	}
}

func TestOrdinaryWorkIsDoneInside(t *testing.T) {
	testkit.Alone(t)
	g := works(t, "bubblewrap")
	for _, way := range everyWay {
		for _, code := range []int{0, 1, 3, 127} {
			_, err := g.run(t, way, "exit "+strconv.Itoa(code))
			got := 0
			if exit := new(exec.ExitError); errors.As(err, &exit) {
				got = exit.ExitCode()
			}
			if got != code || err != nil && code == 0 {
				t.Errorf("%s: exit %d ends with %v", way, code, err)
			}
		}
	}
	if b, err := os.ReadFile(g.data + "/notes/b.txt"); err != nil || string(b) != "pear\n" {
		t.Errorf("outside it is %q, %v", b, err)
	}
}

func TestOrdinaryWorkIsDoneUnderLandlock(t *testing.T) {
	testkit.Alone(t)
	works(t, "landlock")
}

// works does the work of testdata/ordinary.txt, "LAYER: SCRIPT → OUTPUT", in every way.
func works(t *testing.T, layer string) *ground {
	t.Helper()
	g := layered(t, layer, settled)
	g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: g.beside, Write: true})
	places := strings.NewReplacer("{data}", g.data, "{home}", g.home, "{beside}", g.beside, "{visible}", g.visible)
	for _, way := range everyWay {
		for line := range lines(t, "ordinary.txt") {
			in, line, _ := strings.Cut(places.Replace(line), ": ")
			script, want, _ := strings.Cut(line, " → ")
			if in != layer && in != "both" {
				continue
			}
			if out, err := g.run(t, way, script); out != strings.ReplaceAll(want, `\n`, "\n") || err != nil {
				t.Errorf("%s: %s: %q, %v", way, script, out, err)
			}
		}
	}
	return g
}

func TestOurOwnProgramIsFoundByTheLinkOnPATH(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	program := g.root + "/opt/bot-1.2"
	for _, dir := range []string{"/opt", "/bin"} {
		testkit.Must(t, os.Mkdir(g.root+dir, 0o700))
	}
	testkit.Program(t, program, "#!/bin/sh\necho at your service\n")
	testkit.Must(t, os.Symlink(program, g.root+"/bin/ollim-bot"))
	g.box = sandboxtest.Box(t, sandbox.Options{Dir: g.data, Home: g.home, Executable: program})
	for way, wrap := range ways {
		out, err := g.output(func(cmd *exec.Cmd) func() { return wrap(g, cmd) }, "ollim-bot", "PATH="+g.root+"/bin:/usr/bin:/bin")
		if err != nil || out != "at your service\n" {
			t.Errorf("%s: %q, %v", way, out, err)
		}
	}
}

func TestTheNetworkIsOpenWhereTheUserSaysSo(t *testing.T) {
	testkit.Alone(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	g := newGround(t, settled)
	g.settings.Network = true
	connect := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", l.Addr().(*net.TCPAddr).Port)
	for _, way := range everyWay {
		if out, err := g.run(t, way, "bash -c '"+connect+"'"); err != nil {
			t.Errorf("%s: %v, %s", way, err, out)
		}
	}
}

// ringArg makes the test binary call the bot, as the bot's own commands do.
const ringArg = "__ring"

func ring(args []string) int {
	r, err := control.Call(os.Getenv(control.SocketVar), os.Getenv(control.SessionVar), args)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Print(r.Stdout)
	return r.Exit
}

func TestTheBotIsReachedFromInsideASandbox(t *testing.T) {
	testkit.Alone(t)
	for layer, g := range closed(t) {
		g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: filepath.Dir(binarytest.Path())})
		server := control.New(control.Options{Dir: g.data + "/state"})
		testkit.Must(t, server.Open())
		ctx, end := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- server.Serve(ctx) }()
		token := server.Issue(func(_ context.Context, args []string) agent.CommandResult {
			return agent.CommandResult{Stdout: fmt.Sprintf("%q", args)}
		})
		other, _ := server.Issue(nil).Door()
		for way, wrap := range ways {
			script := binarytest.Path() + " " + ringArg + " reminder list && ! mkfifo " + other + "/x && ! mv " + other + " notes/x && ! (exec 3>" + other + "/bell)"
			out, err := g.output(func(cmd *exec.Cmd) func() { return wrap(g, cmd) }, script, token.Env()...)
			if err != nil || !strings.HasPrefix(out, `["reminder" "list"]`) {
				t.Errorf("%s, %s: %q, %v", layer, way, out, err)
			}
		}
		end()
		testkit.Must(t, <-served)
	}
}

// An editor saves by replacing the old file with a new one, and the kernel then removes covers on
// the old one.
func TestAReplacedSecretIsCoveredForTheNextCommand(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	then, done := g.begun(t, g.box.Engine, `exec "$CLAUDE_CODE_SHELL" -c "cat .env; echo x > .env"`)
	defer done()
	testkit.Must(t, os.WriteFile(g.data+"/.env.new", []byte(secret), 0o600))
	testkit.Must(t, os.Rename(g.data+"/.env.new", g.data+"/.env"))
	if out, err := then("go"); err == nil || strings.Contains(out, secret) {
		t.Errorf("it says %q, %v", out, err)
	}
	if b, err := os.ReadFile(g.data + "/.env"); err != nil || string(b) != secret {
		t.Errorf(".env is %q, %v", b, err)
	}
}

func TestGitWritesItsFolderAndNothingElse(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, map[string]string{"routines/a.md": "mine"})
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", g.data, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + g.home, "DISCORD_TOKEN=" + secret}
		done := g.box.Git(cmd)
		defer done()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "--", "routines/a.md"}, {"commit", "-q", "-m", "one", "--", "routines/a.md"}, {"log", "--format=%s"},
	} {
		if out, err := git(args...); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
	}
	for name, args := range map[string][]string{
		"an alias that writes":      {"-c", "alias.x=!echo x > notes/x", "x"},
		"an alias that reads .env":  {"-c", "alias.x=!grep . .env", "x"},
		"an alias that reads a key": {"-c", "alias.x=!cat " + g.home + "/.ssh/id_ed25519", "x"},
		"an alias that calls out":   {"-c", "alias.x=!getent ahosts example.com", "x"},
		"checking out":              {"rm", "-q", "-f", "--", "routines/a.md"},
	} {
		if out, err := git(args...); err == nil || strings.Contains(out, secret) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if _, err := os.Stat(g.data + "/routines/a.md"); err != nil {
		t.Error(err)
	}
}

func TestOffLeavesACommandAsItIs(t *testing.T) {
	b := sandbox.New(sandbox.Options{Dir: t.TempDir(), Settings: func() sandbox.Settings { return sandbox.Settings{Off: true} }})
	cmd := exec.Command("/bin/echo", "a")
	b.Command(cmd)()
	if !slices.Equal(cmd.Args, []string{"/bin/echo", "a"}) || cmd.Err != nil || !strings.HasPrefix(b.State().String(), "no sandbox: ") {
		t.Errorf("%v, %v, %s", cmd.Args, cmd.Err, b.State())
	}
}

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// attack is a script that must fail, show no secret and change nothing.
type attack struct {
	name, script string
	engine       bool // applies to the engine's process too
}

func attacks(g *ground, port int) []attack {
	bot := strconv.Itoa(os.Getpid())
	list := []attack{
		{"read .env", "grep . .env", true},
		{"read .env by another way to it", "grep . notes/../.env || grep . /proc/self/cwd/.env || grep . " + g.data + "//.env", true},
		{"read state", "cat state/sessions.json", true},
		{"see what is in state", "ls -A state | grep .", true},
		{"read a key of the user", "cat ~/.ssh/id_ed25519", true},
		{"read a key through the root of a process", "cat /proc/1/root" + g.home + "/.ssh/id_ed25519", true},
		{"read what stands beside", "cat " + g.beside + "/a.txt", true},
		{"read through a link", "ln -s " + g.beside + "/a.txt notes/link && cat notes/link; s=$?; rm -f notes/link; exit $s", true},
		{"link a secret to another name", "ln .env notes/env && grep . notes/env", true},
		{"read the login of claude", "cat ~/.claude/.credentials.json", false},
		{"read the file beside it", "cat ~/.claude.json", false},
		{"see a token in the environment", "env | grep " + secret, false},
		{"see a token of another process", "cat /proc/*/environ | tr '\\0' '\\n' | grep " + secret, false},
		{"see the bot", "test -e /proc/" + bot + "/environ && tr '\\0' '\\n' </proc/" + bot + "/environ | grep PATH", false},
		{"read shadow", "cat /etc/shadow | grep .", true},

		{"write .env", "echo OLLIM_CLAUDE=x > .env", true},
		{"remove .env", "rm -f .env", true},
		{"move .env away", "mv .env notes/env", true},
		{"put a file over .env", "echo x > notes/x && mv notes/x .env; s=$?; rm -f notes/x; exit $s", true},
		{"write outside", "echo x > " + g.beside + "/b.txt", true},
		{"write what is only shown", "echo x > " + g.visible + "/b.txt", true},
		{"write through a link", "ln -s " + g.visible + " notes/link && echo x > notes/link/b.txt; s=$?; rm -f notes/link; exit $s", true},
		{"write a system folder", "echo x > /usr/x || echo x > /etc/x", true},
		{"write a hook of git", "mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", true},
		{"write git's settings", "echo x >> .git/config || git config core.fsmonitor x", true},
		{"move a closed folder", "mv .claude notes/claude || mv .git notes/git", true},
		{"put a folder in its place", "mkdir notes/x && mv -T notes/x .claude; s=$?; rmdir notes/x; exit $s", true},
		{"write settings of claude", "echo x > .claude/settings.json || mkdir .claude/hooks || echo x > .claude/x", true},
		{"write the policy", "echo x > tool-policy.yaml || rm tool-policy.yaml || mv notes/a.txt tool-policy.yaml", true},
		{"write the instructions", "echo x > CLAUDE.md || rm CLAUDE.md", true},
		{"attach to the bot", "test -e state/attach.sock && exit 0; exit 1", true},
		{"read the keys of servers", "grep . .mcp.json", false}, // L8
		{"name a server", "echo x > .mcp.json || rm .mcp.json", true},
		{"write a hook for claude at the user's terminal", "echo x > ~/.claude/settings.json && exit 1; exit 1", false},

		{"read other files with secrets", "grep -s . .env.local id_rsa token.json sub/a/.env skills/a/.ENV sub/server.pem sub/.ssh/config", true},
		{"move a folder with a secret", "mv sub x; s=$?; grep -rs . x sub; mv x sub; exit 1", true},
		{"write instructions of a folder", "echo x > deep/a/CLAUDE.md || rm -f deep/a/CLAUDE.md || { echo x > deep/x && mv deep/x deep/a/CLAUDE.md; s=$?; rm -f deep/x; exit $s; }", true},
		{"put another folder with instructions in its place", "mv deep x && mkdir -p deep/a && echo x > deep/a/CLAUDE.md || { mv deep/a deep/x && mkdir deep/a; }", true},
		{"write other instructions", "echo x > CLAUDE.local.md || rm CLAUDE.local.md", true},
		{"write keys", "echo x > keys.yaml || rm keys.yaml || mv notes/a.txt keys.yaml", true},
		{"write what configures programs", "echo x > .gitattributes || echo x > .gitignore || echo x > .bashrc || echo x > .vscode/tasks.json || mv .vscode notes/x", true},
		{"write settings of a repository below", "test -d repo && { echo x > repo/.git/config || echo x > repo/.git/hooks/post-commit || mv repo/.git repo/x || echo x > repo/.gitignore; }", true},
		{"change the mode of a closed file", "chmod 0 .env || chmod 777 CLAUDE.md || chmod 777 tool-policy.yaml || { chmod 777 state; exit 1; }", true},
		{"change the time of a closed file", "touch -d 2001-01-01 CLAUDE.md || touch -d 2001-01-01 .env", true},
		{"change the owner of a closed file", "chown 0:0 CLAUDE.md && exit 1; chgrp -h 1 CLAUDE.md .env", true},
		{"add an attribute to a closed file", `python3 -c 'import os; os.setxattr("CLAUDE.md", "user.x", b"x")'`, true},
		{"change a mode by an open file", `python3 -c 'import os; os.fchmod(os.open("CLAUDE.md", os.O_RDONLY), 0o777)'`, true},

		{"make a device", "mknod notes/disk b 8 0 && exit 0; exit 1", true},
		{"mount over the covers", "umount .env || umount state || mount -t tmpfs none notes", true},
		{"mount in a namespace of its own", "unshare -Urm sh -c 'umount state; ls -A state | grep . || { mkdir -p /tmp/x; mount --bind . /tmp/x && cat /tmp/x/state/sessions.json; }'", true},
		{"reach the hidden /proc", "unshare -Urm sh -c 'umount /run/ollim-bot/hidden; cat /run/ollim-bot/hidden/proc/version'", true},
		{"become root by a program", "su -c true || sudo -n true", true},
		{"kill the bot", "kill -9 " + bot, true},
		{"trace the bot", "cat /proc/" + bot + "/mem", true},
		{"connect out", fmt.Sprintf("bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d'", port), false},
		{"ask for a name", "getent ahosts example.com", false},
		{"see interfaces", "grep -v -e lo: -e '|' /proc/net/dev", false},
	}
	for _, folder := range []string{"routines", "reminders", "skills", "webhooks"} {
		list = append(list, attack{"write in " + folder, "echo x > " + folder + "/b.md || mkdir " + folder + "/b", false},
			attack{"remove from " + folder, "find " + folder + " -type f -name '*.md' | grep -q . && rm -f $(find " + folder + " -type f)", false},
			attack{"move " + folder, "mv " + folder + " notes/" + folder, false})
	}
	return list
}

// unmade reports whether the attack is on a name that is closed only if it exists.
func unmade(a attack) bool {
	return slices.ContainsFunc([]string{".git", "keys.yaml", "deep/"}, func(name string) bool { return strings.Contains(a.script, name) })
}

func TestNoAttackFromInsideSucceeds(t *testing.T) {
	testkit.Alone(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	for _, files := range []map[string]string{settled, {}} {
		g := newGround(t, files)
		for _, way := range []string{"a skill's command", "a command of claude", "claude itself"} {
			if out, err := g.run(t, way, "test -d notes"); err != nil {
				t.Fatalf("%s does not even start: %v, %s", way, err, out)
			}
			before := g.picture(t)
			for _, a := range attacks(g, l.Addr().(*net.TCPAddr).Port) {
				if way == "claude itself" && !a.engine || len(files) == 0 && unmade(a) {
					continue
				}
				out, err := g.run(t, way, a.script)
				if err == nil || strings.Contains(out, secret) {
					t.Errorf("%s: %s: %v\n%s", way, a.name, err, out)
				}
				if diff := cmp.Diff(before, g.picture(t)); diff != "" {
					t.Fatalf("%s: %s changed:\n%s", way, a.name, diff)
				}
			}
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
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir, cmd.Env = g.data, []string{"PATH=/usr/bin:/bin", "HOME=" + g.home}
		done := g.box.CommandIn(tmp, cmd)
		out, err := cmd.CombinedOutput()
		done()
		if err != nil {
			t.Errorf("command %d: %v, %s", i+1, err, out)
		}
	}
}

func TestOrdinaryWorkIsDoneInside(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, settled)
	g.settings.Visible = append(g.settings.Visible, sandbox.Visible{Path: g.beside, Write: true})
	for _, way := range []string{"a skill's command", "a command of claude", "claude itself"} {
		for script, want := range map[string]string{
			"cat notes/a.txt routines/a.md CLAUDE.md":                                           "a plumminemine",
			"echo pear > notes/b.txt; cat notes/b.txt":                                          "pear\n",
			"echo fig > top.txt; mv top.txt notes/top.txt; cat notes/top.txt; rm notes/top.txt": "fig\n",
			"cat " + g.visible + "/a.txt":                                                       "a plum",
			"echo x > " + g.beside + "/w; cat " + g.beside + "/w":                               "x\n",
			"pwd":                             g.data + "\n",
			"date +%z":                        "+0545\n",
			"echo $OLLIM_SESSION; echo $HOME": "session\n" + g.home + "\n",
			"touch ~/x /tmp/x && ls ~/x /tmp/x | wc -l": "2\n",
			"bash -c 'cat <(echo a)'":                   "a\n",
			"head -c 3 /dev/zero | wc -c":               "3\n",
			"echo x > deep/a/new && mv deep/b.txt deep/a/ && mv deep/a/b.txt deep/ && chmod 700 deep/a/new && touch -d 2001-01-01 deep/a/new":         "",
			"mv sub y && mv y sub && cp -pr repo /tmp/copy && tar cf - notes | tar xf - -C /tmp":                                                      "",
			"cd notes && rm -rf x && git init -q x && cd x && git -c user.name=a -c user.email=b commit -q --allow-empty -m one && cd .. && rm -rf x": "",
		} {
			if out, err := g.run(t, way, script); out != want || err != nil {
				t.Errorf("%s: %s: %q, %v", way, script, out, err)
			}
		}
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
		t.Errorf("outside stands %q, %v", b, err)
	}
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
	for way, wrap := range map[string]func(*exec.Cmd) func(){"a skill's command": g.box.Command, "a command of claude": g.inner, "claude itself": g.box.Engine} {
		cmd := exec.Command("/bin/sh", "-c", "ollim-bot")
		cmd.Dir, cmd.Env = g.data, []string{"PATH=" + g.root + "/bin:/usr/bin:/bin", "HOME=" + g.home}
		done := wrap(cmd)
		out, err := cmd.CombinedOutput()
		done()
		if err != nil || string(out) != "at your service\n" {
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
	for _, way := range []string{"a skill's command", "a command of claude", "claude itself"} {
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
			cmd := exec.Command("/bin/sh", "-c", binarytest.Path()+" "+ringArg+" reminder list && ! mkfifo "+other+"/x && ! mv "+other+" notes/x && ! (exec 3>"+other+"/bell)")
			cmd.Dir, cmd.Env = g.data, append(token.Env(), "PATH=/usr/bin:/bin", "HOME="+g.home)
			done := wrap(g, cmd)
			out, err := cmd.CombinedOutput()
			done()
			if err != nil || !strings.HasPrefix(string(out), `["reminder" "list"]`) {
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
	cmd := exec.Command("/bin/sh", "-c", `echo ready; read x; exec "$CLAUDE_CODE_SHELL" -c "cat .env; echo x > .env"`)
	cmd.Dir, cmd.Env = g.data, []string{"PATH=/usr/bin:/bin", "HOME=" + g.home}
	done := g.box.Engine(cmd)
	defer done()
	in, err := cmd.StdinPipe()
	testkit.Must(t, err)
	out := &strings.Builder{}
	ready, err := cmd.StdoutPipe()
	testkit.Must(t, err)
	testkit.Must(t, cmd.Start())
	buffer := make([]byte, 6)
	if _, err := ready.Read(buffer); err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, os.WriteFile(g.data+"/.env.new", []byte(secret), 0o600))
	testkit.Must(t, os.Rename(g.data+"/.env.new", g.data+"/.env"))
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 100)
	n, _ := ready.Read(rest)
	out.Write(rest[:n])
	if err := cmd.Wait(); err == nil || strings.Contains(out.String(), secret) {
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

func TestOffAndNothingThereLeaveACommandAsItIs(t *testing.T) {
	for name, b := range map[string]*sandbox.Box{
		"off": sandbox.New(sandbox.Options{Dir: t.TempDir(), Settings: func() sandbox.Settings { return sandbox.Settings{Off: true} }}),
	} {
		cmd := exec.Command("/bin/echo", "a")
		b.Command(cmd)()
		if !slices.Equal(cmd.Args, []string{"/bin/echo", "a"}) || cmd.Err != nil || !strings.HasPrefix(b.State().String(), "no sandbox: ") {
			t.Errorf("%s: %v, %v, %s", name, cmd.Args, cmd.Err, b.State())
		}
	}
}

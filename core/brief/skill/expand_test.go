//go:build linux

package skill

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// programs writes small scripts to a data directory, so that the tests depend only on a
// shell.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	d := at(t, nil)
	for name, text := range scripts {
		testkit.Program(t, d.Path(name), "#!/bin/sh\n"+text+"\n")
	}
	return d.Root()
}

func TestCommandsAreReplacedByWhatTheyPrint(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{
		"fail": "exit 3", "complain": "echo >&2; echo 'it  \033[31mbroke' >&2; echo more >&2; exit 4",
		"count": "echo x >>counted; wc -l <counted | tr -d ' '", "colour": `printf '\033[31mred\033[0m\tone\r\ntwo\007\n\n\n'`,
		"again": "printf '!`./count`'", "where": "pwd -P", "input": "cat; echo end",
	})
	testkit.Must(t, os.WriteFile(root+"/plain", []byte("x"), 0o600))
	for _, c := range []struct{ name, text, want string }{
		{"no marker", "Plain `code`, and ! and `more`.", "Plain `code`, and ! and `more`."},
		{"nothing between the quotes", "a !`` b", "a !`` b"},
		{"a marker that is not closed", "a !`date", "a !`date"},
		{"one", "!`echo hello`", "hello"},
		{"two", "!`echo a` !`echo b`", "a b"},
		{"in the middle of text", "Today: !`echo 'a  b'`.\n!`echo x`\n", "Today: a  b.\nx\n"},
		{"no shell", "!`echo $HOME ; echo *`", "$HOME ; echo *"},
		{"an exit code", "!`./fail`", "[command failed (exit 3): ./fail]"},
		{"an exit code and its reason", "!`./complain`", "[command failed (exit 4): ./complain: it  broke]"},
		{"an unknown program", "!`no-such-program-here now`", "[command not found: no-such-program-here now]"},
		{"an unknown file", "!`./nothing`", "[command not found: ./nothing]"},
		{"a file that is no program", "!`./plain`", "[command failed (exit 126): ./plain: permission denied]"},
		{"an open quote", "!`echo 'a`", "[command parse error: echo 'a]"},
		{"only space", "!` `", "[command parse error: ]"},
		{"an empty program", "!`'' a`", "[command parse error: '' a]"},
		{"output is cleaned", "<!`./colour`>", "<red    one\ntwo>"},
		{"output is not expanded again", "!`./again`", "!`./count`"},
		{"the working directory", "!`./where`", resolved(t, root)},
		{"no input", "!`./input`", "end"},
		{"notes are one line", "!`./fail a\nb\x1b[2J`", "[command failed (exit 3): ./fail a b]"},
		{"the same command runs once", "!`./count` !`./count`", "1 1"},
	} {
		if got := Expand(t.Context(), storetest.At(t, root), How{}, c.text); got != c.want {
			t.Errorf("%s: %q became %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

func resolved(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	testkit.Must(t, err)
	return path
}

func TestLongOutputIsCutAndSaysSo(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{
		"exact": "printf '%2000s\n' | tr ' ' a", "long": "printf '%2001s\n' | tr ' ' a",
		"endless": "i=0; while [ $i -lt 3000 ]; do printf '%100s\\n' b; i=$((i+1)); done",
		"wide":    "i=0; while [ $i -lt 2100 ]; do printf 'é'; i=$((i+1)); done",
	})
	e := expander{dir: root, each: time.Minute, total: time.Minute}
	a := strings.Repeat("a", 2000)
	if got := e.expand(t.Context(), "!`./exact`"); got != a {
		t.Errorf("2000 characters became %d", len(got))
	}
	if got := e.expand(t.Context(), "!`./long`"); got != a+"\n"+textTruncated {
		t.Errorf("2001 characters became %q", got[1990:])
	}
	if got := e.expand(t.Context(), "!`./wide`"); got != strings.Repeat("é", 2000)+"\n"+textTruncated {
		t.Error("characters were counted as bytes")
	}
	if got := e.expand(t.Context(), "!`./endless`"); len(got) != 2000+1+len(textTruncated) || !strings.HasSuffix(got, "\n"+textTruncated) {
		t.Errorf("300 kB became %d bytes", len(got))
	}
	many := e.expand(t.Context(), strings.Repeat("!`./long`", 10_000))
	if len(many) > maxOutputs+10_000*len(textTruncated)+4000 || !strings.HasSuffix(many, textTruncated+textTruncated) {
		t.Errorf("ten thousand outputs make %d bytes", len(many))
	}
}

func TestACommandThatHangsIsEndedWithItsChildren(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{"hang": "sleep 100000 & echo $! >child; wait", "quick": "echo quick"})
	e := expander{dir: root, each: 2 * time.Second, total: time.Minute}
	if got := e.expand(t.Context(), "!`./hang` and !`./quick`"); got != "[command timed out: ./hang] and quick" {
		t.Errorf("got %q", got)
	}
	if !gone(t, root+"/child") {
		t.Error("the child of the command still runs")
	}
}

// gone waits until the process whose id is in the file has ended: a killed one may remain
// until it is reaped.
func gone(t *testing.T, name string) bool {
	t.Helper()
	data, err := os.ReadFile(name)
	testkit.Must(t, err)
	pid := strings.TrimSpace(string(data))
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

func TestTheTotalTimeIsShared(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{"hang": "exec sleep 100000"})
	e := expander{dir: root, each: time.Minute, total: 300 * time.Millisecond}
	want := "[command timed out: ./hang] [command skipped (total timeout): echo never] [command parse error: '] [command timed out: ./hang]"
	if got := e.expand(t.Context(), "!`./hang` !`echo never` !`'` !`./hang`"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNothingRunsOnceTheRunHasEnded(t *testing.T) {
	root := programs(t, map[string]string{"leave": "echo x >made"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Expand(ctx, storetest.At(t, root), How{}, "!`./leave`"); got != "[command skipped (total timeout): ./leave]" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(root + "/made"); err == nil {
		t.Error("the command ran")
	}
}

func TestAChildThatKeepsTheOutputOpenDoesNotHoldUpTheText(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{"leave": "sleep 100000 & echo $! >child; echo done"})
	e := expander{dir: root, each: time.Minute, total: time.Minute}
	if got := e.expand(t.Context(), "!`./leave`"); got != "done" {
		t.Errorf("got %q", got)
	}
	if !gone(t, root+"/child") {
		t.Error("the child still runs")
	}
}

func TestACheckDecidesByItsExitStatus(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{
		"run": `printf '\033[31mfound\n\n'`, "skip": "echo nothing; exit 1", "break": "echo no route >&2; exit 2", "odd": `printf 'a\377'`, "missing": "echo './missing: exec: ./missing: not found' >&2; exit 1",
		"long": "printf '%2001s' | tr ' ' a", "wide": "printf '%65535s' | tr ' ' a; printf 'é'", "no": "echo './other: exec: ./other: not found' >&2; exit 1",
		"box": "echo 'bwrap: execvp ./box: No such file or directory' >&2; exit 1", "shut": "echo 'bwrap: execvp ./shut: Permission denied' >&2; exit 1",
	})
	for line, want := range map[string]Verdict{
		"./run": {Found: "found"}, "./skip": {Skip: true}, "./break now": {Failed: "[command failed (exit 2): ./break now: no route]"},
		"./odd": {Found: "a\ufffd", Odd: true}, "./long": {Found: strings.Repeat("a", 2000), Cut: true}, "./wide": {Found: strings.Repeat("a", 2000), Cut: true},
		"./missing": {Failed: "[command failed (exit 1): ./missing: ./missing: exec: ./missing: not found]"}, "./no": {Skip: true}, "./shut": {Skip: true},
		"./box":     {Failed: "[command failed (exit 1): ./box: bwrap: execvp ./box: No such file or directory]"},
		"./nothing": {Failed: "[command failed (exit 126): ./nothing: no such file or directory]"},
		"echo 'a":   {Failed: "[command parse error: echo 'a]"}, " ": {Failed: "[command parse error: ]"}, "'' a": {Failed: "[command parse error: '' a]"},
	} {
		if diff := cmp.Diff(want, Check(t.Context(), storetest.At(t, root), How{}, line)); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Check(ended, storetest.At(t, root), How{}, "./run"); got != (Verdict{Failed: "[command timed out: ./run]"}) {
		t.Errorf("once the run has ended: %+v", got)
	}
}

func TestACommandHasASessionOfItsOwn(t *testing.T) {
	testkit.Alone(t)
	root := programs(t, map[string]string{"self": "cut -d ' ' -f 1,5,6 /proc/$$/stat"})
	got := strings.Fields(Expand(t.Context(), storetest.At(t, root), How{}, "!`./self`"))
	if len(got) != 3 || got[0] != got[1] || got[1] != got[2] || got[1] == strconv.Itoa(syscall.Getpgrp()) {
		t.Errorf("process, group and session are %q", got)
	}
}

func TestACommandSeesNoSecrets(t *testing.T) {
	testkit.Alone(t)
	got := expander{dir: "/data"}.environment([]string{
		"PATH=/bin", "HOME=/home/u", "LANG=C", "TZ=UTC", "OLLIM_USER_NAME=Ann", "OLLIM_TIMEZONE=Asia/Tokyo",
		"OLLIM_DATA_DIR=/other", "OLLIM_API_KEY=1", "OLLIM_TOKEN=1", "OLLIM_WEBHOOK_SECRET=1", "OLLIM_PASSWORD=1", "ollim_token=1",
		"DISCORD_TOKEN=1", "WEBHOOK_SECRET=1", "ANTHROPIC_API_KEY=1", "SSH_AUTH_SOCK=/x", "LD_PRELOAD=/x", "BASH_ENV=/x", "PATHS=/x", "broken",
	})
	want := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C", "TZ=UTC", "OLLIM_USER_NAME=Ann", "OLLIM_TIMEZONE=Asia/Tokyo", "OLLIM_DATA_DIR=/data",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	zoned := expander{dir: "/data", How: How{Zone: "Asia/Tokyo", Env: []string{"OLLIM_SESSION=a"}}}.environment([]string{"TZ=UTC", "PATH=/bin"})
	if diff := cmp.Diff([]string{"PATH=/bin", "TZ=Asia/Tokyo", "OLLIM_SESSION=a", "OLLIM_DATA_DIR=/data"}, zoned); diff != "" {
		t.Error(diff)
	}
	t.Setenv("DISCORD_TOKEN", "hidden-away")
	if got := Expand(t.Context(), at(t, nil), How{}, "!`env`"); strings.Contains(got, "hidden-away") || !strings.Contains(got, "OLLIM_DATA_DIR=") {
		t.Errorf("a command sees %q", got)
	}
}

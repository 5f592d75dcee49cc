package claudetest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// verdict is the test passed to the code under test; it records how it was ended.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper() {}

func (v *verdict) Skipf(format string, args ...any) {
	v.skipped = fmt.Sprintf(format, args...)
	panic(v)
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	panic(v)
}

// judge runs RequireCLI with a verdict.
func judge(t *testing.T) (path string, v *verdict) {
	t.Helper()
	v = &verdict{TB: t}
	var running sync.WaitGroup
	running.Go(func() {
		defer func() {
			if p := recover(); p != nil && p != any(v) {
				t.Errorf("%v", p)
			}
		}()
		path = claudetest.RequireCLI(v)
	})
	running.Wait()
	return path, v
}

func TestAMissingCommandSkipsUnlessItIsRequired(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	claude := filepath.Join(full, "claude")
	testkit.Program(t, claude, "#!/bin/sh\n")
	for _, c := range []struct {
		name, path, test, require string
		found, skipped, failed    bool
	}{
		{name: "missing", path: empty, skipped: true},
		{name: "missing and required", path: empty, require: "1", failed: true},
		{name: "on PATH", path: full, require: "1", found: true},
		{name: "named", path: empty, test: claude, found: true},
		{name: "named wrongly", path: full, test: filepath.Join(empty, "nothing"), failed: true},
		{name: "named, but a folder", path: full, test: empty, failed: true},
	} {
		t.Setenv("PATH", c.path)
		t.Setenv("OLLIM_TEST_CLAUDE", c.test)
		t.Setenv("OLLIM_TEST_MACHINE", c.require)
		path, v := judge(t)
		if (path == claude) != c.found || (v.skipped != "") != c.skipped || (v.failed != "") != c.failed {
			t.Errorf("%s: path %q, skipped %q, failed %q", c.name, path, v.skipped, v.failed)
		}
		if c.skipped && !strings.Contains(v.skipped, "OLLIM_TEST_CLAUDE") {
			t.Errorf("the skip does not say what to set: %q", v.skipped)
		}
	}
}

func TestTheCommandGetsNothingOfThisMachine(t *testing.T) {
	testkit.Alone(t)
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from outside")
	t.Setenv("CLAUDE_CONFIG_DIR", "/from/outside")
	s := claudetest.Start(t, claudetest.Options{Key: "the-key"})
	env := claudetest.CLIEnv(t, s)
	var names []string
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		names = append(names, name)
		if strings.Contains(value, "outside") {
			t.Errorf("%s came from outside", e)
		}
		if name == "HOME" || name == "CLAUDE_CONFIG_DIR" || name == "TMPDIR" {
			if list, err := os.ReadDir(value); err != nil || len(list) > 0 {
				t.Errorf("%s is not a new folder: %v, %d entries", name, err, len(list))
			}
		}
	}
	for _, want := range []string{"ANTHROPIC_BASE_URL=" + s.URL(), "ANTHROPIC_API_KEY=the-key", "PATH=/usr/bin:/bin"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %v", want, env)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) || slices.Contains(names, "ANTHROPIC_AUTH_TOKEN") {
		t.Errorf("the names are %v", names)
	}
	again := claudetest.CLIEnv(t, s)
	if slices.Equal(env, again) {
		t.Error("two commands share their folders")
	}
}

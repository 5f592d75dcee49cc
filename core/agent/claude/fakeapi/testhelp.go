package fakeapi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// RequireCLI gives the path of the real claude command: OLLIM_TEST_CLAUDE, else
// the one on PATH. Without one it skips the test, or fails it when
// OLLIM_REQUIRE_CLAUDE is 1. A path in OLLIM_TEST_CLAUDE that cannot be run
// fails it always: somebody meant it to be there.
func RequireCLI(t testing.TB) string {
	t.Helper()
	if path := os.Getenv("OLLIM_TEST_CLAUDE"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			t.Fatalf("OLLIM_TEST_CLAUDE is not a command that can be run: %v", err)
		}
		return absolute(t, found)
	}
	found, err := exec.LookPath("claude")
	if err == nil {
		return absolute(t, found)
	}
	if os.Getenv("OLLIM_REQUIRE_CLAUDE") == "1" {
		t.Fatal("OLLIM_REQUIRE_CLAUDE is 1, but there is no claude command: set OLLIM_TEST_CLAUDE to its path")
	}
	t.Skip("set OLLIM_TEST_CLAUDE to the path of the claude command to run this test")
	return ""
}

// absolute makes a path work from any folder: the test starts it in its own.
func absolute(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// CLIEnv is the whole environment for a claude command that talks to s and to
// nothing else: folders of its own, and nothing of this machine's environment.
// The command must have ended before the test does, because its folders go.
func CLIEnv(t testing.TB, s *Server) []string {
	t.Helper()
	key := s.o.Key
	if key == "" {
		key = "test"
	}
	root := t.TempDir()
	folder := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return []string{
		"PATH=/usr/bin:/bin",
		"HOME=" + folder("home"),
		"CLAUDE_CONFIG_DIR=" + folder("config"),
		"TMPDIR=" + folder("tmp"),
		"ANTHROPIC_BASE_URL=" + s.URL(),
		"ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_MAX_RETRIES=3", // the default of 10 would take minutes
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"ENABLE_TOOL_SEARCH=false",
	}
}

package mcp

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

// boxes are the sandboxes of Linux.
var boxes = map[string]func(testing.TB, sandbox.Options) *sandbox.Box{"bubblewrap": sandboxtest.Box, "Landlock": sandboxtest.Landlock}

// fenced returns a host whose servers run in a sandbox, with a home directory around its
// data.
func fenced(t *testing.T, kind string, file func(home string) string) (h *home, user string) {
	t.Helper()
	user = t.TempDir()
	for _, name := range []string{".ssh/id_ed25519", "diary.txt", "notes/plums.txt", "site/index.html"} {
		path := filepath.Join(user, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte("heliotrope"), 0o600))
	}
	h = newHome(t, file(user))
	site := sandbox.Visible{Path: filepath.Join(user, "site"), Write: true}
	box := boxes[kind](t, sandbox.Options{Dir: h.dir.Root(), Home: user, Settings: func() sandbox.Settings {
		return sandbox.Settings{Visible: []sandbox.Visible{site}}
	}})
	t.Cleanup(box.Close)
	h.fence = box
	h.remake()
	return h, user
}

func TestAServersProgramIsKeptInTheSandbox(t *testing.T) {
	testkit.Alone(t)
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, user := fenced(t, kind, func(user string) string {
				return fmt.Sprintf(`{"mcpServers": {"reach": {"command": %q, "args": ["__mcp", "reach", %q, %q]}}}`,
					binarytest.Path(), filepath.Join(user, "notes"), filepath.Join(user, "site"))
			})
			testkit.Must(t, os.WriteFile(h.dir.Path(".env"), []byte("KEY=heliotrope"), 0o600))
			h.run()
			h.known()
			own := h.dir.Path(folder + "/reach/kept.txt")
			for _, c := range []struct{ tool, path, says string }{
				{"read", filepath.Join(user, "notes/plums.txt"), "heliotrope"}, // an argument names its folder
				{"write", filepath.Join(user, "site/index.html"), "written"},   // the setting allows it
				{"write", own, "written"},
				{"read", own, "text of a server"},
				{"write", filepath.Join(user, "notes/plums.txt"), "error: "},
				{"write", filepath.Join(user, "notes/new.txt"), "error: "},
				{"read", filepath.Join(user, "diary.txt"), "error: "},
				{"read", filepath.Join(user, ".ssh/id_ed25519"), "error: "},
				{"read", h.dir.Path(".env"), "error: "},
				{"read", h.dir.Path(File), "error: "},
				{"read", h.dir.Path(RecordFile), "error: "},
			} {
				if got := h.call("reach/"+c.tool, fmt.Sprintf(`{"what": %q}`, c.path)); got.IsError || !strings.HasPrefix(got.Text, c.says) {
					t.Errorf("%s %s: %s", c.tool, c.path, got.Text)
				}
			}
			// Writing elsewhere fails, or goes to a folder that is removed with the server.
			for _, path := range []string{h.dir.Path("notes.md"), h.dir.Path(File + ".new"), filepath.Join(user, "new.txt")} {
				h.call("reach/write", fmt.Sprintf(`{"what": %q}`, path))
				if _, err := os.Stat(path); err == nil {
					t.Errorf("it has written %s", path)
				}
			}
			if text, err := os.ReadFile(own); err != nil || string(text) != "text of a server" {
				t.Errorf("outside of the sandbox its file is %q, %v", text, err)
			}
		})
	}
}

// E6: under Landlock a grandchild in a session of its own outlived the bot, also one whose parent has ended.
func TestNothingThatAServerStartedOutlivesTheBot(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "setsid")
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			seconds := fmt.Sprintf("%d.%d", 54_321, time.Now().UnixNano()) // names the sleepers
			script := fmt.Sprintf("for n in 1 2; do sh -c '(setsid sleep %s </dev/null >/dev/null 2>&1 &)'; done; exec %q __mcp reach", seconds, binarytest.Path())
			h, _ := fenced(t, kind, func(string) string {
				return fmt.Sprintf(`{"mcpServers": {"reach": {"command": "/bin/sh", "args": ["-c", %q]}}}`, script)
			})
			sleepers := func() (n int) {
				for pid := range procgroup.PIDs() {
					line, _ := os.ReadFile(procgroup.File(pid, "cmdline"))
					if string(line) == "sleep\x00"+seconds+"\x00" {
						n++
					}
				}
				return n
			}
			h.run()
			h.known()
			if got := h.call("reach/write", fmt.Sprintf(`{"what": %q}`, h.dir.Path(folder+"/reach/kept.txt"))); got.IsError {
				t.Fatal(got.Text)
			}
			for over := time.Now().Add(time.Minute); sleepers() != 2; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(over) { // they start beside the server
					t.Fatalf("%d of 2 grandchildren run beside the server", sleepers())
				}
			}
			h.end()
			if n := sleepers(); n != 0 {
				t.Errorf("%d grandchildren outlived the bot", n)
			}
		})
	}
}

func TestAServersProgramReachesTheHostsThatAreListedForIt(t *testing.T) {
	testkit.Alone(t)
	greet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "good morning") })
	listed, other := httptest.NewServer(greet), httptest.NewServer(greet)
	defer listed.Close()
	defer other.Close()
	port := func(s *httptest.Server) string {
		_, port, err := net.SplitHostPort(s.Listener.Addr().String())
		testkit.Must(t, err)
		return port
	}
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, _ := fenced(t, kind, func(string) string {
				one := func(network string) string {
					return fmt.Sprintf(`{"command": %q, "args": ["__mcp", "reach"], "network": [%s]}`, binarytest.Path(), network)
				}
				return fmt.Sprintf(`{"mcpServers": {"some": %s, "none": %s}}`, one(`"localhost:`+port(listed)+`"`), one(""))
			})
			h.run()
			h.known()
			open, refused := "200 good morning", "403 "
			if kind == "Landlock" { // it does not support names, so a list has no effect
				open, refused = "error: ", "error: "
			}
			for _, c := range []struct{ server, tool, to, says string }{
				{"some", "fetch", "http://localhost:" + port(listed), open},
				{"some", "fetch", "http://localhost:" + port(other), refused},
				{"some", "dial", "127.0.0.1:" + port(listed), "error: "},
				{"none", "fetch", "http://localhost:" + port(listed), "error: "},
				{"none", "dial", "127.0.0.1:" + port(listed), "error: "},
			} {
				if got := h.call(c.server+"/"+c.tool, fmt.Sprintf(`{"what": %q}`, c.to)); got.IsError || !strings.HasPrefix(got.Text, c.says) {
					t.Errorf("%s: %s %s: %s", c.server, c.tool, c.to, got.Text)
				}
			}
		})
	}
}

package mcp

import (
	"encoding/json"
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
func fenced(t *testing.T, kind string) (h *home, user string) {
	t.Helper()
	user = t.TempDir()
	for _, name := range []string{".ssh/id_ed25519", "diary.txt", "notes/plums.txt", "site/index.html"} {
		path := filepath.Join(user, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte("heliotrope"), 0o600))
	}
	h = newHome(t, "")
	site := sandbox.Visible{Path: filepath.Join(user, "site"), Write: true}
	box := boxes[kind](t, sandbox.Options{Dir: h.dir.Root(), Home: user, Settings: func() sandbox.Settings {
		return sandbox.Settings{Visible: []sandbox.Visible{site}}
	}})
	t.Cleanup(box.Close)
	h.fence = box
	h.remake()
	return h, user
}

// inBoxes plays a test in each sandbox.
func inBoxes(t *testing.T, play func(t *testing.T, kind string, h *home, user string)) {
	for kind := range boxes {
		t.Run(kind, func(t *testing.T) {
			h, user := fenced(t, kind)
			play(t, kind, h, user)
		})
	}
}

// program is the part of a server in its file.
func program(command string, args ...string) map[string]any {
	return map[string]any{"command": command, "args": append([]string{}, args...)}
}

// serve runs a host with servers. If one fails, it waits until it says why; the others must answer.
func (h *home) serve(servers map[string]any, fails ...string) (why string) {
	h.t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	testkit.Must(h.t, err)
	h.save(string(text))
	h.Reload()
	h.run()
	if len(fails) == 0 {
		h.known()
	}
	for _, name := range fails {
		h.until("the states", func() bool {
			s := h.state(name)
			why = s.Text // it is followed by another attempt
			for other := range servers {
				if other != name && h.state(other).Tools == 0 {
					return false
				}
			}
			return s.Status == Failed
		})
	}
	h.Renew(h.t.Context())
	return why
}

// answers checks calls, each of a tool with its arguments, and a part of its answer, which is behind "!" if it is an error.
func (h *home) answers(calls ...[3]string) {
	h.t.Helper()
	for _, c := range calls {
		want, fails := strings.CutPrefix(c[2], "! ")
		if got := h.call(c[0], c[1]); got.IsError != fails || !strings.Contains(got.Text, want) {
			h.t.Errorf("%s %s: %+v, want %s", c[0], c[1], got, c[2])
		}
	}
}

// what are the arguments of the tools of reach.
func what(text string) string { return fmt.Sprintf(`{"what": %q}`, text) }

func TestAServersProgramIsKeptInTheSandbox(t *testing.T) {
	testkit.Alone(t)
	inBoxes(t, func(t *testing.T, _ string, h *home, user string) {
		testkit.Must(t, os.WriteFile(h.dir.Path(".env"), []byte("KEY=heliotrope"), 0o600))
		h.serve(map[string]any{"reach": program(binarytest.Path(), "__mcp", "reach", filepath.Join(user, "notes"), filepath.Join(user, "site"))})
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
			h.answers([3]string{"reach/" + c.tool, what(c.path), c.says})
		}
		// Writing elsewhere fails, or goes to a folder that is removed with the server.
		for _, path := range []string{h.dir.Path("notes.md"), h.dir.Path(File + ".new"), filepath.Join(user, "new.txt")} {
			h.call("reach/write", what(path))
			if _, err := os.Stat(path); err == nil {
				t.Errorf("it has written %s", path)
			}
		}
		if text, err := os.ReadFile(own); err != nil || string(text) != "text of a server" {
			t.Errorf("outside of the sandbox its file is %q, %v", text, err)
		}
	})
}

// E6: under Landlock a grandchild in a session of its own outlived the bot, also one whose parent has ended.
func TestNothingThatAServerStartedOutlivesTheBot(t *testing.T) {
	testkit.Alone(t)
	testkit.Needs(t, "setsid")
	inBoxes(t, func(t *testing.T, _ string, h *home, _ string) {
		seconds := fmt.Sprintf("%d.%d", 54_321, time.Now().UnixNano()) // names the sleepers
		script := fmt.Sprintf("for n in 1 2; do sh -c '(setsid sleep %s </dev/null >/dev/null 2>&1 &)'; done; exec %q __mcp reach", seconds, binarytest.Path())
		sleepers := func() (n int) {
			for pid := range procgroup.PIDs() {
				line, _ := os.ReadFile(procgroup.File(pid, "cmdline"))
				if string(line) == "sleep\x00"+seconds+"\x00" {
					n++
				}
			}
			return n
		}
		h.serve(map[string]any{"reach": program("/bin/sh", "-c", script)})
		if got := h.call("reach/write", what(h.dir.Path(folder+"/reach/kept.txt"))); got.IsError {
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

func TestAServersProgramReachesTheHostsThatAreListedForIt(t *testing.T) {
	testkit.Alone(t)
	greet := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "good morning") })
	listed, other := httptest.NewServer(greet), httptest.NewServer(greet)
	defer listed.Close()
	defer other.Close()
	at := func(name string, s *httptest.Server) string {
		return fmt.Sprint(name, ":", s.Listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // it is one
	}
	inBoxes(t, func(_ *testing.T, kind string, h *home, _ string) {
		some, none := program(binarytest.Path(), "__mcp", "reach"), program(binarytest.Path(), "__mcp", "reach")
		some["network"], none["network"] = []string{at("localhost", listed)}, []string{}
		h.serve(map[string]any{"some": some, "none": none})
		open, refused := "200 good morning", "403 "
		if kind == "Landlock" { // it does not support names, so a list has no effect
			open, refused = "error: ", "error: "
		}
		h.answers(
			[3]string{"some/fetch", what("http://" + at("localhost", listed)), open},
			[3]string{"some/fetch", what("http://" + at("localhost", other)), refused},
			[3]string{"some/dial", what(at("127.0.0.1", listed)), "error: "},
			[3]string{"none/fetch", what("http://" + at("localhost", listed)), "error: "},
			[3]string{"none/dial", what(at("127.0.0.1", listed)), "error: "},
		)
	})
}

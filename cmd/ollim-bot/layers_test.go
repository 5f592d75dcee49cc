package main

import (
	"os/exec"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// The rooms of ARCHITECTURE.md, from the ground up. A package may import its
// own floor and those below.
const (
	ground    = iota // the data directory, text, faults, queues: nothing of ours above
	taskFloor        // routines: what fires when
	rooms            // core/*: one part of the bot each
	bot              // core: the parts joined
	faces            // tui, discord: what people see
	wiring           // cmd: the command tree
)

var groundRooms = []string{
	"core/storage/store", "core/storage/frontmatter", "core/storage/git", "core/storage/jsonl", "core/storage/trash",
	"core/base/binarytest", "core/base/clean", "core/base/fault", "core/base/goldentest", "core/base/procgroup", "core/base/queue", "core/base/testkit", "core/base/unixsocket", "core/base/visible",
	"core/base/words",
}

// floor places a package of ours; false for a package that stands nowhere,
// which is a mistake of the layout.
func floor(path string) (int, bool) {
	switch {
	case withinAny(path, groundRooms), path == "ollimbot/docs":
		return ground, true
	case within(path, "routines"):
		return taskFloor, true
	case path == "ollimbot/core":
		return bot, true
	case within(path, "core"):
		return rooms, true
	case within(path, "tui"), within(path, "discord"):
		return faces, true
	case within(path, "cmd"):
		return wiring, true
	}
	return 0, false
}

func within(path, room string) bool {
	return path == "ollimbot/"+room || strings.HasPrefix(path, "ollimbot/"+room+"/")
}

// forbidden says why one package may not import another; empty when it may.
func forbidden(from, to string) string {
	if strings.HasPrefix(to, "ollimbot/") {
		below, known := floor(to)
		if above, ok := floor(from); !ok || !known {
			return "one of them is in no room of ARCHITECTURE.md"
		} else if below > above {
			return "imports run downward only"
		}
		for _, pair := range [][2]string{{"tui", "discord"}, {"discord", "tui"}} {
			if within(from, pair[0]) && within(to, pair[1]) {
				return "the two faces of the bot do not know each other"
			}
		}
		if within(from, "tui") && !within(from, "tui/settings") && within(to, "core/storage/store") {
			return "the dashboard shows snapshots; it reads no files but its own"
		}
		return ""
	}
	for _, rule := range outside {
		if (to == rule.module || strings.HasPrefix(to, rule.module+"/")) && !withinAny(from, rule.rooms) {
			return "only " + strings.Join(rule.rooms, ", ") + " may"
		}
	}
	return ""
}

// outside are the libraries that stay in their rooms. docs/contributing/dependencies.md
// names who imports the others.
var outside = []struct {
	module string
	rooms  []string
}{
	{"charm.land", []string{"tui", "cmd"}},
	{"github.com/charmbracelet", []string{"tui", "cmd"}},
	{"github.com/bwmarrin/discordgo", []string{"discord"}},
	{"github.com/alecthomas/kong", []string{"cmd"}},
	{"github.com/fsnotify/fsnotify", []string{"routines/watch"}},
	{"github.com/pion/opus", []string{"core/transcribe"}},
	{"github.com/robfig/cron/v3", []string{"routines/cron"}},
	{"github.com/santhosh-tekuri/jsonschema/v6", []string{"core/brief/toolset", "core/base/schema", "discord/discordtest"}},
	{"github.com/gorilla/websocket", []string{"discord"}},
	{"golang.org/x/oauth2", []string{"core/work/google", "core/mcp/login"}}, // the two places that log in
	{"golang.org/x/net", []string{"core/work/google", "core/agent/messages/tools", "core/base/hosts", "core/safety/egress", "core/work/webhook"}},
	{"github.com/hashicorp/yamux", []string{"core/safety/egress"}},
	{"github.com/modelcontextprotocol/go-sdk", []string{"core/mcp"}},
	{"mvdan.cc/sh/v3", []string{"core/safety/policy"}},
	{"golang.org/x/image", []string{"tui/raster", "core/agent/picture"}},
	{"github.com/go-fonts/dejavu", []string{"tui/raster"}},
	{"github.com/yuin/goldmark", []string{"tui/widget/markdown"}},
	{"github.com/gofrs/flock", []string{"core/storage/store"}},
	{"github.com/goccy/go-yaml", []string{"core/storage/frontmatter"}},
	{"github.com/joho/godotenv", []string{"core/storage/config"}},
	{"github.com/coreos/go-systemd", []string{"cmd/internal/service"}},
}

func withinAny(path string, rooms []string) bool {
	for _, r := range rooms {
		if within(path, r) {
			return true
		}
	}
	return false
}

func TestImportsRunDownwardOnly(t *testing.T) {
	testkit.Alone(t)
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "ollimbot/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages; the test looks in the wrong place", len(packages))
	}
	for _, line := range packages {
		from, imports, _ := strings.Cut(line, " ")
		for to := range strings.FieldsSeq(imports) {
			if why := forbidden(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
}

func TestTheLayerRulesRefuseWhatTheyShould(t *testing.T) {
	for _, c := range []struct {
		from, to string
		allowed  bool
	}{
		{"ollimbot/cmd/ollim-bot", "ollimbot/tui", true},
		{"ollimbot/core", "ollimbot/core/work/fork", true},
		{"ollimbot/core/work/fork", "ollimbot/core/work/budget", true},
		{"ollimbot/core/brief/prompt", "ollimbot/routines", true},
		{"ollimbot/routines", "ollimbot/core/storage/store", true},
		{"ollimbot/tui/pane/budget", "charm.land/bubbles/v2/key", true},
		{"ollimbot/core/work/fork", "fmt", true},

		{"ollimbot/core", "ollimbot/tui", false},
		{"ollimbot/core/work/fork", "ollimbot/core", false},
		{"ollimbot/routines", "ollimbot/core/work/budget", false},
		{"ollimbot/core/storage/store", "ollimbot/routines", false},
		{"ollimbot/tui", "ollimbot/core/storage/store", false},
		{"ollimbot/tui", "ollimbot/discord", false},
		{"ollimbot/tui", "ollimbot/cmd/ollim-bot", false},
		{"ollimbot/core/work/fork", "charm.land/bubbletea/v2", false},
		{"ollimbot/core", "github.com/bwmarrin/discordgo", false},
		{"ollimbot/core", "ollimbot/util", false},
	} {
		if got := forbidden(c.from, c.to) == ""; got != c.allowed {
			t.Errorf("%s importing %s: allowed %v, want %v", c.from, c.to, got, c.allowed)
		}
	}
}

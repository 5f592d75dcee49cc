package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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
	{"github.com/tmaxmax/go-sse", []string{"core/agent/messages"}},
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
	packages, err := goPackages()
	testkit.Must(t, err)
	seen := 0
	for from, p := range packages {
		if !strings.HasPrefix(from, "ollimbot/") {
			continue
		}
		seen++
		for _, to := range p.Imports {
			if why := forbidden(from, to); why != "" {
				t.Errorf("%s imports %s: %s", from, to, why)
			}
		}
	}
	if seen < 10 {
		t.Fatalf("go list found %d packages; the test looks in the wrong place", seen)
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
		{"ollimbot/tui/pane/budget", "charm.land/lipgloss/v2", true},
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

// ARCHITECTURE.md lists journeys as the functions that they pass. Each line is
//
//	1. `core/work/fork.Manager.Start`: what it does
//
// and each function must use the next one: call it, pass it on, or call a method of that
// name through an interface. A line that ends with "(waits)" or "(by field)" hands over
// through a queue, a channel, a table or a callback, which cannot be followed. Its table "Where is …" names functions, too.

var (
	journeyHead = regexp.MustCompile("^### (.+)$")
	journeyStop = regexp.MustCompile("^\\d+\\. `([^`]+)`.*?(\\((?:waits|by field)\\))?$")
)

// stop is one function of a journey.
type stop struct {
	name  string // core/work/fork.Manager.Start
	loose bool   // the next function is not used by this one
}

// journeys reads the lists of ARCHITECTURE.md by their headings.
func journeys(t *testing.T) map[string][]stop {
	t.Helper()
	lists, head := map[string][]stop{}, ""
	for line := range strings.Lines(source(t, "ARCHITECTURE.md")) {
		line = strings.TrimSpace(line)
		if m := journeyHead.FindStringSubmatch(line); m != nil {
			head = m[1]
		} else if m := journeyStop.FindStringSubmatch(line); m != nil && head != "" {
			lists[head] = append(lists[head], stop{m[1], m[2] != ""})
		} else if strings.HasPrefix(line, "## ") {
			head = ""
		}
	}
	return lists
}

func TestTheJourneysAreAsDescribed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	lists := journeys(t)
	packages := map[string]*checked{}
	push, err := declared(t, packages, "core/base/queue.Queue.Push")
	if err != nil || !push.uses("core/base/queue.Queue.signal") || push.uses("core/base/queue.Queue.take") {
		t.Errorf("Push uses signal and not take; %v", err)
	}
	if _, err := declared(t, packages, "core/base/queue.Queue.Nothing"); err == nil {
		t.Error("a method that does not exist was found")
	}
	if len(lists) < 5 {
		t.Errorf("ARCHITECTURE.md describes %d journeys", len(lists))
	}
	for name, stops := range lists {
		if len(stops) < 5 {
			t.Errorf("ARCHITECTURE.md describes %q in %d functions", name, len(stops))
		}
		for i, s := range stops {
			body, err := declared(t, packages, s.name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if i+1 < len(stops) && !s.loose && !body.uses(stops[i+1].name) {
				t.Errorf("%s: %s does not use %s", name, s.name, stops[i+1].name)
			}
		}
	}

	_, table, _ := strings.Cut(source(t, "ARCHITECTURE.md"), "## Where is …")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| [^|]+ \\| (.*`.*) \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 5 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		names := found("`([a-z/]+\\.[A-Za-z.]+)`", row[1])
		if len(names) == 0 {
			t.Errorf("no function in %s", row[1])
		}
		for _, name := range names {
			if _, err := declared(t, packages, name); err != nil {
				t.Error(err)
			}
		}
	}
}

// function is a declared function with the package that it is in.
type function struct {
	pkg  *checked
	decl *ast.FuncDecl
}

// declared finds a function by its name: "core/work/fork.Manager.Start" or "tui.Run".
func declared(t *testing.T, packages map[string]*checked, name string) (function, error) {
	t.Helper()
	slash := strings.LastIndex(name, "/")
	path, _, ok := strings.Cut(name[slash+1:], ".")
	if !ok {
		return function{}, fmt.Errorf("%q is not PACKAGE.FUNCTION", name)
	}
	path = "ollimbot/" + name[:slash+1] + path
	if packages[path] == nil {
		packages[path] = typed(t, path)
	}
	for _, f := range packages[path].files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn, ok := packages[path].info.Defs[decl.Name].(*types.Func); ok && fullName(fn) == "ollimbot/"+name {
				return function{packages[path], decl}, nil
			}
		}
	}
	return function{}, fmt.Errorf("%s does not exist", name)
}

// uses reports whether a function mentions another one, or an interface's method of its name.
func (f function) uses(name string) bool {
	words := strings.FieldsFunc(name[strings.LastIndex(name, "/")+1:], func(r rune) bool { return r == '.' })
	last := words[len(words)-1]
	found := false
	ast.Inspect(f.decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != last {
			return true
		}
		fn, ok := f.pkg.info.Uses[id].(*types.Func)
		if !ok { // a field or variable that holds a function of this name
			_, isVar := f.pkg.info.Uses[id].(*types.Var)
			found = found || isVar
			return true
		}
		found = found || abstract(fn) || fullName(fn) == "ollimbot/"+name
		return true
	})
	return found
}

// fullName is "ollimbot/core/work/fork.Manager.Start".
func fullName(fn *types.Func) string {
	if fn.Pkg() == nil {
		return fn.Name()
	}
	name := fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		of := recv.Type()
		if p, ok := of.(*types.Pointer); ok {
			of = p.Elem()
		}
		if named, ok := of.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return fn.Pkg().Path() + "." + name
}

// checked is one package with its types.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

// goPackages are all packages of the tree and what they import, by import path.
var goPackages = sync.OnceValues(func() (map[string]goPackage, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", "ollimbot/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
})

// typed parses and type-checks a package; what it imports comes from export data.
func typed(t *testing.T, path string) *checked {
	t.Helper()
	packages, err := goPackages()
	testkit.Must(t, err)
	if packages[path].Dir == "" {
		t.Fatalf("there is no package %s", path)
	}
	c := &checked{fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	for _, name := range packages[path].GoFiles {
		f, err := parser.ParseFile(c.fset, filepath.Join(packages[path].Dir, name), nil, 0)
		testkit.Must(t, err)
		c.files = append(c.files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(packages[path].Export)
	})}
	_, err = conf.Check(path, c.fset, c.files, c.info)
	testkit.Must(t, err)
	return c
}

// abstract reports whether a method is one of an interface, which decides nothing.
func abstract(fn *types.Func) bool {
	recv := fn.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// largest is how many bytes a tracked file may have outside of screenshots/.
const largest = 300_000

// programs are how the executables of Linux, macOS and Windows begin.
var programs = []string{"\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "MZ"}

// unwanted says why a file may not be tracked; empty when it may.
func unwanted(path string, size int64, executable bool, head []byte) string {
	for _, magic := range programs {
		if bytes.HasPrefix(head, []byte(magic)) {
			return "it is a built program"
		}
	}
	switch {
	case executable && !bytes.HasPrefix(head, []byte("#!")):
		return "it is executable, but no script: it has to begin with #!"
	case size > largest && !strings.HasPrefix(path, "screenshots/"):
		return "it is larger than 300 kB: only pictures in screenshots/ may be"
	}
	return ""
}

func TestTheTreeHoldsNoLargeFileAndNoProgram(t *testing.T) {
	testkit.Alone(t)
	root := ".."
	if _, err := os.Stat(filepath.Join(root, ".git")); errors.Is(err, os.ErrNotExist) {
		t.Skip("this source is no clone of git")
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--stage").Output()
	testkit.Must(t, err)
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 100 {
		t.Fatalf("git lists %d files; the test looks in the wrong place", len(files))
	}
	for _, line := range files {
		about, path, _ := strings.Cut(line, "\t") // "MODE OBJECT STAGE\tPATH"
		file, err := os.Open(filepath.Join(root, path))
		if errors.Is(err, os.ErrNotExist) { // removed, but not yet from the index
			continue
		}
		testkit.Must(t, err)
		info, err := file.Stat()
		testkit.Must(t, err)
		head, err := io.ReadAll(io.LimitReader(file, 4))
		testkit.Must(t, errors.Join(err, file.Close()))
		if why := unwanted(path, info.Size(), strings.HasPrefix(about, "100755"), head); why != "" {
			t.Errorf("git tracks %s: %s", path, why)
		}
	}
}

func TestWhatTheTreeRefuses(t *testing.T) {
	for _, c := range []struct {
		path       string
		size       int64
		executable bool
		head       string
		allowed    bool
	}{
		{".ci/run", 9_000, true, "#!/u", true},
		{"core/bot.go", 9_000, false, "pack", true},
		{"screenshots/demo.gif", 600_000, false, "GIF8", true},
		{"core/testdata/captures.jsonl", largest, false, "{\"a\"", true},

		{"core/testdata/captures.jsonl", largest + 1, false, "{\"a\"", false},
		{"core/testdata/tool", 10, true, "echo", false},
		{"empty", 0, true, "", false},
		{"release", 10, true, "\x7fELF", false},
		{"screenshots/ollim-bot", 10, false, "\xcf\xfa\xed\xfe", false},
		{"ollim-bot.exe", 10, false, "MZ\x90\x00", false},
	} {
		if got := unwanted(c.path, c.size, c.executable, []byte(c.head)) == ""; got != c.allowed {
			t.Errorf("%s of %d bytes, executable %v: allowed %v, want %v", c.path, c.size, c.executable, got, c.allowed)
		}
	}
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// mutants changes packages in one place at a time and runs their own tests.
type mutants struct {
	out    io.Writer
	seed   uint64
	count  int  // of the mutants of a package; 0 means all
	unique bool // finds every test that kills a mutant, and reports those that none needs
	least  int  // percentage that has to die
	only   *regexp.Regexp

	mu sync.Mutex // serializes lines of out
}

var errMutantsUsage = errors.New("usage: suite mutants [-seed N] [-count N] [-unique] [-least PERCENT] [-only PATTERN] PACKAGE…")

func mutate(args []string, out io.Writer) error {
	m := mutants{out: out}
	flags := flag.NewFlagSet("suite mutants", flag.ContinueOnError)
	flags.Uint64Var(&m.seed, "seed", 1, "chooses the mutants")
	flags.IntVar(&m.count, "count", 100, "how many mutants of each package, 0 for all")
	flags.BoolVar(&m.unique, "unique", false, "list the tests that reach no block and kill no mutant of their own")
	flags.IntVar(&m.least, "least", 0, "fail where a smaller `percentage` is killed")
	only := flags.String("only", "", "a `pattern` of places, as bucket.go:12")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		return errMutantsUsage
	}
	var err error
	if m.only, err = regexp.Compile(*only); err != nil {
		return errors.Join(errMutantsUsage, err)
	}
	var all []error
	for _, path := range flags.Args() {
		all = append(all, m.measure(path))
	}
	return errors.Join(all...)
}

// subject is a package with its sites, and its test binary in which each can be switched.
type subject struct {
	ImportPath, Name, Dir string
	GoFiles               []string
	sites                 []site
	binary, temp          string
	patience              time.Duration
}

// mutant is a site with the tests that reach it and those that fail when it is changed.
type mutant struct {
	site
	number       int
	reached, die []string
	killed       bool
}

func (m *mutants) measure(path string) (err error) {
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	s := &subject{temp: temp, binary: filepath.Join(temp, "test")}
	if err := s.build(path); err != nil {
		return fmt.Errorf("mutate %s: %w", path, err)
	}
	began := time.Now()
	if out, code := s.test(0, nil, "-test.timeout=10m"); code != 0 {
		return fmt.Errorf("%s: the tests fail without a mutant:\n%s", path, out)
	}
	s.patience = max(10*time.Since(began), 10*time.Second)
	reach, err := s.reach()
	if err != nil {
		return err
	}
	chosen := m.choose(s, reach)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range chosen {
		group.Go(func() error {
			chosen[i].run(s, m.unique)
			m.mu.Lock()
			defer m.mu.Unlock()
			_, err := fmt.Fprintln(m.out, chosen[i].words())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return m.report(s, chosen, reach)
}

// build compiles the package's tests with all sites.
func (s *subject) build(path string) error {
	// The last four are what the file of switches needs.
	out, err := command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Name,Dir,GoFiles,DepOnly,Standard", path, "cmp", "os", "strconv", "sync/atomic")
	if err != nil {
		return err
	}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			subject
			Export            string
			DepOnly, Standard bool
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && !p.Standard {
			p.temp, p.binary = s.temp, s.binary
			*s = p.subject
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	sources, files := map[string][]byte{}, []*ast.File(nil)
	for _, name := range s.GoFiles {
		name = filepath.Join(s.Dir, name)
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources[name], files = source, append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	own, err := (&types.Config{Importer: imports}).Check(s.ImportPath, fset, files, info)
	if err != nil {
		return err
	}
	m := &mutator{fset: fset, info: info, own: own, sites: []site{{}}} // 0 is no site
	for _, f := range files {
		m.file(f)
	}
	s.sites = m.sites
	name(s.sites, sources)
	return s.compile(sources, imports)
}

// name names sites by their lines, so that a seed chooses the same ones after a change elsewhere in the package.
func name(sites []site, sources map[string][]byte) {
	lines, same := map[string][]string{}, map[string]int{}
	for file, source := range sources {
		lines[file] = strings.Split(string(source), "\n")
	}
	for i, s := range sites {
		if s.what != "" {
			name := fmt.Sprintf("%s %s %s", filepath.Base(s.at.Filename), s.what, strings.TrimSpace(lines[s.at.Filename][s.at.Line-1]))
			same[name]++
			sites[i].name = fmt.Sprintf("%s %d", name, same[name])
		}
	}
}

// compile writes the changed sources, drops the lines with sites that do not compile, and builds the test binary.
func (s *subject) compile(sources map[string][]byte, imports types.Importer) error {
	extra := filepath.Join(s.Dir, "zz_mutants.go")
	texts := map[string][]byte{extra: fmt.Appendf(nil, switches, s.Name, len(s.sites))}
	for wrong := 1; wrong > 0; {
		wrong = 0
		fset, files := token.NewFileSet(), []*ast.File(nil)
		for name, source := range sources {
			texts[name] = changed(name, source, s.sites)
		}
		for name, text := range texts {
			f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		config := types.Config{Importer: imports, Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) {
				return
			}
			at := e.Fset.PositionFor(e.Pos, false)
			for i, site := range s.sites {
				if site.at.Filename == at.Filename && site.at.Line == at.Line && !site.dropped {
					s.sites[i].dropped, wrong = true, wrong+1
				}
			}
		}}
		if _, err := config.Check(s.ImportPath, fset, files, nil); err != nil && wrong == 0 {
			return err
		}
	}
	replace := map[string]string{}
	for name, text := range texts {
		replace[name] = filepath.Join(s.temp, filepath.Base(name))
		if err := os.WriteFile(replace[name], text, 0o600); err != nil {
			return err
		}
	}
	overlay, err := json.Marshal(struct{ Replace map[string]string }{replace})
	if err != nil {
		return err
	}
	list := filepath.Join(s.temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return err
	}
	_, err = command("go", "test", "-c", "-vet=off", "-overlay="+list, "-o", s.binary, s.ImportPath)
	return err
}

func command(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, failed.Bytes())
	}
	return out, nil
}

// memory bounds a mutant that never stops allocating.
const memory = 8 << 30

// test runs tests, or all, with a changed site, and returns their output and exit status. It leaves no process behind.
func (s *subject) test(number int, tests []string, args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	if tests != nil {
		args = append(args, "-test.run=^("+strings.Join(tests, "|")+")$")
	}
	temp, err := os.MkdirTemp(s.temp, "")
	if err != nil {
		return err.Error(), 2
	}
	defer func() { _ = os.RemoveAll(temp) }() // what remains goes with the folder around it
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir = s.Dir
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, fmt.Sprint("SUITE_MUTANT=", number), "SUITE_REACHED="+s.reachedFile(number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err.Error(), 2
	}
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: memory, Max: memory}, nil) // without it the machine bounds it
	_ = cmd.Wait()
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // usually there is none left
	return out.String(), cmd.ProcessState.ExitCode()
}

// reachedFile is where tests note the sites that they reach. It is there only while reach runs.
func (s *subject) reachedFile(number int) string {
	if number != 0 {
		return ""
	}
	return filepath.Join(s.temp, "reached")
}

// reach returns for each site the tests that reach it.
func (s *subject) reach() (map[int][]string, error) {
	list, code := s.test(0, nil, "-test.list=^(Test|Fuzz)")
	if code != 0 {
		return nil, errors.New(list)
	}
	reach := map[int][]string{}
	for name := range strings.FieldsSeq(list) {
		if err := os.WriteFile(s.reachedFile(0), nil, 0o600); err != nil {
			return nil, err
		}
		if out, code := s.test(0, []string{name}); code != 0 {
			return nil, fmt.Errorf("%s fails alone:\n%s", name, out)
		}
		text, err := os.ReadFile(s.reachedFile(0))
		if err != nil {
			return nil, err
		}
		for line := range strings.FieldsSeq(string(text)) {
			number, err := strconv.Atoi(line)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(reach[number], name) { // a test may start its own binary
				reach[number] = append(reach[number], name)
			}
		}
	}
	return reach, os.Remove(s.reachedFile(0))
}

// choose picks mutants by the seed, in the order of the source.
func (m *mutants) choose(s *subject, reach map[int][]string) (chosen []mutant) {
	for i, site := range s.sites {
		if site.what != "" && !site.dropped && m.only.MatchString(site.place()) {
			chosen = append(chosen, mutant{site: site, number: i, reached: reach[i]})
		}
	}
	if m.count > 0 && m.count < len(chosen) {
		rank := func(one mutant) string {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", m.seed, one.name))
			return string(sum[:])
		}
		slices.SortFunc(chosen, func(a, b mutant) int { return cmp.Compare(rank(a), rank(b)) })
		chosen = chosen[:m.count]
	}
	slices.SortFunc(chosen, func(a, b mutant) int { return cmp.Compare(a.number, b.number) })
	return chosen
}

// run finds the tests that kill the mutant: the first, or all of them.
func (m *mutant) run(s *subject, all bool) {
	args := []string{"-test.timeout=" + s.patience.String()}
	if !all {
		args = append(args, "-test.failfast")
	}
	for left := m.reached; len(left) > 0; {
		out, code := s.test(m.number, left, args...)
		if code == 0 {
			return
		}
		m.killed = true
		found := failures(out)
		m.die = append(m.die, found...)
		// A panic ends the run, so that the tests behind it have not run yet.
		rest := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return slices.Contains(found, name) })
		if !all || code == 1 || len(rest) == len(left) {
			return
		}
		left = rest
	}
}

var (
	failed   = regexp.MustCompile(`(?m)^\s*--- FAIL: ((?:Test|Fuzz)\w*) `)
	unending = regexp.MustCompile(`running tests:\n\t+((?:Test|Fuzz)\w*)`)
)

// failures returns the tests that failed, panicked or did not end.
func failures(out string) (names []string) {
	for _, pattern := range []*regexp.Regexp{failed, unending} {
		for _, found := range pattern.FindAllStringSubmatch(out, -1) {
			if !slices.Contains(names, found[1]) {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// words say what became of a mutant, and by whose tests.
func (m *mutant) words() string {
	verdict, by := "lived ", "no test reaches it"
	switch {
	case m.killed:
		verdict, by = "killed", "by "+cmp.Or(strings.Join(m.die, ", "), "a test that it ended")
	case len(m.reached) > 0:
		by = fmt.Sprintf("reached by %d, first %s", len(m.reached), m.reached[0])
	}
	return fmt.Sprintf("%s %s %s: %s", verdict, m.place(), m.what, by)
}

// report prints the tests that nothing needs, and the count.
func (m *mutants) report(s *subject, chosen []mutant, reach map[int][]string) error {
	killed := 0
	for _, one := range chosen {
		if one.killed {
			killed++
		}
	}
	if m.unique {
		for _, name := range spare(chosen, reach) {
			_, _ = fmt.Fprintf(m.out, "spare  %s reaches no block and kills no mutant of its own\n", name)
		}
	}
	_, _ = fmt.Fprintf(m.out, "%s: %d of %d mutants killed, seed %d\n", s.ImportPath, killed, len(chosen), m.seed)
	if killed*100 < m.least*len(chosen) {
		return fmt.Errorf("%s: fewer than %d%% of its mutants are killed", s.ImportPath, m.least)
	}
	return nil
}

// spare returns the tests that are alone neither at a site nor in killing a mutant.
func spare(chosen []mutant, reach map[int][]string) (names []string) {
	needed := map[string]bool{}
	for _, tests := range reach {
		for _, name := range tests {
			needed[name] = needed[name] || len(tests) == 1
		}
	}
	for _, one := range chosen {
		if len(one.die) == 1 {
			needed[one.die[0]] = true
		}
	}
	for name, is := range needed {
		if !is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

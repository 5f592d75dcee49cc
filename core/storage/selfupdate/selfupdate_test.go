package selfupdate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"aead.dev/minisign"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// platform is the platform of the releases in these tests.
const platform = "linux_amd64"

// script returns a program that prints a version, which is all that an update needs.
func script(version string) string {
	return "#!/bin/sh\necho ollim-bot " + version + " go1.26 linux/amd64\n"
}

// maker makes releases, with its own key.
type maker struct {
	dir  string
	key  minisign.PrivateKey
	pub  string
	sums strings.Builder
}

func newMaker(t *testing.T) *maker {
	t.Helper()
	pub, key, err := minisign.GenerateKey(nil)
	must(t, err)
	return &maker{dir: t.TempDir(), key: key, pub: pub.String()}
}

// add puts a file into the release. sign comes last.
func (m *maker) add(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600))
	fmt.Fprintf(&m.sums, "%x  %s\n", sha256.Sum256([]byte(text)), name)
	m.sign(t, m.sums.String())
}

func (m *maker) sign(t *testing.T, sums string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(m.dir, Sums), []byte(sums), 0o600))
	must(t, os.WriteFile(filepath.Join(m.dir, Signature), minisign.Sign(m.key, []byte(sums)), 0o600))
}

// release adds a program of a version.
func (m *maker) release(t *testing.T, version string) {
	t.Helper()
	m.add(t, FileName(version, platform), script(version))
}

// installed returns a program of a version in its own folder, which gets releases from m.
func installed(t *testing.T, m *maker, version string) Program {
	t.Helper()
	p := Program{
		Path: filepath.Join(t.TempDir(), "ollim-bot"), Version: version, Platform: platform, Key: m.pub, Source: m.dir,
		packages: t.TempDir(),
	}
	must(t, os.WriteFile(p.Path, []byte(script(version)), 0o755)) //nolint:gosec // a program
	return p
}

// folder returns the files next to the program: names, modes and contents.
func folder(t *testing.T, p Program) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(filepath.Dir(p.Path))
	must(t, err)
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		data, err := os.ReadFile(filepath.Join(filepath.Dir(p.Path), e.Name()))
		must(t, err)
		found[e.Name()] = info.Mode().String() + " " + string(data)
	}
	return found
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// does executes an order that must succeed.
func does(t *testing.T, p Program, o Order) Result {
	t.Helper()
	r, err := p.Do(t.Context(), o)
	must(t, err)
	return r
}

// stands checks the installed and the kept version; an empty old means none.
func stands(t *testing.T, p Program, version, old string) {
	t.Helper()
	want := map[string]string{"ollim-bot": "-rwxr-xr-x " + script(version)}
	if old != "" {
		want["ollim-bot.old"] = "-rwxr-xr-x " + script(old)
	}
	if diff := cmp.Diff(want, folder(t, p)); diff != "" {
		t.Error(diff)
	}
}

func TestANewerReleaseTakesThePlaceAndTheOldOneIsKept(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.9.0")
	m.release(t, "0.10.0")
	server := httptest.NewServer(http.FileServer(http.Dir(m.dir)))
	defer server.Close()
	for _, source := range []string{m.dir, server.URL, server.URL + "/"} {
		p := installed(t, m, "0.9.0")
		p.Source = source
		if r := does(t, p, Order{Check: true}); r.Installed != "0.9.0" || !strings.Contains(r.Text, "0.10.0 is released") {
			t.Errorf("looking says %+v", r)
		}
		stands(t, p, "0.9.0", "")
		if r := does(t, p, Order{}); r.Installed != "0.10.0" || !strings.Contains(r.Text, "0.9.0 is kept") {
			t.Errorf("the update says %+v", r)
		}
		stands(t, p, "0.10.0", "0.9.0")
	}
}

func TestAnUpdateThatIsInPlaceAlreadyIsNotMadeTwice(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0") // which keeps running, and asks again
	does(t, p, Order{})
	if r := does(t, p, Order{}); r.Installed != "0.2.0" || !strings.Contains(r.Text, "nothing newer") {
		t.Errorf("the second update says %+v", r)
	}
	stands(t, p, "0.2.0", "0.1.0")
	does(t, p, Order{Force: true}) // and keeps the way back
	stands(t, p, "0.2.0", "0.1.0")
}

func TestRollbackGoesBackAndForward(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0")
	before := folder(t, p)
	if _, err := p.Do(t.Context(), Order{Rollback: true}); err == nil || !strings.Contains(err.Error(), "nothing to go back to") {
		t.Errorf("without an update it says %v", err)
	}
	if diff := cmp.Diff(before, folder(t, p)); diff != "" {
		t.Error(diff)
	}
	does(t, p, Order{})
	p.Key, p.Source = "", "" // it needs neither
	if r := does(t, p, Order{Rollback: true}); r.Installed != "0.1.0" {
		t.Errorf("going back says %+v", r)
	}
	stands(t, p, "0.1.0", "0.2.0")
	does(t, p, Order{Rollback: true})
	stands(t, p, "0.2.0", "0.1.0")
}

func TestAProgramThatNoLongerRunsCanBeTakenBackAndReplaced(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0")
	does(t, p, Order{})
	must(t, os.WriteFile(p.Path, []byte("#!/bin/sh\nexit 1\n"), 0o755)) //nolint:gosec // a program
	does(t, p, Order{Rollback: true})
	if got := folder(t, p)["ollim-bot"]; got != "-rwxr-xr-x "+script("0.1.0") {
		t.Errorf("in the place stands %q", got)
	}
}

func TestAnOlderReleaseIsTakenOnlyByForce(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.9.9")
	p := installed(t, m, "0.10.0")
	_, err := p.Do(t.Context(), Order{})
	if err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("the older release gives %v", err)
	}
	stands(t, p, "0.10.0", "")
	does(t, p, Order{Force: true})
	stands(t, p, "0.9.9", "0.10.0")
}

func TestWhatCannotBeTrustedOrDoesNotFitChangesNothing(t *testing.T) {
	testkit.Alone(t)
	cases := []struct {
		name   string
		change func(t *testing.T, m *maker, p *Program)
		says   string
	}{
		{"no key", func(_ *testing.T, _ *maker, p *Program) { p.Key = "" }, "without the key"},
		{"no source", func(_ *testing.T, _ *maker, p *Program) { p.Source = "" }, "update_source"},
		{"a key that is none", func(_ *testing.T, _ *maker, p *Program) { p.Key = "RWQ" }, "invalid public key"},
		{"the place is gone", func(_ *testing.T, m *maker, p *Program) { p.Source = m.dir + "/no" }, "no such file"},
		{"the place is a pipe", func(t *testing.T, m *maker, _ *Program) {
			must(t, os.Remove(filepath.Join(m.dir, Sums)))
			must(t, syscall.Mkfifo(filepath.Join(m.dir, Sums), 0o600))
		}, "not a regular file"},
		{"another's key", func(t *testing.T, _ *maker, p *Program) { p.Key = newMaker(t).pub }, "does not match the key"},
		{"a signature of something else", func(t *testing.T, m *maker, _ *Program) {
			must(t, os.WriteFile(filepath.Join(m.dir, Signature), minisign.Sign(m.key, []byte("x")), 0o600))
		}, "does not match the key"},
		{"a signature that is none", func(t *testing.T, m *maker, _ *Program) {
			must(t, os.WriteFile(filepath.Join(m.dir, Signature), []byte("<html>"), 0o600))
		}, "does not match the key"},
		{"no signature", func(t *testing.T, m *maker, _ *Program) { must(t, os.Remove(filepath.Join(m.dir, Signature))) }, Signature},
		{"a list without an end", func(t *testing.T, m *maker, _ *Program) {
			m.sign(t, strings.Repeat("x", maxText+1))
		}, "too long"},
		{"a list with a path in it", func(t *testing.T, m *maker, _ *Program) {
			m.sign(t, strings.Repeat("0", 64)+"  ../ollim-bot_0.2.0_"+platform+"\n")
		}, "invalid line"},
		{"a list of nothing", func(t *testing.T, m *maker, _ *Program) { m.sign(t, "") }, "no programs"},
		{"another platform", func(t *testing.T, m *maker, p *Program) {
			m.add(t, FileName("0.3.0", "darwin_arm64"), "x")
			p.Platform = "plan9_386"
		}, "no program for plan9_386, only for darwin_arm64, linux_amd64"},
		{"a program that somebody changed", func(t *testing.T, m *maker, _ *Program) {
			must(t, os.WriteFile(filepath.Join(m.dir, FileName("0.2.0", platform)), []byte("rm -r /\n"), 0o600))
		}, "not the file that was signed"},
		{"a program that is missing", func(t *testing.T, m *maker, _ *Program) {
			must(t, os.Remove(filepath.Join(m.dir, FileName("0.2.0", platform))))
		}, "no such file"},
		{"a program of another machine", func(t *testing.T, m *maker, _ *Program) {
			m.add(t, FileName("0.3.0", platform), "\x7fELF\x02\x01\x01")
		}, "does not run here"},
		{"a program that says nothing of itself", func(t *testing.T, m *maker, _ *Program) {
			m.add(t, FileName("0.3.0", platform), "#!/bin/sh\necho hello\n")
		}, "does not run here"},
		{"a program of another version", func(t *testing.T, m *maker, _ *Program) {
			m.add(t, FileName("0.3.0", platform), script("0.1.0"))
		}, "reports version 0.1.0"},
		{"a file of a Debian package", func(t *testing.T, _ *maker, p *Program) {
			must(t, os.WriteFile(filepath.Join(p.packages, "ollim-bot.list"), []byte("/.\n"+p.Path+"\n"), 0o600))
		}, "apt install"},
		{"a server that answers with an error", func(t *testing.T, _ *maker, p *Program) {
			server := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			p.Source = server.URL
		}, "404"},
		{"a server that is not there", func(_ *testing.T, _ *maker, p *Program) { p.Source = "http://127.0.0.1:1" }, "refused"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMaker(t)
			m.release(t, "0.2.0")
			p := installed(t, m, "0.1.0")
			before := folder(t, p)
			c.change(t, m, &p)
			if _, err := p.Do(t.Context(), Order{}); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
			if diff := cmp.Diff(before, folder(t, p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestADownloadThatEndsTooSoonChangesNothing(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/ollim-bot") {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("#!/bin/sh\n"))
			return
		}
		http.FileServer(http.Dir(m.dir)).ServeHTTP(w, r)
	}))
	defer server.Close()
	p := installed(t, m, "0.1.0")
	p.Source = server.URL
	if _, err := p.Do(t.Context(), Order{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("it says %v", err)
	}
	stands(t, p, "0.1.0", "")
}

// silent is a server that begins to answer and then stops sending.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = in.CloseWithError(r.Context().Err()) })
	return &http.Response{StatusCode: http.StatusOK, Body: out, Request: r}, nil
}

func TestAServerThatFallsSilentIsGivenUp(t *testing.T) {
	m := newMaker(t)
	p := installed(t, m, "0.1.0")
	synctest.Test(t, func(t *testing.T) {
		p.Source, p.client = "http://release.test", &http.Client{Transport: silent{}}
		if _, err := p.Do(t.Context(), Order{}); !errors.Is(err, errStalled) {
			t.Errorf("it says %v", err)
		}
	})
	stands(t, p, "0.1.0", "")
}

func TestAFullDiskInTheMiddleChangesNothing(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0")
	err := storetest.FullDisk(t, func() error {
		_, err := p.Do(t.Context(), Order{})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "no space in") {
		t.Errorf("it says %v", err)
	}
	stands(t, p, "0.1.0", "")
	does(t, p, Order{})
	stands(t, p, "0.2.0", "0.1.0")
}

func TestAPlaceThatCannotBeWrittenSaysSo(t *testing.T) {
	p := Program{Path: "/usr/local/bin/ollim-bot"}
	for _, err := range []error{syscall.EACCES, syscall.EROFS, &os.PathError{Op: "open", Path: "x", Err: syscall.EPERM}} {
		if got := p.advise(err); !strings.Contains(got.Error(), "no permission to replace") || !errors.Is(got, err) {
			t.Errorf("%v says %v", err, got)
		}
	}
}

func TestOfTwoUpdatesAtOnceOneIsRefusedAndTheFileIsWhole(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0")
	done, err := p.claim()
	must(t, err)
	if _, err := p.Do(t.Context(), Order{}); err == nil || !strings.Contains(err.Error(), "is running") {
		t.Errorf("beside another it says %v", err)
	}
	done()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = p.Do(t.Context(), Order{}) }) // some are refused
	}
	all.Wait()
	does(t, p, Order{})
	stands(t, p, "0.2.0", "0.1.0")
}

func TestWhatAKilledUpdateHasLeftIsReplaced(t *testing.T) {
	testkit.Alone(t)
	m := newMaker(t)
	m.release(t, "0.2.0")
	p := installed(t, m, "0.1.0")
	for _, end := range []string{".new", ".keep"} {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(p.Path), ".ollim-bot"+end), []byte("half"), 0o400))
	}
	does(t, p, Order{})
	stands(t, p, "0.2.0", "0.1.0")
}

func TestVersionsAreOrderedByTheirNumbers(t *testing.T) {
	ordered := []string{"0.0.0", "0.0.9", "0.0.10", "0.2.0", "0.10.0", "1.0.0", "10.0.0", "999999999.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := compare(a, b), compareInts(i, j); got != want {
				t.Errorf("%s and %s: %d, want %d", a, b, got, want)
			}
		}
		if !isVersion(a) {
			t.Errorf("%s is no version", a)
		}
	}
	for _, s := range []string{"", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.2.3-rc.1", "1.2.-3", "1.2.3\n", "9999999999.0.0"} {
		if isVersion(s) {
			t.Errorf("%q is a version", s)
		}
	}
}

func compareInts(a, b int) int { return max(-1, min(1, a-b)) }

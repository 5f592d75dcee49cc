package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forged returns an archive of the given entries, between a valid head and a matching manifest.
func forged(t testing.TB, entries ...tar.Header) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	must(t, addJSON(w, headName, Head{Format: 1, Version: "1"}))
	m := manifest{Files: map[string]string{}}
	for _, h := range entries {
		body := strings.Repeat("x", int(h.Size))
		must(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := io.WriteString(w, body)
			must(t, err)
			sum := sha256.Sum256([]byte(body))
			m.Files[h.Name] = hex.EncodeToString(sum[:])
		}
	}
	must(t, addJSON(w, manifestName, m))
	must(t, w.Close())
	must(t, zip.Close())
	return saved(t, out.Bytes())
}

func saved(t testing.TB, data []byte) string {
	t.Helper()
	file := filepath.Join(t.(interface{ TempDir() string }).TempDir(), "x")
	must(t, os.WriteFile(file, data, 0o600))
	return file
}

// refused imports a file onto an empty machine and expects a one-sentence error and no change.
func refused(t testing.TB, file, part string) {
	t.Helper()
	m := newMachine(t)
	m.put("beside", "")
	before := files(t, m.home)
	_, err := Import(m.options(file, "word"))
	if err == nil || !strings.Contains(err.Error(), part) || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("want a sentence with %q, got %v", part, err)
	}
	if diff := cmp.Diff(before, files(t, m.home)); diff != "" {
		t.Error(diff)
	}
}

func TestHostileArchivesAreRefusedWithASentence(t *testing.T) {
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o600}
	}
	for name, x := range map[string]struct {
		entries []tar.Header
		says    string
	}{
		"parent":          {[]tar.Header{file("data/../../beside")}, "is outside the data directory"},
		"parent at last":  {[]tar.Header{file("data/..")}, "is outside the data directory"},
		"absolute":        {[]tar.Header{file("/etc/passwd")}, "is outside the data directory"},
		"absolute within": {[]tar.Header{file("data//etc/passwd")}, "is outside the data directory"},
		"dot":             {[]tar.Header{file("data/./x")}, "is outside the data directory"},
		"backslash":       {[]tar.Header{file(`data/..\..\x`)}, "is outside the data directory"},
		"other place":     {[]tar.Header{file("beside")}, "is outside the data directory"},
		"sessions out":    {[]tar.Header{file("sessions/../x")}, "is outside the data directory"},
		"escape":          {[]tar.Header{file("data/\x1b[31mx")}, "is outside the data directory"},
		"long element":    {[]tar.Header{file("data/" + strings.Repeat("x", 256))}, "is outside the data directory"},
		"deep":            {[]tar.Header{file("data/" + strings.Repeat("x/", 65) + "x")}, "is outside the data directory"},
		"symlink":         {[]tar.Header{{Name: "data/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}, "a link"},
		"hard link":       {[]tar.Header{{Name: "data/x", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}, "a link"},
		"device":          {[]tar.Header{{Name: "data/x", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}}, "neither file nor folder"},
		"pipe":            {[]tar.Header{{Name: "data/x", Typeflag: tar.TypeFifo}}, "neither file nor folder"},
		"twice":           {[]tar.Header{file("data/x"), file("data/x")}, "twice"},
		"file and folder": {[]tar.Header{file("data/x"), file("data/x/y")}, "twice"},
		"folder and file": {[]tar.Header{{Name: "data/x/", Typeflag: tar.TypeDir}, file("data/x")}, "twice"},
		"a secret":        {[]tar.Header{file("data/.env")}, "does not belong in it"},
		"a lock":          {[]tar.Header{file("data/state/bot.lock")}, "does not belong in it"},
		"a hook":          {[]tar.Header{file("data/.git/hooks/post-checkout")}, "does not belong in it"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, forged(t, x.entries...), x.says) })
	}
}

func TestADamagedExportIsRefusedWhereverItIsDamaged(t *testing.T) {
	for word, says := range map[string]string{"": "", "word": ""} {
		data, err := os.ReadFile(furnished(t).export(word))
		must(t, err)
		for i := range 40 {
			refused(t, saved(t, data[:len(data)*i/40]), says)
			flipped := bytes.Clone(data)
			flipped[len(data)*i/40+5] ^= 0x10 // after gzip's time and operating system
			if i > 0 && (word != "" || !bytes.Equal(unzipped(flipped), unzipped(data))) {
				refused(t, saved(t, flipped), says)
			}
		}
		refused(t, saved(t, data[:len(data)-1]), says)
		refused(t, saved(t, append(bytes.Clone(data), "more"...)), says)
	}
	refused(t, saved(t, nil), "not an export")
	refused(t, saved(t, []byte("hello")), "not an export")
}

// unzipped returns the data that gzip reads, or nil if it is damaged: a few bits of its format have
// no meaning (padding, lengths of unused codes).
func unzipped(data []byte) []byte {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		return nil
	}
	return text
}

func TestAnExportOfANewerProgramIsRefused(t *testing.T) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	must(t, addJSON(w, headName, Head{Format: 2, Version: "9.9\x1b[2J"}))
	must(t, w.Close())
	must(t, zip.Close())
	refused(t, saved(t, out.Bytes()), "newer ollim-bot (9.9")
}

func TestFilesThatTheManifestDoesNotNameAreRefused(t *testing.T) {
	build := func(listed map[string]string, behind bool) string {
		var out bytes.Buffer
		zip := gzip.NewWriter(&out)
		w := tar.NewWriter(zip)
		must(t, addJSON(w, headName, Head{Format: 1}))
		must(t, addJSON(w, "data/x", 1))
		must(t, addJSON(w, manifestName, manifest{Files: listed}))
		if behind {
			must(t, addJSON(w, "data/y", 1))
		}
		must(t, w.Close())
		must(t, zip.Close())
		return saved(t, out.Bytes())
	}
	data, err := json.Marshal(1)
	must(t, err)
	sum := sha256.Sum256(data)
	good := hex.EncodeToString(sum[:])
	refused(t, build(nil, false), "list of files lacks")
	refused(t, build(map[string]string{"data/x": good, "data/z": good}, false), "is missing from")
	refused(t, build(map[string]string{"data/x": strings.Repeat("0", 64)}, false), "damaged in")
	refused(t, build(map[string]string{"data/x": good}, true), "list of files lacks")
	_, err = Import(newMachine(t).options(build(map[string]string{"data/x": good}, false), ""))
	must(t, err)
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestABombIsRefusedBeforeItGoesOff(t *testing.T) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	w := tar.NewWriter(zip)
	must(t, addJSON(w, headName, Head{Format: 1}))
	const size = freeBytes + 60<<20
	must(t, w.WriteHeader(&tar.Header{Name: "data/x", Typeflag: tar.TypeReg, Size: size}))
	_, err := io.CopyN(w, zeros{}, size)
	must(t, err)
	must(t, w.Close())
	must(t, zip.Close())
	refused(t, saved(t, out.Bytes()), "times its size")
}

func FuzzAnyFileIsRefusedOrImportedWhole(f *testing.F) {
	data, err := os.ReadFile(furnished(f).export(""))
	must(f, err)
	f.Add(data)
	f.Add(data[:len(data)/2])
	zip, err := gzip.NewReader(bytes.NewReader(data))
	must(f, err)
	plain, err := io.ReadAll(zip)
	must(f, err)
	f.Add(plain)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 && data[0] != 0x1f { // keeps the fuzzer from learning gzip
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			_, err := zip.Write(data)
			must(t, err)
			must(t, zip.Close())
			data = out.Bytes()
		}
		m := newMachine(t)
		m.put("beside", "")
		if _, err := Import(m.options(saved(t, data), "x")); err != nil && exists(m.dir.Root()) {
			t.Errorf("%v, but something is in place", err)
		}
		m.tidy()
	})
}

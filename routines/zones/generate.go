//go:build ignore

// Generate packs the time zone database of Debian's package tzdata into zones.bin, for Load:
//
//	go run generate.go /usr/share/zoneinfo 2026-10-27
//
// The package's changelog has the day of the release. The same directory always gives the same file. It takes the files as
// the package has compiled them, because zic of Debian 12 makes mistakes in smaller ones (-b slim: America/Ojinaga, 2022).
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run generate.go DIRECTORY RELEASED")
	}
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// generate writes a line with version and day, and after it the compressed files.
func generate(dir, released string) error {
	text, err := os.ReadFile(filepath.Join(dir, "tzdata.zi"))
	if err != nil {
		return err
	}
	head, _, _ := strings.Cut(string(text), "\n")
	version, ok := strings.CutPrefix(head, "# version ")
	if _, err := time.Parse(time.DateOnly, released); err != nil || !ok {
		return fmt.Errorf("%s has no version, or %q is not a day", dir, released)
	}
	packed, err := pack(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", version, len(packed))
	return os.WriteFile("zones.bin", append([]byte(version+" "+released+"\n"), packed...), 0o644)
}

// pack writes each zone as a line with name and size, and then its data. One with the data of an earlier one has that one's
// name for a size.
func pack(dir string) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	first := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case err != nil || name == "posixrules" || name == "localtime":
			return err
		case name == "posix" || name == "right":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(data, []byte("TZif")) {
			return err // a table
		}
		data = withoutFirst(data)
		if same, ok := first[string(data)]; ok {
			_, err = fmt.Fprintf(w, "%s %s\n", name, same)
			return err
		}
		first[string(data)] = name
		_, err = fmt.Fprintf(w, "%s %d\n%s", name, len(data), data)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// withoutFirst empties the part for readers of 32 bits, which package time skips.
func withoutFirst(data []byte) []byte {
	const magic, counts = 20, 44 // where the six counts begin and end
	n := func(i int) int { return int(binary.BigEndian.Uint32(data[magic+4*i:])) }
	utc, std, leap, times, types, chars := n(0), n(1), n(2), n(3), n(4), n(5)
	second := counts + 5*times + 6*types + chars + 8*leap + std + utc
	return slices.Concat(data[:magic], make([]byte, counts-magic), data[second:])
}

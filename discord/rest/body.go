package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"
	"sync"

	"ollimbot/core/clean"
)

// maxUpload is what a whole request may hold. What one
// file may have depends on the account, so Discord says that itself.
const maxUpload = 25 << 20

// File goes along with a message. Open is called for every try, and what it
// gives is closed. Where that is an *os.File, or has a Stat like one, Discord
// learns the length beforehand.
type File struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// body is what a request holds: nothing, JSON, or JSON with files.
type body struct {
	json  []byte
	files []File
}

// upload is a body for one try.
type upload struct {
	reader io.Reader // nil for none
	json   []byte    // set where there are no files: it can be read again
	kind   string
	size   int64 // -1 where it is not known
	opened []io.Closer

	mu  sync.Mutex
	err error // the first error of reading a file
}

func (b body) open() (*upload, error) {
	if len(b.files) > 0 {
		return b.multipart()
	}
	if b.json == nil {
		return &upload{}, nil
	}
	return &upload{reader: bytes.NewReader(b.json), json: b.json, kind: "application/json", size: int64(len(b.json))}, nil
}

// multipart puts the files behind the JSON. They are streamed: only what stands
// between them is in memory.
func (b body) multipart() (*upload, error) {
	var frame bytes.Buffer
	w := multipart.NewWriter(&frame)
	u := &upload{kind: w.FormDataContentType()}
	var readers []io.Reader
	// flush moves what was written since the last file to the readers.
	flush := func() {
		part := bytes.Clone(frame.Bytes())
		frame.Reset()
		readers = append(readers, bytes.NewReader(part))
		u.grow(int64(len(part)))
	}
	h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="payload_json"`}, "Content-Type": {"application/json"}}
	p, _ := w.CreatePart(h) // a buffer takes everything
	_, _ = p.Write(b.json)
	for i, f := range b.files {
		name := fileName(f.Name)
		h := textproto.MIMEHeader{
			"Content-Disposition": {multipart.FileContentDisposition("files["+strconv.Itoa(i)+"]", name)},
			"Content-Type":        {"application/octet-stream"},
		}
		_, _ = w.CreatePart(h)
		flush()
		opened, err := f.Open()
		if err != nil {
			_ = u.Close()
			return nil, fmt.Errorf(textNoFile, name, pathless(err))
		}
		u.opened = append(u.opened, opened)
		readers = append(readers, &fileReader{of: u, name: name, r: opened})
		u.grow(length(opened))
	}
	_ = w.Close()
	flush()
	if u.size > maxUpload {
		_ = u.Close()
		return nil, fmt.Errorf("%w: %s", ErrInvalid, textFilesLarge)
	}
	u.reader = io.MultiReader(readers...)
	return u, nil
}

// grow adds to the size; once it is not known it stays so.
func (u *upload) grow(n int64) {
	if u.size < 0 || n < 0 {
		u.size = -1
		return
	}
	u.size += n
}

// attach makes u the body of a request.
func (u *upload) attach(r *http.Request) {
	if u.reader == nil {
		return
	}
	r.Body, r.ContentLength = u, u.size
	r.Header.Set("Content-Type", u.kind)
	if u.json != nil {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(u.json)), nil }
	}
}

// Read is for the transport.
func (u *upload) Read(p []byte) (int, error) { return u.reader.Read(p) }

// Close closes the files.
func (u *upload) Close() error {
	var errs []error
	for _, c := range u.opened {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// fault is the error of a file that could not be read: no fault of the network,
// and nothing that another try would cure.
func (u *upload) fault() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

type fileReader struct {
	of   *upload
	name string
	r    io.Reader
}

func (f *fileReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	// A file that was closed belongs to a try that was given up.
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, fs.ErrClosed) {
		f.of.mu.Lock()
		defer f.of.mu.Unlock()
		if f.of.err == nil {
			f.of.err = fmt.Errorf(textNoFile, f.name, pathless(err))
		}
	}
	return n, err
}

// pathless takes the path out of an error, which names its file already.
func pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func length(r io.Reader) int64 {
	if f, ok := r.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return -1
}

// fileName is a name that means the same to everybody who reads the header.
func fileName(s string) string {
	if s = clean.Cut(clean.Line(s), 200); s == "" {
		return "file"
	}
	return s
}

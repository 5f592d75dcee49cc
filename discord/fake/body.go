package fake

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// Discord's sizes (reference, "Uploading Files").
const (
	maxRequest = 25 << 20 // bytes of one request
	maxFile    = 10 << 20 // bytes of one file
)

// upload is one file of a multipart request.
type upload struct {
	name, kind string
	data       []byte
}

var (
	apiRoot     = regexp.MustCompile(`^/api(/v(9|10))?/`)
	errTooLarge = errors.New("too large")
)

// readCall takes a request apart. The second result refuses it, with the call
// as far as it was read.
func readCall(r *http.Request) (*call, *answer) {
	escaped := r.URL.EscapedPath()
	c := &call{method: r.Method, path: escaped, query: r.URL.Query(), header: r.Header}
	root := apiRoot.FindString(escaped)
	if root == "" {
		return c, nil // no route will match
	}
	c.path = escaped[len(root)-1:]
	for seg := range strings.SplitSeq(c.path[1:], "/") {
		plain, err := url.PathUnescape(seg)
		if err != nil {
			plain = seg
		}
		c.seg = append(c.seg, plain)
	}
	body, err := readAll(r.Body, maxRequest)
	if err != nil {
		return c, tooLarge()
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		c.body = body
		return c, nil
	}
	if err := c.readParts(multipart.NewReader(strings.NewReader(string(body)), params["boundary"])); err != nil {
		if errors.Is(err, errTooLarge) {
			return c, tooLarge()
		}
		c.problem("the multipart body cannot be read: " + err.Error())
		return c, invalidForm("", err.Error())
	}
	return c, nil
}

func (c *call) readParts(parts *multipart.Reader) error {
	for {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := readAll(p, maxFile)
		if err != nil {
			return err
		}
		switch name := p.FormName(); {
		case name == "payload_json":
			c.body = data
		case strings.HasPrefix(name, "files[") || name == "file":
			c.files = append(c.files, upload{name: p.FileName(), kind: p.Header.Get("Content-Type"), data: data})
		default:
			c.problem("unknown part " + name + " in a multipart body")
		}
	}
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

func tooLarge() *answer {
	a := failure(http.StatusRequestEntityTooLarge, 40005)
	return &a
}

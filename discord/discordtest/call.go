package discordtest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// call is one REST request and its processing in the fake.
type call struct {
	method   string
	path     string   // escaped, without /api/vN
	seg      []string // the path's segments, decoded
	query    url.Values
	body     []byte // JSON; of an upload the payload_json
	files    []File
	header   http.Header
	problems []string // breaches of the contract, reported when the call is over
}

// problem records a breach. A request that Discord itself would accept continues.
func (c *call) problem(text string) { c.problems = append(c.problems, text) }

var apiRoot = regexp.MustCompile(`^/api(/v(9|10))?/`)

// readCall parses a request. If the second result is not nil, it refuses the request, and the call is incomplete.
func readCall(r *http.Request) (*call, *Plan) {
	c := &call{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.Query(), header: r.Header}
	root := apiRoot.FindString(c.path)
	if root == "" {
		return c, nil // no route will match
	}
	c.path = c.path[len(root)-1:]
	for seg := range strings.SplitSeq(c.path[1:], "/") {
		plain, err := url.PathUnescape(seg)
		if err != nil {
			plain = seg
		}
		c.seg = append(c.seg, plain)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		return c, failure(http.StatusRequestEntityTooLarge, 40005)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		c.body = body
		return c, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c, c.readParts(r)
}

func (c *call) readParts(r *http.Request) *Plan {
	if err := r.ParseMultipartForm(maxRequest); err != nil {
		c.problem("the multipart body cannot be read: " + err.Error())
		return invalidForm("", err.Error())
	}
	for name, values := range r.MultipartForm.Value {
		if name != "payload_json" {
			c.problem("unknown part " + name + " in a multipart body")
		}
		c.body = []byte(values[0])
	}
	for _, name := range slices.Sorted(maps.Keys(r.MultipartForm.File)) {
		if !strings.HasPrefix(name, "files[") {
			c.problem("unknown file " + name + " in a multipart body")
		}
		h := r.MultipartForm.File[name][0]
		f, err := h.Open()
		if err != nil || h.Size > maxFile {
			return failure(http.StatusRequestEntityTooLarge, 40005)
		}
		data, _ := io.ReadAll(f) // it is in memory
		place := strings.TrimSuffix(strings.TrimPrefix(name, "files["), "]")
		c.files = append(c.files, File{place: place, Name: h.Filename, Type: h.Header.Get("Content-Type"), Data: data})
	}
	return nil
}

// decode reads the JSON of a call into v. A mismatch is an invalid form.
func (c *call) decode(v any) *Plan {
	if err := json.Unmarshal(c.body, v); err != nil {
		return invalidForm("", err.Error())
	}
	return nil
}

// bucket is the key for rate limits per channel.
func (c *call) bucket() string { return c.method + " " + c.seg[1] }
